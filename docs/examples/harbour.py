"""Waves in a harbour: the linear variational Boussinesq model of ship simulators, with one elliptic system in each time step.

usage: harbour.py -dll_append /path/to/libpetscrrb.so [-n 256] [-steps 1200] [-find_largest] [-frames 100] [any PETSc option]

The harbour is n x 3n/4 cells of 5 m: sea to the south, from where waves of -period seconds come, two moles, quays, an island. A ship crosses
it. -basin: a closed rectangle of even depth instead, with one standing wave. -dt is 0.05 s, so that 20 steps a second are real time;
-find_largest looks for the largest n that makes -rate 20 of them. -moving: the depth h includes the surface elevation, so that each step has a
new matrix. -picture name: a VTK file, and a picture where matplotlib is installed, at the end; -frames k: after every k steps.

The potential of the flow is phi + psi (z + z^2 / 2h) at height z, phi the one at the surface, zeta the elevation. The kinetic energy is least for

    h/3 psi - div(2/15 h^3 grad psi) = -div(h^2/3 grad phi),

a symmetric positive definite system with five points and variable coefficients; rows on land are those of the identity. Then
zeta_t = -div(h grad phi - h^2/3 grad psi) and phi_t = -g zeta - (pressure of the ship) / rho, by the leapfrog scheme.
"""
import sys
from time import perf_counter

import petsc4py

petsc4py.init(sys.argv)
import numpy as np
from grids import Solver, along, faces_of, pyplot, write_vtk
from petsc4py import PETSc

options = PETSc.Options()
steps, rate, dt = options.getInt("steps", 1200), options.getReal("rate", 20), options.getReal("dt", 0.05)
frames, picture, moving = options.getInt("frames", 0), options.getString("picture", ""), options.getBool("moving", False)
is_basin, period, height = options.getBool("basin", False), options.getReal("period", 8), options.getReal("height", 0.4)
CELL, GRAVITY = 5.0, 9.81


def geography(shape):
    """The depth in metres, 0 on land, and how fast waves are damped, 1/s: at the open sea's sides, and a little on beaches."""
    y, x = np.meshgrid((np.arange(shape[0]) + 0.5) / shape[0], (np.arange(shape[1]) + 0.5) / shape[1], indexing="ij")
    if is_basin:
        return np.full(shape, 20.0), np.zeros(shape)
    depth = np.clip(28 - 30 * y, 8, 25) + 2 * np.sin(9 * x) * np.cos(7 * y)
    depth = np.where((abs(x - 0.5) < 0.06) & (y < 0.8), np.maximum(depth, 16), depth)  # the dredged channel
    land = y > 0.9 + 0.03 * np.sin(11 * x)  # the shore
    land |= ((x < 0.12 + 0.04 * np.sin(8 * y)) | (x > 0.9 + 0.03 * np.cos(6 * y))) & (y > 0.42)
    for side, end in ((-1, 0.41), (1, 0.59)):  # moles, towards the entrance
        land |= (abs(y - 0.45 - 0.35 * abs(x - end)) < 0.014) & (side * (x - end) > 0)
    land |= (abs(x - 0.27) < 0.012) & (y > 0.68) | (abs(x - 0.74) < 0.015) & (y > 0.72)  # quays
    land |= ((x - 0.62) / 0.06) ** 2 + ((y - 0.68) / 0.035) ** 2 < 1  # an island
    sponge = np.maximum(np.clip(1 - x / 0.06, 0, 1), np.clip((x - 0.94) / 0.06, 0, 1)) * (y < 0.42) + np.clip(1 - y / 0.06, 0, 1)
    return np.where(land, 0, depth), 2 * sponge**2


class Harbour:
    def __init__(self, n):
        self.shape = (3 * n // 4, n)
        self.depth, self.damping = geography(self.shape)
        self.wet, self.time = self.depth > 0, 0.0
        self.zeta, self.phi = np.zeros(self.shape), np.zeros(self.shape)
        self.y, self.x = np.meshgrid(*[CELL * (np.arange(size) + 0.5) for size in self.shape], indexing="ij")
        if is_basin:
            self.zeta = np.cos(np.pi * options.getInt("waves", 4) * self.x / (CELL * n))
        self.set_depth()
        self.solver = Solver(self.shape, self.weights, self.diagonal)

    def set_depth(self):
        """The coefficients at faces, which are 0 between water and land and on the grid's boundary."""
        h = np.where(self.wet, np.maximum(self.depth + moving * self.zeta, 0.5), 0)
        self.diagonal = np.where(self.wet, h / 3, 1)
        self.h = [np.zeros(faces_of(self.shape, axis)) for axis in (0, 1)]
        for axis in (0, 1):
            a, b = h[along(axis, 0, -1)], h[along(axis, 1)]
            self.h[axis][along(axis, 1, -1)] = np.where((a > 0) & (b > 0), (a + b) / 2, 0)
        self.weights = [2 / 15 * f**3 / CELL**2 for f in self.h]

    def div_grad(self, weights, f):
        total = 0
        for axis in (0, 1):
            flow = weights[axis].copy()
            flow[along(axis, 1, -1)] *= np.diff(f, axis=axis)
            total = total + np.diff(flow, axis=axis)
        return total / CELL**2

    def ship(self):
        """The pressure under it over rho: a hull of 100 m x 25 m that draws 4 m, and sails in at 8 m/s."""
        x, y = self.x - CELL * self.shape[1] / 2, self.y - 100 - min(8 * self.time, 0.62 * CELL * self.shape[0])
        return GRAVITY * 4 * np.exp(-((x / 12) ** 4) - (y / 50) ** 4)

    def step(self):
        if moving and self.time > 0:
            self.set_depth()
            self.solver.refresh(self.weights, self.diagonal)
        pressure = 0 if is_basin else self.ship()
        self.phi -= dt * (GRAVITY * self.zeta + pressure + self.damping * self.phi) * self.wet
        square = [h**2 / 3 for h in self.h]
        psi = self.solver.solve(-self.div_grad(square, self.phi))
        self.zeta -= dt * (self.div_grad(self.h, self.phi) - self.div_grad(square, psi) + self.damping * self.zeta)
        if not is_basin:  # waves to both sides of a line in the sea; it starts gently
            line = self.shape[0] // 12
            speed = np.sqrt(GRAVITY * self.depth[line]) * min(self.time / (2 * period), 1)
            self.zeta[line] += dt / CELL * height * 2 * speed * np.sin(2 * np.pi * self.time / period) * self.wet[line]
        self.time += dt
        return psi

    def energy(self, psi):
        """Over rho, half a step apart in time."""
        kinetic = -self.phi * (self.div_grad(self.h, self.phi) - self.div_grad([h**2 / 3 for h in self.h], psi))
        return (kinetic + GRAVITY * self.zeta**2).sum() * CELL**2 / 2

    def draw(self, name):
        write_vtk(f"{name}.vtk", CELL, zeta=self.zeta, depth=self.depth, phi=self.phi)
        plt = pyplot()
        if plt:
            figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
            extent = (0, CELL * self.shape[1], 0, CELL * self.shape[0])
            image = axes.imshow(np.where(self.wet, self.zeta, np.nan), origin="lower", extent=extent, cmap=plt.get_cmap("RdBu", 15), vmin=-1, vmax=1)
            axes.set_facecolor("0.6")
            axes.set_title(f"t = {self.time:.0f} s", fontsize=10)
            figure.colorbar(image, label="elevation, m", shrink=0.8)
            figure.savefig(f"{name}.png", dpi=64)
            plt.close(figure)


def steps_a_second(harbour, count):
    start = perf_counter()
    for _ in range(count):
        harbour.step()
    return count / (perf_counter() - start)


def find_largest():
    """Doubles n while a second suffices for -rate steps, then halves the interval in between, down to a sixteenth."""
    low, high = 0, 0
    n = options.getInt("n", 128)
    while n >= 16:
        harbour = Harbour(n)
        steps_a_second(harbour, 2)
        speed = steps_a_second(harbour, 20)
        PETSc.Sys.Print(f"{n} x {3 * n // 4} cells: speed {speed:.1f} steps a second")
        low, high = (n, high) if speed >= rate else (low, n)
        if high and high - low <= max(16, high // 16):
            break
        n = (low + high) // 2 // 8 * 8 if high else 2 * n
    PETSc.Sys.Print(f"largest {low} x {3 * low // 4} cells at {rate:g} steps a second")


if options.getBool("find_largest", False):
    find_largest()
else:
    harbour = Harbour(options.getInt("n", 256))
    gauge, start = [], perf_counter()
    for step in range(1, steps + 1):
        psi = harbour.step()
        gauge.append(harbour.zeta[0, 0])
        if step % 100 == 0 or step in (1, steps):
            PETSc.Sys.Print(f"step {step} time {harbour.time:.2f} iterations {harbour.solver.iterations[-1]} water {harbour.zeta.sum():.3e} "
                            f"energy {harbour.energy(psi):.6e} highest {abs(harbour.zeta).max():.3f}")
        if frames and step % frames == 0:
            harbour.draw(f"harbour-{step:05d}")
    PETSc.Sys.Print(f"speed {steps / (perf_counter() - start):.1f} steps a second")
    if is_basin:  # the time between the crossings of zero is half a period
        gauge = np.array(gauge)
        crossed = np.flatnonzero(gauge[1:] * gauge[:-1] < 0)
        at = crossed + gauge[crossed] / (gauge[crossed] - gauge[crossed + 1])
        PETSc.Sys.Print(f"period {2 * dt * np.diff(at).mean():.6f}")
    if picture:
        harbour.draw(picture)
    harbour.solver.report()
