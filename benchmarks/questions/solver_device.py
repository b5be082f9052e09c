"""On a GPU: the RRB-solver beside PETSc's CG with PCRRB, GAMG, BoomerAMG and PCMG on a DMDA, hypre's with PFMG, and the bytes it must move."""
import peers

QUESTION = "On a GPU, how long does the RRB-solver take beside others, and how long would its bytes take to copy?"

SIZES = (127, 255, 1023, 2047, 4095, 8191)
PROBLEMS = ("poisson", "variable")
NORMS = ("natural", "unpreconditioned")
RRB = {f"rrb, {cycle}{kind}": f"-ksp_type rrb -pc_rrb_cycle {cycle}{options}"
       for cycle in ("v", "amli") for kind, options in (("", ""), (", double", " -pc_rrb_precision double"), (", single", " -pc_rrb_precision single"))}
PEERS = {
    "cg + rrb": "-pc_type rrb",
    "cg + boomeramg": peers.BOOMERAMG,
    "cg + boomeramg, tuned": peers.tuned(2, "cuda"),
    "cg + pfmg": "-ksp_type pfmg",
}
GAMG = "cg + gamg"
# unknowns a side; GAMG's set-up takes more than ten seconds on 4095 x 4095
LARGEST = {"cg + rrb": 4095, GAMG: 2047, "cg + boomeramg": 4095, "cg + boomeramg, tuned": 4095, "cg + pfmg": 8191}
AMLI_FROM = 1023  # below, the default number of levels is too small for it
# In one of ten runs a product of matrices that these two ask of cuSPARSE does not end (CUDA 13.0): they run alone, at most so long.
ALONE = {"seconds": 30, "tries": 3}
BYTES = {"mixed": 161, "double": 179, "single": 181}  # a black node and iteration of the V cycle: docs/numerics.md counts them


def solvers(n):
    """What runs together on n x n unknowns."""
    chosen = {name: options for name, options in RRB.items() if "amli" not in name or n >= AMLI_FROM}
    if n == 2047:
        chosen["rrb, v, 12 levels"] = RRB["rrb, v"] + " -pc_rrb_levels 12"
    return chosen | {name: options for name, options in PEERS.items() if n <= LARGEST[name]}


def measure(driver, note):
    rows = []
    for n in SIZES:
        for problem in PROBLEMS:
            note(f"n = {n}, {problem}")
            rows += compare(driver, solvers(n), problem, n)
            if n <= LARGEST[GAMG]:
                rows += compare(driver, {GAMG: peers.GAMG}, problem, n, **ALONE)
            if n <= 4095:
                rows += compare(driver, {"cg + mg": peers.pcmg(n + 2)}, problem, n + 2, **ALONE)
    return rows


def compare(driver, chosen, problem, n, **limits):
    measured = driver.run_norms(chosen, NORMS, "-backend", "cuda", "-problem", problem, "-n", n, "-setups", 2,
                                "-refreshes", 3, "-solves", 9, "-seconds", 0.5, "-copies", 11, **limits)
    return [line(name, row, problem, n, norm, driver.copy_rate)
            for norm, solved in measured.items() for name, row in driver.solved(solved).items()]


def line(name, row, problem, n, norm, copy_rate):
    count = int(row["iterations"])
    us = 1000 * row["solve_ms"] / max(count, 1)
    out = {"n": n, "problem": problem, "solver": name, "test": "natural" if norm == "natural" else "true residual",
           "levels": "" if row["levels"] is None else int(row["levels"]), "iterations": count, "residual": row["residual"]}
    out |= {f"{what}_ms": row[f"{what}_ms"] for what in ("setup", "refresh", "solve")}
    out |= {"us_per_iteration": round(us, 2), "bytes_per_iteration": "", "copy_gb_per_s": copy_rate, "times_copy": ""}
    if name.startswith("rrb"):
        precision = next((precision for precision in BYTES if precision in name), "mixed")
        moved = BYTES[precision] * ((n * n + 1) // 2)
        out |= {"bytes_per_iteration": moved, "times_copy": round(us * copy_rate * 1e3 / moved, 3)}
    return out


def plot(rows, figure):
    axes = figure.subplots(1, 2)
    chosen = [row for row in rows if row["problem"] == "poisson" and row["test"] == "true residual"]
    for name in dict.fromkeys(row["solver"] for row in chosen if "levels" not in row["solver"]):
        mine = [row for row in chosen if row["solver"] == name]
        style = "o-" if name.startswith("rrb") else "s--"
        axes[0].plot([row["n"] for row in mine], [row["solve_ms"] for row in mine], style, markersize=3, label=name)
        if name.startswith("rrb"):
            axes[1].plot([row["n"] for row in mine], [row["times_copy"] for row in mine], style, markersize=3, label=name)
    axes[0].set(yscale="log", ylabel="ms", title="Poisson, true residual 1e-6")
    axes[1].axhline(1, color="gray", linewidth=0.8)
    axes[1].set(yscale="log", title="time of an iteration / time to copy its bytes")
    for ax in axes:
        ax.set(xscale="log", xlabel="unknowns a side")
        ax.set_xticks(SIZES, SIZES, minor=False, fontsize=7)
        ax.set_xticks([], minor=True)
        ax.legend(fontsize=6)
