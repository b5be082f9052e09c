"""Makes each test of a GoogleTest program a test of pytest's. Some suites run in one process: MPI, PETSc and a device take longer
to start than most tests take. Others may run beside them: pytest -n 2 --dist loadgroup."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

PROGRAMS = ("unit", "petsc", "cuda")  # in BUILD/tests
SUITES_IN_A_PROCESS = 4


def pytest_collect_file(file_path, parent):
    if file_path.name in PROGRAMS and file_path.parent.name == "tests" and not file_path.suffix:
        return Program.from_parent(parent, path=file_path)
    return None


class Program(pytest.File):
    def collect(self):
        listed = subprocess.run([self.path, "--gtest_list_tests"], capture_output=True, text=True, errors="replace", check=True)
        suites, process, prefix = 0, None, None
        for line in listed.stdout.splitlines():
            name = line.split("#")[0].rstrip()
            if name.endswith(".") and not name.startswith(" "):
                prefix = name
                if suites % SUITES_IN_A_PROCESS == 0:
                    process = Process(self.path, suites // SUITES_IN_A_PROCESS)
                suites += 1
            elif prefix and name.startswith("  "):
                if "DISABLED_" not in prefix + name:
                    test = Test.from_parent(self, name=prefix + name.strip(), process=process)
                    test.add_marker(pytest.mark.xdist_group(process.name))
                    yield test
            else:
                prefix = None  # something that the program prints itself


class Process:
    """Runs those of its tests that were chosen, when the first of them is asked for."""

    def __init__(self, program, number):
        self.program = program
        self.name = f"{program.name}.{number}"
        self.results = None

    def result(self, test):
        if self.results is None:
            chosen = [item.name for item in test.session.items if isinstance(item, Test) and item.process is self]
            self.results, output = self.run(chosen)
            if not self.results and len(chosen) > 1:  # one of them takes the process down: find out which
                self.results = {}
                for name in chosen:
                    one, output = self.run([name])
                    self.results |= one or {name: {"failures": [{"failure": output}]}}
            for name in chosen:
                self.results.setdefault(name, {"failures": [{"failure": output}]})
        return self.results[test.name]

    def run(self, names):
        """({name: what GoogleTest reports of it}, all that was printed); nothing is reported where the process died."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            # passive: the threads share the machine with other tests
            done = subprocess.run([self.program, f"--gtest_filter={':'.join(names)}", f"--gtest_output=json:{report}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                                  env={"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", **os.environ})
            output = f"{self.program} ended with {done.returncode}:\n{done.stdout}"
            if not report.is_file():
                return {}, output
            suites = json.loads(report.read_text(encoding="utf-8", errors="replace"))["testsuites"]
        results = {f"{suite['name']}.{test['name']}": test | {"output": output} for suite in suites for test in suite["testsuite"]}
        failed = any("failures" in result for result in results.values())
        # a leak, or a crash at the end, which no test reports
        return ({}, output) if done.returncode and not failed else (results, output)


class Test(pytest.Item):
    def __init__(self, *, process, **rest):
        super().__init__(**rest)
        self.process = process

    def runtest(self):
        result = self.process.result(self)
        if "failures" in result:
            raise Failed("\n".join(failure["failure"] for failure in result["failures"]))
        if result.get("result") == "SKIPPED":
            reasons = [skipped.get("message", "").strip() for skipped in result.get("skipped", [])]
            pytest.skip("; ".join(reasons) or reason_in(result["output"], self.name))

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, self.name


class Failed(Exception):
    """What GoogleTest says of it."""


def reason_in(output, name):
    """Older versions of GoogleTest do not report the reason, but print it."""
    part = output.partition(f"[ RUN      ] {name}")[2].partition("[  SKIPPED ]")[0].strip().splitlines()
    return part[-1] if part else "skipped"
