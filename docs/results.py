"""Writes a table and a plot for every CSV in benchmarks/results, for benchmarks.md to show."""
import importlib

from tables import read_table, shown


def table(notes, rows):
    heads = [key.replace("_", " ") for key in rows[0]]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(shown(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines) + "\n\n" + "; ".join(notes[1:]) + "\n"


def write(benchmarks, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((benchmarks / "questions").glob("[a-z]*.py")):
        question = importlib.import_module(f"questions.{path.stem}")
        results = benchmarks / "results" / f"{path.stem}.csv"
        text = f"*{question.QUESTION}*\n\n`make bench ARGS={path.stem}` answers it.\n\n"
        if results.is_file():
            notes, rows = read_table(results)
            figure = plt.figure(figsize=(9, 4), layout="constrained")
            question.plot(rows, figure)
            figure.savefig(folder / f"{path.stem}.png", dpi=100)
            plt.close(figure)
            text += f"![{question.QUESTION}](generated/results/{path.stem}.png)\n\n{table(notes, rows)}"
        (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")
