"""What the applications share: matrices on structured grids by their faces, a solver that counts and measures, and VTK files.

Arrays have one axis for each direction. The last one is x, whose unknowns are numbered first; in 3D the first one is z.
"""
from time import perf_counter

import numpy as np
from petsc4py import PETSc


def along(axis, start, stop=None):
    """The index that takes start:stop along one axis, and all of the others."""
    return (slice(None),) * axis + (slice(start, stop),)


def faces_of(shape, axis):
    """The shape of an array with a value for each face across that axis, those of the boundary included."""
    return tuple(n + (k == axis) for k, n in enumerate(shape))


class Stencil:
    """The matrices of (diagonal + sum of w_f (p_i - p_j) over the faces f of cell i) = b_i on one grid.

    faces[axis] has the weights w_f. Behind a face of the boundary p is 0; a weight of 0 there is a Neumann side.
    """

    def __init__(self, shape):
        self.shape, d, numbers = shape, len(shape), np.arange(np.prod(shape), dtype=PETSc.IntType).reshape(shape)
        columns = np.full((*shape, 2 * d + 1), -1, PETSc.IntType)  # in each row: below, ..., left, itself, right, ..., above
        columns[..., d] = numbers
        for axis in range(d):
            columns[(*along(axis, 1), ..., axis)] = numbers[along(axis, 0, -1)]
            columns[(*along(axis, 0, -1), ..., 2 * d - axis)] = numbers[along(axis, 1)]
        self.there = columns >= 0
        rows = np.concatenate([[0], np.cumsum(self.there.sum(-1).ravel())]).astype(PETSc.IntType)
        self.pattern = rows, columns[self.there]

    def matrix(self, faces, diagonal=0.0):
        A = PETSc.Mat().create(PETSc.COMM_SELF)
        A.setSizes((np.prod(self.shape), np.prod(self.shape)))
        A.setFromOptions()  # -mat_type aijcusparse
        A.setPreallocationCSR((*self.pattern, self.values(faces, diagonal)))
        return A

    def refresh(self, A, faces, diagonal=0.0):
        """New values in the same matrix."""
        A.setValuesCSR(*self.pattern, self.values(faces, diagonal))
        A.assemble()

    def values(self, faces, diagonal):
        d = len(self.shape)
        rows = np.zeros(self.there.shape)
        rows[..., d] = diagonal
        for axis, w in enumerate(faces):
            low, high = w[along(axis, 0, -1)], w[along(axis, 1)]
            rows[..., axis], rows[..., 2 * d - axis] = -low, -high
            rows[..., d] += low + high
        return rows[self.there]


class Solver:
    """Solves with such a matrix again and again, counts iterations and takes the times."""

    def __init__(self, shape, faces, diagonal=0.0, singular=False, rtol=1e-6):
        self.iterations, self.refreshes, self.solves = [], [], []
        self.stencil = Stencil(shape)
        self.A = self.stencil.matrix(faces, diagonal)
        if singular:
            self.A.setNullSpace(PETSc.NullSpace().create(constant=True, comm=PETSc.COMM_SELF))
        self.x, self.b = self.A.createVecs()
        self.x.set(0)
        self.ksp = PETSc.KSP().create(PETSc.COMM_SELF)
        self.ksp.setOperators(self.A)
        self.ksp.setType("rrb")
        self.ksp.setTolerances(rtol=rtol)
        self.ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)  # the true residual, so that solvers compare
        self.ksp.setInitialGuessNonzero(True)  # the last step's solution
        self.ksp.setErrorIfNotConverged(True)
        self.ksp.setFromOptions()
        self.first = self.set_up()

    def set_up(self):
        start = perf_counter()
        self.ksp.setUp()
        return perf_counter() - start

    def refresh(self, faces, diagonal=0.0):
        self.stencil.refresh(self.A, faces, diagonal)
        self.ksp.setOperators(self.A)
        self.refreshes.append(self.set_up())

    def solve(self, b):
        self.b.setArray(np.ravel(b))
        start = perf_counter()
        self.ksp.solve(self.b, self.x)
        self.solves.append(perf_counter() - start)
        self.iterations.append(self.ksp.getIterationNumber())
        return self.x.getArray(readonly=True).reshape(self.stencil.shape).copy()

    def report(self):
        """The mean of the iterations and the medians of the times, over all steps but the first."""
        middle = [1e3 * np.median(times[1:] or times or [0]) for times in (self.refreshes, self.solves)]
        PETSc.Sys.Print(f"{self.ksp.getType()} with {self.ksp.getPC().getType()}: {np.mean(self.iterations[1:] or self.iterations):.1f} iterations, "
                        f"set-up {1e3 * self.first:.1f} ms, refresh {middle[0]:.1f} ms, solve {middle[1]:.1f} ms")


def write_vtk(name, spacing, **fields):
    """A file for ParaView. A field is an array, or a list of arrays for a vector, with the component along the first axis first."""
    first = next(iter(fields.values()))
    shape = (first if isinstance(first, np.ndarray) else first[0]).shape
    sizes = (*shape[::-1], 1)[:3]
    with open(name, "wb") as file:
        file.write(f"# vtk DataFile Version 3.0\npetscrrb\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS {sizes[0]} {sizes[1]} {sizes[2]}\n"
                   f"ORIGIN 0 0 0\nSPACING {spacing} {spacing} {spacing}\nPOINT_DATA {np.prod(shape)}\n".encode())
        for key, value in fields.items():
            scalar = isinstance(value, np.ndarray)
            if not scalar:
                value = np.stack([*value[::-1], np.zeros(shape)][:3], axis=-1)
            file.write((f"SCALARS {key} float 1\nLOOKUP_TABLE default\n" if scalar else f"VECTORS {key} float\n").encode())
            file.write(value.astype(">f4").tobytes() + b"\n")


def pyplot():
    """matplotlib.pyplot, or None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot
