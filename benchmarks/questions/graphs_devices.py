"""The problems of `graphs` on a GPU, larger ones."""
from questions import graphs

QUESTION = "On a GPU and on no 2D grid, how does RRB on the graph compare with GAMG and BoomerAMG?"

LONGEST = 60  # seconds: not all of them end on all of these problems


def solvers(dim):
    return graphs.solvers(dim, "cuda", "")


def measure(driver, note):
    options = ("-backend", "cuda", "-setups", 2, "-refreshes", 3, "-solves", 5, "-seconds", 2)
    return graphs.compare_all(driver, note, graphs.matrices(1000, 8192), (128, 128, 128), solvers, *options, seconds=LONGEST)


plot = graphs.plot
