"""Deflated Neumann series against algebraic multigrid where the density jumps by 1000; on a GPU where there is one."""
import peers
from driver import device

QUESTION = "Two phases, 1000:1: how do deflated Neu2, GAMG and BoomerAMG compare, from a random start to a true residual of 1e-6?"

PROBLEMS = ("two_phase", "bubbles")
CELLS = {"host": 256, "cuda": 1024}  # a side
NEU2 = "-pc_type neumann -pc_neumann_terms 2"
WAYS = (("adef2", "explicit"), ("adef2", "cholesky"), ("def1", "explicit"))
PEERS = {"gamg": f"{peers.GAMG} -threads 1", "boomeramg": f"{peers.BOOMERAMG} -threads 1",
         "rrb": "-pc_type rrb", "rrb-solver": "-ksp_type rrb"}


def blocks(n, cells):
    return f"-ksp_deflation_blocks {n // cells},{n // cells}"


def spaces(n):
    return {
        "blocks of 16^2": f"-ksp_deflation block {blocks(n, 16)}",
        "blocks of 32^2": f"-ksp_deflation block {blocks(n, 32)}",
        "level set": "-ksp_deflation levelset",
        "level set in blocks of 16^2": f"-ksp_deflation levelset {blocks(n, 16)}",
        "level set in 56 x 56 blocks": "-ksp_deflation levelset -ksp_deflation_blocks 56,56",
        "level set in blocks of 32^2": f"-ksp_deflation levelset {blocks(n, 32)}",
        "2n stripes": "-ksp_deflation stripe",
    }


def solvers(n, backend):
    """{(preconditioner, space, variant, inverse): options}"""
    chosen = {("neu2", space, *way): f"{NEU2} {options} -ksp_deflation_variant {way[0]} -ksp_deflation_inverse {way[1]}"
              for space, options in spaces(n).items() for way in WAYS}
    chosen["neu2, single reduction", "blocks of 16^2", "adef2", "explicit"] = \
        f"-ksp_cg_single_reduction {NEU2} {spaces(n)['blocks of 16^2']}"
    others = {"neu2": NEU2} | PEERS | {"boomeramg, tuned": f"{peers.tuned(2, backend)} -threads 1"}
    return chosen | {(name, "", "", ""): text for name, text in others.items()}


def measure(driver, note):
    rows = []
    backend = "cuda" if device() else "host"
    n = CELLS[backend]
    for problem in PROBLEMS:
        note(f"{problem}, {backend}, n = {n}")
        chosen = solvers(n, backend)
        measured = driver.solved(driver.run({" | ".join(key): text for key, text in chosen.items()}, "-backend", backend,
                                            "-problem", problem, "-n", n, "-random_start", "-setups", 2, "-refreshes", 3,
                                            "-solves", 9, "-seconds", 2, norm="unpreconditioned"))
        for name, row in measured.items():
            keys = dict(zip(("preconditioner", "deflation", "variant", "inverse"), name.split(" | ")))
            rows.append({"backend": backend, "problem": problem, "n": n} | keys
                        | {"iterations": int(row["iterations"]), "residual": row["residual"]}
                        | {f"{what}_ms": row[f"{what}_ms"] for what in ("setup", "refresh", "solve")})
    return rows


def plot(rows, figure):
    figure.set_size_inches(10, 6)
    axes = figure.subplots(1, len(PROBLEMS), sharey=True)
    for ax, problem in zip(axes, PROBLEMS):
        chosen = [row for row in rows if row["problem"] == problem]
        names = [", ".join(str(row[key]) for key in ("preconditioner", "deflation", "variant", "inverse") if row[key])
                 for row in chosen]
        for index, what in enumerate(("setup", "refresh", "solve")):
            ax.barh([at + 0.27 * (index - 1) for at in range(len(chosen))], [row[f"{what}_ms"] for row in chosen], 0.25,
                    label=what)
        ax.set_yticks(range(len(names)), names, fontsize=7)
        ax.set(xscale="log", xlabel="ms", title=f"{problem}, {chosen[0]['n']} x {chosen[0]['n']} cells, {chosen[0]['backend']}")
    axes[0].invert_yaxis()
    axes[0].legend(fontsize=7)
