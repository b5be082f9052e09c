"""What `make demo` runs: a problem in 2D and one in 3D, solved with -ksp_type rrb beside PETSc's CG with several preconditioners; tables,
pictures and a page with both."""
import web
from driver import Driver, processor

N, SIDE = 511, 48  # unknowns a side, in 2D and in 3D
PEERS = {
    "cg + gamg": "-pc_type gamg",
    "cg + BoomerAMG": "-pc_type hypre -pc_hypre_type boomeramg",
    "cg + icc": "-pc_type icc",
    "cg + jacobi": "-pc_type jacobi",
}
PLANE = {"rrb": "-ksp_type rrb", "rrb, one thread": "-ksp_type rrb -threads 1", "cg + rrb": "-pc_type rrb"} | PEERS
SOLID = {"rrb": "-ksp_type rrb", "cg + gridmg": "-pc_type gridmg", "cg + mic": "-pc_type mic"} | PEERS
HEADS = ("solver", "setup", "solve", "iterations", "residual", "times rrb")
UNITS = ("", "ms", "ms", "", "true", "set.+sol.")


def total(row):
    return row["setup_ms"] + row["solve_ms"]


def cells(name, row, best):
    if row["status"] == "missing":
        return [name, "not in this PETSc"]
    if row["status"] != "ok":
        return [name, f"failed: {row['reason']}"]
    return [name, f"{row['setup_ms']:.1f}", f"{row['solve_ms']:.1f}", f"{row['iterations']:.0f}", f"{row['residual']:.1e}",
            f"{total(row) / best:.1f}"]


def line(texts):
    """Of the printed table."""
    name, *others = texts
    if len(others) == 1:
        return f"  {name:<18} {others[0]}"
    return f"  {name:<18}" + "".join(f" {text:>{width}}" for text, width in zip(others, (9, 9, 11, 10, 9)))


def bars(ax, rows):
    solved = {name: row for name, row in rows.items() if row["status"] == "ok"}
    best = total(rows["rrb"])
    drawn = ax.barh(list(solved), [total(row) / best for row in solved.values()], color="tab:blue")
    ax.invert_yaxis()
    ax.bar_label(drawn, fmt=" %.1f", padding=2)
    ax.set(xscale="log", title="set-up and solve to the same true residual", xlabel="times that of rrb")
    ax.margins(x=0.15)


def plane(figure, u):
    """u on the square."""
    ax = figure.add_subplot(1, 2, 1)
    u = u.reshape(N, N)
    shown = ax.imshow(u, origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
    ax.contour(u, levels=12, extent=(0, 1, 0, 1), colors="white", linewidths=0.5)
    ax.set(title=rf"$-\nabla\cdot(k\nabla u)=1$, {N} x {N} unknowns", xlabel="x", ylabel="y")
    figure.colorbar(shown, ax=ax, label="u")


def solid(figure, u):
    """u on three planes through the cube."""
    import numpy as np

    ax = figure.add_subplot(1, 2, 1, projection="3d")
    u = u.reshape(SIDE, SIDE, SIDE)
    at = np.linspace(0, 1, SIDE + 2)[1:-1]
    a, b = np.meshgrid(at, at)
    levels = np.linspace(u.min(), u.max(), 30)
    middle = SIDE // 6  # through the bubbles
    ax.contourf(a, b, u[middle], levels, zdir="z", offset=at[middle])
    ax.contourf(a, u[:, -1 - middle], b, levels, zdir="y", offset=at[-1 - middle])
    shown = ax.contourf(u[:, :, middle], a, b, levels, zdir="x", offset=at[middle])
    ax.set(title=rf"$-\nabla\cdot(k\nabla u)=f$, {SIDE} x {SIDE} x {SIDE} unknowns", xlabel="x", ylabel="y", zlabel="z",
           xlim=(0, 1), ylim=(0, 1), zlim=(0, 1))
    figure.colorbar(shown, ax=ax, label="u", shrink=0.8, pad=0.15)


def picture(draw, solution, rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from PIL import Image

    figure = plt.figure(figsize=(10, 4), layout="constrained")
    draw(figure, np.fromfile(solution))
    bars(figure.add_subplot(1, 2, 2), rows)
    figure.savefig(path, dpi=90)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)  # small enough for README.md: docs/images/demo.png


def solve(driver, name, title, about, solvers, draw, *options):
    """Prints the table, draws the picture, and returns what the page says."""
    print(f"{title} with {len(solvers)} solvers ...", flush=True)
    solution, path = driver.build / f"{name}.bin", driver.build / f"{name}.png"
    path.unlink(missing_ok=True)
    rows = driver.run(solvers, *options, "-rtol", 1e-6, "-refreshes", 0, "-output", solution, norm="unpreconditioned")
    if rows["rrb"]["status"] != "ok":
        raise SystemExit(f"-ksp_type rrb failed: {rows['rrb']['reason']}")
    if rows["rrb"]["threads"] == "1":
        rows.pop("rrb, one thread", None)
    table = [cells(solver, row, total(rows["rrb"])) for solver, row in rows.items()]
    head = line(HEADS)
    print("\n".join(["", f"  {about}", "", head, line(UNITS), "  " + "-" * (len(head) - 2), *map(line, table), ""]))
    try:
        picture(draw, solution, rows, path)
        print(f"  picture of the solution: {path}\n")
    except ImportError as missing:
        print(f"  no picture: Python has no {missing.name} (pip install matplotlib)\n")
    finally:
        solution.unlink(missing_ok=True)
    heads = [f"{head}, {unit}" if unit else head for head, unit in zip(HEADS, UNITS)]
    return [f"<h2>{title}</h2>", f"<p>{about}</p>", web.picture(path, title), web.table(heads, table)]


def main():
    driver = Driver()
    parts = solve(driver, "demo", f"Solving -div(k grad u) = 1 on {N} x {N} unknowns",
                  "k is smooth and random, its largest value 1000 times its smallest", PLANE, plane,
                  "-n", N, "-problem", "variable", "-seconds", 2)
    parts += solve(driver, "demo_3d", f"Solving -div(k grad u) = f on {SIDE} x {SIDE} x {SIDE} unknowns",
                   "k is 1000 times larger in 27 bubbles than around them, f is random", SOLID, solid,
                   "-grid", f"{SIDE},{SIDE},{SIDE}", "-problem", "bubbles", "-setups", 1, "-solves", 2, "-seconds", 0.5)
    how = (f"PETSc {driver.petsc}; {processor()}. Each stops at a true relative residual of 1e-6; "
           "medians of several runs, taken by turns.")
    page = driver.build / "demo.html"
    page.write_text(web.page("petscrrb beside other solvers", f"<p>{how}</p>", *parts), encoding="utf-8")
    print(f"  {how}\n  page with tables and pictures: {page}")


if __name__ == "__main__":
    main()
