"""Matrices on no grid, as rows, columns and values whose duplicates are added, and PETSc's file format."""
import numpy as np


def write(path, n, rows, columns, values):
    """In PETSc's binary format, for 32-bit indices."""
    key = rows.astype(np.int64) * n + columns
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    key, values = key[first], np.add.reduceat(values[order], first)
    with open(path, "wb") as file:
        np.array([1211216, n, n, len(key)], ">i4").tofile(file)
        np.bincount(key // n, minlength=n).astype(">i4").tofile(file)
        (key % n).astype(">i4").tofile(file)
        values.astype(">f8").tofile(file)


def coupled(weights, p, q, excess):
    """Rows of sum over q of w_pq (x_p - x_q), and excess x_p."""
    n = len(excess)
    own = np.arange(n)
    return n, np.concatenate([p, q, p, q, own]), np.concatenate([q, p, p, q, own]), np.concatenate([-weights, -weights, weights, weights, excess])


def triangles(side, seed=1):
    """-laplace u by linear elements on a Delaunay mesh of one random point in each of side x side squares; u = 0 on the outer ones."""
    from matplotlib.tri import Triangulation

    random = np.random.default_rng(seed)
    number = np.arange(side * side)
    points = np.stack([number % side, number // side], 1) + random.random((side * side, 2))
    mesh = Triangulation(*points.T).triangles  # Delaunay's
    corners = points[mesh]
    along = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]  # the side opposite each corner
    area = np.abs(along[:, 0, 0] * along[:, 1, 1] - along[:, 0, 1] * along[:, 1, 0]) / 2
    kept = area > 1e-12 * np.median(area)
    mesh, along, area = mesh[kept], along[kept], area[kept]
    entries = np.einsum("tid,tjd->tij", along, along) / (4 * area)[:, None, None]
    rows, columns = np.broadcast_to(mesh[:, :, None], entries.shape), np.broadcast_to(mesh[:, None, :], entries.shape)
    inside = (number % side % (side - 1) > 0) & (number // side % (side - 1) > 0)
    to = np.cumsum(inside) - 1
    kept = (inside[rows] & inside[columns]).ravel()
    return inside.sum(), to[rows.ravel()[kept]], to[columns.ravel()[kept]], entries.ravel()[kept]


def quad_tree(coarsest, levels, jump):
    """-div(k grad u) by finite volumes on cells that are halved around circles, k = 1/jump in the first one; u = 0 on the sides. On the finest level
    they would be coarsest * 2^levels cells a side."""
    n = coarsest << levels
    circles = ((0.5, 0.45, 0.3), (0.2, 0.8, 0.1), (0.8, 0.15, 0.12))

    def places(side):
        at = (np.arange(side) + 0.5) / side
        return at[None, :], at[:, None]

    halved = np.zeros((n, n), bool)  # of each level, from the finest
    halvings = [halved]
    for level in range(levels - 1, -1, -1):
        side = coarsest << level
        x, y = places(side)
        wide = halved.copy()  # a cell beside a halved one of the next level is halved, too: neighbours differ by one level
        for axis in (0, 1):
            for step in (1, -1):
                wide |= np.roll(halved, step, axis)
        halved = wide.reshape(side, 2, side, 2).any((1, 3))
        for cx, cy, r in circles:
            halved |= np.abs(np.hypot(x - cx, y - cy) - r) < 1.5 / side
        halvings.insert(0, halved)
    number, size, count = np.empty((n, n), np.int32), np.empty((n, n)), 0  # of the cell that each finest one is in
    there = np.ones((coarsest, coarsest), bool)
    for level, halved in enumerate(halvings):
        scale = n // len(there)
        leaf = there & ~halved
        numbers = np.zeros(leaf.shape, np.int32)
        numbers[leaf] = count + np.arange(leaf.sum())
        count += leaf.sum()
        mask = np.kron(leaf, np.ones((scale, scale), bool))
        number[mask], size[mask] = np.kron(numbers, np.ones((scale, scale), np.int32))[mask], scale
        if level < levels:
            there = np.kron(there & halved, np.ones((2, 2), bool))
    x, y = places(n)
    k = np.where(np.hypot(x - circles[0][0], y - circles[0][1]) < circles[0][2], 1 / jump, 1.0)
    resistance = size / (2 * np.ravel(k)[first_of(number, count)][number])
    p, q, w, excess = [], [], [], np.zeros(count)
    for number_, resistance_ in ((number, resistance), (number.T, resistance.T)):
        a, b = number_[:-1].ravel(), number_[1:].ravel()
        face = a != b
        p.append(a[face]), q.append(b[face])
        w.append(1 / (resistance_[:-1].ravel() + resistance_[1:].ravel())[face])
        for side in (0, -1):
            np.add.at(excess, number_[side], 1 / resistance_[side])
    return coupled(np.concatenate(w), np.concatenate(p), np.concatenate(q), excess)


def first_of(number, count):
    """For each cell some finest cell in it."""
    first = np.empty(count, np.int64)
    first[number.ravel()] = np.arange(number.size)
    return first


def shuffled(side, sigma, seed=1):
    """Five points with exp(sigma N(0,1)) in each cell, numbered at random."""
    random = np.random.default_rng(seed)
    k = np.exp(sigma * random.standard_normal((side, side)))
    number = random.permutation(side * side).reshape(side, side)
    p, q, w, excess = [], [], [], np.zeros(side * side)
    for number_, k_ in ((number, k), (number.T, k.T)):
        p.append(number_[:-1].ravel()), q.append(number_[1:].ravel())
        w.append((2 / (1 / k_[:-1] + 1 / k_[1:])).ravel())
        for end in (0, -1):
            np.add.at(excess, number_[end], 2 * k_[end])
    return coupled(np.concatenate(w), np.concatenate(p), np.concatenate(q), excess)
