"""Looks for faults that no test names: runs the parts of `make check-long`, and ends with a table of what they found.

    tests/long/run.py --build BUILD [--only PART,PART] [--seconds N] [--seed N] [--few N] [--workers N] [--backend host|cuda]

A part is a module beside this file with a function run(context) and, where it wants more or less of the time than others, a
WEIGHT. Only the standard library is needed, and nothing is compiled, so that BUILD may be carried to another machine.
"""
import argparse
import importlib
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
PARTS = ("random_use", "ranks", "soak", "failures", "threads", "device")


class Ended:
    """How a command ended: its exit status (None where it took too long and was killed), and all that it printed."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds

    @property
    def hung(self):
        return self.status is None

    def how(self):
        if self.hung:
            return f"did not end within {self.seconds:.0f} s"
        return f"ended by signal {-self.status}" if self.status < 0 else f"ended with {self.status}"


class Context:
    """What a part may use. Times are in seconds; `backend` is host or cuda; `asan` is a build folder or None."""

    def __init__(self, part, build, seconds, seed, backend, few=0, workers=2):
        self.part, self.build, self.seconds, self.seed, self.backend = part, build, seconds, seed, backend
        self.few = few  # no more than about so many cases, where it is not 0
        self.config = read_config(build)
        sanitized = build.with_name(build.name + "-asan")
        self.asan = sanitized if (sanitized / "tests/long").is_dir() else None
        self.ranks = [1, 2, 3, 4] if self.config.get("MPIEXEC") else [1]
        self.workers = workers  # commands that run at once
        self.random = random.Random(f"{seed}/{part}")
        self.cases = self.clean = self.bad = 0
        self.note = ""
        self.start = time.monotonic()

    def left(self):
        """Seconds that this part may still take."""
        return self.seconds - (time.monotonic() - self.start)

    def program(self, name, build=None):
        """The program made from tests/long/NAME.cxx; None where it is not built."""
        path = (build or self.build) / "tests/long" / name
        return path if path.is_file() else None

    def command(self, words, ranks=1):
        """The words of the command on so many ranks."""
        words = [str(word) for word in words]
        return words if ranks == 1 else [*shlex.split(self.config["MPIEXEC"]), "-n", str(ranks), *words]

    def execute(self, words, ranks=1, timeout=60, env=None):
        """Runs it; nothing that it starts outlives it."""
        settings = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        # BUILD's own folder is in the programs, but it may be at another place now
        own = self.asan if self.asan and self.asan in Path(words[0]).parents else self.build
        settings["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(own / "lib"), os.environ.get("LD_LIBRARY_PATH")]))
        start = time.monotonic()
        process = subprocess.Popen(self.command(words, ranks), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
                                   env={**os.environ, **settings, **(env or {})})
        try:
            output, _ = process.communicate(timeout=timeout)
            return Ended(process.returncode, output, time.monotonic() - start)
        except subprocess.TimeoutExpired:
            kill_group(process)
            output, _ = process.communicate()
            return Ended(None, output, time.monotonic() - start)

    def count(self, clean):
        """So many cases were clean; fault() counts the bad ones."""
        self.cases += clean
        self.clean += clean

    def fault(self, what, words, ranks=1, env=None):
        """Reports a bad case: what was seen, and the command that repeats it."""
        self.cases += 1
        self.bad += 1
        setting = "".join(f"{name}={shlex.quote(str(value))} " for name, value in (env or {}).items())
        print(f"FAULT in {self.part}: {what.strip()}\n  again: {setting}{shlex.join(self.command(words, ranks))}", flush=True)


def kill_group(process):
    """mpiexec's ranks have groups of their own: it ends them where it is asked to, which SIGKILL does not."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass


def read_config(build):
    """The variables of BUILD/config.mk."""
    pairs = (line.partition("=") for line in (build / "config.mk").read_text(encoding="utf-8").splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def find_backend(build):
    """cuda where PETSc has it and there is a GPU."""
    config = read_config(build)
    header = Path(config["PETSC_DIR"], config.get("PETSC_ARCH", ""), "include/petscconf.h")
    has_cuda = header.is_file() and re.search(r"^#define PETSC_HAVE_CUDA 1", header.read_text(encoding="utf-8"), re.MULTILINE)
    gpu = shutil.which("nvidia-smi") and not subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode
    return "cuda" if has_cuda and gpu else "host"


def table(done):
    rows = [("part", "cases", "clean", "bad", "seconds", ""),
            *((c.part, str(c.cases), str(c.clean), str(c.bad), f"{time:.0f}", c.note) for c, time in done)]
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, 5)), row[5]]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda path: Path(path).resolve(), default=HERE.parent.parent / "build")
    parser.add_argument("--only", default="", help="some of " + ",".join(PARTS))
    parser.add_argument("--seconds", type=float, default=1800, help="in total")
    parser.add_argument("--seed", type=int, help="a random one is taken, and printed, where none is given")
    parser.add_argument("--few", type=int, default=0, help="about so many cases and no more, where a part counts them")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="commands that run at once, where a part runs several")
    parser.add_argument("--backend", choices=("host", "cuda"), help="cuda where there is a GPU")
    options = parser.parse_args()
    chosen = [part for part in options.only.split(",") if part] or [p for p in PARTS if (HERE / f"{p}.py").is_file()]
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}: there are {', '.join(PARTS)}")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1, 2**31)
    backend = options.backend or find_backend(options.build)
    print(f"seed {seed}, backend {backend}, {options.seconds:.0f} s; again: make check-long SEED={seed}", flush=True)
    sys.path.insert(0, str(HERE))
    modules = [importlib.import_module(part) for part in chosen]
    total = sum(getattr(module, "WEIGHT", 1) for module in modules)
    done = []
    for part, module in zip(chosen, modules):
        context = Context(part, options.build, options.seconds * getattr(module, "WEIGHT", 1) / total, seed, backend, options.few, options.workers)
        try:
            module.run(context)
        except Exception:  # of the part itself, which must not keep the others from running
            traceback.print_exc()
            context.bad += 1
        done.append((context, time.monotonic() - context.start))
    table(done)
    return 1 if any(context.bad for context, _ in done) else 0


if __name__ == "__main__":
    sys.exit(main())
