"""-laplace(u) = f on the unit square from Python, with petsc4py and the plugin.

usage: poisson.py -dll_append /path/to/libpetscrrb.so [-n 255] [any PETSc option]
"""
import sys

import petsc4py

petsc4py.init(sys.argv)  # hands -dll_append and the other options to PETSc
import numpy as np
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 255)
h = 1 / (n + 1)

# five points, times h^2; unknown j n + i is the point ((i+1) h, (j+1) h)
A = PETSc.Mat().createAIJ((n * n, n * n), nnz=5)
for row in range(n * n):
    i, j = row % n, row // n
    columns = [row - n] * (j > 0) + [row - 1] * (i > 0) + [row + 1] * (i < n - 1) + [row + n] * (j < n - 1)
    A.setValues(row, [row] + columns, [4] + [-1] * len(columns))
A.assemble()

y, x = np.meshgrid(h * np.arange(1, n + 1), h * np.arange(1, n + 1), indexing="ij")
X, Y = x * (x - 1), y * (y - 1)
exact = X * Y * np.exp(x * y)
laplace = (Y * (2 + 2 * y * (2 * x - 1) + y**2 * X) + X * (2 + 2 * x * (2 * y - 1) + x**2 * Y)) * np.exp(x * y)
b = PETSc.Vec().createWithArray(-h**2 * laplace.ravel())
u = b.duplicate()

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("rrb")
ksp.setTolerances(rtol=1e-10)
ksp.setErrorIfNotConverged(True)  # a solve that fails raises petsc4py.PETSc.Error
ksp.setFromOptions()
ksp.solve(b, u)

error = np.abs(u.getArray(readonly=True) - exact.ravel()).max()
print(f"{ksp.getIterationNumber()} iterations, largest error {error:.2e}")
