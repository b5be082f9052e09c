"""r1r2b1b2 against naive storage: Figures 5.3 and 5.4 of de Jong et al. 2017."""
import papers
from driver import device

QUESTION = "How long does the RRB-solver take with naive and with r1r2b1b2 storage of g grids, at 2047 x 2047 unknowns?"

N = 2047
LEVELS = (8, 10, 12)
GRIDS = (1, 2, 3)
G_MAX = 6  # eq. (3.1) of de Jong and Vuik 2016 for 2047 unknowns and compute blocks of 32


def measure(driver, note):
    rows = []
    for levels in LEVELS:
        note(f"l = {levels}")
        rows += compare(driver, levels)
    return rows


def compare(driver, levels):
    """S1 (naive), S2-g (r1r2b1b2), S3-g (the same with threads) and, where there is one, S4-g on the device."""
    rrb = f"-ksp_type rrb -pc_rrb_cycle v -pc_rrb_levels {levels}"
    grids = sorted({*GRIDS, min(G_MAX, levels // 2)})
    host = {"S1": f"{rrb} -pc_rrb_storage naive -threads 1"}
    host |= {f"S2-{g}": f"{rrb} -pc_rrb_storage_grids {g} -threads 1" for g in grids}
    host |= {f"S3-{g}": f"{rrb} -pc_rrb_storage_grids {g}" for g in grids}
    counts = ("-n", N, "-setups", 1, "-refreshes", 1, "-solves", 3, "-seconds", 5)
    measured = driver.solved(driver.run(host, *counts))
    if device():
        gpu = {f"S4-{g}": f"{rrb} -pc_rrb_storage_grids {g}" for g in grids}
        measured |= driver.solved(driver.run(gpu, "-backend", "cuda", *counts))
    base = measured["S1"]
    return [{"levels": levels, "grids": int(name[3:] or 0), "solver": name, "threads": int(row["threads"]),
             "iterations": int(row["iterations"])}
            | {f"{what}_{unit}": round(base[f"{what}_ms"] / row[f"{what}_ms"], 3) if unit == "speedup" else row[f"{what}_ms"]
               for what in ("refresh", "solve") for unit in ("ms", "speedup")} for name, row in measured.items()]


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    names = list(dict.fromkeys(row["solver"] for row in rows if row["grids"] in (0, *GRIDS)))
    for ax, what in zip(axes, ("solve_ms", "solve_speedup")):
        for index, levels in enumerate(LEVELS):
            chosen = {row["solver"]: row[what] for row in rows if row["levels"] == levels}
            ax.bar([at + 0.27 * (index - 1) for at in range(len(names))], [chosen[name] for name in names], 0.25,
                   label=f"l = {levels}")
        ax.set_xticks(range(len(names)), names, rotation=60)
        ax.set(yscale="log", title="one solve, ms" if what == "solve_ms" else "times faster than S1")
    paper = {f"{name}-3": speedup for name, speedup in papers.SPEEDUP.items() if f"{name}-3" in names}
    axes[1].plot([names.index(name) + 0.27 for name in paper], list(paper.values()), "x", color="black",
                 label="the paper's, l = 12")
    axes[1].legend()
