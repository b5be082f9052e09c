"""Condition number and iterations against the number of levels: Figures 5.1 and 5.2 of de Jong et al. 2017."""
from math import ceil, log2

import papers

QUESTION = "How do the condition number and the iterations of the RRB-solver grow with the number of levels l?"

# unknowns a side and the first l: with fewer levels the last block is a large sparse factorization
SIZES = {127: 1, 255: 2, 511: 3, 1023: 4, 2047: 6}


def measure(driver, note):
    rows = []
    for n, first in SIZES.items():
        note(f"n = {n}")
        for levels in range(first, 2 * ceil(log2(n)) + 2):
            solver = {"rrb": f"-ksp_type rrb -pc_rrb_cycle v -pc_rrb_levels {levels}"}
            row = driver.solved(driver.run(solver, "-n", n, "-setups", 1, "-refreshes", 0, "-solves", 1, "-kappa"))["rrb"]
            rows.append({"n": n, "levels": levels, "kappa": row["kappa"], "iterations": int(row["iterations"]),
                         "residual": row["residual"]})
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    for ax, what in zip(axes, ("kappa", "iterations")):
        for n in SIZES:
            chosen = [row for row in rows if row["n"] == n]
            ax.plot([row["levels"] for row in chosen], [row[what] for row in chosen], "o-", markersize=3, label=f"n = {n}")
        ax.set(xlabel="levels l", title="condition number" if what == "kappa" else "iterations, natural norm, 1e-6")
    most = range(2, max(row["levels"] for row in rows) + 1)
    axes[0].plot(most, [papers.kappa_bound(levels) for levels in most], ":", color="gray", label="bound by Notay")
    axes[0].set_ylim(0, 1.2 * max(row["kappa"] for row in rows))
    counts = [papers.RRB_SOLVER[n][0] for n in SIZES]
    axes[1].plot([12] * len(SIZES), counts, "x", color="black", label="Table 5.3 of the paper")
    for ax in axes:
        ax.legend()
