"""The RRB-solver and multigrid on 3D grids beside hypre's on grids, incomplete Cholesky and algebraic multigrid, all as CG; on a GPU where
there is one."""
import peers
import solid

QUESTION = "In 3D, how do set-up, refresh and solve of KSPRRB and PCGRIDMG compare with PFMG, PCMIC, PCMG, GAMG and BoomerAMG?"

PROBLEMS = {
    "poisson": ("-problem", "poisson"),
    "variable": ("-problem", "variable"),
    "bubbles 1:1000": ("-problem", "bubbles"),
    "x : y : z as 100:1:1": ("-problem", "poisson", "-anisotropy", 100),
}
HOST = (((64, 64, 64), PROBLEMS), ((65, 65, 65), PROBLEMS), ((128, 128, 128), ("poisson", "variable")))
DEVICE = (((64, 64, 64), PROBLEMS), ((128, 128, 128), PROBLEMS), ((129, 129, 129), PROBLEMS), ((256, 256, 256), PROBLEMS), ((512, 512, 16), ("poisson",)),
          ((100, 67, 45), ("poisson",)), ((480, 480, 80), ("poisson",)))
GRIDS = {
    "rrb": "-ksp_type rrb",
    "gridmg": "-pc_type gridmg",
    "gridmg, double": "-pc_type gridmg -pc_gridmg_precision double",
    "pfmg": "-ksp_type pfmg",
    "mic": "-pc_type mic",
}
MULTIGRID = {"gamg": peers.GAMG, "boomeramg": peers.BOOMERAMG}
MOST = 128**3  # points where the set-ups of algebraic multigrid do not take minutes
PHASES = ("setup", "refresh", "solve")


def measure(driver, note):
    return solid.measure(HOST, DEVICE, lambda *case: compare(driver, *case), note)


def compare(driver, backend, grid, problem):
    if grid[0] % 2:  # 2^k + 1 points a side: PCMG's grids are nested
        solvers = {"rrb": GRIDS["rrb"], "pcmg": peers.pcmg(grid[0])}
        return lines(driver, solvers, backend, grid, problem, "-setups", 1, "-refreshes", 1, "-solves", 3)
    rows = lines(driver, GRIDS, backend, grid, problem, "-setups", 3, "-refreshes", 3, "-solves", 5)
    if grid[0] * grid[1] * grid[2] <= MOST:
        rows += lines(driver, MULTIGRID | {"boomeramg, tuned": peers.tuned(3, backend)}, backend, grid, problem, "-setups", 0, "-refreshes", 1, "-solves", 3)
    return rows


def lines(driver, solvers, backend, grid, problem, *repeats):
    measured = driver.run(solvers, *solid.case(backend, grid, PROBLEMS[problem]), *repeats, norm="unpreconditioned")
    return solid.lines(driver.solved(measured), backend, grid, problem, PHASES)


def plot(rows, figure):
    solid.plot(rows, figure, PHASES)
