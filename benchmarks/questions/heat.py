"""The heat equation of the paper of MICPCGA, Tables 2 and 3; on the host for the smallest grid, on a GPU for all of them."""
import papers
import peers
from driver import device

QUESTION = "The heat equation until t = 0.1: how many iterations and how long do PCMIC and others take, and how exact are they?"

MODELS = {"M21": (100, 100, 100), "M22": (250, 250, 100), "M23": (250, 250, 250), "M24": (100, 100, 250),
          "M25": (100, 100, 1000)}  # cells along x, y and z
SOURCES = {"M21": ("0", "100"), "M24": ("0", "100")}  # the paper's has none
DT = 1e-3  # the paper does not say; it gives errors of the size of its Table 2
SOLVERS = {
    "jacobi": "-pc_type jacobi",
    "mic": "-pc_type mic",
    "ssor": "-pc_type mic -pc_mic_type ssor",
    "ssor, approximate inverse": "-pc_type neumann -pc_neumann_terms 1 -pc_neumann_omega 1",
}
BOOMERAMG = {"boomeramg": f"{peers.BOOMERAMG} -threads 1", "boomeramg, tuned": f"{peers.tuned(3, 'cuda')} -threads 1"}
MULTIGRID = {"gamg": f"{peers.GAMG} -threads 1"} | BOOMERAMG
MOST_GAMG = 3e6  # unknowns: its set-up alone takes ten seconds and more on the others
HEIGHTS = (1, 3, 5, 7, 9)  # z of the five points in tenths; x = y = 1/2


def measure(driver, note):
    rows = run(driver, note, "host", "M21", SOLVERS)
    if device():
        for model, (nx, ny, nz) in MODELS.items():
            rows += run(driver, note, "cuda", model, SOLVERS | (MULTIGRID if nx * ny * nz <= MOST_GAMG else BOOMERAMG))
    return rows


def run(driver, note, backend, model, solvers):
    note(f"{model}, {backend}")
    grid = ",".join(map(str, MODELS[model]))
    sources = SOURCES.get(model, ("0",)) if backend == "cuda" else ("0",)
    measured = driver.heat(solvers, sources, "-backend", backend, "-grid", grid, "-dt", DT)
    return [line(backend, model, source, name, row) for source, solved in measured.items()
            for name, row in driver.solved(solved).items()]


def line(backend, model, source, name, row):
    out = {"backend": backend, "model": model, "grid": row["grid"], "source": int(source), "solver": name}
    out |= {key: int(row[key]) for key in ("threads", "steps", "iterations")}
    out |= {"iterations_per_step": round(row["iterations"] / row["steps"], 2), "setup_ms": row["setup_ms"],
            "steps_ms": row["solve_ms"]}
    return out | {f"error_0.{z}": "" if row[f"error_{z}"] is None else row[f"error_{z}"] for z in HEIGHTS}


def plot(rows, figure):
    figure.set_size_inches(12, 4)
    backend = "cuda" if any(row["backend"] == "cuda" for row in rows) else "host"
    mine = [row for row in rows if row["backend"] == backend]
    iterations, seconds, errors = figure.subplots(1, 3)
    cases = list(dict.fromkeys((row["model"], row["source"]) for row in mine))
    names = list(dict.fromkeys(row["solver"] for row in mine))
    for index, name in enumerate(names):
        chosen = [row for row in mine if row["solver"] == name]
        at = [cases.index((row["model"], row["source"])) + 0.8 / len(names) * (index - (len(names) - 1) / 2) for row in chosen]
        for ax, key, scale in ((iterations, "iterations_per_step", 1), (seconds, "steps_ms", 1e-3)):
            ax.bar(at, [scale * row[key] for row in chosen], 0.75 / len(names), label=name)
        paper = {at: papers.HEAT[row["model"]][name] for at, row in zip(at, chosen)
                 if not row["source"] and name in papers.HEAT[row["model"]]}
        seconds.plot(list(paper), [on_gpu if backend == "cuda" else on_host for _, on_host, on_gpu in paper.values()], "_",
                     color="black", label=f"the paper's, {name}" if paper else None)
        chosen = [row for row in chosen if not row["source"]]
        # one upon the other: all solve the same equations well enough
        errors.plot([row["model"] for row in chosen], [row["error_0.5"] for row in chosen], f"C{index}o-", linewidth=0.8,
                    fillstyle="none", markersize=3 + 2 * index, label=name)
        if paper:
            errors.plot(list(papers.HEAT), [model[name][0] for model in papers.HEAT.values()], f"C{index}x",
                        label=f"the paper's, {name}")
    for ax in (iterations, seconds):
        ax.set_xticks(range(len(cases)), [model + ("\nsource" if source else "") for model, source in cases], fontsize=8)
    iterations.set_title(f"CG iterations a time step, {backend}", fontsize=9)
    seconds.set(yscale="log")
    seconds.set_title("all time steps, s", fontsize=9)
    errors.set(yscale="log")
    errors.set_title("error in the middle", fontsize=9)
    for ax in (iterations, seconds, errors):
        ax.legend(fontsize=6)
