"""On a GPU: one application of PCRRB against the size of the grid, and the part of a copy's bandwidth that it reaches."""

QUESTION = "On a GPU, how long does one application take from 32 x 32 to 8191 x 8191 unknowns, at which bandwidth?"

SIZES = (32, 63, 127, 255, 511, 1023, 2047, 4095, 8191)
SOLVERS = {
    ("v", "double"): "-pc_type rrb -pc_rrb_cycle v",
    ("v", "single"): "-pc_type rrb -pc_rrb_cycle v -pc_rrb_precision single",
    ("amli", "double"): "-pc_type rrb -pc_rrb_cycle amli",
    ("amli", "single"): "-pc_type rrb -pc_rrb_cycle amli -pc_rrb_precision single",
}


def bytes_per_unknown(precision):
    """What the V cycle must move, as docs/devices.md counts it: the finest grid, and a third of a coarser grid's bytes."""
    entry = 8 if precision == "double" else 4
    couplings, pivots = 3 * entry, 0.75 * entry
    forward = 8 + couplings + 2 + 2
    backward = couplings + pivots + 8 + 2 + 2 + 8
    coarser = 2 * couplings + pivots + 28
    return forward + backward + coarser / 3


def measure(driver, note):
    rows = []
    for n in SIZES:
        note(f"n = {n}")
        solvers = {", ".join(key): options for key, options in SOLVERS.items()}
        measured = driver.solved(driver.run(solvers, "-backend", "cuda", "-n", n, "-setups", 1, "-refreshes", 0, "-solves", 0,
                                            "-applies", 21, "-batch", 20, "-copies", 11))
        for (cycle, precision), row in zip(SOLVERS, measured.values()):
            count = bytes_per_unknown(precision) if cycle == "v" else None  # amli: how often depends on the grid
            rate = count and count * n * n / row["apply_ms"] * 1e-6
            rows.append({"n": n, "cycle": cycle, "precision": precision, "apply_us": round(1000 * row["apply_ms"], 2),
                         "bytes_per_unknown": count and round(count, 1), "gb_per_s": rate and round(rate, 1),
                         "copy_gb_per_s": driver.copy_rate, "of_copy": rate and round(rate / driver.copy_rate, 3)})
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    for cycle, precision in SOLVERS:
        chosen = [row for row in rows if (row["cycle"], row["precision"]) == (cycle, precision)]
        sizes = [row["n"] for row in chosen]
        axes[0].plot(sizes, [row["apply_us"] for row in chosen], "o-", markersize=3, label=f"{cycle}, {precision}")
        if cycle == "v":
            axes[1].plot(sizes, [row["gb_per_s"] for row in chosen], "o-", markersize=3, label=f"{cycle}, {precision}")
    axes[1].axhline(max(row["copy_gb_per_s"] for row in rows), color="gray", linewidth=0.8, label="copy of a vector")
    axes[0].set(xscale="log", yscale="log", xlabel="unknowns a side", ylabel="us", title="one application")
    axes[1].set(xscale="log", xlabel="unknowns a side", ylabel="GB/s", title="bytes that must move, a second")
    for ax in axes:
        ax.legend()
