"""Allocations and calls of MPI that fail, in a few cases; `make check-long` goes through all of them."""
import pytest

CASES = ["rrb", "rrb-cg-inverse", "mic-lines", "relax-coloured", "neumann-seven", "poisson-loose-pattern", "block-explicit", "user"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind, ranks, rank", [("memory", 1, -1), ("memory", 2, 1), ("mpi", 1, -1), ("mpi", 2, -1)])
def test_each_call_may_fail(run, build, case, kind, ranks, rank):
    """An error on all ranks, no crash, and a right next solve."""
    output = run(build / "tests/long/failures", "-kind", kind, "-rank", rank, "-case", case, ranks=ranks, timeout=300,
                 env={"OMP_NUM_THREADS": "1"})
    assert [line for line in output.splitlines() if line.startswith("bad ")] == []
    assert "\ntried " in output
