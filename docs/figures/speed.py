"""Draws images/speed.svg, of README.md and the site: a refresh and a solve over the number of unknowns, from benchmarks/results."""
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

from tables import read_results  # noqa: E402

IMAGE = ROOT / "docs/images/speed.svg"
RESULTS = {"2D": "solver_device", "3D": "gridmg"}
# solvers by their names in the results; the default cycle of rrb is amli where it was measured
LINES = {"-ksp_type rrb": ("rrb, v", "rrb, amli", "rrb"), "CG with GAMG": ("cg + gamg", "gamg"),
         "CG with BoomerAMG": ("cg + boomeramg", "boomeramg"), "CG with PFMG": ("pfmg",), "CG with PCMG on a DMDA": ("cg + mg",)}
COLORS = dict(zip(LINES, ("#c8102e", "#1f77b4", "#2ca02c", "#9467bd", "#7f7f7f"), strict=True))


def unknowns(row):
    if "n" in row:
        return row["n"] ** 2
    nx, ny, nz = map(int, row["grid"].split("x"))
    return nx * ny * nz


def is_shown(row):
    """Poisson's equation on squares and cubes on a GPU, to the same true residual."""
    shape = set(row.get("grid", "").split("x"))
    return row["problem"] == "poisson" and row.get("test", "true residual") == "true residual" and row.get("backend", "cuda") == "cuda" \
        and len(shape) == 1


def draw(ax, rows):
    for label, names in LINES.items():
        points = {}
        for name in names:
            points |= {unknowns(row): row["refresh_ms"] + row["solve_ms"] for row in rows if row["solver"] == name and is_shown(row)}
        if points:
            ax.plot(*zip(*sorted(points.items()), strict=True), "o-", color=COLORS[label], label=label,
                    linewidth=2.5 if label == "-ksp_type rrb" else 1.3, markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="unknowns", ylabel="ms")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)


def sources():
    """Which results are drawn, for the picture to say."""
    notes = {name: read_results(name)[0] for name in RESULTS.values()}
    return "; ".join(f"{name} of {of['date']}, {of['commit']}" for name, of in notes.items())


def write():
    plt.rcParams["svg.hashsalt"] = "petscrrb"
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
    for ax, (title, name) in zip(axes, RESULTS.items(), strict=True):
        notes, rows = read_results(name)
        draw(ax, rows)
        ax.set_title(f"{title}, Poisson: a refresh and a solve on one {notes['device']}", fontsize=10)
    figure.savefig(IMAGE, metadata={"Date": None, "Description": sources()})
    plt.close(figure)


if __name__ == "__main__":
    write()
