"""Time of one application per unknown, from small grids to large ones."""

QUESTION = "Is the time of one application per unknown the same from 255 x 255 to 4095 x 4095 unknowns?"

SIZES = (31, 63, 127, 255, 511, 1023, 2047, 4095)


def measure(driver, note):
    rows = []
    for n in SIZES:
        note(f"n = {n}")
        solvers = {"one": "-pc_type rrb -pc_rrb_cycle v -threads 1", "all": "-pc_type rrb -pc_rrb_cycle v"}
        measured = driver.solved(driver.run(solvers, "-n", n, "-setups", 1, "-refreshes", 3, "-solves", 3, "-applies", 40))
        for row in measured.values():
            rows.append({"n": n, "threads": int(row["threads"]), "iterations": int(row["iterations"]),
                         "apply_ms": row["apply_ms"], "apply_ns_per_unknown": round(1e6 * row["apply_ms"] / n**2, 3),
                         "refresh_ns_per_unknown": round(1e6 * row["refresh_ms"] / n**2, 3),
                         "solve_ns_per_unknown": round(1e6 * row["solve_ms"] / n**2, 2)})
    return rows


def plot(rows, figure):
    ax = figure.subplots()
    for threads in sorted({row["threads"] for row in rows}):
        chosen = [row for row in rows if row["threads"] == threads]
        ax.loglog([row["n"] for row in chosen], [row["apply_ns_per_unknown"] for row in chosen], "o-", base=2,
                  label=f"{threads} thread" + "s" * (threads > 1))
    ax.set(xlabel="unknowns a side", ylabel="one application, ns per unknown")
    ax.legend()
