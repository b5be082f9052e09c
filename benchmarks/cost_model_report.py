"""The tables, the text and the picture of docs/scaling.md, from the cost model and what was measured."""
import argparse
from math import isqrt

from cost_model import Cluster, Node, OneDevice, Problem, best_gather, iteration, read, total

LATENCIES = (5, 10)  # us of a message between nodes: the least and the most that are published
COUNTS = (4, 64, 1024, 16384)
ALL_COUNTS = tuple(4**k for k in range(8))
WAYS = {"one": "to all ranks at once", "two": "within nodes, between them, within them", "leader": "to a rank of each node, and back"}
WORTH = 0.05  # of an iteration: what a change must save to be worth its code
CASES = {"weak, 4095 x 4095 a GPU": 4095, "strong, 8191 x 8191": 8191, "strong, 65535 x 65535": 65535}


def problem(case, count):
    side = isqrt(count)
    n = CASES[case]
    return Problem((n + 1) * side - 1, (n + 1) * side - 1, side, side) if case.startswith("weak") else Problem(n, n, side, side)


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def source(name, notes):
    known = dict(note.split(": ", 1) for note in notes if ": " in note)
    return f"{name}.csv: {known.get('device', known.get('machine'))}; {known.get('date')}, commit {known.get('commit')}"


def missing(name):
    return f"*Not measured yet: `make bench ARGS={name}`.*\n"


def between(low, high, form):
    low, high = format(low, form), format(high, form)
    return low if low == high else f"{low} to {high}"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %"


def off(predicted, measured):
    return f"{100 * (predicted / measured - 1):+.0f} %"


class Report:
    def __init__(self, transport=None):
        self.device = OneDevice.measured()
        self.notes, rows = read("exchange")
        self.node = Node.measured(rows, transport)

    def pages(self):
        """{name: Markdown}"""
        pages = {"one": self.on_one(), "measured": self.measured()}
        if not self.node:
            return pages | dict.fromkeys(("parameters", "extrapolated", "ways", "conclusion"), missing("exchange"))
        return pages | {"parameters": self.parameters(), "extrapolated": self.extrapolated(), "ways": self.ways(),
                        "conclusion": self.conclusion()}

    # --- beside what was measured ---

    def on_one(self):
        """Measured: what more iterations take, from solves to the two tests of solver_device."""
        notes, found = read("solver_device")
        solves = {}
        for row in found:
            if row["problem"] == "poisson" and row["solver"] in ("rrb, v", "rrb, amli"):
                solves.setdefault((row["n"], row["solver"] == "rrb, amli"), []).append((row["iterations"], row["solve_ms"]))
        rows = []
        for (n, amli), ((few, short), (many, long)) in solves.items():
            if n < 1000 or many <= few:
                continue  # below what the curves were measured from
            predicted = total(self.device, None, Problem(n, n, amli=amli), 0)
            measured = 1000 * (long - short) / (many - few)
            rows.append((f"{n} x {n}", "AMLI" if amli else "V", f"{predicted:.0f}", f"{measured:.0f}", off(predicted, measured)))
        return table(("unknowns", "cycle", "model, us", "measured, us", "error"), rows) + \
            f"\n{source('solver_device', notes)}\n\n{self.odd_level()}"

    def odd_level(self):
        notes, rows = read("odd_levels")
        if not rows:
            return f"What an odd number of levels takes more is left out. {missing('odd_levels')}"
        return (f"An odd number of levels takes {self.device.odd_level:.0f} us more for each visit of the last block. "
                f"{source('odd_levels', notes)}\n")

    def measured(self):
        notes, rows = read("scaling_devices")
        rows = [row for row in rows if row["solver"].startswith("rrb")]
        if not rows or not any(note.startswith("device") for note in notes):
            return missing("scaling_devices")
        if not self.node:
            return missing("exchange")
        out, errors, done = [], [], set()
        for row in rows:
            nx, ny = (int(side) for side in row["unknowns"].split(" x "))
            px, py = boxes(nx, ny, row["ranks"])
            p = Problem(nx, ny, px, py, levels=row["levels"])
            gathered = p.gathered(row["gather_size"]) if row["ranks"] > 1 else 0
            if (nx, ny, px, py, gathered) in done:
                continue
            done.add((nx, ny, px, py, gathered))
            parts, us = iteration(self.device, self.node, p, gathered), row["us_per_iteration"]
            predicted = sum(parts.values())
            if nx * ny / row["ranks"] > 0.99 * self.device.finest.points[0]:
                errors.append(abs(predicted / us - 1))
            where = f"{gathered}: {side(p, gathered)}" if gathered else ""
            out.append((row["part"], row["unknowns"], row["ranks"], where, f"{predicted:.0f}", f"{us:.0f}", off(predicted, us),
                        *(f"{parts[name]:.0f}" if row["ranks"] > 1 else "" for name in ("exchanges", "gather", "tail"))))
        if not errors:
            return "All boxes are below what the finest grid was measured for.\n"
        text = (f"{sum(error <= 0.2 for error in errors)} of {len(errors)} are within 20 %; the largest error is "
                f"{100 * max(errors):.0f} %. {source('scaling_devices', notes)}.\n")
        if len(errors) < len(out):
            text += "\nBoxes below what the finest grid was measured for, where the model has a constant, are not counted.\n"
        return table(("test", "unknowns", "GPUs", "gathered grid", "model, us", "measured, us", "error", "exchanges", "gather", "tail"),
                     out) + "\n" + text

    def parameters(self):
        a, n, b = self.node.per_exchange
        c, d, e = self.node.per_gather
        rows = [("an exchange", f"{a:.1f} us, {n:.2f} us a neighbour", f"{8e-3 / b:.0f} GB/s" if b else "no limit seen"),
                ("a gather", f"{c:.1f} us, {d:.2f} us for each doubling of the GPUs", f"{8e-3 / e:.0f} GB/s" if e else "no limit seen")]
        return table(("", "latency", "bandwidth of a GPU"), rows) + f"\n{self.node.transport}; {source('exchange', self.notes)}\n"

    # --- beyond ---

    def cluster(self, latency=8.0, way="one"):
        return Cluster(self.node, latency_us=latency, way=way)

    def best(self, case, count, latency=8.0, way="one", amli_in_tail=False):
        """(us, grid) of the best gather."""
        p = problem(case, count)
        if count == 1:
            return total(self.device, None, p, 0), 0
        return best_gather(self.device, self.cluster(latency, way), p, amli_in_tail)

    def gain(self, case, count, us):
        """Over one GPU: of time where each has the same, of work where all share it."""
        return self.best(case, 1)[0] / us

    def extrapolated(self):
        rows = []
        for case in CASES:
            for count in COUNTS:
                p = problem(case, count)
                (fast, _), (slow, grid) = (self.best(case, count, latency) for latency in LATENCIES)
                parts = iteration(self.device, self.cluster(LATENCIES[-1]), p, grid)
                digits = 2 if case.startswith("weak") else 1
                rows.append((case, count, f"{p.box[0]} x {p.box[1]}", f"{grid}: {side(p, grid)}", between(fast, slow, ".0f"),
                             between(self.gain(case, count, slow), self.gain(case, count, fast), f".{digits}f"),
                             *(percent(parts[name], slow) for name in ("exchanges", "gather", "tail", "all-reduce"))))
        return table(("test", "GPUs", "box", "best gathered grid", "an iteration, us", "efficiency (weak), speed-up (strong)", "exchanges",
                      "gather", "tail", "all-reduce"), rows) + \
            f"\n{LATENCIES[0]} to {LATENCIES[1]} us a message between nodes; grid and shares with {LATENCIES[1]}.\n"

    def choices(self, case, count):
        """{what: (us, grid)} of the ways to gather, and with AMLI's second visit in the tail alone."""
        return {text: self.best(case, count, way=way) for way, text in WAYS.items()} | {
            "at once, AMLI in the tail": self.best(case, count, amli_in_tail=True)}

    def ways(self):
        rows = []
        for case in CASES:
            for count in COUNTS:
                found, p = self.choices(case, count), problem(case, count)
                rows.append((case, count, *(f"{us:.0f} ({side(p, grid)})" for us, grid in found.values())))
        return table(("test", "GPUs", *(f"{text}, us" for text in found)), rows)

    def one_size(self):
        """(points, loss): the gather size that costs least beside the best where it costs most, and how much that is."""
        def loss(size):
            return max(total(self.device, self.cluster(latency), p, max(1, p.gathered(size))) / self.best(case, count, latency)[0] - 1
                       for case in CASES for count in COUNTS for latency in LATENCIES for p in [problem(case, count)])

        return min(((4**k, loss(4**k)) for k in range(5, 12)), key=lambda found: found[1])

    def conclusion(self):
        weak, *strong = CASES
        lines = []
        for count in COUNTS:
            (fast, _), (slow, grid) = (self.best(weak, count, latency) for latency in LATENCIES)
            p = problem(weak, count)
            parts = iteration(self.device, self.cluster(LATENCIES[-1]), p, grid)
            most = max(("exchanges", "gather", "tail"), key=lambda name: parts[name])
            kept = between(self.gain(weak, count, slow), self.gain(weak, count, fast), ".2f")
            lines.append(f"On {count} GPUs with 4095 x 4095 points each an iteration keeps {kept} of its efficiency, gathered on grid "
                         f"{grid} ({side(p, grid)} points). Beside the boxes, {'the ' * (most != 'exchanges')}{most} take{'s' * (most != 'exchanges')} most, "
                         f"{percent(parts[most], slow)}.")
        for case in strong:
            (us, _), count = min((self.best(case, count), count) for count in ALL_COUNTS)
            lines.append(f"{case.split(', ')[1]} points are fastest on {count} of {', '.join(map(str, ALL_COUNTS))} GPUs: {us:.0f} us an "
                         f"iteration, speed-up {self.gain(case, count, us):.1f}.")
        size, loss = self.one_size()
        lines.append(f"`-pc_rrb_gather_size {size}` costs {percent(loss, 1)} of an iteration at most beside the best size, in all cases of "
                     "the table.")
        for text in (*WAYS.values(), "at once, AMLI in the tail"):
            if text == WAYS["one"]:
                continue
            saved = {(case, count): 1 - self.choices(case, count)[text][0] / self.choices(case, count)[WAYS["one"]][0]
                     for case in CASES for count in COUNTS}
            (case, count), most = max(saved.items(), key=lambda item: item[1])
            saving = f"saves {between(min(saved.values()), most, '.0%')} of an iteration, most with {case} on {count} GPUs" \
                if most > 0 else "never saves anything"
            worth = "worth its code" if most >= WORTH else "not worth its code"
            if text in WAYS.values():
                lines.append(f"A gather *{text}* {saving}: {worth}.")
            else:
                lines.append(f"A gather *{text}* {saving}: {worth}, if no more iterations are needed.")
        return "\n".join(f"- {line}" for line in lines) + "\n"

    def draw(self, figure):
        bars, lines = figure.subplots(1, 2)
        weak, counts = next(iter(CASES)), (1, *COUNTS)
        every = [iteration(self.device, self.cluster(), problem(weak, count), self.best(weak, count)[1]) for count in counts]
        left = [0.0] * len(counts)
        for part in every[0]:
            us = [parts[part] for parts in every]
            bars.bar([str(count) for count in counts], us, bottom=left, label=part)
            left = [a + b for a, b in zip(left, us)]
        bars.set(xlabel="GPUs", ylabel="us", title="an iteration, 4095 x 4095 a GPU")
        bars.legend(fontsize=7)
        for case in CASES:
            low, high = ([self.gain(case, count, self.best(case, count, latency)[0]) / (1 if case.startswith("weak") else count)
                          for count in ALL_COUNTS] for latency in reversed(LATENCIES))
            lines.fill_between(ALL_COUNTS, low, high, alpha=0.3)
            lines.plot(ALL_COUNTS, low, "o-", markersize=3, label=case)
        lines.set(xscale="log", xlabel="GPUs", ylim=(0, None), title=f"efficiency; {LATENCIES[0]} to {LATENCIES[1]} us between nodes")
        lines.legend(fontsize=7)


def side(p, grid):
    return f"{-(-p.nx >> grid)} x {-(-p.ny >> grid)}"


def boxes(nx, ny, ranks):
    """As DMDACreate2d() chooses them."""
    px = int(0.5 + (nx * ranks / ny) ** 0.5) or 1
    while ranks % px:
        px -= 1
    py = ranks // px
    return (py, px) if nx > ny and px < py else (px, py)


def write(folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    report = Report()
    for name, text in report.pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    if report.node:
        figure = plt.figure(figsize=(9, 4), layout="constrained")
        report.draw(figure)
        figure.savefig(folder / "model.png", dpi=100)
        plt.close(figure)
        (folder / "picture.md").write_text("![an iteration and the efficiency](generated/scaling/model.png)\n", encoding="utf-8")
    else:
        (folder / "picture.md").write_text("", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", help="a transport of exchange.csv instead of the one with the shortest small exchange")
    for text in Report(parser.parse_args().transport).pages().values():
        print(text)


if __name__ == "__main__":
    main()
