"""PETSc's own tutorials, unmodified, with the plugin loaded: they converge as known, leave no option and no memory."""
import re

import pytest

STRICT = ["-ksp_type", "cg", "-ksp_converged_reason", "-options_left", "-malloc_debug", "-malloc_dump"]


def counts(output):
    """The iterations of each linear solve. Also sees that all converged, and that nothing is left at the end."""
    assert "DIVERGED" not in output, output
    assert "There are no unused options" in output, output
    # as -malloc_dump lists what is left
    assert not re.search(r"^\[ *\d+\] *\d+ bytes ", output, re.MULTILINE), output
    return [int(n) for n in re.findall(r"Linear solve converged due to \w+ iterations (\d+)", output)]


def about(here, there):
    """Counts that differ by one at most, solve by solve: BLAS and PETSc's versions add in other orders."""
    return len(here) == len(there) and all(abs(a - b) <= 1 for a, b in zip(here, there))


def error(output):
    return float(re.search(r"Norm of error (\S+)", output)[1])


@pytest.mark.parametrize("levels, known", [(1, 1), (4, 19), (8, 18)])
def test_five_points_without_a_dm(run, tutorial, plugin, levels, known):
    """The solution is constant, which full lumping finds at once: less of it makes CG work."""
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 63, "-n", 50, "-ksp_rtol", 1e-8, "-pc_rrb_lumping", 0.9,
                 "-pc_rrb_levels", levels, *plugin, *STRICT)
    assert about(counts(output), [known])
    assert error(output) < 1e-5


def test_a_constant_solution_takes_one_iteration(run, tutorial, plugin):
    """Lumping keeps M 1 = A 1."""
    for precision, exact in (("double", 1e-10), ("mixed", 1e-5)):
        output = run(tutorial("ksp/ksp", "ex2"), "-m", 100, "-n", 80, "-pc_rrb_levels", 8, "-pc_rrb_precision", precision, *plugin, *STRICT)
        assert counts(output) == [1]
        assert error(output) < exact


@pytest.mark.parametrize("cycle, known", [("v", 18), ("amli", 13)])
def test_dmda(run, tutorial, plugin, cycle, known):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8,
                 "-pc_rrb_levels", 8, "-pc_rrb_cycle", cycle, "-ksp_view", *plugin, *STRICT)
    assert about(counts(output), [known])
    assert error(output) < 1e-5
    assert "grid: 50 x 63, 5-point, from the Mat's DMDA" in output


@pytest.mark.parametrize("cycle, known", [("v", 11), ("amli", 8)])
def test_dmda_with_a_neumann_null_space(run, tutorial, plugin, cycle, known):
    output = run(tutorial("ksp/ksp", "ex50"), "-da_grid_x", 100, "-da_grid_y", 80, "-pc_rrb_levels", 8, "-pc_rrb_cycle",
                 cycle, *plugin, *STRICT)
    assert about(counts(output), [known])


@pytest.mark.parametrize("bc, cycle, known", [("dirichlet", "v", 11), ("dirichlet", "amli", 7), ("neumann", "v", 8), ("neumann", "amli", 5)])
def test_conductivity(run, tutorial, plugin, bc, cycle, known):
    """Dirichlet rows are kept in the matrix here, with their columns."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 65, "-da_grid_y", 65, "-bc_type", bc, "-pc_rrb_levels", 8,
                 "-pc_rrb_cycle", cycle, *plugin, *STRICT)
    assert about(counts(output), [known])


def test_a_nonsymmetric_jump_is_refused(run, tutorial, plugin):
    """The tutorial takes each row's own conductivity at a jump, which gives a nonsymmetric matrix."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 65, "-da_grid_y", 65, "-rho", 10, *plugin, fails=True)
    assert re.search(r"PCRRB cannot use this matrix: The matrix is not symmetric: row \d+ at \(\d+, \d+\)", output), output
    assert "-pc_type gamg" in output


MULTIGRID = ["-da_grid_x", 9, "-da_grid_y", 9, "-da_refine", 3, "-pc_type", "mg", "-pc_mg_levels", 3]
SMOOTHER = ["-mg_levels_pc_type", "rrb", "-mg_levels_ksp_type", "chebyshev"]
COARSE = ["-mg_coarse_pc_type", "rrb", "-mg_coarse_ksp_type", "preonly", "-mg_coarse_pc_rrb_levels", 1]


@pytest.mark.parametrize("slots, known", [(SMOOTHER, 6), (COARSE, 3), (SMOOTHER + COARSE, 6)],
                         ids=["smoother", "coarse", "both"])
def test_inside_multigrid(run, tutorial, library, slots, known):
    output = run(tutorial("ksp/ksp", "ex29"), "-dll_append", library, *MULTIGRID, *slots, *STRICT)
    assert about(counts(output), [known])


def test_newton_gives_new_values_in_each_step(run, tutorial, plugin):
    output = run(tutorial("snes", "ex5"), "-da_grid_x", 65, "-da_grid_y", 65, "-mms", 1, "-snes_converged_reason",
                 "-snes_rtol", 1e-10, "-pc_rrb_levels", 8, *plugin, *STRICT)
    linear = counts(output)
    newton = int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", output)[1])
    assert newton == len(linear)
    assert about(linear, [24, 20, 19, 21])
    assert float(re.search(r"error L2 (\S+)", output)[1]) < 1e-8


def test_several_unknowns_a_point_are_refused(run, tutorial, plugin):
    output = run(tutorial("snes", "ex19"), "-da_grid_x", 8, "-da_grid_y", 8, *plugin, fails=True)
    assert "-pc_type rrb takes one unknown per grid point, but the DMDA has dof = 4" in output
    assert "-pc_type fieldsplit" in output
