"""On a GPU: what deflation costs in set-up, refresh and application, for each kind of subdomain."""
QUESTION = "On a GPU, how long do set-up, refresh and the parts of an application of deflation take?"

CASES = (1024, 2048)  # cells a side
PARTS = ("restrict", "solve", "prolong")


def measure(driver, note):
    rows = []
    for n in CASES:
        note(f"n = {n}")
        rows += [{"n": n} | row for row in driver.table("cuda/deflation_breakdown", n)]
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, len(CASES))
    for ax, n in zip(axes, CASES):
        chosen = [row for row in rows if row["n"] == n]
        names = list(dict.fromkeys(f"{row['space']}, {row['inverse']}" for row in chosen))
        left = [0.0] * len(names)
        for part in PARTS:
            us = [float(row["us"]) for row in chosen if row["part"] == part]
            ax.barh(names, us, left=left, label=part)
            left = [a + b for a, b in zip(left, us)]
        ax.invert_yaxis()
        ax.set(title=f"{n} x {n}", xlabel="us an application")
        ax.tick_params(axis="y", labelsize=6)
    axes[0].legend(fontsize=7)
