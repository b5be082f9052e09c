"""On a GPU: where an iteration of the RRB-solver goes, kernel by kernel and grid by grid; Tables 5.1 and 5.2 of the paper."""
import papers

QUESTION = "On a GPU, how long does each kernel of an iteration of the RRB-solver take, and at which rates?"

CASES = ((1023, 8), (2047, 12), (4095, 12), (8191, 14))  # unknowns a side, levels
TABLE = 2047  # the papers' size, with 12 levels
PAPER_ITERATIONS = 19


def measure(driver, note):
    rows = []
    for n, levels in CASES:
        for precision in ("double", "single"):
            note(f"n = {n}, {precision} precision")
            rows += [{"n": n, "levels": levels, "precision": precision} | row
                     for row in driver.table("cuda/solver_breakdown", n, levels, *["single"] * (precision == "single"))]
    return rows


def plot(rows, figure):
    chosen = [row for row in rows if row["n"] == TABLE and row["precision"] == "double"]
    kernels, forward = figure.subplots(1, 2)
    parts = {row["what"]: float(row["us"]) for row in chosen if row["part"] == "kernel"}
    bar(kernels, "this GPU", parts)
    bar(kernels, "the paper's Titan X", {name: 1000 * ms / PAPER_ITERATIONS
                                         for name, (ms, *_) in papers.BREAKDOWN.items() if name != "memcpy"})
    kernels.set(xlabel="% of an iteration", title="Table 5.1")
    grids = [float(row["us"]) for row in chosen if row["part"] == "forward"]
    forward.semilogy(range(1, len(grids) + 1), grids, "o-", label="this GPU")
    forward.semilogy(range(1, len(papers.FORWARD) + 1), papers.FORWARD, "x", color="black",
                     label="the paper's Titan X; the last one: all below")
    forward.set(xlabel="grid", ylabel="us", title="Table 5.2: forward substitution")
    forward.legend(fontsize=7)


def bar(ax, where, parts):
    total, left = sum(parts.values()), 0
    where = f"{where}\n{total:.0f} us"
    for name, us in parts.items():
        share = 100 * us / total
        ax.barh(where, share, left=left)
        ax.text(left + share / 2, where, name, rotation=90, ha="center", va="center", fontsize=7)
        left += share
