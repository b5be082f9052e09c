"""The problems of `graphs` on a GPU, larger ones."""
from questions import graphs

QUESTION = "On a GPU and on no 2D grid, how does RRB on the graph compare with GAMG and BoomerAMG?"

SMOOTH = ("Delaunay triangles", "Poisson, in 3D")  # with rough ones and gamg among the solvers the question did not end in minutes


def solvers(dim, problem):
    others = {name: text for name, text in graphs.solvers(dim, "cuda", "").items() if name != "gamg" or problem in SMOOTH}
    return {"ksprrb": "-ksp_type rrb -pc_type rrb", **others}


def measure(driver, note):
    options = ("-backend", "cuda", "-setups", 2, "-refreshes", 3, "-solves", 5, "-seconds", 2)
    return graphs.compare_all(driver, note, graphs.matrices(1000, 8192), (128, 128, 128), solvers, *options)


plot = graphs.plot
