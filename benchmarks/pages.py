"""Writes the measured tables of README.md and docs/speed.md from the CSVs in results/."""
from pathlib import Path

from tables import read_results

ROOT = Path(__file__).resolve().parent.parent
NAMES = {
    "rrb": "`-ksp_type rrb`",
    "rrb, v": "`-ksp_type rrb -pc_rrb_cycle v`",
    "rrb, amli": "`-ksp_type rrb -pc_rrb_cycle amli`",
    "rrb, one thread": "`-ksp_type rrb`, one thread",
    "cg + rrb": "`-ksp_type cg -pc_type rrb`",
    "cg + gamg": "CG with GAMG",
    "cg + boomeramg": "CG with BoomerAMG",
    "cg + boomeramg, tuned": "CG with BoomerAMG, tuned",
    "cg + pfmg": "hypre's CG with PFMG",
    "cg + mg": "CG with PCMG on a DMDA",
}
SOLID = {"rrb": "`-ksp_type rrb`", "mic": "`-ksp_type cg -pc_type mic`", "pfmg": "CG with hypre's PFMG", "gamg": "CG with GAMG",
         "boomeramg": "CG with BoomerAMG", "boomeramg, tuned": "CG with BoomerAMG, tuned", "pcmg": NAMES["cg + mg"]}
# README's rows: what is solved, its size, on a host or on how many GPUs; the results, and what picks a solver's row there
ROWS = (
    ("2D, Poisson", "1023 x 1023", "one", "hard_devices", {"problem": "constant", "n": 1023}),
    ("3D, Poisson", "128 x 128 x 128", "one", "gridmg", {"backend": "cuda", "grid": "128x128x128", "problem": "poisson"}),
    ("2D, cells stretched by 1000", "1023 x 1023", "one", "hard_devices", {"problem": "stretched to 1000", "n": 1023}),
    ("3D, two phases: 27 bubbles, 1000:1", "128 x 128 x 128", "one", "gridmg",
     {"backend": "cuda", "grid": "128x128x128", "problem": "bubbles 1:1000"}),
    ("2D, Poisson", "1023 x 1023", "a host, 2 cores", "hard", {"problem": "constant", "n": 1023}),
    ("3D, Poisson", "256 x 128 x 128", "two", "solid_devices", {"unknowns": "256 x 128 x 128"}),
)
COLUMNS = ("rrb", "gamg", "boomeramg", "pfmg")


def ms(text):
    value = float(text)
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def table(rows):
    out = ["| unknowns | solver | set-up | refresh with new values | solve | iterations |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row["solver"] in NAMES:
            cells = [f"{row['n']} x {row['n']}", NAMES[row["solver"]],
                     *(ms(row[f"{what}_ms"]) for what in ("setup", "refresh", "solve")), str(row["iterations"])]
            out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def source(notes, where):
    machine = notes["device"] if where == "cuda" else \
        f"{notes['machine']}, load by other programs {notes['load by other programs']}"
    return f"\n\n{machine}; PETSc {notes['PETSc']}; {notes['date']}, commit {notes['commit']}.\n"


PROBLEM = ("Poisson's equation, until the true relative residual is 1e-6, each solver with its defaults{}, in "
           "milliseconds:\n\n")


def on_host():
    notes, rows = read_results("solver_host")
    chosen = [row for row in rows if row["norm"] == "unpreconditioned"]
    return PROBLEM.format("") + table(chosen) + source(notes, "host").rstrip() + " Algebraic multigrid and PFMG ran on one thread.\n"


def on_device():
    notes, rows = read_results("solver_device")
    chosen = [row for row in rows if row["problem"] == "poisson" and row["test"] == "true residual"]
    return PROBLEM.format(" (PCMG: one Chebyshev-Jacobi sweep a level)") + table(chosen) + source(notes, "cuda")


def in_3d():
    notes, rows = read_results("gridmg")
    out = ["| unknowns | problem | solver | set-up | refresh with new values | solve | iterations |",
           "|---|---|---|---|---|---|---|"]
    where = rows[-1]["backend"]  # a GPU's come last
    chosen = [row for row in rows
              if row["backend"] == where and row["solver"] in SOLID and row["problem"] in ("poisson", "bubbles 1:1000")]
    cubes = sorted({row["grid"] for row in chosen if len(set(row["grid"].split("x"))) == 1}, key=lambda grid: int(grid.split("x")[0]))
    for grid in cubes:
        for row in (row for row in chosen if row["grid"] == grid):
            times = [ms(row[f"{what}_ms"]) for what in ("setup", "refresh", "solve")]
            if row["solver"] == "pfmg":
                times[0] = ""
            out.append("| " + " | ".join([grid.replace("x", " x "), row["problem"], SOLID[row["solver"]], *times, str(row["iterations"])]) + " |")
    return ("Seven points, until the true relative residual is 1e-6, in milliseconds; bubbles: 27, with coefficients 1000 times larger. "
            "(PFMG's first set-up: [why not](three_dimensions.md#from-which-size-on).)\n\n" + "\n".join(out) + source(notes, where))


def smoothers():
    notes, rows = read_results("smoother")
    n, where = rows[0]["n"], rows[0]["backend"]
    out = ["| method | smoother of PCMG | a sweep of it | iterations to 1e-8 | solve |", "|---|---|---|---|---|"]
    out += ["| " + " | ".join([row["method"], row["smoother"].replace("blocks", "`-pc_type blockrelax`"), ms(row["sweep_ms"]),
                               str(row["iterations_to_1e-8"]), ms(row["ms_to_1e-8"])]) + " |"
            for row in rows if row["coarser_grids"] == "discretized"]
    return (f"Poisson's equation on {n} x {n} x {n} points, PCMG on a DMDA with one sweep before and after each coarser grid, until "
            "the true relative residual is 1e-8, in milliseconds:\n\n" + "\n".join(out) + source(notes, where))


def beside_others():
    """README's table: a refresh and a solve of each solver, and when that was measured."""
    out = ["| problem | unknowns | on | `-ksp_type rrb` | CG with GAMG | CG with BoomerAMG | CG with PFMG | measured |",
           "|---|---|---|---|---|---|---|---|"]
    for what, size, where, name, wanted in ROWS:
        notes, rows = read_results(name)
        if where in ("one", "two"):
            where += " " + notes["device"].removeprefix("NVIDIA ").split()[0]
        found = {row["solver"].removeprefix("cg + "): row for row in rows if wanted.items() <= row.items()}
        cells = [f"{ms(row['refresh_ms'])} + {ms(row['solve_ms'])}" if (row := found.get(solver)) else "" for solver in COLUMNS]
        out.append("| " + " | ".join([what, size, where, f"**{cells[0]}**", *cells[1:], f"{notes['date']}, {notes['commit']}"]) + " |")
    return "\n".join(out) + "\n"


def put(text, name, content):
    begin, end = f"<!-- begin of {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = text.split(begin)
    return before + begin + content + end + rest.split(end)[1]


PAGES = {
    "README.md": {"the table": beside_others},
    "docs/speed.md": {"the host's table": on_host, "the device's table": on_device, "the table in 3D": in_3d,
                      "the table of smoothers": smoothers},
}


def written(page):
    """The page with its tables as the results have them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, table_of in PAGES[page].items():
        text = put(text, name, table_of())
    return text


def main():
    for page in PAGES:
        (ROOT / page).write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main()
