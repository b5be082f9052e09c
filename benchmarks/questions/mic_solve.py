"""Incomplete Cholesky in 3D beside PETSc's own, multigrid and Jacobi, all under CG; on a GPU where there is one."""
from driver import device

QUESTION = "In 3D, how do set-up, refresh, application and solve of PCMIC compare with ICC, GAMG, BoomerAMG and Jacobi?"

PROBLEMS = {
    "poisson": ("-problem", "poisson"),
    "poisson, r = 100": ("-problem", "poisson", "-r", 100),
    "variable": ("-problem", "variable"),
}
HOST = ((64, 64, 64), PROBLEMS)
DEVICE = (((128, 128, 128), PROBLEMS), ((128, 128, 480), ("poisson",)), ((256, 256, 256), ("poisson",)))
MIC = {
    "mic": "-pc_type mic",
    "mic, single": "-pc_type mic -pc_mic_precision single",
    "mic, omega 0": "-pc_type mic -pc_mic_omega 0",
    "ssor": "-pc_type mic -pc_mic_type ssor",
}
MULTIGRID = {"gamg": "-pc_type gamg -threads 1", "boomeramg": "-pc_type hypre -pc_hypre_type boomeramg -threads 1"}
PHASES = ("setup", "refresh", "apply", "solve")


def solvers(backend, grid):
    solver = " -pc_factor_mat_solver_type cusparse" if backend == "cuda" else " -threads 1"
    # Jacobi first: the process's own first use of the device is no solver's set-up
    chosen = {"jacobi": "-pc_type jacobi"} | MIC | {"icc": "-pc_type icc" + solver}
    if backend == "host":
        chosen["mic, one thread"] = MIC["mic"] + " -threads 1"
    # on the long grid it is about the sweeps
    return chosen if max(grid) > 2 * min(grid) else chosen | MULTIGRID


def measure(driver, note):
    rows = []
    for backend, cases in {"host": (HOST,), "cuda": DEVICE if device() else ()}.items():
        for grid, problems in cases:
            for problem in problems:
                note(f"{'x'.join(map(str, grid))}, {problem}, {backend}")
                rows += compare(driver, backend, grid, problem)
    return rows


def compare(driver, backend, grid, problem):
    measured = driver.run(solvers(backend, grid), "-backend", backend, "-grid", ",".join(map(str, grid)), *PROBLEMS[problem],
                          "-setups", 3, "-refreshes", 1 if max(grid) > 128 else 3, "-applies", 7, "-batch", 5, "-solves", 5,
                          "-seconds", 0.5, norm="unpreconditioned")
    return [{"backend": backend, "grid": "x".join(map(str, grid)), "problem": problem, "solver": name,
             "threads": int(row["threads"]), "iterations": int(row["iterations"]), "residual": row["residual"]}
            | {f"{phase}_ms": row[f"{phase}_ms"] for phase in PHASES} for name, row in driver.solved(measured).items()]


def plot(rows, figure):
    cases = list(dict.fromkeys((row["backend"], row["grid"], row["problem"]) for row in rows))
    columns = min(3, len(cases))
    figure.set_size_inches(4 * columns, 4 * -(-len(cases) // columns))
    axes = figure.subplots(-(-len(cases) // columns), columns, squeeze=False)
    for ax, case in zip(axes.flat, cases):
        chosen = [row for row in rows if (row["backend"], row["grid"], row["problem"]) == case]
        for index, phase in enumerate(PHASES):
            ax.barh([at + 0.2 * (index - 1.5) for at in range(len(chosen))], [row[f"{phase}_ms"] for row in chosen], 0.19,
                    label=phase)
        ax.set_yticks(range(len(chosen)), [f"{row['solver']} ({row['iterations']})" for row in chosen], fontsize=7)
        ax.invert_yaxis()
        ax.set_title(", ".join(case), fontsize=9)
        ax.set(xscale="log", xlabel="ms (iterations)")
    for ax in axes.flat[len(cases):]:
        ax.set_axis_off()
    figure.axes[0].legend(fontsize=7)
