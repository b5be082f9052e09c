"""Relaxation by blocks as the smoother of PCMG beside what PETSc has; on a GPU where there is one."""
from driver import device

QUESTION = "As smoothers of PCMG in 3D, how do blocks compare with PETSc's Chebyshev-Jacobi, SOR and point blocks?"

SIDES = {"host": 129, "cuda": 257}
POINTS = 8  # rows of a point block, along x
TOLERANCES = ("1e-06", "1e-08")
BLOCKS = {"blocks, jacobi": "jacobi", "blocks, coloured": "coloured", "blocks, chaotic": "chaotic",
          "blocks, coloured, symmetric": "coloured -pc_blockrelax_symmetric"}
CHEBYSHEV = "-ksp_type chebyshev -pc_type"
SWEEPS = {"chebyshev + jacobi": f"{CHEBYSHEV} jacobi", "chebyshev + sor": f"{CHEBYSHEV} sor",
          "chebyshev + vpbjacobi": f"{CHEBYSHEV} vpbjacobi", "sor": "-ksp_type richardson -pc_type sor"}
SWEEPS |= {name: f"-ksp_type richardson -pc_type blockrelax -pc_blockrelax_type {kind}" for name, kind in BLOCKS.items()}
METHODS = {"cg": ("chebyshev + jacobi", "chebyshev + sor", "chebyshev + vpbjacobi", "blocks, jacobi",
                  "blocks, coloured, symmetric"),
           "fgmres": ("chebyshev + jacobi", "blocks, coloured", "blocks, chaotic")}


def smoothers(backend):
    return {name: options for name, options in SWEEPS.items() if backend == "host" or "sor" not in name}


def multigrid(levels, options):
    """Point blocks are known on the finest grid only."""
    inner = options.replace("vpbjacobi", "jacobi").replace("-", "-mg_levels_")
    finest = f" -mg_levels_{levels - 1}_pc_type vpbjacobi" if "vpbjacobi" in options else ""
    return f"-dmda -pc_type mg -pc_mg_levels {levels} {inner} -mg_levels_ksp_max_it 1{finest}"


def solvers(backend, levels):
    """{"method | smoother | coarser grids": options}"""
    known = smoothers(backend)
    chosen = {f"{method} | {name} | discretized": f"-ksp_type {method} {multigrid(levels, known[name])}"
              for method, names in METHODS.items() for name in names if name in known}
    for name in ("chebyshev + jacobi", "chebyshev + sor"):
        if name in known and backend == "host":
            chosen[f"cg | {name} | Galerkin"] = f"{multigrid(levels, known[name])} -pc_mg_galerkin both"
    return chosen


def measure(driver, note):
    backend = "cuda" if device() else "host"
    n = SIDES[backend]
    grid = f"{n},{n},{n}"
    options = ("-backend", backend, "-point_blocks", POINTS)
    note(f"{n} x {n} x {n}, {backend}: sweeps")
    sweeps = driver.solved(driver.blocks(smoothers(backend), "-patches", grid, *options, "-times", 5, "-seconds", 1))
    note("solves")
    solved = driver.run_each(driver.poisson, "rtol", TOLERANCES, solvers(backend, (n - 1).bit_length() - 2),
                             ("-grid", grid, *options, "-norm", "unpreconditioned", "-setups", 0, "-refreshes", 0,
                              "-solves", 3, "-seconds", 2))
    rows = []
    for name in solved[TOLERANCES[0]]:
        method, smoother, coarser = name.split(" | ")
        done = [driver.solved({name: measured[name]}).get(name) for measured in solved.values()]
        if not all(done):
            continue
        rows.append({"backend": backend, "n": n, "method": method, "smoother": smoother, "coarser_grids": coarser,
                     "sweep_ms": sweeps[smoother]["sweep_ms"], "residual_after_3": sweeps[smoother]["residual"],
                     "setup_ms": done[0]["setup_ms"]}
                    | {f"{what}_to_{tolerance}": int(row[key]) if what == "iterations" else row[key]
                       for tolerance, row in zip(("1e-6", "1e-8"), done)
                       for what, key in (("iterations", "iterations"), ("ms", "solve_ms"))})
    return rows


def plot(rows, figure):
    times, sweeps = figure.subplots(1, 2, width_ratios=(2, 1))
    labels = [f"{row['method']}, {row['smoother']}" + (", Galerkin" if row["coarser_grids"] == "Galerkin" else "") for row in rows]
    for index, tolerance in enumerate(("1e-6", "1e-8")):
        bars = times.barh([at + 0.4 * (index - 0.5) for at in range(len(rows))], [row[f"ms_to_{tolerance}"] for row in rows], 0.38,
                          label=f"to {tolerance}, with iterations")
        times.bar_label(bars, [f" {row[f'iterations_to_{tolerance}']}" for row in rows], fontsize=7)
    times.set_yticks(range(len(rows)), labels, fontsize=7)
    times.set(xlabel="ms a solve", title=f"{rows[0]['n']}^3 points, {rows[0]['backend']}")
    times.margins(x=0.1)
    times.invert_yaxis()
    times.legend(fontsize=7)
    of = {row["smoother"]: row["sweep_ms"] for row in rows}
    sweeps.barh(list(of), list(of.values()), color="tab:gray")
    sweeps.tick_params(axis="y", labelsize=7)
    sweeps.set(xlabel="ms a sweep, finest grid")
    sweeps.invert_yaxis()
