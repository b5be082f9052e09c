# What stands for the dots of a Python program in the documentation: a 2D Poisson problem and its solver
from petsc4py import PETSc

n = 40
A = PETSc.Mat().createAIJ((n * n, n * n), nnz=5)
for row in range(n * n):
    columns = [row - n] * (row >= n) + [row - 1] * (row % n > 0) + [row + 1] * (row % n < n - 1) + [row + n] * (row < n * n - n)
    A.setValues(row, [row] + columns, [4] + [-1] * len(columns))
A.assemble()
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setErrorIfNotConverged(True)
