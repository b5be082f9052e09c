"""Air bubbles that rise in water: incompressible Navier-Stokes with two phases, by projection on a MAC grid, and a level set.

usage: bubbles.py -dll_append /path/to/libpetscrrb.so [-n 64] [-steps 100] [-dim 2] [-frames 20] [any PETSc option]

The box is 1 wide and 2 high, n cells to a unit, with walls along which the fluid slips; -n 32 -dim 3 is the same in 3D. -single: one bubble
instead of four. -density and -viscosity are the ratios of water to air (1000, 100), -mu is the viscosity of water, -sigma the surface tension.
-frames k: a VTK file, and a picture where matplotlib is installed, after every k steps. -picture name: both, at the end.

Each step solves div(1/rho grad p) = div(u)/dt, whose coefficients jump by 1000 and move: the Mat gets new values, and the solver is
refreshed. With walls on all sides p is determined up to a constant: the null space is attached.
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from grids import Solver, along, faces_of, pyplot, write_vtk
from petsc4py import PETSc

options = PETSc.Options()
n, steps, dim = options.getInt("n", 64), options.getInt("steps", 100), options.getInt("dim", 2)

frames, picture = options.getInt("frames", 0), options.getString("picture", "")
density, viscosity = options.getReal("density", 1000), options.getReal("viscosity", 100)
sigma, gravity, water, mu_water = options.getReal("sigma", 2.0), 0.98, 1000.0, options.getReal("mu", 1.0)
h, shape = 1 / n, (2 * n,) + (n,) * (dim - 1)  # axis 0 is upwards
air, mu_air = water / density, mu_water / viscosity
interior = [along(axis, 1, -1) for axis in range(dim)]  # of an array of faces: all but the walls

def ends(axis):
    """What np.pad() adds for the two walls."""
    return [(int(k == axis),) * 2 for k in range(dim)]


def mean(f, axis):
    return (f[along(axis, 1)] + f[along(axis, 0, -1)]) / 2

def pad(f, axis, width, odd=False):
    """Beyond a wall: what slips is mirrored; the velocity through a wall is 0 on it, and changes its sign."""
    widths = [(width * (k == axis),) * 2 for k in range(dim)]
    return np.pad(f, widths, "reflect", reflect_type="odd") if odd else np.pad(f, widths, "symmetric")

def one_sided(f, axis, odd=False):
    """The derivatives from the left and from the right, ENO of second order."""
    size, first = f.shape[axis], np.diff(pad(f, axis, 2, odd), axis=axis) / h
    second = np.diff(first, axis=axis)
    a, b = second[along(axis, 0, -1)], second[along(axis, 1)]
    limited = np.where(a * b > 0, np.where(abs(a) < abs(b), a, b), 0) / 2
    left, right = limited[along(axis, 0, size)], limited[along(axis, 1)]
    return first[along(axis, 1, size + 1)] + left, first[along(axis, 2, size + 2)] - right

def transport(f, velocity, of=None):
    """velocity . grad f, upwind; of: the axis whose velocity f is."""
    total = 0
    for axis, w in enumerate(velocity):
        left, right = one_sided(f, axis, odd=axis == of)
        total = total + np.where(w > 0, w * left, w * right)
    return total

def at_faces(u, axis):
    """All velocities where that of one axis is."""
    return [u[k] if k == axis else pad(mean(mean(u[k], k), axis), axis, 1)[along(axis, 0, u[axis].shape[axis])] for k in range(dim)]

def distance(phi, sweeps=5):
    """Makes phi a distance again near the interface, which stays where it is (Sussman, Smereka, Osher; Russo, Smereka)."""
    sign, f, slope, beside = np.sign(phi), phi, 0, np.zeros(shape, bool)
    for axis in range(dim):
        slope = slope + np.gradient(phi, h, axis=axis) ** 2
        crossed = np.diff(sign, axis=axis) != 0
        beside[along(axis, 1)] |= crossed
        beside[along(axis, 0, -1)] |= crossed
    there = phi / np.sqrt(np.maximum(slope, 0.01))  # the distance of cells beside the interface
    for _ in range(sweeps):
        square = 0
        for axis in range(dim):
            left, right = one_sided(f, axis)
            square = square + np.maximum(np.maximum(left * sign, 0), -np.minimum(right * sign, 0)) ** 2
        f = np.where(beside, there, f - 0.4 * h * sign * (np.sqrt(square) - 1))
    return f

def heaviside(phi, width=1.5 * h):
    s = np.clip(phi / width, -1, 1)
    return (1 + s + np.sin(np.pi * s) / np.pi) / 2

def air_of(phi):
    return (1 - heaviside(phi)).sum() * h**dim

def keep_air(phi, amount):
    """Shifts the interface by what transport and distance() lost: some thousandths of a cell."""
    for _ in range(3):
        surface = (air_of(phi + 1e-3 * h) - air_of(phi)) / (1e-3 * h)
        phi = phi + (amount - air_of(phi)) / surface
    return phi

def water_at_faces(phi, axis):
    """The part of the way between two cells that is in water; phi > 0 there."""
    a, b = phi[along(axis, 0, -1)], phi[along(axis, 1)]
    return (np.maximum(a, 0) + np.maximum(b, 0)) / np.maximum(abs(a) + abs(b), 1e-12)

def divergence(u):
    return sum(np.diff(u[axis], axis=axis) for axis in range(dim)) / h

def friction(u, mu):
    """div(mu (grad u + grad u^T)) at interior faces."""
    force = [0] * dim
    for d in range(dim):
        for e in range(dim):
            if d == e:
                force[d] = force[d] + np.diff(2 * mu * np.diff(u[d], axis=d), axis=d) / h**2
            else:
                stress = mean(mean(mu, d), e) * (np.diff(u[d][interior[d]], axis=e) + np.diff(u[e][interior[e]], axis=d))
                force[d] = force[d] + np.diff(np.pad(stress, ends(e)), axis=e) / h**2
    return force

def curvature(phi):
    """The divergence of grad phi / |grad phi|, from its values at the faces."""
    total = 0
    for axis in range(dim):
        slopes = [np.diff(phi, axis=axis) / h if k == axis else mean(np.gradient(phi, h, axis=k), axis) for k in range(dim)]
        normal = slopes[axis] / np.sqrt(sum(s**2 for s in slopes) + 1e-12)
        total = total + np.diff(np.pad(normal, ends(axis)), axis=axis) / h
    return np.clip(total, -1 / h, 1 / h)

def on_interface(kappa, phi, axis):
    """The curvature between two cells, where the interface is."""
    a, b = abs(phi)[along(axis, 0, -1)] + 1e-12, abs(phi)[along(axis, 1)] + 1e-12
    return (kappa[along(axis, 0, -1)] * b + kappa[along(axis, 1)] * a) / (a + b)

def draw(name, time):
    write_vtk(f"{name}.vtk", h, phi=phi, pressure=p * water * h / dt, velocity=[mean(u[axis], axis) for axis in range(dim)])
    plt = pyplot()
    if plt:
        cut = (slice(None),) + (n // 2,) * (dim - 2) + (slice(None),)
        speed = np.sqrt(sum(mean(u[axis], axis) ** 2 for axis in range(dim)))[cut]
        figure, axes = plt.subplots(figsize=(3.2, 5.2), layout="constrained")
        image = axes.imshow(speed, origin="lower", extent=(0, 1, 0, 2), cmap="Blues", interpolation="bilinear")
        axes.contour(phi[cut], [0], origin="lower", extent=(0, 1, 0, 2), colors="black", linewidths=1)
        axes.set_title(f"t = {time:.2f}", fontsize=10)
        figure.colorbar(image, label="speed", shrink=0.8)
        figure.savefig(f"{name}.png", dpi=80)
        plt.close(figure)

bubbles = [(0.35, 0.45, 0.2), (0.7, 0.85, 0.13), (0.3, 1.1, 0.1), (0.72, 0.35, 0.08)]  # x, z, radius
if options.getBool("single", False):
    bubbles = [(0.5, 0.5, 0.2)]
at = np.meshgrid(*[h * (np.arange(size) + 0.5) for size in shape], indexing="ij")
phi = np.full(shape, 9.0)
for x, z, radius in bubbles:
    phi = np.minimum(phi, np.sqrt(sum((a - c) ** 2 for a, c in zip(at, (z, *[0.5] * (dim - 2), x)))) - radius)
u = [np.zeros(faces_of(shape, axis)) for axis in range(dim)]
amount, time, solver = air_of(phi), 0.0, None

for step in range(1, steps + 1):
    fastest = max(abs(f).max() for f in u)
    dt = min(0.4 * h / max(fastest, 0.1), 0.2 * h**2 * min(water / mu_water, air / mu_air),
             0.4 * np.sqrt((water + air) * h**3 / (4 * np.pi * max(sigma, 1e-9))))

    # the interface: two stages of Runge and Kutta; then all that depends on where it is
    centred = [mean(f, axis) for axis, f in enumerate(u)]
    once = phi - dt * transport(phi, centred)
    phi = (phi + once - dt * transport(once, centred)) / 2
    phi = keep_air(distance(phi) if step % 8 == 0 else phi, amount)
    part = [water_at_faces(phi, axis) for axis in range(dim)]
    rho = [w * water + (1 - w) * air for w in part]
    kappa, mu = curvature(phi), 1 / (1 / mu_air + (1 / mu_water - 1 / mu_air) * heaviside(phi))

    # velocities without the pressure
    rubbed, moved = friction(u, mu), [transport(u[axis], at_faces(u, axis), axis) for axis in range(dim)]
    for axis in range(dim):
        tension = -sigma * on_interface(kappa, phi, axis) * np.diff((phi > 0).astype(float), axis=axis) / h
        force = (rubbed[axis] + tension) / rho[axis] - gravity * (axis == 0) - moved[axis][interior[axis]]
        u[axis][interior[axis]] += dt * force

    # the pressure that makes them free of divergence: the unknown is p dt / (1000 h), and no coefficient exceeds 1000
    weights = [np.zeros(faces_of(shape, axis)) for axis in range(dim)]
    for axis in range(dim):
        weights[axis][interior[axis]] = water / rho[axis]
    if solver:
        solver.refresh(weights)
    else:
        solver = Solver(shape, weights, singular=True)
    b = -divergence(u) * h
    p = solver.solve(b - b.mean())
    for axis in range(dim):
        u[axis] -= weights[axis] * np.pad(np.diff(p, axis=axis), ends(axis))
    time += dt

    is_air = 1 - heaviside(phi)
    centre, rise = (is_air * at[0]).sum() / is_air.sum(), (is_air * mean(u[0], 0)).sum() / is_air.sum()
    if step in (1, steps) or step % 10 == 0:
        PETSc.Sys.Print(f"step {step} time {time:.4f} iterations {solver.iterations[-1]} divergence {abs(divergence(u)).max() * dt:.1e} "
                        f"air {air_of(phi) / amount:.6f} centre {centre:.5f} rise {rise:.5f}")
    if frames and step % frames == 0:
        draw(f"bubbles-{step:04d}", time)
if picture:
    draw(picture, time)
solver.report()
