"""The problems of `hard` on a GPU, and besides hypre's PFMG and the factor in single precision."""
import peers
from questions import hard

QUESTION = "On a GPU, how do hard coefficients go with red nodes by support, plain ones, MIC and multigrid?"

SIZES = (1023,)
SOLVERS = {"rrb": "-ksp_type rrb", "rrb, single": "-ksp_type rrb -pc_rrb_precision single",
           "rrb, plain": "-ksp_type rrb -pc_rrb_red_nodes plain", "mic": "-pc_type mic", "pfmg": "-ksp_type pfmg",
           "gamg": peers.GAMG, "boomeramg": peers.BOOMERAMG, "boomeramg, tuned": peers.tuned(2, "cuda")}
SMOOTHERS = {"pcmg, jacobi": peers.CHEBYSHEV,
             "pcmg, blockrelax": "-mg_levels_ksp_type richardson -mg_levels_pc_type blockrelax"}


def measure(driver, note):
    return hard.compare_all(driver, note, SIZES, SOLVERS, SMOOTHERS, "-backend", "cuda", "-setups", 2, "-refreshes", 3, "-solves", 5,
                            "-seconds", 0.3)


def plot(rows, figure):
    hard.draw(rows, figure, SIZES, SOLVERS | SMOOTHERS)
