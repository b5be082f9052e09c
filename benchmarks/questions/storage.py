"""r1r2b1b2 against naive storage: Figures 5.3 and 5.4 of de Jong et al. 2017, for the preconditioner under KSPCG."""

QUESTION = "What does r1r2b1b2 storage of g grids gain over naive storage, at 2047 x 2047 unknowns?"

N = 2047
LEVELS = (8, 10, 12)
G_MAX = 6  # eq. (3.1) of de Jong and Vuik 2016 for 2047 unknowns and compute blocks of 32


def measure(driver, note):
    rows = []
    for levels in LEVELS:
        note(f"l = {levels}")
        rows += compare(driver, levels)
    return rows


def compare(driver, levels):
    """S1 (naive), S2-g (r1r2b1b2) and S3-g (the same with threads) in one run."""
    rrb = f"-pc_type rrb -pc_rrb_cycle v -pc_rrb_levels {levels}"
    solvers = {"S1": f"{rrb} -pc_rrb_storage naive -threads 1"}
    for grids in sorted({1, 2, 3, min(G_MAX, levels // 2)}):
        solvers[f"S2-{grids}"] = f"{rrb} -pc_rrb_storage_grids {grids} -threads 1"
        solvers[f"S3-{grids}"] = f"{rrb} -pc_rrb_storage_grids {grids}"
    measured = driver.run(solvers, "-n", N, "-setups", 1, "-refreshes", 1, "-solves", 1, "-applies", 7)
    base = measured["S1"]
    return [{"levels": levels, "grids": 0 if name == "S1" else int(name[3:]), "solver": name,
             "threads": int(row["threads"]), "iterations": int(row["iterations"]), "refresh_ms": row["refresh_ms"],
             "apply_ms": row["apply_ms"], "solve_ms": row["solve_ms"],
             "apply_speedup": round(base["apply_ms"] / row["apply_ms"], 3),
             "solve_speedup": round(base["solve_ms"] / row["solve_ms"], 3)}
            for name, row in driver.solved(measured).items()]


def plot(rows, figure):
    axes = figure.subplots(1, 2, sharey=True)
    for ax, what in zip(axes, ("apply", "solve")):
        for kind, style in (("S2", "o-"), ("S3", "s--")):
            for levels in LEVELS:
                chosen = [row for row in rows if row["levels"] == levels and row["solver"].startswith(kind)]
                ax.plot([row["grids"] for row in chosen], [row[f"{what}_speedup"] for row in chosen], style,
                        color=f"C{LEVELS.index(levels)}", label=f"{kind}, l = {levels}")
        ax.axhline(1, color="gray", linewidth=0.8)
        ax.set(xticks=range(1, G_MAX + 1), xlabel="grids g in r1r2b1b2 storage", title="one application" if what == "apply" else "solve with CG")
    axes[0].set_ylabel("times faster than naive storage (S1)")
    axes[0].legend()
