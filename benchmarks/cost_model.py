"""What an iteration of -ksp_type rrb costs on several GPUs: a sum over grids of compute times, measured on one GPU, and of
exchanges and gathers, fitted to measured ones; docs/scaling.md explains it. The results are in benchmarks/results/.

cost_model_report.py prints the tables and the conclusion of that page.
"""
from dataclasses import dataclass, replace
from math import ceil, exp, log, log2
from pathlib import Path

from tables import read_table

RESULTS = Path(__file__).resolve().parent / "results"
LARGEST_LAST_BLOCK = 4096  # points of the last block on a device, rrb::largest_device_inverse
ONE_LEVEL_MORE = 1 << 22  # points up to which an odd number of levels is one more, rrb::default_device_levels()
AMLI_FROM_LEVELS = 8  # rrb::amli_from_levels
DOUBLE = 8  # bytes
PRODUCT = 0.5  # of a visit of AMLI's grid: the product with its matrix, which moves what a sweep down does


def read(name):
    """(comment lines, rows) of a CSV, with numbers as numbers; no rows where there is none."""
    path = RESULTS / f"{name}.csv"
    if not path.is_file():
        return [], []
    return read_table(path)


# --- what is fitted ---


class Curve:
    """Time over points: a line between measured ones in logarithms, constant below them, proportional above."""

    def __init__(self, measured):
        at = {}
        for points, us in measured:
            at.setdefault(points, []).append(us)
        self.points = sorted(at)
        self.us = [sum(at[points]) / len(at[points]) for points in self.points]

    def __call__(self, points):
        if points <= self.points[0]:
            return self.us[0]
        if points >= self.points[-1]:
            return self.us[-1] * points / self.points[-1]
        right = next(i for i, known in enumerate(self.points) if known >= points)
        share = log(points / self.points[right - 1]) / log(self.points[right] / self.points[right - 1])
        return exp(log(self.us[right - 1]) * (1 - share) + log(self.us[right]) * share)


def fit(terms, us):
    """The coefficients, none negative, of least squares of relative errors. terms[i]: what they multiply in us[i]."""
    used = list(range(len(terms[0])))
    while True:
        rows = [[row[k] / t for k in used] for row, t in zip(terms, us)]
        solution = least_squares(rows)
        worst = min(range(len(used)), key=lambda k: solution[k])
        if solution[worst] >= 0:
            return [solution[used.index(k)] if k in used else 0.0 for k in range(len(terms[0]))]
        del used[worst]


def least_squares(rows):
    """x of rows x = 1; 0 for a column that is a combination of those before it."""
    n = len(rows[0])
    a = [[sum(row[i] * row[j] for row in rows) for j in range(n)] + [sum(row[i] for row in rows)] for i in range(n)]
    size = [a[i][i] for i in range(n)]
    for k in range(n):
        if a[k][k] <= 1e-10 * size[k]:
            a[k] = [0.0] * n + [0.0]
            continue
        a[k] = [value / a[k][k] for value in a[k]]
        for i in range(n):
            if i != k:
                a[i] = [value - a[i][k] * pivot for value, pivot in zip(a[i], a[k])]
    return [a[k][n] for k in range(n)]


@dataclass
class OneDevice:
    """Microseconds of what one GPU does: `finest` is all of an iteration that is done on the finest grid, `grid` a visit of a
    coarser one, forward and backward; both of a number of points. `last_block` is a visit of that, `odd_level` what it takes more
    where the number of levels is odd."""
    finest: Curve
    grid: Curve
    last_block: float
    odd_level: float

    @staticmethod
    def measured():
        whole = {}
        for row in read("solver_breakdown")[1]:
            if row["precision"] == "double" and (row["part"] == "iteration" or row["what"] == "below"):
                whole.setdefault(row["n"], {})[row["part"]] = row["us"]
        sweeps, last = {}, []
        for row in read("breakdown")[1]:
            if row["precision"] != "double":
                continue
            if row["what"] == "last block":
                last.append(row["us"])
            elif row["grid"] > 0:
                sweeps.setdefault((row["n"], row["points"]), []).append(row["us"])
        return OneDevice(Curve((n * n, us["iteration"] - us["kernel"]) for n, us in whole.items()),
                         Curve((points, sum(us)) for (_, points), us in sweeps.items()), sum(last) / len(last),
                         odd_level(read("odd_levels")[1]))


def odd_level(rows):
    """Microseconds, for each visit of the last block, that an iteration with an odd number of levels takes more than with one more:
    the mean over sizes, 0 where there are none. The last level of an odd number is half a grid, in natural order."""
    us = {(row["unknowns"], row["levels"]): row["us_per_iteration"] for row in rows}
    more = [(us[size, levels] - us[size, levels + 1]) / (2 if levels >= AMLI_FROM_LEVELS else 1)
            for size, levels in us if levels % 2 and (size, levels + 1) in us]
    return sum(more) / len(more) if more else 0.0


@dataclass
class Node:
    """Messages between the GPUs of one host, as exchange.csv has them: microseconds for a latency, for each neighbour and for each
    value of an exchange; for a latency, for each doubling of the ranks and for each value of a gather."""
    transport: str
    per_exchange: list
    per_gather: list

    def exchange(self, _, neighbours, values):
        """values: to all neighbours together"""
        return sum(c * term for c, term in zip(self.per_exchange, (1, neighbours, values)))

    def gather(self, ranks, values):
        return sum(c * term for c, term in zip(self.per_gather, (1, log2(ranks), values)))

    @staticmethod
    def measured(rows, transport=None):
        """Of the rows of exchange.csv, where `values` are those to each neighbour, or those of all ranks in a gather. Without a name,
        of the transport with the shortest small exchange."""
        kinds = {}
        for row in rows:
            name = f"{row['transport']}, {'in a graph' if str(row['in_graph']).lower() in ('1', 'yes', 'true') else 'no graph'}"
            if transport in (None, row["transport"], name) and row["operation"] in ("exchange", "gather"):
                kinds.setdefault(name, {}).setdefault(row["operation"], []).append(row)
        nodes = [Node(name, fit([(1, row["neighbours"], row["neighbours"] * row["values"]) for row in of["exchange"]],
                                [row["microseconds"] for row in of["exchange"]]),
                      fit([(1, log2(row["ranks"]), row["values"]) for row in of["gather"]],
                          [row["microseconds"] for row in of["gather"]]))
                 for name, of in kinds.items() if len(of) == 2]
        return min(nodes, key=lambda node: node.exchange(2, 1, 1), default=None)


@dataclass
class Cluster:
    """Nodes of GPUs with NVLink inside, InfiniBand between them. Assumptions, none of them measured here."""
    node: Node
    # A message from GPU to GPU of other nodes by GPUDirect RDMA. Adapters need 1 to 2 us between hosts; published one-way times
    # between GPUs with NCCL or MPI, whose host or proxy starts the message, are 5 to 10.
    latency_us: float = 8.0
    # One adapter a GPU: NDR, 400 Gbit/s; 100 with NDR800's two ports or XDR.
    gb_per_s: float = 50.0
    gpus: int = 8  # of a node
    # How a gather goes: in "one" step over all ranks; in "two", each of a node's GPUs bringing its share of what the other nodes
    # have, then all within the node; to a "leader" of each node, who does the tail and sends its node the solution
    way: str = "one"

    def nodes(self, ranks):
        return ceil(ranks / self.gpus)

    def between(self, values):
        return 1e-3 * DOUBLE * values / self.gb_per_s

    def exchange(self, ranks, neighbours, values):
        inside = self.node.exchange(ranks, neighbours, values)
        return inside if self.nodes(ranks) == 1 else inside + self.latency_us + self.between(values)

    def gather(self, ranks, values):
        nodes = self.nodes(ranks)
        if nodes == 1:
            return self.node.gather(ranks, values)
        steps = ceil(log2(nodes)) * self.latency_us
        others = values * (1 - 1 / nodes)
        inside = self.node.gather(self.gpus, values)
        if self.way == "one":
            return inside + steps + self.between(others)
        first = self.node.gather(self.gpus, values / nodes)
        if self.way == "two":
            return first + steps + self.between(others / self.gpus) + inside
        return first + steps + self.between(others) + first


# --- what is summed ---


@dataclass
class Problem:
    """A grid of nx x ny points on px x py GPUs, with a device's levels unless they are given, and AMLI's grid at least that one."""
    nx: int
    ny: int
    px: int = 1
    py: int = 1
    amli: bool = True
    amli_from: int = 2
    levels: int = 0

    def __post_init__(self):
        self.ranks = self.px * self.py
        self.box = ceil(self.nx / self.px), ceil(self.ny / self.py)
        if not self.levels:
            self.levels = next(level for level in range(1, 64) if self.last_block(level) <= LARGEST_LAST_BLOCK)
            if self.levels >= 3 and self.nx * self.ny <= ONE_LEVEL_MORE:
                self.levels += self.levels % 2
        self.amli_grid = max(self.amli_from, self.levels // 4) if self.amli and self.levels >= AMLI_FROM_LEVELS else self.levels

    def last_block(self, level):
        points = self.points(level // 2)
        return (points + 1) // 2 if level % 2 else points

    def points(self, grid, sides=None):
        nx, ny = sides or (self.nx, self.ny)
        return -(-nx >> grid) * -(-ny >> grid)

    def visits(self, grid):
        return 2 if grid >= self.amli_grid else 1

    def gathered(self, size):
        """The first grid with at most so many points, or the last block's."""
        return next((grid for grid in range(self.levels // 2) if self.points(grid) <= size), self.levels // 2)

    def neighbours(self):
        return min(self.px, 3) * min(self.py, 3) - 1

    def down_values(self, grid):
        """What a rank with most cuts around it sends: 2 n for both sides of a cut of n lines."""
        bx, by = (-(-side >> grid) for side in self.box)
        return min(self.px - 1, 2) * by + min(self.py - 1, 2) * bx


def iteration(device, network, problem, gathered):
    """{part: microseconds} of an iteration with grids from `gathered` on at every rank; on one rank nothing is sent."""
    p, end = problem, problem.levels // 2
    last_block = device.last_block + (device.odd_level if p.levels % 2 else 0)
    first = gathered if p.ranks > 1 else 0
    boxed = range(1, first)
    parts = {"finest grid": device.finest(p.points(0, p.box)),
             "other grids": sum(p.visits(g) * device.grid(p.points(g, p.box)) for g in boxed),
             "tail": sum(p.visits(g) * device.grid(p.points(g)) for g in range(max(first, 1), end)) + p.visits(end) * last_block}
    if p.amli_grid < end:
        where = "other grids" if p.amli_grid < first else "tail"
        parts[where] += PRODUCT * device.grid(p.points(p.amli_grid, p.box if p.amli_grid < first else None))
    parts |= {"exchanges": 0.0, "gather": 0.0, "all-reduce": 0.0}
    if p.ranks == 1:
        return parts
    for g in range(first):
        down, up = (network.exchange(p.ranks, p.neighbours(), values) for values in (p.down_values(g), p.down_values(g) / 2))
        # the last grid's solution is in what was gathered
        parts["exchanges"] += p.visits(g) * (down + (up if g < first - 1 else 0)) + (up if g == p.amli_grid else 0)
    parts["gather"] = (2 if p.amli_grid < first else 1) * network.gather(p.ranks, p.points(first) + p.ranks)
    parts["all-reduce"] = network.gather(p.ranks, p.ranks)
    return parts


def total(device, network, problem, gathered):
    return sum(iteration(device, network, problem, gathered).values())


def best_gather(device, network, problem, amli_in_tail=False):
    """(us, grid): from that grid on all ranks have everything where an iteration is shortest. amli_in_tail: AMLI's grid is that
    one, too, if it would be a finer one."""
    return min((total(device, network, replace(problem, amli_from=grid) if amli_in_tail else problem, grid), grid)
               for grid in range(1, problem.levels // 2 + 1))
