"""The RRB-solver against algebraic multigrid, PFMG and PCMG, on the host and on a GPU where there is one: Table 5.3 of de Jong et al. 2017."""
import papers
import peers
from driver import device

QUESTION = "How do the RRB-solver with 12 levels and other multigrid methods compare, from 63 x 63 to 2047 x 2047 unknowns?"

SOLVERS = {
    "rrb": "-ksp_type rrb -pc_rrb_cycle v -pc_rrb_levels 12",
    "gamg": f"{peers.GAMG} -threads 1",
    "boomeramg": f"{peers.BOOMERAMG} -threads 1",
    "pfmg": "-ksp_type pfmg -threads 1",
}
NAMES = (*SOLVERS, "boomeramg, tuned", "pcmg")
PAPER = {"rrb": papers.RRB_SOLVER, "gamg": papers.AMG}


def measure(driver, note):
    rows = []
    for backend in ("host", "cuda") if device() else ("host",):
        for n in papers.RRB_SOLVER:
            note(f"n = {n}, {backend}")
            measured = solve(driver, backend, n, SOLVERS | {"boomeramg, tuned": f"{peers.tuned(2, backend)} -threads 1"})
            measured |= solve(driver, backend, n + 2, {"pcmg": f"{peers.pcmg(n + 2)} -threads 1"})
            for name, row in measured.items():
                paper = [1000 * value for value in PAPER.get(name, {}).get(n, ())]
                rows.append({"backend": backend, "n": int(row["n"]), "solver": name, "iterations": int(row["iterations"]),
                             "setup_ms": row["setup_ms"], "solve_ms": row["solve_ms"]}
                            | dict(zip(("paper_iterations", "paper_setup_ms", "paper_solve_ms"),
                                       (round(paper[0] / 1000), *paper[1:]) if paper else ("", "", ""))))
    return rows


def solve(driver, backend, n, solvers):
    return driver.solved(driver.run(solvers, "-backend", backend, "-n", n, "-setups", 2, "-refreshes", 0, "-solves", 5, "-seconds", 2))


def plot(rows, figure):
    axes = figure.subplots(1, 3)
    for ax, what in zip(axes, ("iterations", "setup_ms", "solve_ms")):
        for backend, style in (("host", "--"), ("cuda", "-")):
            for index, name in enumerate(NAMES):
                chosen = [row for row in rows if row["backend"] == backend and row["solver"] == name]
                if chosen:
                    ax.plot([row["n"] for row in chosen], [row[what] for row in chosen], style, color=f"C{index}",
                            marker="o", markersize=3, label=f"{name}, {backend}")
        column = ("iterations", "setup_ms", "solve_ms").index(what)
        for name, mark, table in (("RRB-solver", "x", papers.RRB_SOLVER), ("AMG", "+", papers.AMG)):
            ax.plot(list(table), [row[column] * (1000 if column else 1) for row in table.values()], mark, color="black",
                    label=f"the paper's {name}")
        ax.set(xscale="log", xlabel="unknowns a side", title=what.replace("_ms", ", ms"))
        if column:
            ax.set_yscale("log")
    axes[0].legend(fontsize=6)
