"""Where RRB is weak: anisotropy and random jumps, with the iterations of others beside."""

QUESTION = "How many iterations do hard coefficients take?"

N = 255
SOLVERS = {"rrb": "-ksp_type rrb", "mic": "-pc_type mic", "gamg": "-pc_type gamg",
           "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg", "icc": "-pc_type icc"}
PROBLEMS = {
    "constant": ("-problem", "poisson"),
    "smooth, contrast 1e3": ("-problem", "variable"),
    "10:1 in x": ("-anisotropy", 10),
    "30:1 in x": ("-anisotropy", 30),
    "100:1 in x": ("-anisotropy", 100),
    "1000:1 in x": ("-anisotropy", 1000),
    "1 or 1e6, face to face": ("-problem", "jumps"),
}
LARGE = ("10:1 in x", "30:1 in x", "100:1 in x", "1000:1 in x")
CASES = [(problem, N) for problem in PROBLEMS] + [(problem, 1023) for problem in LARGE]


def measure(driver, note):
    rows = []
    for problem, n in CASES:
        note(f"{problem}, {n} x {n}")
        measured = driver.run({name: f"{options} -threads 1" for name, options in SOLVERS.items()}, "-n", n, "-setups", 1,
                              "-refreshes", 0, "-solves", 1, *PROBLEMS[problem], norm="unpreconditioned")
        for name, row in measured.items():
            if row["status"] == "missing":
                continue
            solved = row["status"] == "ok"
            rows.append({"problem": problem, "n": n, "solver": name, "result": "solved" if solved else row["reason"],
                         "iterations": int(row["iterations"]) if row["iterations"] is not None else "",
                         "residual": row["residual"]})
    return rows


def plot(rows, figure):
    ax = figure.subplots()
    for index, name in enumerate(SOLVERS):
        chosen = [row for row in rows if (row["solver"], row["n"], row["result"]) == (name, N, "solved")]
        ax.barh([list(PROBLEMS).index(row["problem"]) + 0.16 * (index - 2) for row in chosen],
                [row["iterations"] for row in chosen], 0.14, label=name)
    ax.set_yticks(range(len(PROBLEMS)), PROBLEMS)
    ax.invert_yaxis()
    ax.set(xscale="log", xlim=(1, None), xlabel=f"iterations of CG to a true residual of 1e-6, {N} x {N} unknowns")
    ax.legend()
