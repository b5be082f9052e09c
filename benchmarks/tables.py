"""Reads the tables in benchmarks/results."""
import csv
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def read_results(name):
    """Of results/NAME.csv, the notes and the rows."""
    lines, rows = read_table(RESULTS / f"{name}.csv")
    return notes_of(lines), rows


def read_table(path):
    """(comment lines, rows) of a CSV, with numbers as numbers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [line[2:] for line in lines if line.startswith("# ")], [{key: number(text) for key, text in row.items()} for row in rows]


def notes_of(lines):
    """Of the comment lines, {date, machine, device, ...: what it was}."""
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def shown(value):
    """As tables for people have it."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.4g}"
