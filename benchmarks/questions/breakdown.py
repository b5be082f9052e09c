"""On a GPU: where the time of one application goes, grid by grid (the papers' Table 5.2)."""
QUESTION = "On a GPU, how long does each grid take in one application of the V cycle, and at which bandwidth?"

CASES = ((255, 4), (1023, 8), (2047, 10), (4095, 12))  # unknowns a side, levels


def measure(driver, note):
    rows = []
    for n, levels in CASES:
        for precision in ("double", "single"):
            note(f"n = {n}, {precision} precision")
            for row in driver.table("cuda/breakdown", n, levels, *["single"] * (precision == "single")):
                rows.append({"n": n, "levels": levels, "precision": precision} | {key: row[key] for key in row if key != "n"})
    return rows


def plot(rows, figure):
    axes = figure.subplots(1, len(CASES))
    for ax, (n, _) in zip(axes, CASES):
        chosen = [row for row in rows
                  if row["n"] == n and row["precision"] == "double" and row["what"] in ("forward", "backward", "last block")]
        ax.barh([f"{row['what']} {row['grid']}" for row in chosen], [float(row["us"]) for row in chosen])
        ax.invert_yaxis()
        ax.set(title=f"{n} x {n}", xlabel="us")
        ax.tick_params(axis="y", labelsize=6)
