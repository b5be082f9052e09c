"""On several GPUs: what an exchange and a gather between ranks cost, alone and in a graph."""
import csv
import subprocess

from driver import devices

QUESTION = "On GPUs, how many microseconds do an exchange with neighbours and a gather to all ranks take?"

RANKS = (2, 4)


def measure(driver, note):
    program, rows = driver.find("benchmarks/cuda/exchange"), []
    for ranks in RANKS:
        if ranks > len(devices()):
            note(f"{ranks} ranks: there are not that many GPUs")
            continue
        note(f"{ranks} ranks")
        done = subprocess.run([*driver.launch(ranks, 300), program], capture_output=True, text=True, check=False)
        if done.returncode:
            driver.failures.append(f"exchange on {ranks} ranks ended with {done.returncode}: {done.stderr}")
        elif done.stderr:
            note(done.stderr.strip())
        rows += csv.DictReader(done.stdout.splitlines())
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
