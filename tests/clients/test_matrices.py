"""PyAMG's matrices, in PETSc's tutorial that solves what it reads from a file: symmetric ones with few positive couplings converge as known, the
others are refused. The tutorial prints the true residual."""
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from pyamg import gallery
from pyamg.gallery import example, fem

from test_tutorials import STRICT, about, counts

CONVERGE = {"airfoil": 10, "knot": 10, "unit_cube": 8, "unit_square": 10}
SINGULAR = ["unit_square"]
COMPLEX = ["helmholtz_2D"]  # not for this PETSc
RTOL = 1e-8


@pytest.fixture
def read(run, tutorial, plugin, config, root, tmp_path, monkeypatch):
    """read(A, option, ...) solves with that matrix, and with a right-hand side that has a solution."""
    petscconf = Path(config["PETSC_DIR"], config.get("PETSC_ARCH", ""), "include/petscconf.h").read_text(encoding="utf-8")
    if re.search(r"^#define PETSC_USE_64BIT_INDICES 1", petscconf, re.MULTILINE):
        pytest.skip("the file has 32-bit indices")
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    write = importlib.import_module("meshes").write

    def call(A, *options, **how):
        A = A.tocoo()
        write(tmp_path / "A.bin", A.shape[0], A.row, A.col, A.data)
        b = A @ np.random.default_rng(1).standard_normal(A.shape[0])
        with open(tmp_path / "A.bin", "ab") as file:
            np.array([1211214, len(b)], ">i4").tofile(file)
            b.astype(">f8").tofile(file)
        output = run(tutorial("ksp/ksp", "ex72"), "-f", tmp_path / "A.bin", *plugin, *STRICT, "-ksp_rtol", RTOL, "-ksp_norm_type",
                     "unpreconditioned", "-ksp_view", *options, **how)
        if not how.get("fails"):
            assert float(re.search(r"Residual norm <? ?(\S+)", output)[1]) < 1.01 * RTOL * np.linalg.norm(b)
        return output

    return call


@pytest.mark.parametrize("name", CONVERGE)
def test_examples(read, name):
    A = gallery.load_example(name)["A"]
    output = read(A, "-pc_rrb_levels", 3, *["-constantnullspace"] * (name in SINGULAR))
    assert about(counts(output), [CONVERGE[name]])
    assert f"graph: {A.shape[0]} unknowns" in output and "levels: 3, unknowns left: " in output
    assert ("null directions: 1" in output) == (name in SINGULAR)


def test_a_small_one_is_factored(read):
    output = read(gallery.load_example("knot")["A"])
    assert counts(output) == [1]
    assert "levels: 0, unknowns left: 239\n" in output


def test_ranks(read):
    output = read(gallery.load_example("airfoil")["A"], "-pc_rrb_levels", 3, ranks=3)
    assert about(counts(output), [CONVERGE["airfoil"]])
    assert "all of it is on every rank" in output


def test_elasticity(read):
    """39 % of its couplings are positive: it takes many iterations, and is solved."""
    output = read(gallery.load_example("bar")["A"])
    assert 70 < counts(output)[0] < 100


def test_a_discontinuous_galerkin_method_is_refused(read):
    output = read(gallery.load_example("local_disc_galerkin_diffusion")["A"], fails=True)
    assert "PCRRB cannot use this matrix: 8260 of its 17186 off-diagonal pairs of entries are positive" in output
    assert "-pc_type gamg" in output


def test_a_recirculating_flow_is_refused(read):
    output = read(gallery.load_example("recirc_flow")["A"], fails=True)
    assert re.search(r"PCRRB cannot use this matrix: The matrix is not symmetric: row 0 at \(0, 0\), column \d+ at \(\d, \d\) holds", output)
    assert "-ksp_type gmres" in output


def test_no_example_is_left_out():
    assert sorted([*CONVERGE, *COMPLEX, "bar", "local_disc_galerkin_diffusion", "recirc_flow"]) == sorted(example.example_names)


def conductivity(name):
    return {"constant": None, "jumps": lambda x, y: 1e4 if np.sin(9 * x) * np.sin(9 * y) > 0 else 1.0,
            "direction": lambda x, y: np.diag([1, 1e-2])}[name]


@pytest.mark.parametrize("kind, degree, known", [("constant", 1, 16), ("jumps", 1, 16), ("direction", 1, 34), ("constant", 2, 18)])
def test_elements_on_the_airfoil(read, kind, degree, known):
    """With Neumann conditions."""
    data = gallery.load_example("airfoil")
    mesh = fem.Mesh(data["vertices"], data["elements"].astype(int) - data["elements"].min(), degree=degree)
    mesh.refine(2 - degree)
    A = fem.gradgradform(mesh, kappa=conductivity(kind), degree=degree)[0]
    output = read(A, "-constantnullspace", "-pc_rrb_levels", 5)
    assert about(counts(output), [known])
    assert "graph: 1226 unknowns" in output and "levels: 5, unknowns left: 1226 " in output and "null directions: 1" in output


@pytest.mark.parametrize("kind, known", [("FE", 24), ("FD", 33)])
def test_a_direction_across_the_grid(read, kind, known):
    """Nine points, a half or a quarter of which are positive."""
    output = read(gallery.stencil_grid(gallery.diffusion_stencil_2d(1e-2, np.pi / 6, type=kind), (60, 60)))
    assert about(counts(output), [known])
    assert "grid: 60 x 60, 9-point, from the matrix pattern" in output
