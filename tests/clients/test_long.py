"""A little of `make check-long`, with fixed numbers: some hundred random uses, and some turns of each kind of solver."""
import sys


def test_a_little_of_it(run, root, build):
    output = run(sys.executable, root / "tests/long/run.py", "--build", build, "--only", "random_use,soak", "--few", 300, "--seed", 1,
                 "--seconds", 200, "--backend", "host", timeout=300)
    assert "random_use    " in output
