"""KSPFUSEDCG beside KSPCG with the same preconditioners; on a GPU where there is one."""
from driver import device

QUESTION = "With the same preconditioner, how long does a solve take with -ksp_type fusedcg and with -ksp_type cg?"

PRECONDITIONERS = {
    "mic": "-pc_type mic",
    "neumann": "-pc_type neumann",
    "jacobi": "-pc_type jacobi",
}
NEU2 = "-pc_type neumann -pc_neumann_terms 2"
DEFLATED = {
    "neu2": NEU2,
    "neu2, 64 x 64 blocks of deflation": f"{NEU2} -ksp_deflation block -ksp_deflation_blocks 64,64",
}
NORMS = ("natural", "unpreconditioned")
GAMG = {"gamg": "-pc_type gamg"}
# unknowns, options of the problem, preconditioners
HOST = {
    "64 x 64 x 64, poisson": (("-grid", "64,64,64"), PRECONDITIONERS | GAMG),
    "256 x 256, two phases": (("-n", 256, "-problem", "two_phase", "-random_start"), DEFLATED),
}
DEVICE = {
    "128 x 128 x 128, poisson": (("-grid", "128,128,128"), PRECONDITIONERS | GAMG),
    "128 x 128 x 128, variable": (("-grid", "128,128,128", "-problem", "variable"), PRECONDITIONERS),
    "256 x 256 x 256, poisson": (("-grid", "256,256,256"), PRECONDITIONERS),
    "1024 x 1024, two phases": (("-n", 1024, "-problem", "two_phase", "-random_start"), DEFLATED),
}


def measure(driver, note):
    rows = []
    backend = "cuda" if device() else "host"
    for name, (options, preconditioners) in (DEVICE if device() else HOST).items():
        note(f"{name}, {backend}")
        solvers = {f"{pc} | {ksp}": f"-ksp_type {ksp} {text}" for pc, text in preconditioners.items() for ksp in ("cg", "fusedcg")}
        by_norm = driver.run_norms(solvers, NORMS, "-backend", backend, *options, "-setups", 1, "-refreshes", 3, "-solves", 5,
                                   "-seconds", 4)
        for norm, found in by_norm.items():
            solved = driver.solved(found)
            rows += [line(backend, name, norm, pc, solved[f"{pc} | cg"], solved[f"{pc} | fusedcg"]) for pc in preconditioners
                     if {f"{pc} | cg", f"{pc} | fusedcg"} <= set(solved)]
    return rows


def line(backend, problem, norm, pc, cg, fused):
    times = {f"{what}_{name}_ms": row[f"{what}_ms"] for what in ("refresh", "solve") for name, row in (("cg", cg), ("fusedcg", fused))}
    return {"backend": backend, "problem": problem, "norm": norm, "preconditioner": pc, "iterations_cg": int(cg["iterations"]),
            "iterations_fusedcg": int(fused["iterations"])} | times | {"ratio": round(cg["solve_ms"] / fused["solve_ms"], 2)}


def plot(rows, figure):
    figure.set_size_inches(8, 5)
    ax = figure.subplots()
    chosen = [row for row in rows if row["norm"] == "unpreconditioned"]
    for index, what in enumerate(("cg", "fusedcg")):
        ax.barh([at + 0.4 * (index - 0.5) for at in range(len(chosen))], [row[f"solve_{what}_ms"] for row in chosen], 0.4,
                label=what)
    ax.set_yticks(range(len(chosen)), [f"{row['problem']}: {row['preconditioner']}" for row in chosen], fontsize=7)
    ax.set(xscale="log", xlabel="solve, ms")
    ax.invert_yaxis()
    ax.legend()
