"""PETSc's ex45 keeps Dirichlet rows, with values that are not 0, and their columns; its ex34 has Neumann conditions only. With every
type of ours that applies, on one rank and on several: what they print as the residual's norm is that of b - A x."""
import re

import pytest

from test_tutorials import STRICT, counts

TYPES = {"mic": ["-pc_type", "mic"], "ssor": ["-pc_type", "mic", "-pc_mic_type", "ssor"], "neumann": ["-pc_type", "neumann"],
         "poisson": ["-pc_type", "neumann", "-pc_neumann_type", "poisson"], "gridmg": ["-pc_type", "gridmg"], "blockrelax": ["-pc_type", "blockrelax"],
         "coloured": ["-pc_type", "blockrelax", "-pc_blockrelax_type", "coloured", "-pc_blockrelax_symmetric"],
         "deflation": ["-pc_type", "mic", "-ksp_deflation", "block"]}
MOST = {"mic": 45, "ssor": 60, "neumann": 80, "poisson": 110, "gridmg": 40, "blockrelax": 60, "coloured": 45, "deflation": 40}


def cube(n):
    return [word for side in "xyz" for word in (f"-da_grid_{side}", n)]


def residual(output):
    return float(re.search(r"^Residual norm (\S+)", output, re.MULTILINE)[1])


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("kind", TYPES)
def test_dirichlet_rows_with_their_columns(run, tutorial, library, kind, ranks):
    output = run(tutorial("ksp/ksp", "ex45"), *cube(33), *TYPES[kind], *STRICT, "-ksp_rtol", 1e-8, "-dll_append", library,
                 ranks=ranks)
    assert counts(output)[0] <= MOST[kind]
    assert residual(output) < 1e-6


@pytest.mark.parametrize("method", ["minres", "cr", "gmres", "bcgs", "fcg"])
def test_other_methods(run, tutorial, library, method):
    output = run(tutorial("ksp/ksp", "ex45"), *cube(33), *TYPES["mic"], *STRICT, "-ksp_type", method, "-ksp_rtol", 1e-8,
                 "-dll_append", library)
    assert counts(output)[0] <= 45
    assert residual(output) < 1e-6


@pytest.mark.parametrize("method", [["-ksp_type", "cg", "-pc_type", "rrb"], ["-ksp_type", "rrb"],
                                    ["-ksp_type", "rrb", "-pc_rrb_levels", 1]], ids=["cg", "rrb", "gathered"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_in_two_dimensions(run, tutorial, library, ranks, method):
    """The program says nothing about residuals: PETSc does."""
    output = run(tutorial("ksp/ksp", "ex29"), "-da_grid_x", 65, "-da_grid_y", 65, "-dll_append", library, *STRICT, *method,
                 "-ksp_rtol", 1e-8, "-ksp_view_final_residual", ranks=ranks)
    assert counts(output)[0] <= 40
    assert float(re.search(r"KSP final norm of residual (\S+)", output)[1]) < 3e-9


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("kind", TYPES)
def test_neumann_conditions(run, tutorial, library, kind, ranks):
    output = run(tutorial("ksp/ksp", "ex34"), *cube(24), *TYPES[kind], *STRICT, "-ksp_rtol", 1e-8, "-dll_append", library, ranks=ranks)
    assert counts(output)[0] <= MOST[kind]
    assert residual(output) < 1e-7


def test_neumann_conditions_with_several_unknowns_a_point(run, tutorial, library):
    for kind in ("mic", "gridmg", "blockrelax"):
        output = run(tutorial("ksp/ksp", "ex34"), "-da_dof", 2, *TYPES[kind], "-dll_append", library, fails=True)
        assert f"-pc_type {kind} takes one unknown per grid point, but the DMDA has dof = 2" in output
