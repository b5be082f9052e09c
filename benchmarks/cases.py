"""Keeps what each program of a benchmark printed, in BUILD/bench/cases, so that a run that was cut off goes on where it stopped."""
import collections
import datetime
import functools
import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from driver import LONGEST, Driver, commit, devices, processor

KEPT = (0, 124)  # exit codes: what ran to its end, or to its time limit


@functools.cache
def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Cases(Driver):
    """A driver that does not measure again what was measured by the same programs, commit, machine and devices."""

    def __init__(self, progress):
        super().__init__()
        self.progress = progress
        self.folder = self.build / "bench/cases"
        settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith(("OMP_", "CUDA_VISIBLE", "PETSC_OPTIONS"))}
        self.by = {"commit": commit(), "machine": processor(), "devices": devices(), "library": digest(self.plugin), "settings": settings}
        self.load = os.getloadavg()[0]  # now, before our own work counts
        self.measured, self.taken = [], 0  # the dates and loads of a question's cases; how many were there already

    def begin(self, question):
        self.folder = self.build / "bench/cases" / question
        self.measured = []

    def say(self, text):
        self.progress.say(f"  {text}")

    def path(self, program, options, ranks, seconds):
        words = [str(word).replace(str(self.build), "") for word in (program, *options, ranks, seconds)]
        return self.folder / (hashlib.sha256("\0".join(words).encode()).hexdigest()[:24] + ".json")

    def kept(self, path, program):
        """The seconds that the case took, None where it was never measured; and what it printed, None if others measured it."""
        try:
            case = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None, None
        return case["seconds"], case if case["by"] == self.by | {"program": digest(program)} else None

    def execute(self, program, options, ranks=1, seconds=LONGEST):
        path = self.path(program, options, ranks, seconds)
        case = self.kept(path, program)[1]
        self.taken += case is not None
        took = None
        if not case:
            start = time.monotonic()
            done = super().execute(program, options, ranks, seconds)
            took = time.monotonic() - start
            case = {"by": self.by | {"program": digest(program)}, "date": str(datetime.date.today()), "load": self.load, "seconds": took,
                    "code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
            if done.returncode in KEPT:
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(".part")
                part.write_text(json.dumps(case), encoding="utf-8")
                part.replace(path)
        self.measured.append((case["date"], case["load"]))
        self.progress.case(path, took)
        return subprocess.CompletedProcess([str(program)], case["code"], case["stdout"], case["stderr"])

    def plan(self, measure):
        """{case: seconds that it took before, 0 if it need not be measured again} of what measure(driver) will run."""
        plan = Plan(self)
        measure(plan)
        return plan.cases

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Plan(Driver):
    """Runs nothing and remembers what it was to run. What a question asks of the answers is 1."""

    def __init__(self, driver):
        super().__init__()
        self.driver, self.cases = driver, {}
        self.copy_rate = 1.0

    def file(self, name, make):
        return self.build / "bench" / name

    def say(self, text):
        pass

    def execute(self, program, options, ranks=1, seconds=LONGEST):
        path = self.driver.path(program, options, ranks, seconds)
        took, case = self.driver.kept(path, program)
        self.cases[path] = 0 if case else took
        return subprocess.CompletedProcess([str(program)], 0, "", "")

    def table(self, name, *options, **how):
        super().table(name, *options, **how)
        return [{}]

    def start(self, program, key, values, solvers, *how):
        super().start(program, key, values, solvers, *how)
        return 0, {value: {name: collections.defaultdict(lambda: 1.0, status="ok") for name in solvers} for value in values}, ""
