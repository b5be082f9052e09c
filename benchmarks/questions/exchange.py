"""On several GPUs: what an exchange and a gather between ranks cost, alone and in a graph."""
from driver import devices

QUESTION = "On GPUs, how many microseconds do an exchange with neighbours and a gather to all ranks take?"

RANKS = (2, 4)


def measure(driver, note):
    rows = []
    for ranks in RANKS:
        if ranks > len(devices()):
            note(f"{ranks} ranks: there are not that many GPUs")
            continue
        note(f"{ranks} ranks")
        rows += driver.table("cuda/exchange", ranks=ranks, seconds=300)
    return rows


def plot(rows, figure):
    ranks = sorted({row["ranks"] for row in rows}, key=int)
    for ax, count in zip(figure.subplots(1, len(ranks), squeeze=False)[0], ranks):
        chosen = [row for row in rows if row["ranks"] == count]
        kinds = {(row["transport"], row["operation"], row["neighbours"], row["in_graph"]) for row in chosen}
        for transport, operation, neighbours, in_graph in sorted(kinds):
            line = [row for row in chosen
                    if (row["transport"], row["operation"], row["neighbours"], row["in_graph"]) == (transport, operation, neighbours, in_graph)]
            ax.loglog([8 * int(row["values"]) for row in line], [float(row["microseconds"]) for row in line],
                      ".-" if in_graph == "1" else ".:", label=f"{transport}: {operation}, {neighbours}")
        ax.set(title=f"{count} ranks", xlabel="bytes", ylabel="us")
        ax.legend(fontsize=5)
