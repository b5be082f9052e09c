"""Relaxation by blocks on the host: threads, and what they share; Figures 5, 7 and 8 of the paper, with fewer patches."""
import os

QUESTION = "On the host, how do sweeps over the blocks of many patches scale over threads and cells, beside PETSc's SOR?"

TYPES = ("jacobi", "coloured", "chaotic")
WAYS = ("patches", "blocks", "both")
SETS = {
    "16 of 64x64x64": ("-patches", "64,64,64", "-repeat", 16),
    "10 of 64x64x64": ("-patches", "64,64,64", "-repeat", 10),
    "10 of 80x80x80": ("-patches", "80,80,80", "-repeat", 10),
    "10 mixed": ("-patches", ",".join(f"{n},{n},{n}" for n in (64, 72, 80, 88, 96)), "-repeat", 2),
    "10 of 96x96x96": ("-patches", "96,96,96", "-repeat", 10),
    "2x2x2 of 64x64x64, coupled": ("-patches", "64,64,64", "-box", "2,2,2"),
}
COUNTS = ("-setups", 0, "-times", 3, "-batch", 3, "-seconds", 0.5)


def solver(kind, way, threads):
    return {f"{kind} | {way}, {threads}": f"-ksp_type richardson -pc_type blockrelax -pc_blockrelax_type {kind} "
            f"-pc_blockrelax_block_size 8,8,8 -pc_blockrelax_parallel {way} -threads {threads}"}


SOR = {"PETSc's SOR | none, 1": "-ksp_type richardson -pc_type sor -threads 1"}


def cases():
    cores = len(os.sched_getaffinity(0))
    counts = sorted({1, cores} | {1 << k for k in range(cores.bit_length())})
    scaling = dict(SOR)
    for threads in counts:
        for kind in TYPES:
            for way in WAYS if threads > 1 else ("auto",):
                scaling |= solver(kind, way, threads)
    some = {key: text for kind in TYPES for key, text in solver(kind, "auto", cores).items()}
    for index, name in enumerate(SETS):
        yield name, "constant", some | SOR if index else scaling
    yield "2x2x2 of 64x64x64, coupled", "variable", some | SOR


def measure(driver, note):
    rows = []
    for name, coefficients, solvers in cases():
        note(f"{name}, {coefficients}")
        measured = driver.solved(driver.blocks(solvers, *SETS[name], *COUNTS, "-copies", 3, coefficients=coefficients))
        for key, row in measured.items():
            kind, way = key.split(" | ")
            rows.append({"patches": name, "coefficients": coefficients, "cells": int(row["cells"]), "type": kind,
                         "threads_share": way.split(",")[0], "threads": int(row["threads"]),
                         "setup_ms": row["setup_ms"], "sweep_ms": row["sweep_ms"], "mcells_per_s": row["mcells_per_s"],
                         "residual_after_3": row["residual"], "copy_gb_per_s": driver.copy_rate})
    return rows


def plot(rows, figure):
    scaling, sets = figure.subplots(1, 2)
    first = [row for row in rows if row["patches"] == next(iter(SETS))]
    for kind in TYPES:
        mine = [row for row in first if row["type"] == kind]
        one = next((row["sweep_ms"] for row in mine if row["threads"] == 1), None)
        for mark, way in zip("o^s", WAYS if one else ()):
            at = [row for row in mine if row["threads_share"] in (way, "auto")]
            scaling.plot([row["threads"] for row in at], [one / row["sweep_ms"] for row in at], "-" + mark,
                         color=f"C{TYPES.index(kind)}", markersize=4, label=kind if way == "patches" else None)
    most = max(row["threads"] for row in rows)
    scaling.plot([1, most], [1, most], color="gray", linewidth=0.8)
    scaling.set(xlabel="threads", ylabel="times faster than one", title="patches: o, blocks: ^, both: s")
    scaling.legend(fontsize=7)
    for kind in (*TYPES, "PETSc's SOR"):
        mine = [row for row in rows if row["type"] == kind and row["coefficients"] == "constant" and row["patches"].startswith("10 ")]
        sets.plot([row["cells"] for row in mine], [row["sweep_ms"] for row in mine], "o-", markersize=4, label=kind)
    sets.set(xlabel="cells", ylabel="ms a sweep", xlim=(0, None), ylim=(0, None), title="10 patches: 64^3, 80^3, mixed, 96^3")
    sets.legend(fontsize=7)
