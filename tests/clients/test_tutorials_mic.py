"""PETSc's own tutorials, unmodified, with -pc_type mic: they converge as known, leave no option and no memory."""
import re

import pytest

from test_tutorials import STRICT, about, counts, error

CUBE = ["-da_grid_x", 20, "-da_grid_y", 18, "-da_grid_z", 16]


@pytest.fixture
def mic(library):
    return ["-dll_append", library, "-pc_type", "mic", *STRICT]


@pytest.mark.parametrize("options", [[], ["-pc_mic_omega", 0], ["-pc_mic_type", "ssor"], ["-pc_mic_precision", "single"]],
                         ids=["default", "ic", "ssor", "single"])
def test_three_dimensions(run, tutorial, library, mic, options):
    """Dirichlet rows are kept with their columns here, which GMRES does not mind."""
    program, words = tutorial("ksp/ksp", "ex45"), [*CUBE, "-ksp_view"]
    output = run(program, *words, *mic, *options, "-ksp_type", "gmres")
    jacobi = run(program, *words, "-dll_append", library, *STRICT, "-pc_type", "jacobi", "-ksp_type", "gmres")
    assert counts(output)[0] < 0.6 * counts(jacobi)[0]
    assert "grid: 20 x 18 x 16, 7-point, from the PC's DMDA" in output
    assert "identity rows, decoupled: 1728" in output


def test_dirichlet_rows_with_cg(run, tutorial, mic):
    """The deflation takes their values out first."""
    assert about(counts(run(tutorial("ksp/ksp", "ex45"), *CUBE, *mic, "-ksp_deflation", "block")), [6])
    assert about(counts(run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 65, "-da_grid_y", 65, *mic)), [20])


def test_a_neumann_null_space_in_three_dimensions(run, tutorial, mic):
    output = run(tutorial("ksp/ksp", "ex34"), "-da_grid_x", 12, "-da_grid_y", 12, "-da_grid_z", 12, *mic, "-ksp_view")
    assert about(counts(output), [10])
    assert "grid: 12 x 12 x 12, 7-point" in output


def test_a_neumann_null_space_at_omega_one(run, tutorial, mic):
    output = run(tutorial("ksp/ksp", "ex50"), "-da_grid_x", 60, "-da_grid_y", 50, "-pc_mic_omega", 1, "-ksp_view", *mic)
    assert about(counts(output), [21])
    assert "null directions: 1" in output


def test_dmda(run, tutorial, mic):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8, *mic)
    assert about(counts(output), [30])
    assert error(output) < 1e-5


def test_newton_gives_new_values_in_each_step(run, tutorial, mic):
    output = run(tutorial("snes", "ex5"), "-da_grid_x", 65, "-da_grid_y", 65, "-mms", 1, "-snes_converged_reason",
                 "-snes_rtol", 1e-10, *mic)
    newton = int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", output)[1])
    assert newton == len(counts(output))
    assert float(re.search(r"error L2 (\S+)", output)[1]) < 1e-8


def test_a_smoother(run, tutorial, library):
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 9, "-da_grid_y", 9, "-da_refine", 3, "-pc_type", "mg",
                 "-pc_mg_levels", 3, "-mg_levels_pc_type", "mic", "-mg_levels_ksp_type", "chebyshev", "-dll_append", library,
                 *STRICT)
    assert about(counts(output), [5])


def test_several_unknowns_a_point_are_refused(run, tutorial, library):
    output = run(tutorial("snes", "ex19"), "-da_grid_x", 8, "-da_grid_y", 8, "-dll_append", library, "-pc_type", "mic", fails=True)
    assert "-pc_type mic takes one unknown per grid point, but the DMDA has dof = 4" in output
