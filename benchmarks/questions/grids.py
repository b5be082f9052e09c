"""On a GPU: factorization and solution for every g and l, Figures 5.5 and 5.6 of de Jong et al. 2017."""
QUESTION = "On a GPU, how do the times of factorization and solution depend on the levels l and the r1r2b1b2 grids g?"

N = 2047
GRIDS = (0, 1, 2, 3, 4, 5)
LEVELS = (8, 10, 12, 14, 16, 18, 20, 22)


def measure(driver, note):
    rows = []
    for grids in GRIDS:
        note(f"g = {grids}")
        storage = f"-pc_rrb_storage_grids {grids}" if grids else "-pc_rrb_storage naive"
        solvers = {str(levels): f"-ksp_type rrb -pc_rrb_cycle v -pc_rrb_levels {levels} {storage}"
                   for levels in LEVELS if 2 * grids <= levels}
        measured = driver.solved(driver.run(solvers, "-backend", "cuda", "-n", N, "-setups", 1, "-refreshes", 3,
                                            "-solves", 5, "-seconds", 1))
        rows += [{"grids": grids, "levels": int(levels), "iterations": int(row["iterations"]),
                  "factorization_ms": row["refresh_ms"], "solve_ms": row["solve_ms"]} for levels, row in measured.items()]
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    for ax, what in zip(axes, ("factorization_ms", "solve_ms")):
        for grids in GRIDS:
            chosen = [row for row in rows if row["grids"] == grids]
            ax.plot([row["levels"] for row in chosen], [row[what] for row in chosen], "o-", markersize=3, label=f"g = {grids}")
        ax.set(yscale="log", xlabel="levels l", ylabel="ms",
               title="factorization with new values" if what == "factorization_ms" else "solve, natural norm 1e-6")
    axes[0].legend()
