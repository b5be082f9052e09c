"""Which kernels of the library no program has launched: kernels.py FILE [kernel ...], of what kernels.cxx wrote. Fails where
there are some, but for those named.

A template counts as one kernel; how many of its instances were launched is printed, too.
"""
import re
import sys
from pathlib import Path


def plain(mangled):
    """The name with its namespaces and without arguments: _ZN8petscrrb4cuda4sumsIdEEvPd gives petscrrb::cuda::sums."""
    rest, parts = re.sub(r"^_ZN?K?", "", mangled), []
    while found := re.match(r"(\d+)", rest):
        start = found.end()
        end = start + int(found[1])
        parts.append(rest[start:end])
        rest = rest[end:]
        if rest.startswith("I"):  # a class's arguments: what is behind them cannot be told so simply
            break
    return "::".join(part for part in parts if not part.startswith("_GLOBAL__N_")) or mangled


def main(path, *need_not):
    lines = set(Path(path).read_text(encoding="utf-8").splitlines()) if Path(path).is_file() else set()
    there = {line[4:] for line in lines if line.startswith("has ")}
    launched = {line[9:] for line in lines if line.startswith("launches ")}
    kernels = {plain(name) for name in there if "petscrrb" in name}
    missed = kernels - {plain(name) for name in launched} - set(need_not)
    launched &= there
    print(f"{len(kernels) - len(missed)} of {len(kernels)} kernels launched, {len(launched)} of {len(there)} instances")
    for name in sorted(missed):
        print(f"never launched: {name}")
    for name in sorted(there - launched):
        if plain(name) not in missed:
            print(f"  an instance never launched: {name}")
    return 1 if missed or not there else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
