"""PETSc's own tutorials, unmodified, with -pc_type gridmg: they converge as known, leave no option and no memory."""
import re

import pytest

from test_tutorials import STRICT, about, counts, error


def cube(n):
    return [word for side in "xyz" for word in (f"-da_grid_{side}", n)]


@pytest.fixture
def gridmg(library):
    return ["-dll_append", library, "-pc_type", "gridmg", *STRICT]


@pytest.mark.parametrize("options", [[], ["-pc_gridmg_precision", "double"], ["-pc_gridmg_smoother", "lines"],
                                     ["-pc_gridmg_coarsening", "semi"], ["-pc_gridmg_smooths", 2]],
                         ids=["default", "double", "lines", "semi", "twice"])
def test_three_dimensions(run, tutorial, gridmg, options):
    output = run(tutorial("ksp/ksp", "ex45"), *cube(33), "-ksp_view", *gridmg, *options)
    assert counts(output)[0] <= 9
    assert "grid: 33 x 33 x 33, 7-point, from the PC's DMDA" in output
    assert "identity rows, decoupled: 6146" in output


@pytest.mark.parametrize("n, known", [(17, 6), (65, 10)])
def test_iterations_hardly_grow(run, tutorial, gridmg, n, known):
    assert about(counts(run(tutorial("ksp/ksp", "ex45"), *cube(n), *gridmg)), [known])


def test_a_neumann_null_space(run, tutorial, gridmg):
    output = run(tutorial("ksp/ksp", "ex34"), *cube(24), "-ksp_view", *gridmg)
    assert counts(output)[0] <= 9
    assert "grid: 24 x 24 x 24, 7-point" in output and "null directions: 1" in output


@pytest.mark.parametrize("name, known", [("ex45", 9), ("ex34", 9)])
def test_the_solver_in_three_dimensions(run, tutorial, library, name, known):
    output = run(tutorial("ksp/ksp", name), *cube(24), "-dll_append", library, *STRICT, "-ksp_type", "rrb", "-ksp_view")
    assert counts(output)[0] <= known
    assert "conjugate gradients: on the first Schur complement, of the black points" in output
    assert "grid: 24 x 24 x 24, 7-point, from the PC's DMDA" in output


def test_two_dimensions(run, tutorial, gridmg):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8, *gridmg)
    assert counts(output)[0] <= 12
    assert error(output) < 1e-5


def test_newton_gives_new_values_in_each_step(run, tutorial, gridmg):
    output = run(tutorial("snes", "ex5"), "-da_grid_x", 65, "-da_grid_y", 65, "-mms", 1, "-snes_converged_reason",
                 "-snes_rtol", 1e-10, *gridmg)
    newton = int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", output)[1])
    assert newton == len(counts(output))
    assert float(re.search(r"error L2 (\S+)", output)[1]) < 1e-8


def test_time_steps(run, tutorial, gridmg):
    output = run(tutorial("ts", "ex3"), "-ts_type", "beuler", "-m", 64, *gridmg)
    assert len(counts(output)) > 10 and max(counts(output)) <= 12


@pytest.mark.parametrize("outer", [["-mg_levels_ksp_type", "richardson", "-mg_levels_ksp_max_it", 1],
                                   ["-mg_levels_ksp_type", "chebyshev"]], ids=["richardson", "chebyshev"])
def test_a_smoother(run, tutorial, library, outer):
    """A cycle on each level is too much for a smoother, but it may be one."""
    output = run(tutorial("ksp/ksp", "ex45"), *cube(9), "-da_refine", 1, "-pc_type", "mg", "-pc_mg_levels", 2, "-mg_levels_pc_type",
                 "gridmg", "-mg_coarse_pc_type", "gridmg", *outer, "-dll_append", library, *STRICT, "-ksp_type", "fgmres")
    assert counts(output)[0] <= 8


def test_several_unknowns_a_point_are_refused(run, tutorial, library):
    output = run(tutorial("snes", "ex19"), "-da_grid_x", 8, "-da_grid_y", 8, "-dll_append", library, "-pc_type", "gridmg", fails=True)
    assert "-pc_type gridmg takes one unknown per grid point, but the DMDA has dof = 4" in output
