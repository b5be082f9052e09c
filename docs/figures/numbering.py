"""Draws the RRB numbering of an 8 x 8 grid (Figure 2.1 of de Jong et al. 2017), its levels, and r1/r2/b1/b2."""
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SIZE = 8
LEVELS = 7  # 2 ceil(log2 8) + 1


def red_level(i, j):
    """The level that eliminates node (i, j); none eliminates (0, 0), which is left at the end."""
    for level in range(1, LEVELS + 1):
        s = 2 ** ((level - 1) // 2)
        odd = (i // s + j // s) % 2 if level % 2 else (j // s) % 2
        if odd:
            return level
    return LEVELS + 1


def order():
    """Position of every node in the elimination, from 1 on: level by level, row by row inside a level."""
    nodes = sorted(((i, j) for i in range(SIZE) for j in range(SIZE)), key=lambda p: (red_level(*p), p[1], p[0]))
    return {node: place for place, node in enumerate(nodes, start=1)}


def square(ax, i, j, color, text="", size=9, dark=False):
    ax.add_patch(plt.Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor=color, edgecolor="black", linewidth=0.6))
    ax.text(i, j, text, ha="center", va="center", fontsize=size, color="white" if dark else "black")


def frame(ax, title):
    ax.set(xlim=(-0.6, SIZE - 0.4), ylim=(-0.6, SIZE - 0.4), aspect="equal", title=title)
    ax.set_axis_off()


def draw_numbering(path):
    figure, ax = plt.subplots(figsize=(5.2, 5.4), layout="constrained")
    for (i, j), place in order().items():
        square(ax, i, j, "white" if red_level(i, j) == 1 else "lightgray", str(place), 11)
    frame(ax, "")
    figure.savefig(path)
    plt.close(figure)


def draw_levels(path):
    """Red nodes of a level in red, black ones dark, those that are gone blank."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 6.8), layout="constrained")
    for level, ax in enumerate(axes.flat, start=1):
        for i in range(SIZE):
            for j in range(SIZE):
                gone = red_level(i, j) < level
                color = "white" if gone else "#d62728" if red_level(i, j) == level else "#333333"
                square(ax, i, j, color)
        frame(ax, f"level {level}")
    figure.savefig(path)
    plt.close(figure)


def draw_storage(path):
    """The four classes of two grids; b2 of one grid is the whole next one."""
    names = {(0, 0): "b2", (1, 0): "r1", (0, 1): "r2", (1, 1): "b1"}
    colors = {"b2": "#4c72b0", "b1": "#9db8e0", "r1": "#f2b6a0", "r2": "#f6d5a8"}
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 5), layout="constrained")
    for grid, ax in enumerate(axes):
        s = 2**grid
        for i in range(SIZE):
            for j in range(SIZE):
                if i % s or j % s:
                    square(ax, i, j, "white")
                else:
                    name = names[i // s % 2, j // s % 2]
                    square(ax, i, j, colors[name], name, 10, name == "b2")
        frame(ax, f"grid {grid}: levels {2 * grid + 1} and {2 * grid + 2}")
    figure.savefig(path)
    plt.close(figure)


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "petscrrb"
    draw_numbering(folder / "numbering.svg")
    draw_levels(folder / "levels.svg")
    draw_storage(folder / "storage.svg")


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent / "generated" / "figures")
