"""Where plain red nodes are weak: anisotropy, jumps, channels, masks, stretched grids; red nodes by support, and others, beside them.

PCMG has grids of two more unknowns a side, 2^k + 1, which are nested.
"""
import peers

QUESTION = "How do hard coefficients go with red nodes by support, plain ones, MIC and multigrid?"

SIZES = (255, 1023)
THREADS = 2
MOST = 500  # iterations
RTOL = 1e-6
SOLVERS = {"rrb": f"-ksp_type rrb -threads {THREADS}", "rrb, plain": f"-ksp_type rrb -pc_rrb_red_nodes plain -threads {THREADS}",
           "mic": f"-pc_type mic -threads {THREADS}", "pfmg": "-ksp_type pfmg -threads 1", "gamg": f"{peers.GAMG} -threads 1",
           "boomeramg": f"{peers.BOOMERAMG} -threads 1", "boomeramg, tuned": f"{peers.tuned(2)} -threads 1"}
SMOOTHERS = {"pcmg, sor": "-mg_levels_ksp_type richardson -mg_levels_pc_type sor -threads 1",
             "pcmg, ilu": "-mg_levels_ksp_type richardson -mg_levels_pc_type ilu -threads 1",
             "pcmg, jacobi": f"{peers.CHEBYSHEV} -threads 1"}
PROBLEMS = {
    "constant": ("-problem", "poisson"),
    "10:1 in x": ("-anisotropy", 10),
    "100:1 in x": ("-anisotropy", 100),
    "1000:1 in x": ("-anisotropy", 1000),
    "stretched to 1000": ("-problem", "stretched"),
    "1 or 1e6, face to face": ("-problem", "jumps"),
    "lognormal": ("-problem", "lognormal"),
    "cells of 1e6": ("-problem", "cells"),
    "channels of 1e4": ("-problem", "channels"),
    "mask": ("-problem", "mask"),
}
PHASES = ("setup", "refresh", "solve")


def measure(driver, note):
    return compare_all(driver, note, SIZES, SOLVERS, SMOOTHERS, "-setups", 3, "-refreshes", 3, "-solves", 5, "-seconds", 3)


def compare_all(driver, note, sizes, solvers, smoothers, *options):
    rows = []
    for n in sizes:
        for problem in PROBLEMS:
            note(f"{problem}, {n} x {n}")
            rows += compare(driver, solvers, problem, n, *options)
            rows += compare(driver, {name: peers.pcmg(n + 2, text) for name, text in smoothers.items()}, problem, n + 2, *options)
    return rows


def compare(driver, solvers, problem, n, *options):
    limited = {name: f"{those} -ksp_max_it {MOST} -ksp_divtol 1e30" for name, those in solvers.items()}
    measured = driver.run(limited, "-n", n, *PROBLEMS[problem], *options, norm="unpreconditioned")
    return [row_of(problem, n, name, row) for name, row in measured.items() if row["status"] != "missing"]


def row_of(problem, n, name, row):
    stops = row["status"] == "ok"
    solved = stops and row["residual"] < 10 * RTOL  # a matrix with coefficients of 1e6 has no smaller one
    times = {f"{what}_ms": row.get(f"{what}_ms") if solved or what != "solve" else "" for what in PHASES}
    return {"problem": problem, "n": n, "solver": name, "result": "solved" if solved else "not solved" if stops else row["reason"],
            "iterations": int(row["iterations"]) if row["iterations"] is not None else "", "residual": row["residual"]} | times


def plot(rows, figure):
    draw(rows, figure, SIZES, SOLVERS | SMOOTHERS)


def draw(rows, figure, sizes, solvers):
    for n, ax in zip(sizes, figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]):
        for index, name in enumerate(solvers):
            chosen = [row for row in rows if row["solver"] == name and row["n"] - n in (0, 2) and row["result"] == "solved"]
            ax.barh([list(PROBLEMS).index(row["problem"]) + 0.8 * (index / len(solvers) - 0.5) for row in chosen],
                    [row["iterations"] for row in chosen], 0.7 / len(solvers), label=name)
        ax.set_yticks(range(len(PROBLEMS)), PROBLEMS)
        ax.set(xscale="log", xlim=(1, MOST), title=f"{n} x {n} unknowns", xlabel="iterations of CG to a true residual of 1e-6")
    ax.invert_yaxis()
    ax.legend(fontsize=7)
