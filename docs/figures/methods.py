"""Draws one picture for each type's page: what it eliminates, sweeps, coarsens, relaxes or deflates."""
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

RED, BLACK, PALE, BLUE, GREY = "#d62728", "#333333", "#f3d5cf", "#4c72b0", "#dddddd"
PASTELS = ("#9db8e0", "#f6d5a8", "#b5d6b2", "#e3b7d2", "#d9d9d9", "#f2b6a0")


def panels(number, width, height):
    figure, axes = plt.subplots(1, number, figsize=(width, height), layout="constrained", squeeze=False)
    for ax in axes[0]:
        ax.set_aspect("equal")
        ax.set_axis_off()
    return figure, axes[0]


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def cells(ax, nx, ny, color, text=lambda i, j: ""):
    for i in range(nx):
        for j in range(ny):
            ax.add_patch(plt.Rectangle((i - 0.5, j - 0.5), 1, 1, facecolor=color(i, j), edgecolor="white", linewidth=0.8))
            ax.text(i, j, text(i, j), ha="center", va="center", fontsize=7)
    ax.set(xlim=(-0.6, nx - 0.4), ylim=(-0.6, ny - 0.4))


def stencil(ax, at, to, color):
    for p in to:
        ax.plot(*zip(at, p, strict=True), color=color, linewidth=2, zorder=3)
        ax.plot(*p, "o", color=color, markersize=5, zorder=4)
    ax.plot(*at, "o", color=color, markersize=8, zorder=4)


def draw_ksprrb(folder):
    """The 5-point matrix on red and black points, and the 9-point Schur complement on black ones alone."""
    figure, (left, right) = panels(2, 8, 4)
    cells(left, 7, 7, lambda i, j: PALE if (i + j) % 2 else GREY)
    stencil(left, (3, 3), [(2, 3), (4, 3), (3, 2), (3, 4)], BLACK)
    left.set_title("A: five points, red and black")
    cells(right, 7, 7, lambda i, j: "white" if (i + j) % 2 else GREY)
    stencil(right, (3, 3), [(3 + a, 3 + b) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1), (2, 0), (-2, 0), (0, 2), (0, -2))], BLACK)
    right.set_title("$S_1$: nine points, on black points alone")
    save(figure, folder, "ksprrb")


def draw_pcmic(folder):
    """Points that can be solved at once, and threads that follow each other through tiles."""
    figure, (left, right) = panels(2, 8, 4)
    shade = plt.get_cmap("viridis")
    cells(left, 8, 8, lambda i, j: shade(0.35 + (i + j) / 24), lambda i, j: str(i + j + 1))
    left.set_title("steps of a wavefront, point by point")
    cells(right, 8, 4, lambda i, j: shade(0.35 + (i + j) / 18), lambda i, j: str(i + j + 1))
    for j in range(4):
        right.annotate(f"thread {j}", (-0.7, j), ha="right", va="center", fontsize=9)
        right.annotate("", (7.4, j - 0.3), (-0.4, j - 0.3), arrowprops={"arrowstyle": "->", "color": "white"})
    right.set_xlim(-2.6, 7.6)
    right.set_title("steps of the pipeline, tile by tile")
    save(figure, folder, "pcmic")


def grid_lines(ax, nx, ny, title):
    for i in range(nx + 1):
        ax.plot((i / nx, i / nx), (0, 1), color=BLACK, linewidth=0.7)
    for j in range(ny + 1):
        ax.plot((0, 1), (j / ny, j / ny), color=BLACK, linewidth=0.7)
    ax.set_title(title, fontsize=9)


def draw_pcgridmg(folder):
    """The grids of equal couplings and of strong couplings in y, and how each is smoothed."""
    figure, axes = plt.subplots(2, 4, figsize=(9.6, 5), layout="constrained")
    for ax in axes.flat:
        ax.set_aspect("equal")
        ax.set_axis_off()
    for k, ax in enumerate(axes[0, :3]):
        grid_lines(ax, 16 >> k, 16 >> k, "couplings alike: both directions" if k == 0 else f"grid {k}")
    for k, ax in enumerate(axes[1, :3]):
        grid_lines(ax, 16, 16 >> k, "strong in y: that direction alone" if k == 0 else f"grid {k}")
    cells(axes[0, 3], 8, 8, lambda i, j: RED if (i + j) % 2 == 0 else BLACK)
    axes[0, 3].set_title("red-black points", fontsize=9)
    cells(axes[1, 3], 8, 8, lambda i, j: RED if i % 2 == 0 else BLACK)
    axes[1, 3].set_title("zebra lines", fontsize=9)
    save(figure, folder, "pcgridmg")


def draw_pcblockrelax(folder):
    """Blocks of 4 x 4 on 14 x 14 cells, in two colours, and what a block sees."""
    figure, axes = panels(3, 9.6, 3.5)
    seen = {"jacobi: all see the old vector": lambda a, b: GREY,
            "coloured: red first, then black": lambda a, b: PALE if (a + b) % 2 == 0 else "#a8a8a8",
            "chaotic: others as they happen to be": lambda a, b: PASTELS[(5 * a + 3 * b) % 6]}
    for ax, (title, color) in zip(axes, seen.items(), strict=True):
        cells(ax, 14, 14, lambda i, j, color=color: color(i // 4, j // 4))
        for a in range(4):
            for b in range(4):
                ax.add_patch(plt.Rectangle((4 * a - 0.5, 4 * b - 0.5), min(4, 14 - 4 * a), min(4, 14 - 4 * b), fill=False, linewidth=1.8))
        ax.set_title(title, fontsize=9)
    save(figure, folder, "pcblockrelax")


def draw_pcneumann(folder):
    """Which points an application reads: those that the terms of K^T K reach."""
    figure, axes = panels(3, 9.6, 3.5)
    for k, ax in enumerate(axes):
        lower = {(0, 0)}
        for _ in range(k):
            lower |= {(i - a, j - b) for i, j in lower for a, b in ((1, 0), (0, 1))}
        reached = {(i - a, j - b) for i, j in lower for a, b in lower}
        cells(ax, 9, 9, lambda i, j, lower=lower, reached=reached: BLUE if (i, j) == (4, 4) else "#9db8e0" if (i - 4, j - 4) in lower
              else "#dbe5f4" if (i - 4, j - 4) in reached else "#f5f5f5")
        ax.set_title(("no term: Jacobi", "1 term", "2 terms (default)")[k], fontsize=10)
    save(figure, folder, "pcneumann")


def phase(i, j):
    """Number of the bubble that a cell is in, 0 outside."""
    bubbles = ((4, 11, 2.6), (11, 4, 3.1), (11, 12, 1.9))
    return next((k for k, (x, y, r) in enumerate(bubbles, 1) if (i - x) ** 2 + (j - y) ** 2 < r * r), 0)


def draw_deflation(folder):
    """The subdomains on 16 x 16 cells with three bubbles."""
    figure, axes = panels(4, 12, 3.4)
    kinds = {"stripe": lambda i, j: 2 * (j % 3) + i // 8, "block": lambda i, j: (i // 4) % 2 + 2 * ((j // 4) % 2),
             "levelset": lambda i, j: phase(i, j), "levelset, cut by blocks": lambda i, j: 4 + phase(i, j) % 2 if phase(i, j) else (i // 8) + 2 * (j // 8)}
    for ax, (title, number) in zip(axes, kinds.items(), strict=True):
        cells(ax, 16, 16, lambda i, j, number=number: PASTELS[number(i, j) % 6])
        for x, y, r in ((4, 11, 2.6), (11, 4, 3.1), (11, 12, 1.9)):
            ax.add_patch(plt.Circle((x, y), r, fill=False, linewidth=1.4))
        ax.set_title(title)
    save(figure, folder, "deflation")


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "petscrrb"
    for draw in (draw_ksprrb, draw_pcmic, draw_pcgridmg, draw_pcblockrelax, draw_pcneumann, draw_deflation):
        draw(folder)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent / "generated" / "figures")
