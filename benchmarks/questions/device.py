"""On a GPU: set-up, refresh and solve of PCRRB's cycles and precisions beside GAMG, BoomerAMG and PCMG on a DMDA."""

QUESTION = "On a GPU, how long do set-up, refresh, one application and a solve to a true residual of 1e-6 take?"

SIZES = (255, 1023, 2047, 4095)
RRB = {
    "rrb": "-pc_type rrb",
    "rrb, v": "-pc_type rrb -pc_rrb_cycle v",
    "rrb, v, single": "-pc_type rrb -pc_rrb_cycle v -pc_rrb_precision single",
    "rrb, amli, single": "-pc_type rrb -pc_rrb_cycle amli -pc_rrb_precision single",
} | {f"rrb, {cycle}, {levels} levels": f"-pc_type rrb -pc_rrb_cycle {cycle} -pc_rrb_levels {levels}"
     for cycle in ("v", "amli") for levels in (12,)}
AMG = {
    "gamg": "-pc_type gamg",
    "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg",
}
PHASES = ("setup", "refresh", "apply", "solve")


def multigrid(n):
    """PCMG down to 5 x 5 points or so, one Chebyshev-Jacobi step before and after each coarser grid."""
    levels = n.bit_length() - 3
    return {"mg": f"-dmda -pc_type mg -pc_mg_levels {levels} -pc_mg_galerkin both -mg_levels_ksp_type chebyshev "
                  "-mg_levels_ksp_max_it 1 -mg_levels_pc_type jacobi"}


def measure(driver, note):
    rows = []
    for n in SIZES:
        note(f"n = {n}")
        # GAMG's set-up takes more than ten seconds on the largest grid
        rows += compare(driver, RRB | {name: AMG[name] for name in AMG if name != "gamg" or n < 4095}, n)
        rows += compare(driver, multigrid(n + 2), n + 2)  # whose grids are nested: 2^k + 1 points a side
    return rows


def compare(driver, solvers, n):
    measured = driver.solved(driver.run(solvers, "-backend", "cuda", "-n", n, "-norm", "unpreconditioned", "-setups", 2,
                                        "-refreshes", 3, "-applies", 5, "-batch", 20, "-solves", 5, "-seconds", 1))
    return [{"n": n, "solver": name, "iterations": int(row["iterations"]), "residual": row["residual"]}
            | {f"{what}_ms": row[f"{what}_ms"] for what in PHASES} for name, row in measured.items()]


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    names = [name for name in dict.fromkeys(row["solver"] for row in rows) if "levels" not in name]
    for ax, what in zip(axes, ("solve", "refresh")):
        for name in names:
            chosen = [row for row in rows if row["solver"] == name]
            ax.plot([row["n"] for row in chosen], [row[f"{what}_ms"] for row in chosen], "o-", markersize=3, label=name)
        ax.set(xscale="log", yscale="log", xlabel="unknowns a side", ylabel="ms",
               title="solve, true residual 1e-6" if what == "solve" else "refresh with new values")
        ax.set_xticks(SIZES, SIZES, minor=False)
        ax.set_xticks([], minor=True)
    axes[0].legend(fontsize=7)
