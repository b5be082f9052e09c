"""Compares solvers on your own matrix: all stop at the same true residual, and they take turns.

usage: compare.py A.bin [b.bin] -dll_append /path/to/libpetscrrb.so [-rtol 1e-6] [-repeat 5] [-singular] [-mine "options"] [any PETSc option]

Your application writes the files with -ksp_view_mat binary:A.bin and -ksp_view_rhs binary:b.bin. -singular attaches the constant null
space. -mine adds a solver of yours.
"""
import os
import sys
from statistics import median
from time import perf_counter

import petsc4py

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin lose time slices where anything else runs
words = sys.argv[:]
mine = [words.pop(words.index("-mine") + 1)] if "-mine" in words else []  # PETSc would take it for options
petsc4py.init(words)
from petsc4py import PETSc

SOLVERS = ["-ksp_type rrb", "-ksp_type cg -pc_type gridmg", "-ksp_type cg -pc_type mic", "-ksp_type cg -pc_type gamg",
           "-ksp_type cg -pc_type hypre -pc_hypre_type boomeramg", "-ksp_type cg -pc_type icc"]
options = PETSc.Options()
rtol, repeat = options.getReal("rtol", 1e-6), options.getInt("repeat", 5)


def load(empty, name):
    empty.setFromOptions()  # -mat_type, -vec_type
    return empty.load(PETSc.Viewer().createBinary(name, "r"))


def milliseconds(work):
    PETSc.COMM_WORLD.barrier()
    start = perf_counter()
    work()
    return 1e3 * (perf_counter() - start)


class Solver:
    def __init__(self, text, number):
        self.text, self.solves, self.refreshes = text, [], []
        prefix = f"solver_{number}_"
        options.prefixPush(prefix)
        options.insertString(text)
        options.prefixPop()
        self.x = b.duplicate()
        self.ksp = PETSc.KSP().create(A.comm)
        self.ksp.setOptionsPrefix(prefix)
        self.ksp.setOperators(A)
        self.ksp.setTolerances(rtol=rtol, max_it=5000)
        self.ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)  # that of the true residual, whatever the preconditioner
        self.ksp.setErrorIfNotConverged(True)
        self.ksp.setFromOptions()
        self.first = milliseconds(self.ksp.setUp) + milliseconds(self.solve)

    def solve(self):
        self.x.set(0)
        self.ksp.solve(b, self.x)

    def turn(self):
        A.stateIncrease()  # as after an assembly with new values
        self.ksp.setOperators(A)
        self.refreshes.append(milliseconds(self.ksp.setUp))
        self.solves.append(milliseconds(self.solve))

    def row(self):
        r = b.duplicate()
        A.mult(self.x, r)
        r.aypx(-1, b)
        solve = median(self.solves)
        return (f"{self.text:<56} {self.ksp.getIterationNumber():>10} {r.norm() / b.norm():>9.1e} {max(0, self.first - solve):>9.2f}"
                f" {median(self.refreshes):>9.2f} {solve:>9.2f}")


files = [word for word in sys.argv[1:] if word.endswith(".bin")]
A = load(PETSc.Mat().create(), files[0])
if options.getBool("singular", False):
    A.setNullSpace(PETSc.NullSpace().create(constant=True))
if len(files) > 1:
    b = load(A.createVecLeft(), files[1])
else:  # in the range of a singular matrix, too
    x, b = A.createVecs()
    x.setRandom()
    A.mult(x, b)

solvers = []
for number, text in enumerate(SOLVERS + mine):
    try:
        solvers.append(Solver(text, number))
    except PETSc.Error as error:
        PETSc.Sys.Print(f"{text}: PETSc's error {error.ierr}; run it alone to read why")
for _ in range(repeat):
    for solver in solvers:
        solver.turn()
PETSc.Sys.Print(f"{'solver':<56} iterations  residual    set-up   refresh     solve  (ms)")
for solver in solvers:
    PETSc.Sys.Print(solver.row())
