"""One thread against all cores."""

QUESTION = "What do two threads gain over one?"

SIZES = (255, 511, 1023, 2047)


def measure(driver, note):
    rows = []
    for n in SIZES:
        note(f"n = {n}")
        solvers = {"one": "-pc_type rrb -pc_rrb_cycle v -threads 1", "two": "-pc_type rrb -pc_rrb_cycle v -threads 2"}
        measured = driver.solved(driver.run(solvers, "-n", n, "-setups", 3, "-refreshes", 5, "-solves", 9, "-applies", 25))
        for row in measured.values():
            rows.append({"n": n, "threads": int(row["threads"])}
                        | {f"{what}_ms": row[f"{what}_ms"] for what in ("setup", "refresh", "apply", "solve")}
                        | {f"{what}_speedup": round(measured["one"][f"{what}_ms"] / row[f"{what}_ms"], 3)
                           for what in ("setup", "refresh", "apply", "solve")})
    return rows


def plot(rows, figure):
    ax = figure.subplots()
    two = [row for row in rows if row["threads"] == 2]
    for what in ("setup", "refresh", "apply", "solve"):
        ax.semilogx([row["n"] for row in two], [row[f"{what}_speedup"] for row in two], "o-", base=2, label=what)
    ax.axhline(1, color="gray", linewidth=0.8)
    ax.set(xlabel="unknowns a side", ylabel="times faster with two threads")
    ax.legend()
