"""The heat equation u_t = laplace u on the unit cube, by PETSc's TS: the time steps choose themselves, and each has a system to solve.

usage: heat.py -dll_append /path/to/libpetscrrb.so [-n 40] [-t 0.1] [-ts_type bdf] [-ts_monitor] [any PETSc option]

n cells along each side, u = 0 on the sides, from u = 3 sin(pi x) sin(pi y) sin(pi z): the problem with which the preconditioner was published.
The solution is that times exp(-3 pi^2 t). -picture name: u along the cube's middle and the time steps, where matplotlib is installed, and a VTK file.

The system of a step has the matrix (shift I - laplace), with another shift where the length of the step changes: new values in the same matrix.
"""
import sys
from time import perf_counter

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from grids import Stencil, faces_of, pyplot, write_vtk
from petsc4py import PETSc

options = PETSc.Options()
n, end, picture = options.getInt("n", 40), options.getReal("t", 0.1), options.getString("picture", "")
h, shape = 1 / n, (n - 1,) * 3
points = np.meshgrid(*[h * np.arange(1, n)] * 3, indexing="ij")
start = 3 * np.prod([np.sin(np.pi * p) for p in points], axis=0)

# -laplace, with u = 0 beyond the points inside
A = Stencil(shape).matrix([np.full(faces_of(shape, axis), 1 / h**2) for axis in range(3)])
J = A.duplicate(copy=True)
shifts, middle = [], [(0.0, start[n // 2 - 1, n // 2 - 1, n // 2 - 1])]


def residual(ts, t, u, u_t, f):
    A.multAdd(u, u_t, f)  # f = u_t - laplace u


def jacobian(ts, t, u, u_t, shift, J, P):
    A.copy(P, PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
    P.shift(shift)
    shifts.append(shift)
    return True


def monitor(ts, step, t, u):
    if step > 0:
        middle.append((t, u.getArray(readonly=True).reshape(shape)[(n // 2 - 1,) * 3]))


u = A.createVecRight()
u.setArray(start.ravel())
ts = PETSc.TS().create(PETSc.COMM_SELF)
ts.setType("bdf")
ts.setIFunction(residual, u.duplicate())
ts.setIJacobian(jacobian, J)
ts.setProblemType(PETSc.TS.ProblemType.LINEAR)
ts.setTimeStep(1e-4)
ts.setMaxTime(end)
ts.setMaxSteps(10000)
ts.setExactFinalTime(PETSc.TS.ExactFinalTime.MATCHSTEP)
ts.setTolerances(rtol=1e-5, atol=1e-5)
ts.setMonitor(monitor)
ksp = ts.getSNES().getKSP()
ksp.setType("cg")
ksp.getPC().setType("mic")
ksp.setTolerances(rtol=1e-6)
ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)  # the true residual, so that solvers compare
ts.setFromOptions()

before = perf_counter()
ts.solve(u)
seconds = perf_counter() - before
exact = start * np.exp(-3 * np.pi**2 * ts.getTime())
error = abs(u.getArray(readonly=True).reshape(shape) - exact).max() / exact.max()
decay = -np.log(abs(middle[-1][1]) / middle[0][1]) / ts.getTime()
PETSc.Sys.Print(f"t {ts.getTime():.4f} steps {ts.getStepNumber()} matrices {len(shifts)} shifts from {max(shifts):.1f} to {min(shifts):.1f} "
                f"decay {decay:.5f} error {error:.2e}")

if picture:
    write_vtk(f"{picture}.vtk", h, u=u.getArray(readonly=True).reshape(shape))
    plt = pyplot()
    if plt:
        t, value = np.array(middle).T
        figure, (left, right) = plt.subplots(1, 2, figsize=(6.5, 2.8), layout="constrained")
        left.plot(t, value, "o", markersize=3, label="steps of TS")
        left.plot(t, 3 * np.exp(-3 * np.pi**2 * t), linewidth=1, label="exact")
        left.set(xlabel="t", ylabel="u in the middle")
        left.legend()
        right.semilogy(t[1:], np.diff(t), ".-")
        right.set(xlabel="t", ylabel="length of the step")
        figure.savefig(f"{picture}.png", dpi=72)
        plt.close(figure)
PETSc.Sys.Print(f"{ksp.getType()} with {ksp.getPC().getType()}: {ts.getKSPIterations() / ts.getStepNumber():.1f} iterations a step, "
                f"{1e3 * seconds / ts.getStepNumber():.1f} ms a step")
