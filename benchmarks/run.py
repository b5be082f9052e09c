"""What `make bench` runs, one question each; those of a device only where there is one, or when named. Results go to benchmarks/results/, and
with plots and a report to BUILD/bench/.

usage: [FRESH=yes] run.py [QUESTION ...]

It goes on where a run was cut off; FRESH=yes measures again.

A question that has parts takes some of them as QUESTION:PART,PART=SIZE; its answers to other parts and problems stay as they are.
"""
import csv
import importlib
import os
import sys
from pathlib import Path

import report
from cases import Cases
from driver import device, processor
from progress import Progress
from tables import read_table

QUESTIONS = ("solver_host", "storage", "multigrid", "threads", "scaling", "levels", "hard", "graphs", "sides", "two_phase", "deflation",
             "mic_solve", "fusedcg", "gridmg", "heat", "block_sizes", "block_threads", "smoother")
DEVICE_QUESTIONS = ("solver_device", "hard_devices", "graphs_devices", "grids", "odd_levels", "solver_breakdown", "curve", "breakdown", "deflation_breakdown",
                    "neumann_bandwidth", "mic_sweeps", "block_sweeps", "exchange",
                    "scaling_devices", "solid_devices", "values_devices")
RESULTS = Path(__file__).resolve().parent / "results"


def write(path, question, rows, driver):
    path.parent.mkdir(parents=True, exist_ok=True)
    dates, loads = zip(*driver.measured)
    policy = os.environ.get("OMP_WAIT_POLICY")
    machine = processor() + (f", OMP_WAIT_POLICY={policy}" if policy else "") + (f"\n# device: {device()}" if device() else "")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# {question.QUESTION}\n# date: {' to '.join(sorted({min(dates), max(dates)}))}\n# machine: {machine}\n"
                   f"# load by other programs: {max(loads):.1f}\n# PETSc: {driver.petsc}\n# commit: {driver.by['commit']}\n")
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    driver.say(f"-> {path}")


def with_others(path, question, rows):
    """The rows, and those in the file that are of other parts or problems."""
    known = {(row["part"], row["problem"]) for row in rows}
    if path.is_file():
        rows = rows + [row for row in read_table(path)[1]
                       if set(row) == set(rows[0]) and (row["part"], row["problem"]) not in known]
    return sorted(rows, key=lambda row: question.PARTS.index(row["part"]))


def draw(path, plot, rows, say):
    path.unlink(missing_ok=True)
    try:
        import matplotlib
    except ImportError:
        say("no plot: Python has no matplotlib (pip install matplotlib)")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9, 4), layout="constrained")
    plot(rows, figure)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    say(f"-> {path}")


class Question:
    """A question and the parts of it that are asked for: QUESTION or QUESTION:PART,PART=SIZE."""

    def __init__(self, text):
        self.name, _, parts = text.partition(":")
        self.module = importlib.import_module(f"questions.{self.name}")
        self.parts = parts.split(",") if parts else []

    def measure(self, driver, note):
        return self.module.measure(driver, note, *self.parts)

    def answer(self, driver):
        """Its table in results/ and in BUILD/bench, which has what was measured here alone."""
        driver.begin(self.name)
        driver.progress.say(f"{self.name}: {self.module.QUESTION}")
        rows = self.measure(driver, driver.progress.note)
        if not rows:
            return  # the driver's failures say why
        for folder in (RESULTS, driver.build / "bench"):
            path = folder / f"{self.name}.csv"
            rows_here = with_others(path, self.module, rows) if self.parts else rows
            write(path, self.module, rows_here, driver)
        draw(path.with_suffix(".png"), self.module.plot, rows_here, driver.say)


def plan(driver, questions, fresh):
    """{question: what it will run}"""
    for question in questions:
        driver.begin(question.name)
        cases = driver.plan(lambda plan, ask=question.measure: ask(plan, lambda text: None))
        if fresh:
            driver.forget()
        driver.progress.left |= cases
        yield question, cases


def main():
    names = sys.argv[1:] or QUESTIONS + (DEVICE_QUESTIONS if device() else ())
    unknown = [name for name in names if name.partition(":")[0] not in QUESTIONS + DEVICE_QUESTIONS]
    if unknown:
        raise SystemExit(f"{__doc__}\nquestions: {', '.join(QUESTIONS)}; of a device: {', '.join(DEVICE_QUESTIONS)}")
    with Progress() as progress:
        driver = Cases(progress)
        for question, cases in list(plan(driver, [Question(name) for name in names], os.environ.get("FRESH") == "yes")):
            question.answer(driver)
            progress.drop(cases)
            driver.say(f"-> {report.write(driver.build / 'bench', QUESTIONS + DEVICE_QUESTIONS)}")
        if driver.taken:
            driver.say(f"{driver.taken} of {progress.done} cases had been measured before: FRESH=yes measures all of them")
    if driver.failures:
        raise SystemExit("\n".join(driver.failures))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("Cut off. What was measured is kept: the next run goes on here.") from None
