"""Several GPUs of one host, a rank each: weak and strong scaling; small grids on the cores of a host without a GPU.

Set-up is measured once, with all that a first one does in a process. The time of an iteration is that of more iterations: the
difference of solves to two tolerances; of the largest matrix, a solve's divided by its iterations."""
import os

import peers
from driver import device, devices

QUESTION = "How do the RRB-solver and others scale over the GPUs of one host?"

PARTS = ("weak", "strong", "gather", "largest")
# unknowns a side: on each rank (weak, gather; solid: in 3D, solid_devices asks for it) or of all ranks. A matrix of the largest has
# more entries than 32-bit indices count, on one GPU
SIZES = {"cuda": {"weak": (1023, 4095), "strong": (8191,), "solid": (128, 256), "gather": (2047,), "largest": (24575,)},
         "host": {"weak": (255, 511), "strong": (1023,), "solid": (32, 64), "gather": (255,), "largest": (2047,)}}
BOXES = {1: (1, 1), 2: (2, 1), 4: (2, 2), 8: (4, 2)}
RRB = {"rrb": "-ksp_type rrb", "cg + rrb": "-pc_type rrb"}
GRIDMG = {"rrb": "-ksp_type rrb", "cg + gridmg": "-pc_type gridmg", "cg + mic": "-pc_type mic"}
# the most unknowns of a rank in a weak test, since set-up takes long; only on one rank and on most of them
PEERS = {"cg + gamg": 128**3, "cg + boomeramg": 8191**2, "cg + boomeramg, tuned": 8191**2}
GATHERED = (4096, 16384, 65536, 262144)
TOLERANCES = ("0.01", "1e-06")
SECONDS = 120  # for one comparison


def sides_of_all(n, ranks):
    """Unknowns a side, with n on each rank."""
    return tuple((n + 1) * boxes - 1 for boxes in BOXES[ranks])


def measure(driver, note, *parts):
    return Measurement(driver, note).answer(parts or PARTS)


class Measurement:
    """Runs each comparison once, also where two parts have it."""

    def __init__(self, driver, note):
        self.driver, self.note = driver, note
        self.backend = "cuda" if device() else "host"
        most = len(devices()) or len(os.sched_getaffinity(0))
        self.ranks = [count for count in BOXES if count <= most]
        self.done = {}

    def answer(self, parts):
        rows = []
        for part in parts:
            part, _, size = part.partition("=")
            for n in [int(size)] if size else SIZES[self.backend][part]:
                rows += getattr(self, part)(n)
        return rows

    def weak(self, n):
        rows = []
        for ranks in self.ranks:
            sides = sides_of_all(n, ranks)
            rows += self.compare("weak", f"{n} x {n} a rank", sides, ranks, RRB | self.peers(2, ranks, n**2))
        return with_efficiency(rows, lambda ranks: 1)

    def strong(self, n):
        rows = []
        for ranks in self.ranks:
            rows += self.compare("strong", f"{n} x {n}", (n, n), ranks, RRB | self.peers(2, ranks, n**2))
        return with_efficiency(rows, lambda ranks: ranks)

    def solid(self, n):
        """Weak scaling in 3D, of cubes side by side along x, then y."""
        rows = []
        for ranks in self.ranks:
            sides = (n * BOXES[ranks][0], n * BOXES[ranks][1], n)
            rows += self.compare("solid", f"{n} x {n} x {n} a rank", sides, ranks, GRIDMG | self.peers(3, ranks, n**3))
        return with_efficiency(rows, lambda ranks: 1)

    def gather(self, n):
        ranks = self.ranks[-1]
        sides = sides_of_all(n, ranks)
        chosen = {f"rrb, {size} gathered": f"-ksp_type rrb -pc_rrb_gather_size {size}" for size in GATHERED}
        return with_efficiency(self.compare("gather", f"{n} x {n} a rank", sides, ranks, chosen), lambda ranks: ranks)

    def largest(self, n):
        rows = self.compare("largest", f"{n} x {n}", (n, n), self.ranks[-1], {"rrb": RRB["rrb"]}, 600, TOLERANCES[-1:])
        return with_efficiency(rows, lambda ranks: ranks)

    def peers(self, dim, ranks, unknowns):
        if ranks not in (self.ranks[0], self.ranks[-1]):
            return {}
        options = dict(zip(PEERS, (peers.GAMG, peers.BOOMERAMG, peers.tuned(dim, self.backend))))
        return {name: options[name] for name, most in PEERS.items() if unknowns <= most}

    def compare(self, part, problem, sides, ranks, chosen, seconds=SECONDS, tolerances=TOLERANCES):
        """The peers by themselves, so that memory is theirs and one that fails is alone."""
        own = {name: options for name, options in chosen.items() if name not in PEERS}
        others = [{name: options} for name, options in chosen.items() if name in PEERS]
        rows = []
        for together in [own, *others]:
            key = (sides, ranks, *together.values())
            if key not in self.done:
                self.note(f"{' x '.join(map(str, sides))} on {ranks}: {', '.join(together)}")
                self.done[key] = self.run(together, sides, ranks, seconds, tolerances)
            rows += [line(part, problem, sides, ranks, name, *of) for name, of in self.done[key].items()]
        return rows

    def run(self, together, sides, ranks, seconds, tolerances):
        """{name: its rows for the first and the last tolerance}"""
        own = not together.keys() & PEERS.keys()
        options = ("-backend", self.backend, "-grid" if len(sides) == 3 else "-n", ",".join(map(str, sides)),
                   "-norm", "unpreconditioned", "-setups", 0,
                   "-refreshes", 2 if own else 1, "-solves", 5 if own else 2, "-seconds", 5)
        found = self.driver.run_each(self.driver.poisson, "rtol", tolerances, together, options, ranks, seconds)
        coarse, fine = found[tolerances[0]], found[tolerances[-1]]
        return {name: (coarse[name], row) for name, row in self.driver.solved(fine).items()}


def line(part, problem, sides, ranks, name, coarse, fine):
    more, longer = (fine[key] - coarse[key] for key in ("iterations", "solve_ms"))
    per_iteration = longer / more if more > 0 and longer > 0 else fine["solve_ms"] / max(fine["iterations"], 1)

    def whole(key):
        return "" if fine[key] is None else int(fine[key])

    return {"part": part, "problem": problem, "unknowns": " x ".join(map(str, sides)), "ranks": ranks, "solver": name,
            "levels": whole("levels"), "gather_size": whole("gather_size"), "iterations": int(fine["iterations"]),
            "residual": fine["residual"], "setup_ms": fine["setup_ms"], "refresh_ms": fine["refresh_ms"],
            "solve_ms": fine["solve_ms"], "us_per_iteration": round(1000 * per_iteration, 2), "device_mb": whole("device_mb")}


def with_efficiency(rows, share):
    """What is left of one rank's time, of a solve and of an iteration; share(ranks): so many ranks share one rank's work."""
    alone = {row["solver"]: row for row in rows if row["ranks"] == 1}
    for row in rows:
        for name, key in (("efficiency", "solve_ms"), ("efficiency_of_iteration", "us_per_iteration")):
            one = alone.get(row["solver"])
            row[name] = round(one[key] / (share(row["ranks"]) * row[key]), 3) if one else ""
    return rows


def plot(rows, figure):
    weak, strong = figure.subplots(1, 2)
    for ax, part in ((weak, "weak"), (strong, "strong")):
        chosen = [row for row in rows if row["part"] == part and row["efficiency"] != ""]
        for key in dict.fromkeys((row["problem"], row["solver"]) for row in chosen):
            mine = [row for row in chosen if (row["problem"], row["solver"]) == key]
            ranks = [row["ranks"] for row in mine]
            label = f"{key[1]}, {key[0]}" if part == "weak" else key[1]
            scale = [1] * len(ranks) if part == "weak" else ranks
            ax.plot(ranks, [row["efficiency_of_iteration"] * by for row, by in zip(mine, scale)],
                    "o-" if "rrb" in key[1] else "s--", markersize=3, label=label)
        counts = sorted({row["ranks"] for row in chosen})
        ax.plot(counts, [1] * len(counts) if part == "weak" else counts, color="gray", linewidth=0.8)
        ax.set_xticks(counts)
        ax.set(xlabel="ranks", title=f"{part} scaling, an iteration", ylabel="one rank's time / time" if part == "weak" else "speed-up")
        if chosen:
            ax.legend(fontsize=6)
    weak.set_ylim(bottom=0)
