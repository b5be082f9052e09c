"""Figures 10 to 16 of Gupta, van Gijzen and Vuik: two phases, 2n half rows as deflation vectors, on the host and on a GPU."""
from driver import device

QUESTION = "Two phases, 1000:1: what do 2n deflation vectors save, and what do the explicit inverse and Cholesky cost?"

SIZES = (16, 32, 64, 128, 256, 512, 1024)  # cells a side
MOST = {"host": 256, "cuda": 1024}
PRECONDITIONERS = {
    "Jacobi": "-pc_type jacobi",
    "Neu1": "-pc_type neumann -pc_neumann_terms 1",
    "Neu2": "-pc_type neumann -pc_neumann_terms 2",
    "Neu3": "-pc_type neumann -pc_neumann_terms 3",
    "IP scaled": "-pc_type neumann -pc_neumann_type poisson",
}
BLOCK_ROWS = (2, 4, 8)  # grid lines in a block of incomplete Cholesky
INVERSES = ("explicit", "cholesky")


def solvers(n, backend):
    """{(preconditioner, inverse): options}; no inverse without deflation. The paper's host is one core."""
    chosen = dict(PRECONDITIONERS)
    if backend == "host":
        chosen |= {f"Block-IC({rows}n)": f"-pc_type bjacobi -pc_bjacobi_blocks {n // rows} -sub_pc_type icc"
                   for rows in BLOCK_ROWS}
    one = " -threads 1" if backend == "host" else ""
    inverses = ("", *INVERSES)
    return {(name, inverse): text + one + (f" -ksp_deflation stripe -ksp_deflation_inverse {inverse}" if inverse else "")
            for name, text in chosen.items() for inverse in inverses}


def measure(driver, note):
    rows = []
    for backend in ("host", "cuda") if device() else ("host",):
        for n in (n for n in SIZES if n <= MOST[backend]):
            note(f"n = {n}, {backend}")
            chosen = {", ".join(key): text for key, text in solvers(n, backend).items()}
            measured = driver.solved(driver.run(chosen, "-backend", backend, "-problem", "two_phase", "-n", n, "-random_start",
                                                "-setups", 1, "-refreshes", 0, "-solves", 3, "-seconds", 0.3,
                                                norm="unpreconditioned"))
            for name, row in measured.items():
                preconditioner, inverse = name.split(", ")
                rows.append({"backend": backend, "n": n, "preconditioner": preconditioner,
                             "vectors": 2 * n if inverse else 0, "inverse": inverse, "iterations": int(row["iterations"]),
                             "setup_ms": row["setup_ms"], "solve_ms": row["solve_ms"]})
    return rows


def plot(rows, figure):
    figure.set_size_inches(13, 8)
    axes = figure.subplots(2, 3).flat
    names = list(dict.fromkeys(row["preconditioner"] for row in rows))
    backends = list(dict.fromkeys(row["backend"] for row in rows))
    iterations(axes[0], rows, names, "", "Figure 11 (a): iterations, no deflation")
    iterations(axes[1], rows, names, "explicit", "Figures 11 (b), 16: iterations, 2n vectors")
    setup(axes[2], rows, backends)
    inverses(axes[3], rows, backends)
    if "cuda" in backends:
        speedups(axes[4], rows, names)
    else:
        axes[4].set_axis_off()
    clocks(axes[5], rows, names, backends)


def select(rows, **keys):
    return [row for row in rows if all(row[key] == value for key, value in keys.items())]


def curve(ax, chosen, values, style, label):
    ax.plot([row["n"] for row in chosen], values, style, markersize=3, label=label)
    ax.set(xscale="log", yscale="log", xlabel="cells a side")
    ax.set_xticks(SIZES, SIZES, minor=False, fontsize=7)
    ax.set_xticks([], minor=True)
    ax.legend(fontsize=6)


def iterations(ax, rows, names, inverse, title):
    for index, name in enumerate(names):
        chosen = select(rows, backend="host", preconditioner=name, inverse=inverse)
        curve(ax, chosen, [row["iterations"] for row in chosen], f"C{index}o-", name)
    ax.set_title(title, fontsize=9)


def setup(ax, rows, backends):
    for index, backend in enumerate(backends):
        for inverse, style in zip(INVERSES, ("o-", "s--")):
            chosen = select(rows, backend=backend, preconditioner="Neu2", inverse=inverse)
            curve(ax, chosen, [100 * row["setup_ms"] / (row["setup_ms"] + row["solve_ms"]) for row in chosen],
                  f"C{index}{style}", f"{backend}, {inverse}")
    ax.set_yscale("linear")
    ax.set_title("Figure 10: set-up, % of set-up and solve, Neu2", fontsize=9)


def inverses(ax, rows, backends):
    for index, backend in enumerate(backends):
        for inverse, style in zip(INVERSES, ("o-", "s--")):
            chosen = select(rows, backend=backend, preconditioner="Neu2", inverse=inverse)
            curve(ax, chosen, [row["solve_ms"] for row in chosen], f"C{index}{style}", f"{backend}, {inverse}")
        chosen = select(rows, backend=backend, preconditioner="Neu2", inverse="")
        curve(ax, chosen, [row["solve_ms"] for row in chosen], f"C{index}:", f"{backend}, no deflation")
    ax.set_title("explicit inverse and Cholesky: solve with Neu2, ms", fontsize=9)


def speedups(ax, rows, names):
    for index, name in enumerate(names):
        for inverse, style in zip(INVERSES, ("o-", "s--")):
            host = {row["n"]: row["solve_ms"] for row in select(rows, backend="host", preconditioner=name, inverse=inverse)}
            chosen = [row for row in select(rows, backend="cuda", preconditioner=name, inverse=inverse) if row["n"] in host]
            if chosen:  # not for Block-IC
                curve(ax, chosen, [host[row["n"]] / row["solve_ms"] for row in chosen], f"C{index}{style}",
                      f"{name}, {inverse}")
    ax.set_title("Figures 12 to 14: GPU, times faster than one core", fontsize=9)


def clocks(ax, rows, names, backends):
    n = min(max(row["n"] for row in select(rows, backend=backend)) for backend in backends)
    for index, backend in enumerate(backends):
        chosen = select(rows, backend=backend, n=n, inverse="explicit")
        ax.bar([names.index(row["preconditioner"]) + 0.4 * index for row in chosen], [row["solve_ms"] for row in chosen], 0.38,
               label=backend)
    ax.set_xticks(range(len(names)), names, rotation=40, fontsize=7)
    ax.set_yscale("log")
    ax.set_title(f"Figure 15: deflated solve, {n} x {n} cells, ms", fontsize=9)
    ax.legend(fontsize=6)
