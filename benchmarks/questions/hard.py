"""Where RRB is weak: anisotropy and random jumps, with the iterations of others beside."""

QUESTION = "How many iterations do hard coefficients take?"

N = 255
SOLVERS = {"rrb": "-pc_type rrb -pc_rrb_cycle v", "gamg": "-pc_type gamg -threads 1",
           "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg -threads 1", "icc": "-pc_type icc -threads 1"}
PROBLEMS = {
    "constant": ("-problem", "poisson"),
    "smooth, contrast 1e3": ("-problem", "variable"),
    "10:1 in x": ("-anisotropy", 10),
    "100:1 in x": ("-anisotropy", 100),
    "1000:1 in x": ("-anisotropy", 1000),
    "1 or 1e6, face to face": ("-problem", "jumps"),
}


def measure(driver, note):
    rows = []
    for problem, options in PROBLEMS.items():
        note(problem)
        measured = driver.run(SOLVERS, "-n", N, "-setups", 1, "-refreshes", 0, "-solves", 1, *options,
                              norm="unpreconditioned")
        for name, row in measured.items():
            if row["status"] == "missing":
                continue
            solved = row["status"] == "ok"
            rows.append({"problem": problem, "n": N, "solver": name, "result": "solved" if solved else row["reason"],
                         "iterations": int(row["iterations"]) if row["iterations"] is not None else "",
                         "residual": row["residual"]})
    return rows


def plot(rows, figure):
    ax = figure.subplots()
    for index, name in enumerate(SOLVERS):
        chosen = [row for row in rows if row["solver"] == name and row["result"] == "solved"]
        ax.barh([list(PROBLEMS).index(row["problem"]) + 0.2 * (index - 1.5) for row in chosen],
                [row["iterations"] for row in chosen], 0.18, label=name)
    ax.set_yticks(range(len(PROBLEMS)), PROBLEMS)
    ax.invert_yaxis()
    ax.set(xscale="log", xlim=(1, None), xlabel=f"iterations of CG to a true residual of 1e-6, {N} x {N} unknowns")
    ax.legend()
