"""Relaxation by blocks of the sizes of the paper, and how fast it is with them: its Figures 4, 9 and 10."""
from driver import device

QUESTION = "How do the residual after three sweeps, the factor of convergence and the time of a sweep depend on the block size?"

N = 64
SIZES = ((2, 2, 2), (4, 2, 2), (4, 4, 2), (4, 4, 4), (8, 4, 4), (8, 8, 4), (8, 8, 8))
TYPES = ("jacobi", "coloured", "chaotic")
RICHARDSON = "-ksp_type richardson -pc_type blockrelax -pc_blockrelax_type"
COUNTS = ("-setups", 3, "-times", 9, "-batch", 10, "-seconds", 1, "-from", 600, "-window", 200)


def name(size):
    return "x".join(map(str, size))


def solvers():
    return {f"{kind} {name(size)}": f"{RICHARDSON} {kind} -pc_blockrelax_block_size {','.join(map(str, size))}"
            for kind in TYPES for size in SIZES}


def measure(driver, note):
    rows = []
    for backend in ("host", "cuda") if device() else ("host",):
        note(backend)
        measured = driver.solved(driver.blocks(solvers(), "-patches", f"{N},{N},{N}", "-backend", backend, *COUNTS))
        rows += [{"backend": backend, "type": key.split()[0], "block": key.split()[1], "residual_after_3": row["residual"],
                  "factor": row["factor"]} | {f"{what}_ms": row[f"{what}_ms"] for what in ("setup", "refresh", "sweep")}
                 for key, row in measured.items()]
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, 3)
    at = {name(size): index for index, size in enumerate(SIZES)}
    for backend, style in (("host", "o--"), ("cuda", "s-")):
        for index, kind in enumerate(TYPES):
            mine = [row for row in rows if row["backend"] == backend and row["type"] == kind]
            for ax, what in zip(axes, ("residual_after_3", "factor", "sweep_ms") if mine else ()):
                ax.plot([at[row["block"]] for row in mine], [row[what] for row in mine], style, color=f"C{index}",
                        markersize=4, label=f"{kind}, {backend}")
    axes[0].set(title="residual after three sweeps", ylim=(0, None))
    axes[1].set(title="factor of a sweep, in the end")
    axes[2].set(title="ms a sweep", yscale="log")
    for ax in axes:
        ax.set_xticks(list(at.values()), list(at), rotation=40, ha="right")
    axes[0].legend()
