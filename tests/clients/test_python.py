"""petsc4py: the library loaded from Python, and docs/examples/poisson.py."""
import re

# petsc4py has no PetscDLLibraryAppend() of its own
APPEND = """
import ctypes, sys, petsc4py
petsc4py.init(sys.argv[:1])
from petsc4py import PETSc
path = next(line.split()[-1] for line in open("/proc/self/maps") if "/libpetsc" in line)
petsc = ctypes.CDLL(path)
petsc.PetscDLLibraryAppend.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
world = ctypes.c_void_p.in_dll(petsc, "PETSC_COMM_WORLD")
loaded = ctypes.addressof(ctypes.c_void_p.in_dll(petsc, "PetscDLLibrariesLoaded"))
for time in range(2):
    assert petsc.PetscDLLibraryAppend(world, loaded, sys.argv[1].encode()) == 0
pc = PETSc.PC().create()
pc.setType("rrb")
print("made", pc.getType())
"""


def result(output):
    its, error = re.search(r"(\d+) iterations, largest error (\S+)", output).groups()
    return int(its), float(error)


def test_example(run, python, root, library, poisson):
    """The same problem as the C example's, hence the same answer."""
    output = run(python, root / "docs/examples/poisson.py", "-dll_append", library, "-n", 63, "-pc_rrb_levels", 6)
    its, error = result(output)
    assert 10 <= its <= 20
    assert error < 1e-4
    assert result(run(poisson, "-n", 63, "-pc_rrb_levels", 6)) == (its, error)


def test_example_without_the_plugin_fails(run, python, root):
    assert "rrb" in run(python, root / "docs/examples/poisson.py", "-n", 15, fails=True)


def test_append_twice_in_a_running_program(run, python, library):
    assert "made rrb" in run(python, "-c", APPEND, library)
