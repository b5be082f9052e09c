"""PETSc's own tutorials, unmodified, with -pc_type blockrelax: preconditioner, solver, smoother; they leave no option and no memory."""
import re

import pytest

from test_tutorials import STRICT, counts, error

CUBE = ["-da_grid_x", 20, "-da_grid_y", 18, "-da_grid_z", 16]
SQUARE = ["-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8]
KINDS = {"jacobi": [], "coloured": ["-pc_blockrelax_type", "coloured"], "chaotic": ["-pc_blockrelax_type", "chaotic"]}
KRYLOV = {"jacobi": "gmres", "coloured": "gmres", "chaotic": "fgmres"}


def expect_about(iterations, measured):
    """The host repeats itself to the bit on one rank, chaotic blocks of small problems included; another compiler may round otherwise."""
    assert 0.9 * measured - 1 <= iterations <= 1.1 * measured + 1


@pytest.fixture
def blockrelax(library):
    return ["-dll_append", library, "-pc_type", "blockrelax", *STRICT]


@pytest.mark.parametrize("kind", KINDS)
def test_three_dimensions(run, tutorial, library, blockrelax, kind):
    """Dirichlet rows are kept with their columns here, which these methods do not mind."""
    program, words = tutorial("ksp/ksp", "ex45"), [*CUBE, "-ksp_view"]
    output = run(program, *words, *blockrelax, *KINDS[kind], "-ksp_type", KRYLOV[kind])
    point = run(program, *words, "-dll_append", library, *STRICT, "-pc_type", "jacobi", "-ksp_type", "gmres")
    expect_about(counts(output)[0], {"jacobi": 20, "coloured": 12, "chaotic": 11}[kind])
    assert counts(output)[0] < 0.7 * counts(point)[0]
    assert "grid: 20 x 18 x 16, 7-point, from the PC's DMDA" in output
    assert "identity rows: 1728" in output


@pytest.mark.parametrize("words, measured", [([], 38), (["-pc_blockrelax_type", "coloured", "-pc_blockrelax_symmetric"], 20)],
                         ids=["jacobi", "symmetric"])
def test_with_cg(run, tutorial, blockrelax, words, measured):
    output = run(tutorial("ksp/ksp", "ex46"), *SQUARE, *blockrelax, *words)
    expect_about(counts(output)[0], measured)
    assert error(output) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_a_solver(run, tutorial, blockrelax, kind):
    output = run(tutorial("ksp/ksp", "ex46"), *SQUARE, *blockrelax, *KINDS[kind], "-ksp_type", "richardson")
    expect_about(counts(output)[0], {"jacobi": 444, "coloured": 181, "chaotic": 182}[kind])
    assert error(output) < 1e-4
    cube = run(tutorial("ksp/ksp", "ex45"), *CUBE, *blockrelax, *KINDS[kind], "-ksp_type", "richardson")
    expect_about(counts(cube)[0], {"jacobi": 90, "coloured": 38, "chaotic": 38}[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_smoother(run, tutorial, library, kind):
    """On rediscretized levels."""
    words = [f"-mg_levels_{word[1:]}" if str(word).startswith("-") else word for word in KINDS[kind]]
    output = run(tutorial("ksp/ksp", "ex45"), "-da_grid_x", 9, "-da_grid_y", 9, "-da_grid_z", 9, "-da_refine", 1, "-pc_type",
                 "mg", "-pc_mg_levels", 2, "-mg_levels_ksp_type", "richardson", "-mg_levels_ksp_max_it", 1,
                 "-mg_levels_pc_type", "blockrelax", *words, "-dll_append", library, *STRICT, "-ksp_type", "fgmres")
    expect_about(counts(output)[0], {"jacobi": 5, "coloured": 3, "chaotic": 4}[kind])


def test_newton_gives_new_values_in_each_step(run, tutorial, blockrelax):
    output = run(tutorial("snes", "ex5"), "-da_grid_x", 65, "-da_grid_y", 65, "-mms", 1, "-snes_converged_reason",
                 "-snes_rtol", 1e-10, *blockrelax)
    newton = int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", output)[1])
    assert newton == len(counts(output))
    assert float(re.search(r"error L2 (\S+)", output)[1]) < 1e-8


def test_several_unknowns_a_point_are_refused(run, tutorial, library):
    output = run(tutorial("snes", "ex19"), "-da_grid_x", 8, "-da_grid_y", 8, "-dll_append", library, "-pc_type", "blockrelax",
                 fails=True)
    assert "-pc_type blockrelax takes one unknown per grid point, but the DMDA has dof = 4" in output
