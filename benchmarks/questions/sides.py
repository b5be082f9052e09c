"""On a host, with threads and with ranks: u = 0 on one side or on none, and jumps in 3D. Points are 2^k + 1 a side, for PCMG's grids."""
import os

import peers
from questions import hard

QUESTION = "On a host, on one rank and on several, how do one side with u = 0, none of them, and jumps in 3D go?"

SIDES = {"one side": ("-open", "one"), "no side": ("-open", "none")}
JUMPS = {
    "bubbles 1:1000, one side": ("-problem", "bubbles", "-open", "one"),
    "bubbles 1:1000, no side": ("-problem", "bubbles", "-open", "none"),
    "1 or 1e6, face to face": ("-problem", "jumps"),
    "lognormal": ("-problem", "lognormal"),
    "cells of 1e6": ("-problem", "cells"),
}
CASES = {(513, 513): SIDES, (65, 65, 65): SIDES | JUMPS}
RANKS = (1, 2, 4, 8)
SOLVERS = {"rrb": "-ksp_type rrb", "cg + gridmg": "-pc_type gridmg", "cg + mic": "-pc_type mic", "cg + gamg": peers.GAMG,
           "cg + boomeramg": peers.BOOMERAMG}


def solvers(grid, ranks):
    chosen = SOLVERS | {"cg + boomeramg, tuned": peers.tuned(len(grid))}
    if ranks == 1:
        chosen |= {"cg + pfmg": "-ksp_type pfmg", "cg + mg": peers.pcmg(grid[0])}
    return {name: f"{options} -ksp_max_it {hard.MOST} -ksp_divtol 1e30" for name, options in chosen.items()}


def on(ranks):
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


def measure(driver, note):
    rows = []
    most = max(ranks for ranks in RANKS if ranks <= len(os.sched_getaffinity(0)))
    for grid, problems in CASES.items():
        for problem, options in problems.items():
            for ranks in sorted({1, most}):
                rows += compare(driver, grid, problem, options, ranks, note)
    return rows


def compare(driver, grid, problem, options, ranks, note):
    unknowns = " x ".join(map(str, grid))
    note(f"{unknowns}, {problem}, {on(ranks)}")
    options = ("-grid" if len(grid) == 3 else "-n", ",".join(map(str, grid)), *options, "-setups", 1, "-refreshes", 2, "-solves", 3,
               "-seconds", 2)
    found = driver.run_each(driver.poisson, "norm", ("unpreconditioned",), solvers(grid, ranks), options, ranks)["unpreconditioned"]
    return [{"ranks": ranks} | hard.row_of(problem, unknowns, name, row) for name, row in found.items() if row["status"] != "missing"]


def plot(rows, figure):
    cases = list(dict.fromkeys((row["n"], row["ranks"]) for row in rows))
    names = list(dict.fromkeys(row["solver"] for row in rows))
    figure.set_size_inches(11, 3.6 * -(-len(cases) // 2))
    axes = figure.subplots(-(-len(cases) // 2), 2, squeeze=False, sharex=True)
    for ax, (n, ranks) in zip(axes.flat, cases):
        mine = [row for row in rows if (row["n"], row["ranks"]) == (n, ranks)]
        problems = list(dict.fromkeys(row["problem"] for row in mine))
        for index, name in enumerate(names):
            chosen = [row for row in mine if row["solver"] == name and row["result"] == "solved"]
            ax.barh([problems.index(row["problem"]) + 0.8 * (index / len(names) - 0.5) for row in chosen],
                    [row["refresh_ms"] + row["solve_ms"] for row in chosen], 0.7 / len(names), label=name)
        ax.set_yticks(range(len(problems)), problems, fontsize=7)
        ax.set(xscale="log", xlabel="a refresh and a solve, ms", title=f"{n}, {on(ranks)}")
        ax.invert_yaxis()
    for ax in axes.flat[len(cases):]:
        ax.set_axis_off()
    figure.axes[0].legend(fontsize=6)
