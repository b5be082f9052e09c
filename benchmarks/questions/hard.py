"""Where plain red nodes are weak: anisotropy, jumps, channels, masks, stretched grids; red nodes by support, and others, beside them."""

QUESTION = "How do hard coefficients go with red nodes by support, plain ones, MIC and algebraic multigrid?"

SIZES = (255, 1023)
THREADS = 2
MOST = 500  # iterations
SOLVERS = {"rrb": f"-ksp_type rrb -threads {THREADS}", "rrb, plain": f"-ksp_type rrb -pc_rrb_red_nodes plain -threads {THREADS}",
           "mic": f"-pc_type mic -threads {THREADS}", "gamg": "-pc_type gamg -threads 1",
           "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg -threads 1"}
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
    rows = []
    solvers = {name: f"{options} -ksp_max_it {MOST} -ksp_divtol 1e30" for name, options in SOLVERS.items()}
    for n in SIZES:
        for problem, options in PROBLEMS.items():
            note(f"{problem}, {n} x {n}")
            measured = driver.run(solvers, "-n", n, "-setups", 3, "-refreshes", 3, "-solves", 5, "-seconds", 3, *options,
                                  norm="unpreconditioned")
            rows += [row_of(problem, n, name, row) for name, row in measured.items() if row["status"] != "missing"]
    return rows


def row_of(problem, n, name, row):
    solved = row["status"] == "ok"
    times = {f"{what}_ms": row.get(f"{what}_ms") if solved or what != "solve" else "" for what in PHASES}
    return {"problem": problem, "n": n, "solver": name, "result": "solved" if solved else row["reason"],
            "iterations": int(row["iterations"]) if row["iterations"] is not None else "", "residual": row["residual"]} | times


def plot(rows, figure):
    for n, ax in zip(SIZES, figure.subplots(1, len(SIZES), sharey=True)):
        for index, name in enumerate(SOLVERS):
            chosen = [row for row in rows if (row["solver"], row["n"], row["result"]) == (name, n, "solved")]
            ax.barh([list(PROBLEMS).index(row["problem"]) + 0.16 * (index - 2) for row in chosen],
                    [row["iterations"] for row in chosen], 0.14, label=name)
        ax.set_yticks(range(len(PROBLEMS)), PROBLEMS)
        ax.set(xscale="log", xlim=(1, MOST), title=f"{n} x {n} unknowns", xlabel="iterations of CG to a true residual of 1e-6")
    ax.invert_yaxis()
    ax.legend(fontsize=7)
