"""On a GPU: forward and backward substitution on the grids of Table 1 of the paper of MICPCGA, beside a copy of their bytes,
PETSc's ICC through cuSPARSE, and the host."""
import papers

QUESTION = "On a GPU, how long do the sweeps of incomplete Cholesky take, and how long would their bytes take to copy?"

GRIDS = ((128, 128, 128), *papers.SWEEPS)
MOST_ICC = 25e6  # unknowns: PETSc factors on the host, which takes a minute on the larger grids
ICC = "-pc_type icc -pc_factor_mat_solver_type cusparse"


def name(grid):
    return "x".join(map(str, grid))


def measure(driver, note):
    rows = []
    for grid in GRIDS:
        note(name(grid))
        rows += [{"grid": name(grid), "method": "mic"} | row for row in driver.table("cuda/mic_sweeps", *grid)]
        if rows and grid[0] * grid[1] * grid[2] <= MOST_ICC:
            rows += icc(driver, grid, rows[-1])
    return rows


def icc(driver, grid, like):
    measured = driver.solved(driver.run({"icc": ICC}, "-backend", "cuda", "-grid", ",".join(map(str, grid)), "-setups", 1,
                                        "-refreshes", 0, "-solves", 0, "-applies", 5, "-batch", 5, "-seconds", 0.5))
    known = {"grid": name(grid), "method": "icc, cuSPARSE", "couplings": "variable", "where": "cuda", "precision": "double"}
    return [dict.fromkeys(like, "") | known | {"ms": row["apply_ms"]} for row in measured.values()]


BARS = {
    "variable": {"method": "mic", "where": "cuda", "couplings": "variable", "precision": "double"},
    "variable, single": {"method": "mic", "where": "cuda", "couplings": "variable", "precision": "single"},
    "constant": {"method": "mic", "where": "cuda", "couplings": "constant", "precision": "double"},
    "icc, cuSPARSE": {"method": "icc, cuSPARSE"},
    "host": {"method": "mic", "where": "host"},
}


def plot(rows, figure):
    times, ratios = figure.subplots(1, 2)
    grids = [name(grid) for grid in GRIDS]
    for index, (label, keys) in enumerate(BARS.items()):
        chosen = [row for row in rows if all(row[key] == text for key, text in keys.items())]
        at = [grids.index(row["grid"]) for row in chosen]
        times.bar([x + 0.16 * (index - 2) for x in at], [float(row["ms"]) for row in chosen], 0.15, label=label)
        if chosen and chosen[0]["times_copy"] != "":
            ratios.plot(at, [float(row["times_copy"]) for row in chosen], "o-", markersize=3, label=label)
    paper = {name(grid): ms for grid, (_, ms) in papers.SWEEPS.items()}
    times.plot([grids.index(grid) for grid in paper], list(paper.values()), "_", color="black", label="the paper's C2050")
    times.set(yscale="log", ylabel="ms", title="forward and backward substitution")
    ratios.axhline(1, color="gray", linewidth=0.8)
    ratios.set(ylim=(0, None), title="time / time to copy the bytes")
    for ax in (times, ratios):
        ax.set_xticks(range(len(grids)), grids, rotation=40, ha="right", fontsize=6)
        ax.legend(fontsize=6)
