"""PETSc's own tutorials, unmodified, with nothing but `-ksp_type rrb`: the preconditioner comes by itself."""
import re

import pytest

from test_tutorials import STRICT, about, counts, error

WITHOUT_A_TYPE = STRICT[2:]  # STRICT begins with -ksp_type cg


@pytest.fixture(scope="session")
def rrb(library):
    """The options that load the plugin and choose the RRB-solver."""
    return ["-dll_append", library, "-ksp_type", "rrb", *WITHOUT_A_TYPE]


@pytest.fixture(scope="session")
def cg(plugin):
    """What it is compared with."""
    return [*plugin, "-ksp_type", "cg", "-ksp_norm_type", "natural", *WITHOUT_A_TYPE]


@pytest.mark.parametrize("levels", [1, 4, 8])
def test_five_points_without_a_dm(run, tutorial, rrb, cg, levels):
    words = ["-m", 163, "-n", 150, "-ksp_rtol", 1e-8, "-pc_rrb_lumping", 0.9, "-pc_rrb_levels", levels]
    here = run(tutorial("ksp/ksp", "ex2"), *words, "-ksp_view", *rrb)
    assert about(counts(here), counts(run(tutorial("ksp/ksp", "ex2"), *words, *cg)))
    assert error(here) < 1e-4
    assert "type: rrb\n    conjugate gradients: on " in here


@pytest.mark.parametrize("norm, known", [("natural", 12), ("preconditioned", 13), ("unpreconditioned", 12)])
def test_dmda(run, tutorial, rrb, norm, known):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 150, "-da_grid_y", 163, "-random_exact_sol", "-ksp_rtol", 1e-8,
                 "-pc_rrb_levels", 8, "-ksp_norm_type", norm, "-ksp_view", "-ksp_monitor_true_residual", *rrb)
    assert about(counts(output), [known])
    assert error(output) < 1e-4
    assert "conjugate gradients: on the first Schur complement" in output
    assert len(re.findall(rf"\d KSP {norm} resid norm", output)) == counts(output)[0] + 1


def test_dmda_with_a_neumann_null_space(run, tutorial, rrb, cg):
    words = ["-da_grid_x", 100, "-da_grid_y", 80, "-pc_rrb_levels", 8]
    assert about(counts(run(tutorial("ksp/ksp", "ex50"), *words, *rrb)), counts(run(tutorial("ksp/ksp", "ex50"), *words, *cg)))


@pytest.mark.parametrize("bc, known", [("dirichlet", 8), ("neumann", 5)])
def test_conductivity(run, tutorial, rrb, bc, known):
    """Dirichlet rows are kept in the matrix here, with their columns. With PETSc 3.26 KSPCG does not converge on them."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 129, "-da_grid_y", 129, "-bc_type", bc, "-pc_rrb_levels", 8, *rrb)
    assert about(counts(output), [known])


def test_another_preconditioner_is_refused(run, tutorial, library):
    output = run(tutorial("ksp/ksp", "ex2"), "-dll_append", library, "-ksp_type", "rrb", "-pc_type", "jacobi", fails=True)
    assert "KSPRRB works with the preconditioners rrb and gridmg only, not with jacobi" in output
    assert "-pc_type rrb" in output


def test_as_a_smoother(run, tutorial, library):
    """Steps without a norm, and a flexible method outside."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 9, "-da_grid_y", 9, "-da_refine", 3, "-pc_type", "mg",
                 "-pc_mg_levels", 3, "-ksp_type", "fgmres", "-mg_levels_ksp_type", "rrb", "-mg_levels_pc_type", "rrb",
                 "-mg_levels_ksp_max_it", 2, "-mg_levels_ksp_norm_type", "none", "-dll_append", library, *WITHOUT_A_TYPE)
    assert about(counts(output), [2])


def test_newton_gives_new_values_in_each_step(run, tutorial, rrb, cg):
    words = ["-da_grid_x", 129, "-da_grid_y", 129, "-mms", 1, "-snes_converged_reason", "-snes_rtol", 1e-10,
             "-pc_rrb_levels", 8]
    output = run(tutorial("snes", "ex5"), *words, *rrb)
    assert about(counts(output), counts(run(tutorial("snes", "ex5"), *words, *cg)))
    newton = int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", output)[1])
    assert newton == len(counts(output))
    assert float(re.search(r"error L2 (\S+)", output)[1]) < 1e-8


@pytest.mark.parametrize("method", ["beuler", "cn", "bdf"])
def test_heat_in_time_steps(run, tutorial, rrb, cg, method):
    """Rows of the sides are diagonal, and the neighbours keep their columns."""
    words = ["-da_grid_x", 60, "-da_grid_y", 63, "-ts_max_steps", 5, "-ts_type", method, "-ts_adapt_type", "none",
             "-pc_rrb_levels", 6]
    here = counts(run(tutorial("ts", "ex13"), *words, *rrb))
    assert len(here) >= 5
    assert about(here, counts(run(tutorial("ts", "ex13"), *words, *cg)))
