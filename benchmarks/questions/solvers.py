"""Set-up, refresh and solve against PETSc's GAMG and hypre's BoomerAMG through the same KSPCG."""

QUESTION = "How do set-up, refresh and solve compare with GAMG and BoomerAMG (their defaults) under the same CG?"

SIZES = (511, 2047)
NORMS = ("natural", "unpreconditioned")
SOLVERS = {
    "rrb": "-pc_type rrb",
    "rrb, v": "-pc_type rrb -pc_rrb_cycle v",
    "rrb, one thread": "-pc_type rrb -threads 1",
    "rrb, 8 levels": "-pc_type rrb -pc_rrb_levels 8",
    "gamg": "-pc_type gamg -threads 1",
    "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg -threads 1",
}


def measure(driver, note):
    rows = []
    for n in SIZES:
        for norm in NORMS:
            note(f"n = {n}, {norm} norm")
            measured = driver.solved(driver.run(SOLVERS, "-n", n, "-norm", norm, "-setups", 2, "-refreshes", 2, "-solves", 3,
                                                "-seconds", 30))
            base = measured["rrb"]
            for name, row in measured.items():
                rows.append({"n": n, "norm": norm, "solver": name, "threads": int(row["threads"]),
                             "iterations": int(row["iterations"]), "residual": row["residual"]}
                            | {f"{what}_ms": row[f"{what}_ms"] for what in ("setup", "refresh", "solve")}
                            | {f"{what}_ratio": round(row[f"{what}_ms"] / base[f"{what}_ms"], 3)
                               for what in ("setup", "refresh", "solve")})
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, len(SIZES))
    for ax, n in zip(axes, SIZES):
        chosen = [row for row in rows if row["n"] == n and row["norm"] == "unpreconditioned"]
        for index, what in enumerate(("setup", "refresh", "solve")):
            ax.bar([at + 0.27 * (index - 1) for at in range(len(chosen))], [row[f"{what}_ms"] for row in chosen], 0.25,
                   label=what)
        ax.set_xticks(range(len(chosen)), [row["solver"].replace(", ", "\n") for row in chosen])
        ax.set(yscale="log", ylabel="ms", title=f"{n} x {n} unknowns, true residual 1e-6")
    axes[0].legend()
