"""Multigrid on 3D grids beside hypre's on grids, incomplete Cholesky and algebraic multigrid, all under CG; on a GPU where there is one."""
from driver import device

QUESTION = "In 3D, how do set-up, refresh and solve of PCGRIDMG compare with PFMG, PCMIC, GAMG and BoomerAMG?"

PROBLEMS = {
    "poisson": ("-problem", "poisson"),
    "variable": ("-problem", "variable"),
    "bubbles 1:1000": ("-problem", "bubbles"),
    "x : y : z as 100:1:1": ("-problem", "poisson", "-anisotropy", 100),
}
HOST = (((64, 64, 64), PROBLEMS), ((128, 128, 128), ("poisson", "variable")))
DEVICE = (((64, 64, 64), PROBLEMS), ((128, 128, 128), PROBLEMS), ((256, 256, 256), PROBLEMS), ((512, 512, 16), ("poisson",)),
          ((100, 67, 45), ("poisson",)), ((480, 480, 80), ("poisson",)))
GRIDS = {
    "gridmg": "-pc_type gridmg",
    "gridmg, double": "-pc_type gridmg -pc_gridmg_precision double",
    "pfmg": "-ksp_type pfmg",
    "mic": "-pc_type mic",
}
MULTIGRID = {"gamg": "-pc_type gamg", "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg"}
MOST = 128**3  # points where the set-ups of algebraic multigrid do not take minutes
PHASES = ("setup", "refresh", "solve")


def measure(driver, note):
    rows = []
    for backend, cases in {"host": HOST, "cuda": DEVICE if device() else ()}.items():
        for grid, problems in cases:
            for problem in problems:
                note(f"{'x'.join(map(str, grid))}, {problem}, {backend}")
                rows += compare(driver, backend, grid, problem)
    return rows


def compare(driver, backend, grid, problem):
    points = grid[0] * grid[1] * grid[2]
    kind = ("-backend", backend, "-grid", ",".join(map(str, grid)), *PROBLEMS[problem], "-seconds", 0.5)
    rows = lines(driver, GRIDS, backend, grid, problem, *kind, "-setups", 3, "-refreshes", 3, "-solves", 5)
    if points <= MOST:
        rows += lines(driver, MULTIGRID, backend, grid, problem, *kind, "-setups", 0, "-refreshes", 1, "-solves", 3)
    return rows


def lines(driver, solvers, backend, grid, problem, *options):
    measured = driver.run(solvers, *options, norm="unpreconditioned")
    return [{"backend": backend, "grid": "x".join(map(str, grid)), "problem": problem, "solver": name,
             "threads": int(row["threads"]), "iterations": int(row["iterations"]), "residual": row["residual"]}
            | {f"{phase}_ms": row[f"{phase}_ms"] for phase in PHASES} for name, row in driver.solved(measured).items()]


def plot(rows, figure):
    cases = list(dict.fromkeys((row["backend"], row["grid"], row["problem"]) for row in rows))
    columns = min(3, len(cases))
    figure.set_size_inches(4 * columns, 3 * -(-len(cases) // columns))
    axes = figure.subplots(-(-len(cases) // columns), columns, squeeze=False)
    for ax, case in zip(axes.flat, cases):
        chosen = [row for row in rows if (row["backend"], row["grid"], row["problem"]) == case]
        for index, phase in enumerate(PHASES):
            ax.barh([at + 0.25 * (index - 1) for at in range(len(chosen))], [row[f"{phase}_ms"] for row in chosen], 0.24,
                    label=phase)
        ax.set_yticks(range(len(chosen)), [f"{row['solver']} ({row['iterations']})" for row in chosen], fontsize=7)
        ax.invert_yaxis()
        ax.set_title(", ".join(case), fontsize=9)
        ax.set(xscale="log", xlabel="ms (iterations)")
    for ax in axes.flat[len(cases):]:
        ax.set_axis_off()
    figure.axes[0].legend(fontsize=7)
