"""PETSc's own tutorials, unmodified, with -ksp_type fusedcg: the iterations of -ksp_type cg with the same preconditioner."""
import pytest

from test_tutorials import STRICT, counts

CASES = {
    "ex2": ("ksp/ksp", "ex2", ["-m", 40, "-n", 31], ["mic", "neumann", "icc", "jacobi", "rrb"]),
    "ex23": ("ksp/ksp", "ex23", ["-n", 60], ["jacobi", "icc"]),
    "ex34": ("ksp/ksp", "ex34", ["-da_grid_x", 12, "-da_grid_y", 12, "-da_grid_z", 12], ["mic", "jacobi"]),
    "ex46": ("ksp/ksp", "ex46", ["-da_grid_x", 50, "-da_grid_y", 63], ["mic", "neumann", "gamg"]),
    "ex50": ("ksp/ksp", "ex50", ["-da_grid_x", 40, "-da_grid_y", 50], ["jacobi", "mic"]),
    "ex54": ("ksp/ksp", "ex54", ["-ne", 20, "-alpha", 1e-2], ["gamg", "jacobi"]),
    "ex56": ("ksp/ksp", "ex56", ["-ne", 5, "-alpha", 1e-2], ["gamg"]),
    "snes_ex5": ("snes", "ex5", ["-da_grid_x", 33, "-da_grid_y", 33], ["jacobi", "neumann"]),
}


@pytest.mark.parametrize("name", CASES)
def test_iterations_are_those_of_cg(run, tutorial, library, name):
    folder, program, words, preconditioners = CASES[name]
    for pc in preconditioners:
        expected, found = (counts(run(tutorial(folder, program), *words, "-dll_append", library, *STRICT, "-pc_type", pc, "-ksp_type",
                                      ksp, "-ksp_rtol", 1e-7)) for ksp in ("cg", "fusedcg"))
        assert found == expected and found, pc


def test_it_is_fused(run, tutorial, library):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 50, "-da_grid_y", 63, "-dll_append", library, *STRICT, "-pc_type", "mic",
                 "-ksp_type", "fusedcg", "-ksp_view")
    assert "conjugate gradients: on all nodes, fused" in output
    assert "product: by 5 diagonals" in output


def test_several_ranks(run, tutorial, library):
    for pc in ("jacobi", "mic", "neumann"):
        expected, found = (counts(run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 50, "-da_grid_y", 63, "-dll_append", library, *STRICT,
                                      "-pc_type", pc, "-ksp_type", ksp, ranks=2)) for ksp in ("cg", "fusedcg"))
        assert found == expected and found, pc


def test_an_inner_solver(run, tutorial, library):
    """Of block Jacobi's blocks, as an inexact one under a flexible method."""
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 40, "-n", 31, "-dll_append", library, *STRICT, "-ksp_type", "fcg", "-pc_type", "bjacobi",
                 "-pc_bjacobi_blocks", 4, "-sub_ksp_type", "fusedcg", "-sub_pc_type", "jacobi", "-sub_ksp_max_it", 4, "-sub_ksp_norm_type", "none")
    assert counts(output)
