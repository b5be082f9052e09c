"""Allocations and calls of MPI that fail, in a few cases; `make check-long` goes through all of them."""
import pytest

CASES = ["rrb-cg-inverse", "mic-lines", "relax-coloured", "neumann-seven", "poisson-loose-pattern", "block-explicit", "user"]
# with the vectors of a user PETSc does not survive that all of its own allocations fail
SWEEPS = ([("memory", 1, -1, case) for case in CASES if case != "user"] + [("memory", 2, 1, case) for case in ["rrb", *CASES]]
          + [("mpi", ranks, -1, case) for ranks in (1, 2) for case in ["rrb", *CASES]])


@pytest.mark.parametrize("kind, ranks, rank, case", SWEEPS)
def test_each_call_may_fail(run, build, kind, ranks, rank, case):
    """An error on all ranks, no crash, and a right next solve."""
    output = run(build / "tests/long/failures", "-kind", kind, "-rank", rank, "-case", case, ranks=ranks, timeout=300,
                 env={"OMP_NUM_THREADS": "1"})
    assert [line for line in output.splitlines() if line.startswith("bad ")] == []
    assert "\ntried " in output
