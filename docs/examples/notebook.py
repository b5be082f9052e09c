# %% [markdown]
# A matrix of your own: load it, solve, plot, compare. Jupyter, VS Code and Spyder run it cell by cell. As a program it is
#
#     notebook.py -dll_append /path/to/libpetscrrb.so [-matrix A.bin] [-n 255]
#
# The matrix is on a grid with n points along x; an application writes it with -ksp_view_mat binary:A.bin.

# %% Load PETSc and the plugin. In a notebook: petsc4py.init(["", "-dll_append", "/path/to/libpetscrrb.so", ...])
import sys
from time import perf_counter

import petsc4py

petsc4py.init(sys.argv)
from grids import pyplot
from petsc4py import PETSc

# %% The matrix, and a right-hand side
options = PETSc.Options()
A = PETSc.Mat().load(PETSc.Viewer().createBinary(options.getString("matrix", "A.bin"), "r"))
x, b = A.createVecs()
n = options.getInt("n", round(b.size**0.5))
b.set(1)


# %% Solve
def solve(solver, preconditioner=None):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType(solver)
    if preconditioner:
        ksp.getPC().setType(preconditioner)
    ksp.setTolerances(rtol=1e-8, max_it=1000)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    start = perf_counter()
    ksp.solve(b, x)
    return ksp, 1e3 * (perf_counter() - start)


ksp, milliseconds = solve("rrb")
print(f"rrb: {ksp.getIterationNumber()} iterations, {milliseconds:.1f} ms with the set-up, u up to {x.max()[1]:.6e}")

# %% Plot
u, plt = x.getArray().reshape(-1, n).copy(), pyplot()
if plt:
    plt.contourf(u, 16)
    plt.colorbar(label="u")
    plt.savefig("notebook.png", dpi=60)

# %% Compare
for solver in (("cg", "rrb"), ("cg", "mic"), ("cg", "gamg"), ("cg", "icc")):
    ksp, milliseconds = solve(*solver)
    difference = abs(x.getArray() - u.ravel()).max()
    print(f"{' '.join(solver):<10}{ksp.getIterationNumber():>4} iterations {milliseconds:8.1f} ms, differs by {difference:.1e}")
