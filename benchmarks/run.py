"""What `make bench` runs, one question each; those of a device only where there is one, or when named. Results go to benchmarks/results/, plots to BUILD/plots/.

usage: run.py [QUESTION ...]

A question that has parts takes some of them as QUESTION:PART,PART=SIZE; its answers to other parts and problems stay as they are.
"""
import csv
import datetime
import importlib
import os
import sys
from pathlib import Path

from driver import Driver, commit, device, processor
from tables import read_table

QUESTIONS = ("solver_host", "storage", "multigrid", "threads", "scaling", "levels", "hard", "two_phase", "deflation",
             "mic_solve", "gridmg", "heat", "block_sizes", "block_threads", "smoother")
DEVICE_QUESTIONS = ("solver_device", "hard_devices", "grids", "odd_levels", "solver_breakdown", "curve", "breakdown", "deflation_breakdown",
                    "neumann_bandwidth", "mic_sweeps", "block_sweeps", "exchange",
                    "scaling_devices", "solid_devices", "values_devices")
RESULTS = Path(__file__).resolve().parent / "results"


def note(text):
    print(f"  {text}", flush=True)


def write(name, question, rows, driver, load):
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    machine = processor() + (f"\n# device: {device()}" if device() else "")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# {question}\n# date: {datetime.date.today()}\n# machine: {machine}\n"
                   f"# load by other programs: {load:.1f}\n# PETSc: {driver.petsc}\n# commit: {commit()}\n")
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    note(f"-> {path}")


def with_others(name, question, rows):
    """The rows, and those in the file that are of other parts or problems."""
    path, known = RESULTS / f"{name}.csv", {(row["part"], row["problem"]) for row in rows}
    if path.is_file():
        rows = rows + [row for row in read_table(path)[1]
                       if set(row) == set(rows[0]) and (row["part"], row["problem"]) not in known]
    return sorted(rows, key=lambda row: question.PARTS.index(row["part"]))


def draw(name, plot, rows, folder):
    try:
        import matplotlib
    except ImportError:
        note("no plot: Python has no matplotlib (pip install matplotlib)")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    figure = plt.figure(figsize=(9, 4), layout="constrained")
    plot(rows, figure)
    figure.savefig(folder / f"{name}.png", dpi=100)
    plt.close(figure)
    note(f"-> {folder / name}.png")


def main():
    names = sys.argv[1:] or QUESTIONS + (DEVICE_QUESTIONS if device() else ())
    unknown = [name for name in names if name.partition(":")[0] not in QUESTIONS + DEVICE_QUESTIONS]
    if unknown:
        raise SystemExit(f"{__doc__}\nquestions: {', '.join(QUESTIONS)}; of a device: {', '.join(DEVICE_QUESTIONS)}")
    driver = Driver()
    load = os.getloadavg()[0]  # now, before our own work counts
    for name, _, parts in (name.partition(":") for name in names):
        question = importlib.import_module(f"questions.{name}")
        print(f"{name}: {question.QUESTION}", flush=True)
        rows = question.measure(driver, note, *(parts.split(",") if parts else []))
        if not rows:
            continue  # the driver's failures say why
        if parts:
            rows = with_others(name, question, rows)
        write(name, question.QUESTION, rows, driver, load)
        draw(name, question.plot, rows, driver.build / "plots")
    if driver.failures:
        raise SystemExit("\n".join(driver.failures))


if __name__ == "__main__":
    main()
