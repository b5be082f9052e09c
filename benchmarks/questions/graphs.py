"""Matrices on no 2D grid: triangles, a quad-tree, rows in random order, and rough coefficients in 3D."""
import meshes
import peers
from driver import LONGEST
from questions import hard

QUESTION = "On no 2D grid, how does RRB on the graph compare with GAMG and BoomerAMG?"

THREADS = 2
GRID = (64, 64, 64)
IN_SPACE = {
    "Poisson, in 3D": ("-problem", "poisson"),
    "lognormal 2, in 3D": ("-problem", "lognormal", "-sigma", 2),
    "lognormal 3, in 3D": ("-problem", "lognormal"),
    "cells of 1e6, in 3D": ("-problem", "cells"),
    "1 or 1e6, face to face, in 3D": ("-problem", "jumps"),
}


def matrices(side, finest):
    """Each matrix without a grid, and what makes it."""
    return {"Delaunay triangles": lambda: meshes.triangles(side), "quad-tree, jumps of 1000": lambda: meshes.quad_tree(finest >> 6, 6, 1000),
            "lognormal 2, random order": lambda: meshes.shuffled(side, 2)}


def solvers(dim, backend="host", threads=f" -threads {THREADS}"):
    """chosen: what -ksp_type rrb takes by itself, in 3D it may be gridmg."""
    alone = " -threads 1" if threads else ""
    chosen = {"chosen": f"-ksp_type rrb{threads}"} if dim == 3 else {}
    return chosen | {"ksprrb": f"-ksp_type rrb -pc_type rrb{threads}", "rrb": f"-pc_type rrb{threads}",
                     "rrb, single": f"-pc_type rrb -pc_rrb_precision single{threads}", "gamg": peers.GAMG + alone,
                     "boomeramg": peers.BOOMERAMG + alone, "boomeramg, tuned": peers.tuned(dim, backend) + alone}


def measure(driver, note):
    options = ("-setups", 1, "-refreshes", 2, "-solves", 3, "-seconds", 3)
    return compare_all(driver, note, matrices(316, 2048), GRID, solvers, *options)


def compare_all(driver, note, made, grid, solvers_of, *options, seconds=None):
    """seconds: that each solver may take, in a process of its own; None: they run by turns in one."""
    rows = []
    for problem, make in made.items():
        note(problem)
        name = problem.replace(" ", "_").replace(",", "")
        path = driver.file(f"matrices/{name}_{grid[0]}.petsc", lambda to, make=make: meshes.write(to, *make()))
        rows += compare(driver, solvers_of(2), problem, seconds, "-matrix", path, *options)
    for problem, words in IN_SPACE.items():
        note(problem)
        rows += compare(driver, solvers_of(3), problem, seconds, "-grid", ",".join(map(str, grid)), *words, *options)
    return rows


def compare(driver, those, problem, seconds, *options):
    limited = {name: f"{text} -ksp_max_it {hard.MOST} -ksp_divtol 1e30" for name, text in those.items()}
    measured = {}
    for some in [{name: text} for name, text in limited.items()] if seconds else [limited]:
        measured |= driver.run(some, *options, norm="unpreconditioned", seconds=seconds or LONGEST)
    n = next((row["n"] for row in measured.values() if "n" in row), "")
    return [hard.row_of(problem, n, name, row) for name, row in measured.items() if row["status"] != "missing"]


def plot(rows, figure):
    problems, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("problem", "solver"))
    for ax, phase in zip(figure.subplots(1, 3, sharey=True), hard.PHASES):
        for index, name in enumerate(names):
            chosen = [row for row in rows if row["solver"] == name and row["result"] == "solved" and row[f"{phase}_ms"]]
            ax.barh([problems.index(row["problem"]) + 0.8 * (index / len(names) - 0.4) for row in chosen],
                    [row[f"{phase}_ms"] for row in chosen], 0.7 / len(names), label=name)
        ax.set(xscale="log", xlabel=f"milliseconds: {phase}")
    ax.set_yticks(range(len(problems)), problems)
    ax.invert_yaxis()
    ax.legend(fontsize=7)
