"""PETSc's own tutorials on meshes, unmodified, with -pc_type rrb on the graphs of their matrices: they converge as known, leave no option and
no memory."""
import re
from pathlib import Path

import pytest

from test_tutorials import about, counts
from test_tutorials_gridmg import cube

# -malloc_debug would go through all memory at each of a mesh's many allocations; without it what is left is listed all the same
STRICT = ["-ksp_type", "cg", "-ksp_rtol", 1e-8, "-ksp_converged_reason", "-options_left", "-malloc_dump"]
LINEAR = ["-snes_type", "ksponly", "-potential_petscspace_degree", 1]  # of snes/tutorials/ex13


@pytest.fixture(scope="session")
def mesh(config):
    """mesh("square", 4) are the options for that file among PETSc's meshes, refined four times, with all of its boundary marked."""
    series = ".".join(config["PETSC_VERSION"].split(".")[:2])
    places = [Path(config["PETSC_DIR"]), Path("/usr/share/petsc", series)]

    def call(name, refinements):
        for place in places:
            path = place / "share/petsc/datafiles/meshes" / f"{name}.msh"
            if path.is_file():
                return ["-dm_plex_filename", path, "-dm_plex_boundary_label", "marker", "-dm_refine", refinements]
        return pytest.skip(f"no {name}.msh in share/petsc/datafiles/meshes of {places}")

    return call


def box(faces, refinements):
    """Quadrilaterals or hexahedra."""
    return ["-dm_plex_dim", faces.count(",") + 1, "-dm_plex_simplex", 0, "-dm_plex_box_faces", faces, "-dm_refine", refinements]


def on_a_graph(output, unknowns):
    return f"graph: {unknowns} unknowns\n" in output and "red nodes: by support, on the graph of the matrix" in output


@pytest.mark.parametrize("name, refinements, levels, unknowns, known", [
    ("square", 4, 4, 5249, 11), ("square_quad", 2, 5, 2925, 12), ("gmsh-3d-binary-64", 1, 3, 327, 14)],
    ids=["triangles", "quadrilaterals", "tetrahedra"])
def test_poisson(run, tutorial, plugin, mesh, name, refinements, levels, unknowns, known):
    output = run(tutorial("snes", "ex13"), *mesh(name, refinements), *LINEAR, "-pc_rrb_levels", levels, *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [known])
    assert on_a_graph(output, unknowns)
    assert f"levels: {levels}, unknowns left: {unknowns} " in output


def test_the_error_falls_with_the_square_of_the_width(run, tutorial, plugin, mesh):
    """So what comes out is the solution."""
    errors = []
    for refinements in (2, 3):
        output = run(tutorial("snes", "ex13"), *mesh("square", refinements), *LINEAR, "-pc_rrb_levels", 3, *plugin, *STRICT, "-error_view")
        assert counts(output)[0] <= 12
        errors.append(float(re.search(r"L2 error: (\S+)", output)[1]))
    assert errors[0] < 0.011 and errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_hexahedra(run, tutorial, plugin):
    """Trilinear elements of unequal sides have positive couplings."""
    output = run(tutorial("snes", "ex13"), *box("3,4,5", 1), *LINEAR, "-pc_rrb_levels", 3, *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [15])
    assert on_a_graph(output, 315)


def test_quadratic_elements(run, tutorial, plugin, mesh):
    output = run(tutorial("snes", "ex13"), *mesh("square", 3), "-snes_type", "ksponly", "-potential_petscspace_degree", 2, *plugin, *STRICT,
                 "-ksp_view")
    assert about(counts(output), [13])
    assert on_a_graph(output, 5249)
    assert "positive off-diagonal entries, moved along other couplings or to the diagonal: 6366" in output


@pytest.mark.parametrize("coefficient, known", [(["ball"], 13), (["cross"], 14), (["checkerboard_0", "-k", 3, "-k_random"], 13)],
                         ids=["ball", "cross", "checkerboard"])
def test_coefficients(run, tutorial, plugin, coefficient, known):
    output = run(tutorial("snes", "ex12"), *box("5,7", 3), "-snes_type", "ksponly", "-run_type", "full", "-bc_type", "dirichlet",
                 "-petscspace_degree", 1, "-pc_rrb_levels", 5, "-variable_coefficient", *coefficient, *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [known])
    assert on_a_graph(output, 2145)


def test_a_neumann_null_space(run, tutorial, plugin):
    output = run(tutorial("snes", "ex12"), *box("5,7", 3), "-snes_type", "ksponly", "-run_type", "full", "-bc_type", "neumann",
                 "-dm_plex_boundary_label", "boundary", "-petscspace_degree", 1, *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [11])
    assert on_a_graph(output, 2337) and "null directions: 1" in output


def test_time_steps(run, tutorial, plugin, mesh):
    """The mass matrix adds positive couplings."""
    output = run(tutorial("ts", "ex45"), *mesh("square", 3), "-sol_type", "quadratic_trig", "-temp_petscspace_degree", 1, "-ts_type", "beuler",
                 "-ts_dt", 0.1, "-ts_max_steps", 2, "-snes_type", "ksponly", "-pc_rrb_levels", 3, *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [9, 8])
    assert on_a_graph(output, 1281)


@pytest.mark.parametrize("alpha, red_nodes", [(1e-3, "auto"), (1e-6, "support")])
def test_a_soft_circle(run, tutorial, plugin, alpha, red_nodes):
    """Bilinear elements on a grid; the tutorial gives no DM, but coordinates."""
    output = run(tutorial("ksp/ksp", "ex54"), "-ne", 99, "-alpha", alpha, "-pc_rrb_red_nodes", red_nodes, *plugin, *STRICT, "-malloc_debug",
                 "-ksp_view")
    assert about(counts(output), [12])
    assert "grid: 100 x 100, 9-point, from the matrix pattern" in output and "identity rows, decoupled: 100" in output
    assert ("red nodes: by support\n" in output) == (red_nodes == "support")


def test_seven_points(run, tutorial, plugin):
    """Of a DMDA, whose checkerboard comes first."""
    output = run(tutorial("ksp/ksp", "ex45"), *cube(17), *plugin, *STRICT, "-ksp_view")
    assert about(counts(output), [9])
    assert "grid: 17 x 17 x 17, 7-point, from the PC's DMDA" in output


@pytest.mark.parametrize("options, known, shows", [
    (["-ksp_type", "rrb"], 11, "conjugate gradients: on all nodes"),
    (["-pc_type", "rrb", "-pc_rrb_levels", 9, "-pc_rrb_cycle", "amli"], 12, "cycle: amli at 278 unknowns"),
    (["-pc_type", "asm", "-pc_asm_type", "basic", "-pc_asm_blocks", 4, "-sub_pc_type", "rrb", "-sub_pc_rrb_levels", 3],
     14, "total subdomain blocks = 4, amount of overlap = 1"),
    (["-pc_type", "gamg", "-mg_levels_pc_type", "rrb"], 7, "graph: 2925 unknowns"),
    (["-pc_type", "gamg", "-pc_gamg_coarse_eq_limit", 400, "-mg_coarse_pc_type", "rrb", "-mg_coarse_pc_rrb_levels", 2],
     12, "levels: 2, unknowns left: 153 ")],
    ids=["solver", "amli", "asm", "smoother", "coarse"])
def test_in_other_places(run, tutorial, library, mesh, options, known, shows):
    output = run(tutorial("snes", "ex13"), *mesh("square_quad", 2), *LINEAR, "-dll_append", library, *STRICT, *options, "-ksp_view")
    assert about(counts(output), [known])
    assert shows in output


def test_ranks(run, tutorial, plugin, mesh):
    """Each has all of the graph."""
    output = run(tutorial("snes", "ex13"), *mesh("square_quad", 2), *LINEAR, "-petscpartitioner_type", "simple", *plugin, *STRICT, "-ksp_view",
                 ranks=2)
    assert about(counts(output), [11])
    assert "all of it is on every rank" in output and "on the graph of the matrix" in output


def test_elasticity_is_refused(run, tutorial, plugin):
    output = run(tutorial("ksp/ksp", "ex56"), "-ne", 15, *plugin, fails=True)
    assert re.search(r"PCRRB cannot use this matrix: \d+ of its \d+ off-diagonal pairs of entries are positive", output)
    assert "-pc_type gamg" in output


def test_a_nonsymmetric_matrix_is_refused(run, tutorial, plugin, mesh):
    """The tutorial has the wrong elements on a mesh of triangles and quadrilaterals."""
    output = run(tutorial("snes", "ex13"), *mesh("hybrid_triquad", 1), *LINEAR, *plugin, fails=True)
    assert re.search(r"PCRRB cannot use this matrix: The matrix is not symmetric: row \d+, column \d+ holds", output)
    assert "-ksp_type gmres -pc_type gamg" in output


def test_a_negative_definite_matrix_fails(run, tutorial, plugin, mesh):
    """On this mesh the tutorial gets the wrong sign."""
    words = [tutorial("snes", "ex13"), *mesh("square_bin_physnames", 1), *LINEAR, *plugin]
    assert "DIVERGED_PC_FAILED iterations 0" in run(*words, "-ksp_converged_reason")
    output = run(*words, "-ksp_error_if_not_converged", fails=True)
    assert "the diagonal entry of row 0 is not positive: the matrix is not positive definite" in output
