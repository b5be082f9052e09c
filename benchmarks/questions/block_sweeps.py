"""On a GPU: sweeps of relaxation by blocks on many patches, beside a copy of their bytes; Table 2 and Figures 6 to 9 of the
paper."""
QUESTION = "On a GPU, how long does a sweep over the blocks of many patches take, and how long would its bytes take to copy?"


def measure(driver, note):
    note("types, sets of patches, block sizes, numbers of patches, grids")
    return driver.table("cuda/block_sweeps", seconds=3600)


def chosen(rows, **keys):
    return [row for row in rows if all(row[key] == value for key, value in keys.items())]


def plot(rows, figure):
    figure.set_size_inches(12, 7)
    axes = figure.subplots(2, 2)
    kinds(axes[0][0], rows)
    for ax, group, key, title in ((axes[0][1], "sets", "cells", "80 patches: the sets of Table 2"),
                                  (axes[1][0], "sizes", "block", "64 patches of 64 x 64 x 64"),
                                  (axes[1][1], "counts", "patches", "number of patches, (8,8,8)")):
        for name in dict.fromkeys((row["type"], row["name"] if group == "counts" else "") for row in chosen(rows, group=group)):
            mine = [row for row in chosen(rows, group=group, type=name[0]) if name[1] in ("", row["name"])]
            at = [row[key] if group == "sizes" else float(row[key]) for row in mine]
            scale = 3 if group == "counts" else 1  # the paper's three sweeps
            ax.plot(at, [scale * float(row["ms"]) for row in mine], "o-", markersize=4, label=", ".join(filter(None, name)))
        ax.set(title=title, ylabel="ms of three sweeps" if group == "counts" else "ms a sweep")
        ax.legend(fontsize=7)
    axes[0][1].set(xlabel="cells", xlim=(0, None), ylim=(0, None))
    axes[1][0].set_yscale("log")
    axes[1][0].tick_params(axis="x", labelrotation=40, labelsize=7)
    axes[1][1].set(xscale="log", yscale="log")


def kinds(ax, rows):
    mine = [row for row in rows if row["group"] in ("types", "grids")]
    labels = [f"{row['type']}, {row['name']}, {row['coefficients']}" for row in mine]
    bars = ax.barh(labels, [float(row["gcells_per_s"]) for row in mine])
    ax.bar_label(bars, [f" {float(row['residual_after_3']):.4f}" for row in mine], fontsize=6)
    ax.tick_params(axis="y", labelsize=6)
    ax.invert_yaxis()
    ax.margins(x=0.1)
    ax.set(xlabel="billion cells/s; beside: residual after three sweeps", title="64 patches of 64 x 64 x 64, and grids")
