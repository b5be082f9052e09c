"""What measures: benchmarks/poisson.c on several ranks, and parts of a question's answer."""
import csv
import sys

import pytest


def solved(output):
    lines = [line for line in output.splitlines() if line.count(",") >= 12]
    return [(row["solver"], row["n"], row["status"], row["iterations"], float(row["residual"])) for row in csv.DictReader(lines)]


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
    assert "On several ranks the problem is poisson, in 2D" in output


def test_parts_of_an_answer_are_kept(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import run as benchmarks
    from questions import scaling_devices

    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    (tmp_path / "scaling_devices.csv").write_text("# notes\npart,us\nweak,1\nstrong,2.5\nlargest,\n", encoding="utf-8")
    rows = benchmarks.with_others("scaling_devices", scaling_devices, [{"part": "strong", "us": 3}])
    assert rows == [{"part": "weak", "us": 1}, {"part": "strong", "us": 3}, {"part": "largest", "us": ""}]
    sys.modules.pop("run")
