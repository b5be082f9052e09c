"""Cubes on several GPUs of one host, or on the cores of a host without a GPU, a rank each, measured as scaling_devices does."""
from questions.scaling_devices import Measurement

QUESTION = "In 3D, how do the RRB-solver and others scale over the GPUs of one host?"

PARTS = ("solid",)


def measure(driver, note, *parts):
    return Measurement(driver, note).answer(parts or PARTS)


def plot(rows, figure):
    ax = figure.subplots()
    for key in dict.fromkeys((row["problem"], row["solver"]) for row in rows):
        mine = [row for row in rows if (row["problem"], row["solver"]) == key and row["efficiency_of_iteration"] != ""]
        ax.plot([row["ranks"] for row in mine], [row["efficiency_of_iteration"] for row in mine], "o-", markersize=3,
                label=f"{key[1]}, {key[0]}")
    ax.set(xlabel="ranks", title="weak scaling in 3D, an iteration", ylabel="one rank's time / time")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=6)
