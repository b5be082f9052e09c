"""Device: compute-sanitizer's tools over every kernel, at small sizes; a kernel that memcheck has not seen is a fault."""
import re
import shutil
from pathlib import Path

WEIGHT = 4

SCRIPT = Path(__file__).resolve().parent.parent / "cuda_device.sh"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def run(context):
    if context.backend != "cuda":
        context.note = "no GPU"
    elif not shutil.which("compute-sanitizer") and not Path("/usr/local/cuda/bin/compute-sanitizer").exists():
        context.note = "no compute-sanitizer: it is in the CUDA toolkit"
    else:
        for tool in TOOLS:
            check(context, tool)


def check(context, tool):
    words = [SCRIPT, context.build, tool]
    if context.left() < 30:
        context.note += f" no time for {tool}"
        return
    ended = context.execute(words, timeout=max(60, context.left()))
    bad = re.findall(r"never launched: petscrrb\S+", ended.output) if tool == "memcheck" else []
    bad = [line for line in bad if f"an instance {line}" not in ended.output]
    for line in bad:
        context.fault(f"{tool}: {line}", words)
    counts = re.search(r"(\d+) of \d+ kernels launched", ended.output)
    if counts:
        context.count(int(counts[1]))
    if ended.hung:
        context.note += f" {tool} took too long"
    elif ended.status and not bad:
        errors = re.findall(r"^========= (?!COMPUTE|ERROR SUMMARY).*", ended.output, re.MULTILINE)
        context.fault(f"{tool}: {ended.how()}\n" + "\n".join(errors[:10] or [ended.output[-1500:]]), words)
