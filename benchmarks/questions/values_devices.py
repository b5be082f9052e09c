"""What does not solve, on one GPU and on several of one host, a rank each."""
from driver import devices
from questions.scaling_devices import BOXES, RRB, sides_of_all

QUESTION = "How long do a set-up and a refresh take on the GPUs of one host, and how much memory is held?"

SIDES = (255, 1023, 4095)  # unknowns a side on each GPU


def measure(driver, note):
    rows = []
    for ranks in (count for count in BOXES if count <= len(devices())):
        for side in SIDES:
            sides = sides_of_all(side, ranks)
            note(f"{sides[0]} x {sides[1]} on {ranks}")
            options = ("-backend", "cuda", "-n", f"{sides[0]},{sides[1]}", "-setups", 3, "-refreshes", 9, "-solves", 1,
                       "-seconds", 1)
            found = driver.run_each(driver.poisson, "norm", ("unpreconditioned",), RRB, options, ranks, 120)
            rows += [line(name, row, sides, ranks) for name, row in driver.solved(found["unpreconditioned"]).items()]
    return rows


def line(name, row, sides, ranks):
    mb = int(row["device_mb"])
    return {"unknowns": f"{sides[0]} x {sides[1]}", "ranks": ranks, "solver": name, "setup_ms": row["setup_ms"],
            "refresh_ms": row["refresh_ms"], "solve_ms": row["solve_ms"], "device_mb": mb,
            "bytes_an_unknown": round(mb * 1e6 * ranks / (sides[0] * sides[1]), 1)}


def plot(rows, figure):
    for ax, what in zip(figure.subplots(1, 2), ("setup_ms", "refresh_ms")):
        for name in RRB:
            for ranks in sorted({row["ranks"] for row in rows}):
                mine = [row for row in rows if row["solver"] == name and row["ranks"] == ranks]
                sides = [row["unknowns"] for row in mine]
                ax.plot(range(len(sides)), [row[what] for row in mine], "o-", markersize=3, label=f"{name}, {ranks} GPUs")
        ax.set(title=what.replace("_ms", ", ms"), yscale="log", xlabel="255, 1023, 4095 unknowns a side on each")
        ax.legend(fontsize=6)
