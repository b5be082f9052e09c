"""Runs all tests through pytest, some beside one another, and ends with the line `N passed, N failed, N skipped`; fails where none
ran, too.

Arguments: the GoogleTest programs, then -- and what is for pytest: paths (instead of all of tests/) and options.
"""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_AT_ONCE = 16


class Count:
    """Counts what pytest's own summary counts; an error in a fixture or a file that cannot be read is a failure."""

    passed = failed = skipped = 0

    def pytest_terminal_summary(self, terminalreporter):
        def number(*names):
            return sum(len(terminalreporter.stats.get(name, [])) for name in names)

        self.passed = number("passed", "xpassed")
        self.failed = number("failed", "error")
        self.skipped = number("skipped", "xfailed")


def main(arguments):
    split = arguments.index("--") if "--" in arguments else len(arguments)
    programs, wishes = arguments[:split], arguments[split + 1:]
    paths = [] if any(Path(wish.split("::")[0]).exists() for wish in wishes) else [str(ROOT / "tests"), *programs]
    # a test that calls make must not take part in the job server of the make that runs the tests
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")]))  # of the workers
    count = Count()
    options = ["-c", str(ROOT / "tests/pytest.ini"), f"--rootdir={ROOT}", "-p", "googletest"]
    if not any(wish.startswith("-n") for wish in wishes):
        # two on each core: to start takes more waiting than work
        options += ["-n", str(min(2 * (os.cpu_count() or 1), MOST_AT_ONCE)), "--dist", "loadgroup"]
    status = pytest.main([*options, *paths, *wishes], plugins=[count])
    good = status == pytest.ExitCode.OK and count.passed > 0 and count.failed == 0
    if not good and not count.failed:
        count.failed = 1  # nothing ran, or pytest itself failed
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
