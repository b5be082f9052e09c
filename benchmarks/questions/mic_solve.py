"""Incomplete Cholesky in 3D beside PETSc's own, multigrid and Jacobi, all under CG; on a GPU where there is one."""
import peers
import solid

QUESTION = "In 3D, how do set-up, refresh, application and solve of PCMIC compare with ICC, GAMG, BoomerAMG and Jacobi?"

PROBLEMS = {
    "poisson": ("-problem", "poisson"),
    "poisson, r = 100": ("-problem", "poisson", "-r", 100),
    "variable": ("-problem", "variable"),
}
HOST = (((64, 64, 64), PROBLEMS),)
DEVICE = (((128, 128, 128), PROBLEMS), ((128, 128, 480), ("poisson",)), ((256, 256, 256), ("poisson",)))
MIC = {
    "mic": "-pc_type mic",
    "mic, single": "-pc_type mic -pc_mic_precision single",
    "mic, omega 0": "-pc_type mic -pc_mic_omega 0",
    "ssor": "-pc_type mic -pc_mic_type ssor",
}
MULTIGRID = {"gamg": f"{peers.GAMG} -threads 1", "boomeramg": f"{peers.BOOMERAMG} -threads 1"}
PHASES = ("setup", "refresh", "apply", "solve")


def solvers(backend, grid):
    solver = " -pc_factor_mat_solver_type cusparse" if backend == "cuda" else " -threads 1"
    # Jacobi first: the process's own first use of the device is no solver's set-up
    chosen = {"jacobi": "-pc_type jacobi"} | MIC | {"icc": "-pc_type icc" + solver}
    if backend == "host":
        chosen["mic, one thread"] = MIC["mic"] + " -threads 1"
    # on the long grid it is about the sweeps
    return chosen if max(grid) > 2 * min(grid) else chosen | MULTIGRID | {"boomeramg, tuned": f"{peers.tuned(3, backend)} -threads 1"}


def measure(driver, note):
    return solid.measure(HOST, DEVICE, lambda *case: compare(driver, *case), note)


def compare(driver, backend, grid, problem):
    measured = driver.run(solvers(backend, grid), *solid.case(backend, grid, PROBLEMS[problem]), "-setups", 3, "-refreshes",
                          1 if max(grid) > 128 else 3, "-applies", 7, "-batch", 5, "-solves", 5, norm="unpreconditioned")
    return solid.lines(driver.solved(measured), backend, grid, problem, PHASES)


def plot(rows, figure):
    solid.plot(rows, figure, PHASES)
