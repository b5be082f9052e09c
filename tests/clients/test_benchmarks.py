"""What measures: benchmarks/poisson.c on several ranks, and parts of a question's answer."""
import csv
import sys

import pytest


def solved(output):
    lines = [line for line in output.splitlines() if line.count(",") >= 12]
    return [(row["solver"], row["n"], row["status"], row["iterations"], float(row["residual"] or "nan"))
            for row in csv.DictReader(lines)]


@pytest.mark.parametrize("sizes", ["127", "130,61"])
def test_poisson_on_ranks_is_the_same_problem(run, build, library, sizes):
    words = [build / "benchmarks/poisson", "-dll_append", library, "-n", sizes, "-norm", "unpreconditioned", "-setups", 0, "-refreshes",
             1, "-solves", 1, "-solver_0", "jacobi: -pc_type jacobi", "-solver_1", "rrb: -pc_type rrb"]
    one = solved(run(*words))
    assert [row[2] for row in one] == ["ok", "ok"]
    for ranks in (2, 4):
        for alone, together in zip(one, solved(run(*words, ranks=ranks)), strict=True):
            assert together[:4] == alone[:4]
            assert together[4] == pytest.approx(alone[4], rel=0.02)


def test_poisson_on_ranks_says_what_it_cannot(run, build, library):
    output = run(build / "benchmarks/poisson", "-dll_append", library, "-problem", "variable", "-solver_0", "cg: -pc_type none", ranks=2,
                 fails=True)
    assert "On several ranks the problem is poisson" in output


def test_poisson_on_ranks_in_three_dimensions(run, build, library):
    words = [build / "benchmarks/poisson", "-dll_append", library, "-grid", "18,16,12", "-norm", "unpreconditioned", "-setups", 0,
             "-refreshes", 1, "-solves", 1, "-da_processors_x", 1, "-solver_0", "rrb: -ksp_type rrb", "-solver_1", "gridmg: -pc_type gridmg"]
    one, two = solved(run(*words[:-6], *words[-4:])), solved(run(*words, ranks=2))
    assert [row[2] for row in one + two] == ["ok"] * 4
    for alone, together in zip(one, two, strict=True):  # random numbers of each rank's own
        assert abs(int(together[3]) - int(alone[3])) <= 1


@pytest.mark.parametrize("problem", ["lognormal", "cells", "mask", "channels", "stretched"])
def test_hard_problems_take_red_nodes_by_support(run, build, library, problem):
    """They are what they are named for: plain red nodes fail."""
    rows = solved(run(build / "benchmarks/poisson", "-dll_append", library, "-n", "190,177", "-problem", problem, "-norm", "unpreconditioned",
                      "-setups", 0, "-refreshes", 1, "-solves", 1, "-solver_0", "rrb: -ksp_type rrb", "-solver_1",
                      "plain: -ksp_type rrb -pc_rrb_red_nodes plain -ksp_max_it 25 -ksp_divtol 1e30"))
    assert [row[2] for row in rows] == ["ok", "failed"]
    assert int(rows[0][3]) <= 16


PFMG = {"pfmg": "", "galerkin": "-ksp_pfmg_rap galerkin -ksp_pfmg_relax weighted_jacobi", "one": "-ksp_pfmg_sweeps 1"}
PROBLEMS = {"2d": ["-n", "40,23", "-problem", "variable"], "phases": ["-n", 32, "-problem", "bubbles"],
            "3d": ["-grid", "20,9,31", "-problem", "bubbles"], "line": ["-grid", "1,1,40", "-r", 100, "-anisotropy", 9]}


@pytest.fixture(params=["host", "cuda"])
def backend(request):
    return ["-backend", request.param, *(request.getfixturevalue("device") if request.param == "cuda" else ())]


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_pfmg_solves_the_problem(run, build, library, backend, problem):
    """hypre has the values of the matrix, again after a refresh, and stops by the test that is asked for."""
    output = run(build / "benchmarks/poisson", "-dll_append", library, *problem, *backend, "-norm", "unpreconditioned", "-rtol",
                 "1e-3,1e-9", "-setups", 1, "-refreshes", 1, "-solves", 1, "-applies", 1,
                 *(word for k, (name, text) in enumerate(PFMG.items()) for word in (f"-solver_{k}", f"{name}: -ksp_type pfmg {text}")))
    rows = solved(output)
    assert {row[0] for row in rows} == set(PFMG)
    if {row[2] for row in rows} == {"missing"}:
        pytest.skip("PETSc has no hypre, or one for elsewhere")
    assert all(status == "ok" and int(iterations) < 50 for _, _, status, iterations, _ in rows), output
    assert all(coarse[4] < 1e-3 and fine[4] < 1.01e-9 for coarse, fine in zip(rows[::2], rows[1::2])), output
    assert all(int(coarse[3]) <= int(fine[3]) for coarse, fine in zip(rows[::2], rows[1::2])), output


def test_pfmg_that_does_not_converge_is_no_solver(run, build, library):
    output = run(build / "benchmarks/poisson", "-dll_append", library, "-grid", "16,16,16", "-norm", "unpreconditioned", "-setups", 0,
                 "-refreshes", 0, "-solves", 1, "-solver_0", "pfmg: -ksp_type pfmg -ksp_max_it 2", "-solver_1", "jacobi: -pc_type jacobi")
    rows = solved(output)
    assert [row[2] for row in rows] in (["failed", "ok"], ["missing", "ok"])
    assert ("DIVERGED_ITS" in output) == (rows[0][2] == "failed")


@pytest.mark.parametrize("default", [7.0, 8.0])
def test_levels_that_are_asked_for_follow_from_those_printed(root, monkeypatch, default):
    """odd_levels: an odd number and one more, whichever of them is the default that the program says."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    from questions import odd_levels

    common = {"iterations": 10.0, "residual": 1e-7, "device_mb": 1.0}

    class Driver:
        def run(self, solvers, *options, norm):
            assert norm == "unpreconditioned" and ("-backend", "cuda") == options[:2]
            asked = {name: float(text.partition("-pc_rrb_levels ")[2] or default) for name, text in solvers.items()}
            return {name: common | {"levels": levels, "setup_ms": 3.0, "refresh_ms": 2.0, "solve_ms": levels}
                    for name, levels in asked.items()}

        def solved(self, rows):
            return rows

    rows = odd_levels.measure(Driver(), lambda text: None)
    assert [row["unknowns"] for row in rows[::2]] == [f"{nx} x {ny}" for nx, ny in odd_levels.SIZES]
    assert {(row["levels"], row["us_per_iteration"]) for row in rows[::2]} == {(7, 700)}
    assert {(row["levels"], row["us_per_iteration"]) for row in rows[1::2]} == {(8, 800)}


def test_parts_of_an_answer_are_kept(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import run as benchmarks
    from questions import scaling_devices

    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    lines = ["# notes", "part,problem,us", "weak,small,1", "strong,small,2.5", "strong,large,4", "largest,large,"]
    (tmp_path / "scaling_devices.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = benchmarks.with_others("scaling_devices", scaling_devices, [{"part": "strong", "problem": "small", "us": 3}])
    assert [tuple(row.values()) for row in rows] == [("weak", "small", 1), ("strong", "small", 3), ("strong", "large", 4),
                                                     ("largest", "large", "")]
    sys.modules.pop("run")
