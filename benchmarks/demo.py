"""What `make demo` runs: one real problem, solved with -ksp_type rrb beside PETSc's CG with several preconditioners."""
from driver import Driver, processor

N = 511
SOLVERS = {
    "rrb": "-ksp_type rrb",
    "rrb, one thread": "-ksp_type rrb -threads 1",
    "cg + rrb": "-pc_type rrb",
    "cg + gamg": "-pc_type gamg",
    "cg + BoomerAMG": "-pc_type hypre -pc_hypre_type boomeramg",
    "cg + icc": "-pc_type icc",
    "cg + jacobi": "-pc_type jacobi",
}


def total(row):
    return row["setup_ms"] + row["solve_ms"]


def line(name, row, best):
    if row["status"] == "missing":
        return f"  {name:<18} not in this PETSc"
    if row["status"] != "ok":
        return f"  {name:<18} failed: {row['reason']}"
    return (f"  {name:<18} {row['setup_ms']:>9.1f} {row['solve_ms']:>9.1f} {row['iterations']:>11.0f} "
            f"{row['residual']:>10.1e} {total(row) / best:>9.1f}")


def table(rows):
    best = total(rows["rrb"])
    head = f"  {'solver':<18} {'setup':>9} {'solve':>9} {'iterations':>11} {'residual':>10} {'times rrb':>9}"
    units = f"  {'':<18} {'ms':>9} {'ms':>9} {'':>11} {'true':>10} {'set.+sol.':>9}"
    return "\n".join([head, units, "  " + "-" * (len(head) - 2)] + [line(name, row, best) for name, row in rows.items()])


def picture(solution, rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from PIL import Image

    u = np.fromfile(solution).reshape(N, N)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    shown = left.imshow(u, origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
    left.contour(u, levels=12, extent=(0, 1, 0, 1), colors="white", linewidths=0.5)
    left.set(title=rf"$-\nabla\cdot(k\nabla u)=1$, {N} x {N} unknowns", xlabel="x", ylabel="y")
    figure.colorbar(shown, ax=left, label="u")
    solved = {name: row for name, row in rows.items() if row["status"] == "ok"}
    names = list(solved)[::-1]
    best = total(rows["rrb"])
    bars = right.barh(names, [total(solved[name]) / best for name in names], color="tab:blue")
    right.bar_label(bars, fmt=" %.1f", padding=2)
    right.set(xscale="log", title="set-up and solve to the same true residual", xlabel="times that of rrb")
    right.margins(x=0.15)
    figure.savefig(path, dpi=90)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)  # small enough for README.md: docs/images/demo.png


def main():
    driver = Driver()
    solution = driver.build / "demo.bin"
    print(f"Solving -div(k grad u) = 1 on {N} x {N} unknowns with {len(SOLVERS)} solvers ...", flush=True)
    rows = driver.run(SOLVERS, "-n", N, "-problem", "variable", "-rtol", 1e-6, "-refreshes", 0, "-seconds", 2,
                      "-output", solution, norm="unpreconditioned")
    print(f"\n  PETSc {driver.petsc}; {processor()}\n"
          "  k is smooth and random, its largest value 1000 times its smallest\n"
          "  each stops at a true relative residual of 1e-6; medians of several runs, taken by turns\n")
    if rows["rrb"]["status"] != "ok":
        raise SystemExit(f"-ksp_type rrb failed: {rows['rrb']['reason']}")
    if rows["rrb"]["threads"] == "1":
        del rows["rrb, one thread"]
    print(table(rows) + "\n")
    try:
        picture(solution, rows, driver.build / "demo.png")
        print(f"  picture of the solution: {driver.build / 'demo.png'}")
    except ImportError as missing:
        print(f"  no picture: Python has no {missing.name} (pip install matplotlib)")
    finally:
        solution.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
