"""PETSc's own tutorials, unmodified, with -ksp_deflation: fewer iterations, the same solutions, no options or memory left."""
import re

import pytest

from test_tutorials import STRICT, counts, error

BLOCK = ["-ksp_deflation", "block"]
VARIANTS = [BLOCK, [*BLOCK, "-ksp_deflation_variant", "def1"]]
NAMES = ["adef2", "def1"]


@pytest.fixture
def load(library):
    return ["-dll_append", library]


def both(run, program, words, load, deflation):
    """What the program prints without and with deflation."""
    return [run(program, *words, *load, *STRICT, *more) for more in ([], deflation)]


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
@pytest.mark.parametrize("pc", ["jacobi", "icc", "gamg"])
def test_dmda(run, tutorial, load, deflation, pc):
    words = ["-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8, "-pc_type", pc, "-ksp_view"]
    plain, deflated = both(run, tutorial("ksp/ksp", "ex46"), words, load, deflation)
    assert counts(deflated)[0] <= counts(plain)[0] * (1 if pc == "gamg" else 0.6)
    assert error(deflated) < 1e-5
    assert "7 x 8 blocks of the grid of 50 x 63, from the Mat's DMDA" in deflated
    assert f"type: {pc}" in deflated
    assert "subdomaindeflation" not in plain


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
def test_a_solution_in_the_deflated_space_takes_no_iteration(run, tutorial, load, deflation):
    """That of this tutorial is constant, which the initial guess finds."""
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 63, "-n", 50, "-pc_type", "jacobi", *load, *STRICT, *deflation)
    assert counts(output) == [0]
    assert error(output) < 1e-10


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
def test_a_neumann_null_space(run, tutorial, load, deflation):
    plain, deflated = both(run, tutorial("ksp/ksp", "ex50"), ["-da_grid_x", 60, "-da_grid_y", 50, "-pc_type", "jacobi", "-ksp_view"],
                           load, deflation)
    assert counts(deflated)[0] < 0.8 * counts(plain)[0]
    assert "null directions: 1" in deflated


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
@pytest.mark.parametrize("pc, most", [("jacobi", 60), ("icc", 25), ("gamg", 10)])
def test_dirichlet_rows_that_are_kept_with_their_columns(run, tutorial, load, deflation, pc, most):
    """Plain CG needs thousands of iterations here with jacobi, and with icc does not converge."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 65, "-da_grid_y", 65, "-pc_type", pc, *load, *STRICT, *deflation)
    assert counts(output)[0] <= most


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
def test_three_dimensions(run, tutorial, load, deflation):
    words = ["-da_grid_x", 20, "-da_grid_y", 18, "-da_grid_z", 16, "-pc_type", "jacobi", "-ksp_view"]
    plain, deflated = both(run, tutorial("ksp/ksp", "ex45"), words, load, deflation)
    assert counts(deflated)[0] < 0.6 * counts(plain)[0]
    assert "3 x 3 x 2 blocks of the grid of 20 x 18 x 16" in deflated


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
def test_newton(run, tutorial, load, deflation):
    """E follows the Jacobian."""
    words = ["-da_grid_x", 65, "-da_grid_y", 65, "-mms", 1, "-snes_converged_reason", "-snes_rtol", 1e-10, "-pc_type", "icc"]
    plain, deflated = both(run, tutorial("snes", "ex5"), words, load, deflation)
    steps = [int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", out)[1]) for out in (plain, deflated)]
    assert steps[0] == steps[1] == len(counts(deflated))
    assert sum(counts(deflated)) < 0.6 * sum(counts(plain))
    assert float(re.search(r"error L2 (\S+)", deflated)[1]) < 1e-8


@pytest.mark.parametrize("deflation", VARIANTS, ids=NAMES)
def test_time_steps(run, tutorial, load, deflation):
    words = ["-da_grid_x", 30, "-da_grid_y", 30, "-ts_max_steps", 3, "-pc_type", "jacobi"]
    plain, deflated = both(run, tutorial("ts", "ex13"), words, load, deflation)
    assert len(counts(deflated)) >= 5
    assert sum(counts(deflated)) < 0.9 * sum(counts(plain))


def test_time_steps_without_a_dm(run, tutorial, load):
    words = ["-m", 200, "-ts_max_steps", 3, "-ts_type", "beuler", "-pc_type", "jacobi", "-ksp_deflation_grid", "200,1"]
    norm = r"avg\. error \(2 norm\) = (\S+),"
    plain, deflated = both(run, tutorial("ts", "ex3"), words[:-2], load, [*BLOCK, *words[-2:]])
    assert len(counts(deflated)) == len(counts(plain)) == 3
    assert float(re.search(norm, deflated)[1]) == pytest.approx(float(re.search(norm, plain)[1]), rel=1e-3)


def test_under_log_view(run, tutorial, load):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 20, "-da_grid_y", 20, "-pc_type", "jacobi", "-log_view",
                 "-ksp_view", *load, *BLOCK, *STRICT)
    assert "type: subdomaindeflation" in output


def test_only_where_its_prefix_is(run, tutorial, load):
    """Inside each block of a block method, and not around it."""
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 20, "-da_grid_y", 20, "-pc_type", "bjacobi",
                 "-sub_ksp_deflation", "stripe", "-sub_ksp_type", "cg", "-sub_pc_type", "jacobi", "-ksp_view",
                 *load, *STRICT[:1], "fcg", *STRICT[2:])
    assert output.count("type: subdomaindeflation") == 1
    assert re.search(r"PC Object: \(sub_\).*\n\s*type: subdomaindeflation", output), output


def test_several_ranks_need_a_grid(run, tutorial, load):
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 9, "-n", 8, *load, *BLOCK, ranks=2, fails=True)
    assert "With several ranks, the grid must come from a DMDA, or from -ksp_deflation_grid" in output


def test_several_unknowns_a_point_are_refused(run, tutorial, load):
    output = run(tutorial("snes", "ex19"), "-da_grid_x", 8, "-da_grid_y", 8, *load, *BLOCK, fails=True)
    assert "-ksp_deflation takes one unknown per grid point, but the DMDA has dof = 4" in output
