"""What questions on 3D grids share: a case is a backend, a grid and a problem, of which several solvers take set-up, refresh, solve."""
from driver import device


def measure(host, devices, compare, note):
    """compare(backend, grid, problem) of all cases: (grid, problems) pairs of the host, and of a GPU where there is one."""
    rows = []
    for backend, cases in {"host": host, "cuda": devices if device() else ()}.items():
        for grid, problems in cases:
            for problem in problems:
                note(f"{'x'.join(map(str, grid))}, {problem}, {backend}")
                rows += compare(backend, grid, problem)
    return rows


def case(backend, grid, options):
    """The options of one."""
    return ("-backend", backend, "-grid", ",".join(map(str, grid)), *options, "-seconds", 0.5)


def lines(solved, backend, grid, problem, phases):
    """Of the table; solved: the driver's rows by solver."""
    return [{"backend": backend, "grid": "x".join(map(str, grid)), "problem": problem, "solver": name,
             "threads": int(row["threads"]), "iterations": int(row["iterations"]), "residual": row["residual"]}
            | {f"{phase}_ms": row[f"{phase}_ms"] for phase in phases} for name, row in solved.items()]


def plot(rows, figure, phases):
    """A part of the figure for each case, with a bar for each solver and phase."""
    cases = list(dict.fromkeys((row["backend"], row["grid"], row["problem"]) for row in rows))
    columns = min(3, len(cases))
    figure.set_size_inches(4 * columns, 4 * -(-len(cases) // columns))
    axes = figure.subplots(-(-len(cases) // columns), columns, squeeze=False)
    height = 0.8 / len(phases)
    for ax, one in zip(axes.flat, cases):
        chosen = [row for row in rows if (row["backend"], row["grid"], row["problem"]) == one]
        for index, phase in enumerate(phases):
            ax.barh([at + height * (index - (len(phases) - 1) / 2) for at in range(len(chosen))],
                    [row[f"{phase}_ms"] for row in chosen], 0.95 * height, label=phase)
        ax.set_yticks(range(len(chosen)), [f"{row['solver']} ({row['iterations']})" for row in chosen], fontsize=7)
        ax.invert_yaxis()
        ax.set_title(", ".join(one), fontsize=9)
        ax.set(xscale="log", xlabel="ms (iterations)")
    for ax in axes.flat[len(cases):]:
        ax.set_axis_off()
    figure.axes[0].legend(fontsize=7)
