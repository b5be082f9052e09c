"""On a GPU: what the RRB-solver takes with an odd number of levels, whose last one is half a grid in natural order, and with one
more."""
QUESTION = "On a GPU, how long does the RRB-solver take with an odd number of levels and with one more?"

# unknowns along x and y: the fewest levels with a last block for a device are odd
SIZES = ((300, 300), (1200, 1200), (2600, 2600), (2047, 1023), (5200, 5200), (8191, 4095))
RRB = "-ksp_type rrb"


def measure(driver, note):
    rows = []
    for nx, ny in SIZES:
        note(f"{nx} x {ny}")
        common = ("-backend", "cuda", "-n", f"{nx},{ny}")
        first = solve(driver, {"rrb": RRB}, *common, "-setups", 0, "-refreshes", 0, "-solves", 1)
        if not first:
            continue
        default = int(first["rrb"]["levels"])
        odd = default - 1 + default % 2
        solvers = {f"rrb, {levels} levels": f"{RRB} -pc_rrb_levels {levels}" for levels in (odd, odd + 1)}
        measured = solve(driver, solvers, *common, "-setups", 2, "-refreshes", 3, "-solves", 9, "-seconds", 0.5)
        rows += [line(f"{nx} x {ny}", row) for row in measured.values()]
    return rows


def solve(driver, solvers, *options):
    return driver.solved(driver.run(solvers, *options, norm="unpreconditioned"))


def line(unknowns, row):
    return {"unknowns": unknowns, "levels": int(row["levels"]), "iterations": int(row["iterations"]), "residual": row["residual"],
            "setup_ms": row["setup_ms"], "refresh_ms": row["refresh_ms"], "solve_ms": row["solve_ms"],
            "us_per_iteration": round(1000 * row["solve_ms"] / max(row["iterations"], 1), 2), "device_mb": int(row["device_mb"])}


def plot(rows, figure):
    sizes = list(dict.fromkeys(row["unknowns"] for row in rows))
    for ax, key, title in zip(figure.subplots(1, 2), ("us_per_iteration", "solve_ms"), ("us an iteration", "ms a solve, true residual 1e-6")):
        for shift, odd, label in ((-0.2, 1, "odd"), (0.2, 0, "one more")):
            mine = [row for row in rows if row["levels"] % 2 == odd]
            bars = ax.bar([sizes.index(row["unknowns"]) + shift for row in mine], [row[key] for row in mine], 0.38, label=label)
            ax.bar_label(bars, [row["levels"] for row in mine], fontsize=7)
        ax.set_xticks(range(len(sizes)), sizes, fontsize=6)
        ax.set(yscale="log", xlabel="unknowns; above: levels", title=title)
        ax.legend(fontsize=7)
