"""What measures: benchmarks/poisson.c on several ranks, parts of a question's answer, what a run that was cut off keeps, its report, and
the demo's page."""
import base64
import contextlib
import csv
import importlib
import io
import subprocess
import sys

import numpy as np
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
    output = run(build / "benchmarks/poisson", "-dll_append", library, "-problem", "mask", "-solver_0", "cg: -pc_type none", ranks=2,
                 fails=True)
    assert "-problem mask is for one rank" in output


def test_poisson_on_ranks_in_three_dimensions(run, build, library):
    words = [build / "benchmarks/poisson", "-dll_append", library, "-grid", "18,16,12", "-norm", "unpreconditioned", "-setups", 0,
             "-refreshes", 1, "-solves", 1, "-da_processors_x", 1, "-solver_0", "rrb: -ksp_type rrb", "-solver_1", "gridmg: -pc_type gridmg"]
    one, two = solved(run(*words[:-6], *words[-4:])), solved(run(*words, ranks=2))
    assert [row[2] for row in one + two] == ["ok"] * 4
    for alone, together in zip(one, two, strict=True):  # random numbers of each rank's own
        assert abs(int(together[3]) - int(alone[3])) <= 1


def test_a_matrix_from_a_file(run, build, library, python, root, tmp_path):
    """Refreshes take its values again."""
    run(python, root / "docs/examples/poisson.py", "-dll_append", library, "-n", 31, "-ksp_view_mat", "binary:A.bin", cwd=tmp_path)
    words = ["-dll_append", library, "-matrix", tmp_path / "A.bin", "-norm", "unpreconditioned", "-setups", 0, "-refreshes", 1, "-solves", 1,
             "-solver_0", "rrb: -pc_type rrb", "-solver_1", "jacobi: -pc_type jacobi"]
    (rrb, jacobi) = solved(run(build / "benchmarks/poisson", *words))
    assert rrb[:3] == ("rrb", "961", "ok") and jacobi[2] == "ok" and int(rrb[3]) < 15 < int(jacobi[3])
    assert rrb[4] < 1e-6
    assert "-matrix is for one rank" in run(build / "benchmarks/poisson", *words, ranks=2, fails=True)


@pytest.mark.parametrize("mesh, words", [("quad_tree", (4, 3, 1000)), ("shuffled", (9, 2)), ("triangles", (12,))])
def test_matrices_on_no_grid(benchmarks, mesh, words):
    """Symmetric, positive definite, and sums of rows are 0 away from the sides."""
    if mesh == "triangles":
        pytest.importorskip("matplotlib")
    n, rows, columns, values = getattr(benchmarks("meshes"), mesh)(*words)
    A = np.zeros((n, n))
    np.add.at(A, (rows, columns), values)
    assert np.allclose(A, A.T, rtol=0, atol=1e-12 * abs(A).max())
    assert np.linalg.eigvalsh(A).min() > 1e-12 * abs(A).max()
    sums = A.sum(1)
    assert sums.min() > -1e-12 * abs(A).max() and np.mean(abs(sums) < 1e-12 * abs(A).max()) > 0.3


@pytest.mark.parametrize("options", [["-grid", "12,10,9", "-open", "one", "-problem", "jumps"],
                                     ["-grid", "12,10,9", "-open", "none", "-problem", "bubbles"]], ids=" ".join)
def test_open_sides_and_jumps(run, build, library, options):
    """On one rank and on two. A matrix that were not singular would not be solved where constants are removed from solutions."""
    words = [build / "benchmarks/poisson", "-dll_append", library, *options, "-norm", "unpreconditioned", "-setups", 0, "-refreshes", 1,
             "-solves", 1, "-solver_0", "rrb: -ksp_type rrb", "-solver_1", "jacobi: -pc_type jacobi"]
    one, two = solved(run(*words)), solved(run(*words, ranks=2))
    assert [row[2] for row in one + two] == ["ok"] * 4
    assert all(row[4] < 2e-6 for row in one + two)
    assert all(abs(int(alone[3]) - int(together[3])) <= 2 + int(alone[3]) // 10 for alone, together in zip(one, two, strict=True))


@pytest.mark.parametrize("sides", ["all", "one"])
def test_open_sides_are_where_they_should_be(run, build, library, tmp_path, sides):
    """The solution is that of the five points with u = 0 on all sides, or on the upper one alone."""
    numpy = pytest.importorskip("numpy")
    nx, ny = 5, 4
    run(build / "benchmarks/poisson", "-dll_append", library, "-n", f"{nx},{ny}", "-open", sides, "-norm", "unpreconditioned", "-rtol", 1e-12,
        "-setups", 0, "-refreshes", 0, "-solves", 1, "-output", tmp_path / "u", "-solver_0", "cg: -pc_type none")
    u = numpy.pad(numpy.fromfile(tmp_path / "u").reshape(ny, nx), 1, mode="constant" if sides == "all" else "edge")
    u[-1] = 0
    x, y = numpy.meshgrid(numpy.arange(1, nx + 1) / (nx + 1), numpy.arange(1, ny + 1) / (ny + 1))
    uxx = y * (y - 1) * (2 + 2 * y * (2 * x - 1) + y**2 * x * (x - 1))
    uyy = x * (x - 1) * (2 + 2 * x * (2 * y - 1) + x**2 * y * (y - 1))
    b = -(uxx + uyy) * numpy.exp(x * y) / (nx + 1)**2
    product = 4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
    assert product == pytest.approx(b, abs=1e-10)


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


@pytest.fixture
def benchmarks(root, build, library, tmp_path, monkeypatch):
    """benchmarks("run") is that file of benchmarks/, with a build folder that has nothing but programs."""
    for name in ("lib", "benchmarks", "config.mk"):
        (tmp_path / "build").mkdir(exist_ok=True)
        (tmp_path / "build" / name).symlink_to((build / name).resolve())
    monkeypatch.setenv("PETSCRRB_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("PETSCRRB_COMMIT", "1234567")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("FRESH", raising=False)
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    monkeypatch.delitem(sys.modules, "run", raising=False)  # tests/ has one, too
    yield importlib.import_module
    sys.modules.pop("run", None)


def test_parts_of_an_answer_are_kept(benchmarks, tmp_path):
    lines = ["# notes", "part,problem,us", "weak,small,1", "strong,small,2.5", "strong,large,4", "largest,large,"]
    path = tmp_path / "scaling_devices.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = benchmarks("run").with_others(path, benchmarks("questions.scaling_devices"), [{"part": "strong", "problem": "small", "us": 3}])
    assert [tuple(row.values()) for row in rows] == [("weak", "small", 1), ("strong", "small", 3), ("strong", "large", 4),
                                                     ("largest", "large", "")]


def test_every_question_can_be_planned(benchmarks, tmp_path, monkeypatch):
    """On a machine with eight GPUs: what a question will run is known before."""
    smi = tmp_path / "bin/nvidia-smi"
    smi.parent.mkdir()
    smi.write_text("#!/bin/sh\nfor gpu in 1 2 3 4 5 6 7 8; do echo A100; done\n", encoding="utf-8")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(smi.parent), prepend=":")
    run, cases = benchmarks("run"), benchmarks("cases")
    monkeypatch.setattr(benchmarks("driver").Driver, "find", lambda self, name: self.build / "lib/libpetscrrb.so")
    driver = cases.Cases(benchmarks("progress").Progress(io.StringIO()))
    questions = [run.Question(name) for name in run.QUESTIONS + run.DEVICE_QUESTIONS]
    planned = {question.name: len(found) for question, found in run.plan(driver, questions, fresh=False)}
    assert min(planned.values()) > 0
    assert planned["odd_levels"] == 2 * len(benchmarks("questions.odd_levels").SIZES)
    assert len(driver.progress.left) == sum(planned.values())


@pytest.fixture
def two_questions(benchmarks, tmp_path, monkeypatch):
    """call() is `make bench ARGS="threads scaling"` on three small grids: it gives how many programs ran. After `most` of them the user
    cuts it off."""
    driver, run = benchmarks("driver").Driver, benchmarks("run")
    for name, sizes in (("threads", (31, 40)), ("scaling", (31,))):
        monkeypatch.setattr(benchmarks(f"questions.{name}"), "SIZES", sizes)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run, "draw", lambda *of: None)
    monkeypatch.setattr(sys, "argv", ["run.py", "threads", "scaling"])
    execute = driver.execute

    def call(most=99):
        ran = []

        def counted(self, *arguments):
            if len(ran) == most:
                raise KeyboardInterrupt
            ran.append(arguments)
            return execute(self, *arguments)

        monkeypatch.setattr(driver, "execute", counted)
        with pytest.raises(KeyboardInterrupt) if most < 99 else contextlib.nullcontext():
            run.main()
        return len(ran)

    return call


def test_a_run_that_was_cut_off_goes_on(two_questions, tmp_path, monkeypatch, capsys):
    results, report = tmp_path / "results", tmp_path / "build/bench/report.html"
    two_questions(most=2)
    assert "2/3 cases" in capsys.readouterr().out
    first = (results / "threads.csv").read_text(encoding="utf-8")
    assert not (results / "scaling.csv").exists()
    assert "threads" in report.read_text(encoding="utf-8")
    assert two_questions() == 1
    assert "2 of 3 cases had been measured before" in capsys.readouterr().out
    assert (results / "threads.csv").read_text(encoding="utf-8") == first
    check_report(report.read_text(encoding="utf-8"), results)
    monkeypatch.setenv("FRESH", "yes")
    assert two_questions() == 3


def check_report(page, results):
    """It has each table, with numbers as they are shown, and where they come from."""
    from tables import read_table, shown

    for name in ("threads", "scaling"):
        (question, *notes), rows = read_table(results / f"{name}.csv")
        assert f'<h2 id="{name}">' in page and question in page and "; ".join(notes) in page
        assert "commit: 1234567" in notes and len(rows) >= 1
        for row in rows:
            assert "".join(f'<td class="number">{shown(value)}</td>' for value in row.values()) in page


@pytest.mark.parametrize("setting", ["PETSCRRB_COMMIT", "OMP_NUM_THREADS"])
def test_what_others_measured_is_measured_again(benchmarks, monkeypatch, setting):
    ran, code = [], [0]

    def execute(self, *arguments):
        ran.append(arguments)
        return subprocess.CompletedProcess([], code[0], str(len(ran)), "")

    def measure(n=31):
        driver = benchmarks("cases").Cases(benchmarks("progress").Progress(io.StringIO()))
        driver.begin("levels")
        return driver.execute(driver.poisson, ("-n", n)).stdout

    monkeypatch.setattr(benchmarks("driver").Driver, "execute", execute)
    assert [measure(), measure(), measure(40), measure(40), measure()] == ["1", "1", "2", "2", "1"]
    monkeypatch.setenv(setting, "1")
    assert [measure(), measure()] == ["3", "3"]
    code[0] = 1  # what failed is tried again
    assert [measure(52), measure(52)] == ["4", "5"]


def test_report_has_plots_in_itself(benchmarks, tmp_path):
    (tmp_path / "levels.csv").write_text("# How many?\n# date: 2025-01-02\n# machine: of 1 < 2 cores\nn,name\n3,a & b\n", encoding="utf-8")
    (tmp_path / "levels.png").write_bytes(b"a plot")
    page = benchmarks("report").write(tmp_path, ("hard", "levels")).read_text(encoding="utf-8")
    assert f'src="data:image/png;base64,{base64.b64encode(b"a plot").decode()}"' in page
    assert '<td class="number">3</td><td>a &amp; b</td>' in page and "of 1 &lt; 2 cores" in page and "2025-01-02" in page
    assert "hard" not in page and "http" not in page


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_progress(benchmarks, stream):
    """A case took 10 seconds, one to come took 30 before, another is unknown, and 5 have gone by since."""
    times = iter([0, 10, *[15] * 99])
    progress = benchmarks("progress").Progress(stream(), lambda: next(times))
    progress.left = {"a": None, "b": 30, "c": None}
    progress.text = "n = 31"
    progress.case("a", 10)
    assert progress.line() == "1/3 cases, 0:15 elapsed, about 0:45 left: n = 31"  # 30 + (10 + 30)/2 - 5
    progress.case("not planned")
    progress.drop(["b", "c"])
    assert progress.line().startswith("2/2 cases, 0:15 elapsed, about 0:00 left")
    progress.say("result")
    lines = progress.stream.getvalue().splitlines()
    if stream is Terminal:
        assert "\r\x1b[K[######..............] 1/3 cases" in progress.stream.getvalue()
        assert "\r\x1b[Kresult\n" in progress.stream.getvalue()
    else:
        assert [line.split(" cases")[0].strip() for line in lines] == ["1/3", "2/4", "result"]
        assert "\x1b" not in progress.stream.getvalue()


def test_demo_shows_the_plane_and_the_cube(benchmarks, tmp_path, monkeypatch, capsys):
    demo = benchmarks("demo")
    monkeypatch.setattr(demo, "N", 40)
    monkeypatch.setattr(demo, "SIDE", 14)
    demo.main()
    page, printed = (tmp_path / "build/demo.html").read_text(encoding="utf-8"), capsys.readouterr().out
    drawn = "picture of the solution" in printed
    assert page.count("data:image/png;base64,") == (2 if drawn else 0)
    assert page.count("<table>") == 2 and "http" not in page
    for unknowns, solvers in (("40 x 40", demo.PLANE), ("14 x 14 x 14", demo.SOLID)):
        assert unknowns in page and unknowns in printed
        assert all(f"<td>{solver}</td>" in page and f"  {solver} " in printed for solver in solvers)
    assert not list((tmp_path / "build").glob("*.bin"))
