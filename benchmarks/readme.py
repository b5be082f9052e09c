"""Writes the measured table of README.md from results/solvers.csv."""
import csv
from pathlib import Path

HERE = Path(__file__).resolve().parent
BEGIN, END = (f"<!-- {word} of what benchmarks/readme.py writes -->\n" for word in ("begin", "end"))


def ms(text):
    value = float(text)
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def table(lines):
    notes = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    out = ["Poisson's equation, CG until the true relative residual is 1e-6, every preconditioner with its defaults, in "
           "milliseconds:", "",
           "| unknowns | preconditioner | set-up | refresh with new values | solve | iterations |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["norm"] == "unpreconditioned":
            out.append(f"| {row['n']} x {row['n']} | {row['solver']} | {ms(row['setup_ms'])} | {ms(row['refresh_ms'])} | "
                       f"{ms(row['solve_ms'])} | {row['iterations']} |")
    return "\n".join(out + ["", f"{notes['machine']}, load by other programs {notes['load by other programs']}; "
                      f"PETSc {notes['PETSc']}; {notes['date']}, commit {notes['commit']}. "
                                "GAMG and BoomerAMG ran on one thread."]) + "\n"


def main():
    readme = HERE.parent / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    lines = (HERE / "results/solvers.csv").read_text(encoding="utf-8").splitlines()
    readme.write_text(before + BEGIN + table(lines) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
