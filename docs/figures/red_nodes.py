"""Draws which nodes level 2 eliminates: those of plain RRB, and those chosen by support, on stretched cells and around a mask."""
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from numbering import red_level  # noqa: E402

SIZE = 15
RANGE = range(SIZE)
SOLID = {(i, j) for i in RANGE for j in RANGE if (i * 7 + j * 11 + i * j * 5) % 13 < 3}


def sizes(ratio):
    """Of cells that grow from both sides to the middle."""
    return [ratio ** (min(i, SIZE - 1 - i) / (SIZE // 2 - 1)) for i in RANGE]


def five_points(size, solid):
    """Weights and excesses of finite volumes, 0 on the sides; solid cells have no couplings."""
    weights, excess = {}, {}
    for i in RANGE:
        for j in RANGE:
            if (i, j) in solid:
                continue
            weights[i, j], excess[i, j] = {}, 0
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                p = (i + di, j + dj)
                along, across = (size[i], size[j]) if di else (size[j], size[i])
                if not (p[0] in RANGE and p[1] in RANGE):
                    excess[i, j] += 2 * across / along
                elif p not in solid:
                    weights[i, j][p] = 2 * across / (along + (size[p[0]] if di else size[p[1]]))
    return weights, excess


def eliminate(weights, excess, red):
    """What is left of a level whose red nodes do not couple."""
    left = {p: {q: w for q, w in row.items() if q not in red} for p, row in weights.items() if p not in red}
    e = {p: excess[p] for p in left}
    for r in red:
        pivot = excess[r] + sum(weights[r].values())
        for p, w in weights[r].items():
            e[p] += w / pivot * excess[r]
            for q, v in weights[r].items():
                if p != q:
                    left[p][q] = left[p].get(q, 0) + w * v / pivot
    return left, e


def place(p):
    """In the order of the greedy choice."""
    bits = [1 - (x >> b & 1) for b in range(SIZE.bit_length()) for x in p]
    return red_level(*p), bits


def choose(weights, excess):
    """docs/numerics.md, "Red nodes chosen by support"."""
    red = set()

    def keeps_enough(p):
        lost = sum(w for q, w in weights[p].items() if q in red)
        return lost <= (excess[p] + sum(weights[p].values()) - lost) * (1 + 1e-9)

    def is_supported(p, q):
        paths = [(weights[p][a], weights[q][a]) for a in weights[p] if a in weights[q] and a not in red]
        return weights[p][q] <= 0.7 * sum(u * v / (u + v) for u, v in paths) * (1 + 1e-9)

    for p in sorted(weights, key=place):
        red.add(p)
        near = [q for q in weights[p] if q in red]
        if not all(keeps_enough(q) for q in [p, *near]) or not all(is_supported(p, q) for q in near):
            red.remove(p)
    return red


def draw(ax, size, solid, chosen, title):
    edges = [sum(size[:i]) / sum(size) for i in range(SIZE + 1)]
    weights, excess = five_points(size, solid)
    first = {p for p in weights if red_level(*p) == 1}
    left, e = eliminate(weights, excess, first)
    red = choose(left, e) if chosen else {p for p in left if red_level(*p) == 2}
    for i in RANGE:
        for j in RANGE:
            color = "gray" if (i, j) in solid else "white" if (i, j) in first else "#d62728" if (i, j) in red else "#333333"
            ax.add_patch(plt.Rectangle((edges[i], edges[j]), edges[i + 1] - edges[i], edges[j + 1] - edges[j], facecolor=color,
                                       edgecolor="black", linewidth=0.4))
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", title=f"{title}: {len(red)} of {len(left)}")
    ax.set_axis_off()


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "petscrrb"
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
    draw(axes[0], sizes(10), (), False, "plain")
    draw(axes[1], sizes(10), (), True, "by support")
    draw(axes[2], sizes(1), SOLID, False, "plain")
    draw(axes[3], sizes(1), SOLID, True, "by support")
    figure.savefig(folder / "red_nodes.svg")
    plt.close(figure)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent.parent / "generated" / "figures")
