"""The RRB-solver beside PETSc's CG with PCRRB, GAMG, PCMG and hypre's BoomerAMG, and hypre's CG with PFMG: set-up, refresh and solve on
the host."""
import peers

QUESTION = "How do set-up, refresh and solve of the RRB-solver compare with CG and PCRRB, GAMG, BoomerAMG, PCMG and PFMG?"

SIZES = (511, 2047)
SOLVERS = {
    "rrb": "-ksp_type rrb",
    "rrb, v": "-ksp_type rrb -pc_rrb_cycle v",
    "rrb, one thread": "-ksp_type rrb -threads 1",
    "cg + rrb": "-pc_type rrb",
    "cg + rrb, v": "-pc_type rrb -pc_rrb_cycle v",
    "cg + rrb, one thread": "-pc_type rrb -threads 1",
    "cg + gamg": f"{peers.GAMG} -threads 1",
    "cg + boomeramg": f"{peers.BOOMERAMG} -threads 1",
    "cg + boomeramg, tuned": f"{peers.tuned(2)} -threads 1",
    "cg + pfmg": "-ksp_type pfmg -threads 1",
}
PHASES = ("setup", "refresh", "solve")


def measure(driver, note):
    rows = []
    for n in SIZES:
        note(f"n = {n}")
        measured = solve(driver, SOLVERS, n)
        nested = solve(driver, {"cg + mg": f"{peers.pcmg(n + 2)} -threads 1"}, n + 2)
        for norm, solved in measured.items():
            solved = driver.solved(solved | nested[norm])
            base = solved["rrb"]
            rows += [{"n": int(row["n"]), "norm": norm, "solver": name, "threads": int(row["threads"]), "levels": number(row["levels"]),
                      "iterations": int(row["iterations"]), "residual": row["residual"]}
                     | {f"{what}_ms": row[f"{what}_ms"] for what in PHASES}
                     | {f"{what}_ratio": round(row[f"{what}_ms"] / base[f"{what}_ms"], 3) for what in PHASES}
                     for name, row in solved.items()]
    return rows


def solve(driver, solvers, n):
    return driver.run_norms(solvers, ("natural", "unpreconditioned"), "-n", n, "-setups", 2, "-refreshes", 3, "-solves", 7, "-seconds", 15)


def number(levels):
    return "" if levels is None else int(levels)


def plot(rows, figure):
    axes = figure.subplots(1, len(SIZES))
    for ax, n in zip(axes, SIZES):
        chosen = [row for row in rows if row["n"] - n in (0, 2) and row["norm"] == "unpreconditioned"]
        for index, what in enumerate(PHASES):
            ax.bar([at + 0.27 * (index - 1) for at in range(len(chosen))], [row[f"{what}_ms"] for row in chosen], 0.25,
                   label=what)
        ax.set_xticks(range(len(chosen)), [row["solver"].replace(", ", "\n").replace(" + ", " +\n") for row in chosen],
                      fontsize=7)
        ax.set(yscale="log", ylabel="ms", title=f"{n} x {n} unknowns, true residual 1e-6")
    axes[0].legend()
