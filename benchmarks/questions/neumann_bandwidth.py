"""On a GPU: how far an application of a Neumann series is from a copy of the bytes that it must move."""
QUESTION = "On a GPU, how long do applications of Neumann series take, and how long would their bytes take to copy?"

SIZE = 2047  # points a side in 2D; about as many in 3D
MARKS = {"apply": "o", "periodic": "s", "apply_3d": "^", "periodic_3d": "v"}


def measure(driver, note):
    note(f"n = {SIZE}")
    return driver.table("cuda/neumann_bandwidth", SIZE)


def plot(rows, figure):
    ax = figure.subplots()
    for what, mark in MARKS.items():
        chosen = [row for row in rows if row["what"] == what]
        ax.plot([int(row["terms"]) for row in chosen], [float(row["us"]) for row in chosen], f"{mark}-", label=what)
    ax.set(xlabel="terms", ylabel="us an application", yscale="log")
    ax.legend(fontsize=7)
