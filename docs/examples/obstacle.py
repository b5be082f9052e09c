"""Flow around a sphere in a channel, in 3D: a pressure projection with masked cells in each step.

usage: obstacle.py -dll_append /path/to/libpetscrrb.so [-n 32] [-steps 20] [-radius 0.2] [-viscosity 0] [any PETSc option]

The channel is 2 long and 1 x 1 wide, 2n x n x n cells, with walls along which the fluid slips. It comes in from the left with velocity 1, and goes
out on the right, where the pressure is 0. Cells in the sphere are masked: no coupling leads to them, and their rows are those of the identity.

The first step is the start from rest, potential flow: its energy is that of the added mass. -picture name: a VTK file, and a picture where
matplotlib is installed, at the end.
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from grids import Solver, along, faces_of, pyplot, write_vtk
from petsc4py import PETSc

options = PETSc.Options()
n, steps, picture = options.getInt("n", 32), options.getInt("steps", 20), options.getString("picture", "")
radius, viscosity = options.getReal("radius", 0.2), options.getReal("viscosity", 0.0)
h, shape, z, y, x = 1 / n, (n, n, 2 * n), 0, 1, 2
fluid = sum((a - c) ** 2 for a, c in zip(np.meshgrid(*[h * (np.arange(size) + 0.5) for size in shape], indexing="ij"), (0.5, 0.5, 0.7))) > radius**2

# 1 at faces through which fluid flows and pressure acts; at the outlet half a cell lies between them, so that it has the weight 2
weights = [np.zeros(faces_of(shape, axis)) for axis in range(3)]
for axis in range(3):
    weights[axis][along(axis, 1, -1)] = fluid[along(axis, 0, -1)] & fluid[along(axis, 1)]
weights[x][..., -1] = 2
solver = Solver(shape, weights, diagonal=np.where(fluid, 0.0, 1.0))


def divergence(u):
    return sum(np.diff(u[axis], axis=axis) for axis in range(3)) * fluid


def project(u):
    """Makes u free of divergence, and keeps what comes in."""
    p = solver.solve(-divergence(u))
    for axis in range(3):
        beyond = np.pad(p, [(int(k == axis),) * 2 for k in range(3)])  # 0 behind the outlet, without weight elsewhere
        u[axis] -= weights[axis] * np.diff(beyond, axis=axis)
    return p


def at_faces(f, axis, to):
    """The velocity of one axis where that of another is; beyond a wall that of the cell beside it."""
    centred = (f[along(axis, 1)] + f[along(axis, 0, -1)]) / 2
    wide = np.pad(centred, [(int(k == to),) * 2 for k in range(3)], "edge")
    return (wide[along(to, 1)] + wide[along(to, 0, -1)]) / 2


def change(u, axis):
    """What moves and rubs: - (u . grad) u + viscosity laplace u, upwind, for the velocity of one axis."""
    total = 0
    for k in range(3):
        slopes = np.diff(np.pad(u[axis], [(int(k == e),) * 2 for e in range(3)], "edge"), axis=k) / h
        left, right = slopes[along(k, 0, -1)], slopes[along(k, 1)]
        speed = u[axis] if k == axis else at_faces(u[k], k, axis)
        total = total - np.where(speed > 0, speed * left, speed * right) + viscosity * (right - left) / h
    return total * (weights[axis] > 0)


u = [np.zeros(faces_of(shape, axis)) for axis in range(3)]
u[x][..., 0] = 1  # all at once: the fluid starts from rest
u[x][..., 1:] = weights[x][..., 1:] > 0
time = 0.0
for step in range(1, steps + 1):
    if step > 1:
        dt = 0.3 * h / max(abs(f).max() for f in u)
        u = [f + dt * change(u, axis) for axis, f in enumerate(u)]
        time += dt
    p = project(u)
    through = u[x].sum(axis=(z, y)) * h**2
    disturbed = sum((((f - (axis == x)) * (weights[axis] > 0)) ** 2).sum() for axis, f in enumerate(u)) * h**3
    PETSc.Sys.Print(f"step {step} time {time:.4f} iterations {solver.iterations[-1]} divergence {abs(divergence(u)).max():.1e} "
                    f"through {through.min():.6f} to {through.max():.6f} fastest {max(abs(f).max() for f in u):.4f} "
                    f"added {disturbed / ((~fluid).sum() * h**3):.4f}")

if picture:
    centred = [(f[along(axis, 1)] + f[along(axis, 0, -1)]) / 2 for axis, f in enumerate(u)]
    write_vtk(f"{picture}.vtk", h, pressure=p, fluid=fluid.astype(float), velocity=centred)
    plt = pyplot()
    if plt:
        figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
        middle = np.where(fluid, np.sqrt(sum(f**2 for f in centred)), np.nan)[n // 2]
        axes.set_facecolor("0.6")
        image = axes.imshow(middle, origin="lower", extent=(0, 2, 0, 1), cmap="viridis")
        axes.streamplot(*[h * (np.arange(size) + 0.5) for size in (2 * n, n)], centred[x][n // 2], centred[y][n // 2], color="white", linewidth=0.6,
                        arrowsize=0.6, density=0.9)
        figure.colorbar(image, label="speed", shrink=0.8)
        figure.savefig(f"{picture}.png", dpi=72)
        plt.close(figure)
solver.report()
