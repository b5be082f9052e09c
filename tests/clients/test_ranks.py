"""PCRRB, PCMIC, PCBLOCKRELAX, PCNEUMANN and deflation on several ranks: the tests that any number of ranks passes, and PETSc's own tutorials."""
import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from test_tutorials import STRICT, counts

CUBE = ["-da_grid_x", 20, "-da_grid_y", 18, "-da_grid_z", 16]


# of other numbers see tests/long/ranks.py; the tutorials below run on four
SUITES = {"MicRanks": 7, "BlockRelaxRanks": 5, "TogetherRanks": 11, "RrbRanks*": 29, "DiagonalOnRanks": 1, "NeumannRanks": 11,
          "DeflationRanks": 8, "DeflationUserRanks": 10, "KnownValuesRanks": 11, "FusedCGRanks": 1}
# of two boxes along each side there are four; the other suites take rows as they come
ON_BOXES = ("MicRanks", "BlockRelaxRanks", "RrbRanks*", "NeumannRanks", "DeflationRanks", "FusedCGRanks")


@pytest.mark.parametrize("ranks, suites", [(2, {"RrbMemory": 2, "FusedCGRanks": 1}), (3, SUITES | {"GridMGRanks*": 16}),
                                           (4, {suite: SUITES[suite] for suite in ON_BOXES})])
def test_googletests(run, build, ranks, suites):
    """At once: to start takes longer than most tests take."""
    chosen = ":".join(f"{suite}.*" for suite in suites)
    output = run(build / "tests/petsc", f"--gtest_filter={chosen}", "--gtest_color=no", ranks=ranks, timeout=900)
    assert output.count(f"[  PASSED  ] {sum(suites.values())} tests.") == ranks


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("program, sizes", [(("ksp/ksp", "ex45"), [*CUBE, "-ksp_type", "gmres"]),
                                            (("ksp/ksp", "ex46"), ["-da_grid_x", 40, "-da_grid_y", 30]),
                                            (("ksp/ksp", "ex2"), ["-m", 40, "-n", 30])],
                         ids=["dmda-3d", "dmda-2d", "rows"])
def test_is_block_jacobi(run, tutorial, library, ranks, program, sizes):
    words = ["-dll_append", library, "-ksp_monitor", *STRICT, *sizes]
    own = run(tutorial(*program), *words, "-pc_type", "mic", ranks=ranks)
    bjacobi = run(tutorial(*program), *words, "-pc_type", "bjacobi", "-sub_pc_type", "mic", ranks=ranks)
    alone = run(tutorial(*program), *words, "-pc_type", "mic")
    norms = [re.findall(r"KSP Residual norm (\S+)", output) for output in (own, bjacobi)]
    assert [float(n) for n in norms[0]] == pytest.approx([float(n) for n in norms[1]], rel=1e-6)
    assert counts(own) == counts(bjacobi)
    assert counts(alone)[0] <= counts(own)[0] <= 2 * counts(alone)[0] + 5


def processes_of(program):
    """The ids of all that run it."""
    links = [folder / "exe" for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [int(link.parent.name) for link in links if os.access(link, os.R_OK) and os.path.realpath(link) == str(program)]


@pytest.mark.parametrize("options", [["-pc_type", "rrb"], ["-pc_type", "neumann", "-ksp_deflation", "block"]], ids=["rrb", "deflation"])
def test_a_rank_that_is_killed_ends_the_others(config, tutorial, library, tmp_path, options):
    """In the middle of a solve that would have no end: MPI's waits are mpiexec's business."""
    if not config.get("MPIEXEC"):
        pytest.skip("this PETSc names no mpiexec")
    program = tmp_path / "ex46"  # which nobody else runs
    shutil.copy(tutorial("ksp/ksp", "ex46"), program)
    words = [*shlex.split(config["MPIEXEC"]), "-n", "3", program, "-da_grid_x", "60", "-da_grid_y", "63", "-dll_append", library,
             "-ksp_type", "richardson", "-ksp_convergence_test", "skip", "-ksp_max_it", "1000000000", "-ksp_monitor", *options]
    settings = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **settings}) as started:
        try:
            assert any(" 20 KSP" in line for line in started.stdout), "it has not begun to solve"
            ranks = processes_of(program)
            assert len(ranks) == 3
            os.kill(ranks[1], signal.SIGKILL)
            started.communicate(timeout=60)
            assert started.returncode != 0
            assert not processes_of(program)
        finally:
            started.kill()
            for rank in processes_of(program):
                os.kill(rank, signal.SIGKILL)


def test_a_part_that_is_no_grid_is_refused(run, tutorial, library):
    """Rows of 30 points, and 410 of them on each rank."""
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 41, "-n", 30, "-dll_append", library, "-pc_type", "mic", ranks=3, fails=True)
    assert "on rank 0: No 2D grid with 5 or 9 points" in output
    assert "With several ranks, the rows of each must form a grid: a box of the DMDA, or whole lines or planes" in output


@pytest.mark.parametrize("options", [[], ["-pc_neumann_type", "poisson", "-pc_neumann_drop", "pattern"]], ids=["series", "poisson"])
@pytest.mark.parametrize("program, sizes", [(("ksp/ksp", "ex45"), [*CUBE, "-ksp_type", "gmres"]),
                                            (("ksp/ksp", "ex46"), ["-da_grid_x", 40, "-da_grid_y", 30]),
                                            (("ksp/ksp", "ex2"), ["-m", 40, "-n", 30])],
                         ids=["dmda-3d", "dmda-2d", "rows"])
def test_tutorials_with_neumann(run, tutorial, library, program, sizes, options):
    words = ["-dll_append", library, *STRICT, *sizes, "-pc_type", "neumann", *options]
    alone = run(tutorial(*program), *words)
    four = run(tutorial(*program), *words, "-ksp_view", ranks=4)
    assert counts(four) == counts(alone)
    assert "the same operator as on one rank, on 4 ranks; order: " + ("numbering of the rows" if program[1] == "ex2" else "") in four


@pytest.mark.parametrize("program, sizes", [(("ksp/ksp", "ex45"), CUBE), (("ksp/ksp", "ex46"), ["-da_grid_x", 40, "-da_grid_y", 30]),
                                            (("ksp/ksp", "ex2"), ["-m", 40, "-n", 30, "-ksp_deflation_grid", "30,40"])],
                         ids=["dmda-3d", "dmda-2d", "rows"])
@pytest.mark.parametrize("deflation", [["block"], ["stripe", "-ksp_deflation_stripe_lines", 4], ["block", "-ksp_deflation_variant", "def1"]],
                         ids=["block", "stripe", "def1"])
def test_tutorials_with_deflation(run, tutorial, library, program, sizes, deflation):
    words = ["-dll_append", library, *STRICT, *sizes, "-pc_type", "neumann", "-ksp_deflation", *deflation]
    assert counts(run(tutorial(*program), *words, ranks=4)) == counts(run(tutorial(*program), *words))


RRB = {"poisson": (("ksp/ksp", "ex46"), ["-da_grid_x", 50, "-da_grid_y", 63, "-random_exact_sol", "-ksp_rtol", 1e-8]),
       "neumann": (("ksp/ksp", "ex50"), ["-da_grid_x", 60, "-da_grid_y", 48]),
       "known values": (("ksp/ksp", "ex29"), ["-da_grid_x", 33, "-da_grid_y", 33]),
       "rows": (("ksp/ksp", "ex2"), ["-m", 43, "-n", 50, "-ksp_rtol", 1e-8, "-pc_rrb_lumping", 0.9]),
       "newton": (("snes", "ex5"), ["-da_grid_x", 33, "-da_grid_y", 33, "-mms", 1])}


@pytest.mark.parametrize("problem, cycle, solver", [("poisson", "v", "cg"), ("poisson", "amli", "rrb"), ("neumann", "v", "cg"),
                                                    ("known values", "amli", "cg"), ("rows", "v", "rrb"), ("newton", "v", "cg")])
def test_tutorials_with_rrb(run, tutorial, plugin, problem, cycle, solver):
    program, sizes = RRB[problem]
    words = [*STRICT, *sizes, *plugin, "-ksp_type", solver, "-pc_rrb_levels", 8, "-pc_rrb_cycle", cycle, "-pc_rrb_gather_size", 100]
    alone, four = run(tutorial(*program), *words), run(tutorial(*program), *words, "-ksp_view", ranks=4)
    assert "the same operator as on one rank, on 4 ranks: " + ("1 x 4" if problem == "rows" else "2 x 2") + " boxes" in four
    for one, many in zip(counts(alone), counts(four), strict=True):
        assert abs(many - one) <= (solver == "rrb")


@pytest.mark.parametrize("name", ["ex45", "ex34"])
def test_tutorials_in_three_dimensions(run, tutorial, library, name):
    """On boxes, some of whose points are rows of other ranks."""
    words = ["-da_grid_x", 24, "-da_grid_y", 20, "-da_grid_z", 22, *STRICT, "-dll_append", library, "-ksp_type", "rrb", "-pc_gridmg_gather_size", 500]
    alone, four = run(tutorial("ksp/ksp", name), *words), run(tutorial("ksp/ksp", name), *words, "-ksp_view", ranks=4)
    assert counts(four) == counts(alone)
    assert "conjugate gradients: on the first Schur complement, of the black points" in four
    assert "the same operator as on one rank, on 4 ranks: " in four


def test_rrb_on_no_flat_grid(run, tutorial, plugin):
    """A 3D matrix on boxes, which each rank has all of."""
    words = [tutorial("ksp/ksp", "ex45"), *CUBE, *plugin, *STRICT]
    alone, four = run(*words), run(*words, "-ksp_view", ranks=4)
    assert counts(four) == counts(alone) and counts(alone)[0] < 25
    assert "all of it is on every rank" in four
    plain = run(*words, "-pc_rrb_red_nodes", "plain", ranks=2, fails=True)
    assert "-pc_type rrb is for 2D grids, but the DMDA is 3D" in plain


def test_rrb_needs_rows_in_natural_order(run, tutorial, plugin):
    """For sizes that are not those of its rows."""
    rows = run(tutorial("ksp/ksp", "ex2"), "-m", 12, "-n", 10, "-pc_rrb_grid", "12,10", *plugin, ranks=3, fails=True)
    assert "With several ranks and no DMDA, rows must be numbered in natural order" in rows
