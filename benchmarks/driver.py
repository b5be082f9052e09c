"""Runs the drivers (poisson.c, heat.c and blocks.c) and reads their CSV. Shared by demo.py and run.py."""
import csv
import os
import shlex
import subprocess
from pathlib import Path

TEXTS = ("solver", "problem", "n", "grid", "coefficients", "source", "norm", "rtol", "threads", "status", "reason")
OUT_OF_TIME = "it took too long"
LONGEST = 900  # seconds that a program may take where nobody says more


class Driver:
    """The drivers and the plugin in the build directory, which make names in PETSCRRB_BUILD."""

    def __init__(self):
        self.build = Path(os.environ.get("PETSCRRB_BUILD") or Path(__file__).parent.parent / "build").resolve()
        self.poisson = self.find("benchmarks/poisson")
        self.plugin = self.find("lib/libpetscrrb.so")
        self.petsc = "unknown"
        self.copy_rate = None  # GB/s, as measured by the last run with -copies
        self.failures = []

    def say(self, text):
        print(f"  {text}", flush=True)

    def find(self, name):
        path = self.build / name
        if not path.is_file():
            raise SystemExit(f"{path} is not there: type 'make' and 'make benchmarks' first.")
        return path

    def file(self, name, make):
        """BUILD/bench/name, which make(path) writes if it is not there."""
        path = self.build / "bench" / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            make(part)
            part.replace(path)
        return path

    def run(self, solvers, *options, norm="natural", seconds=LONGEST):
        """Runs the solvers, a dict of name: options, by turns, each until the norm has fallen. Returns {name: row}."""
        return self.run_norms(solvers, (norm,), *options, seconds=seconds)[norm]

    def run_norms(self, solvers, norms, *options, **limits):
        """The same with each of the norms, after one set-up; limits: of run_each. Returns {norm: {name: row}}."""
        return self.run_each(self.poisson, "norm", norms, solvers, options, **limits)

    def heat(self, solvers, sources, *options):
        """The heat equation with each of the sources, to the true residual. Returns {source: {name: row}}."""
        options += ("-norm", "unpreconditioned")
        return self.run_each(self.find("benchmarks/heat"), "source", sources, solvers, options)

    def blocks(self, solvers, *options, coefficients="constant"):
        """Relaxation on patches: so many sweeps of each solver. Returns {name: row}."""
        return self.run_each(self.find("benchmarks/blocks"), "coefficients", (coefficients,), solvers, options)[coefficients]

    def run_each(self, program, key, values, solvers, options, ranks=1, seconds=LONGEST, tries=1):
        """{value: {name: row}} for each value of the option that is the key. It ends after so many seconds; each try after the
        first one may take twice as long."""
        code, rows, message = self.start(program, key, values, solvers, options, ranks, seconds)
        if code == 0:
            return rows
        if message == OUT_OF_TIME and tries > 1:
            return self.run_each(program, key, values, solvers, options, ranks, 2 * seconds, tries - 1)
        if len(solvers) == 1 or message == OUT_OF_TIME:
            return {value: {name: failed(message) for name in solvers} for value in values}
        # one of them takes the whole process down: find out which
        rows = {value: {} for value in values}
        for name, text in solvers.items():
            for value, row in self.run_each(program, key, values, {name: text}, options, ranks, seconds).items():
                rows[value] |= row
        return rows

    def solved(self, rows):
        """The rows of the solvers that solved. One that PETSc lacks is said; one that failed is remembered too."""
        for name, row in rows.items():
            if row["status"] == "failed":
                self.fail(f"{name} failed: {row['reason']}")
            if row["status"] == "missing":
                self.say(f"{name} is not in this PETSc")
        return {name: row for name, row in rows.items() if row["status"] == "ok"}

    def fail(self, text):
        self.failures.append(text)
        self.say(text)

    def table(self, name, *options, ranks=1, seconds=LONGEST):
        """The rows that BUILD/benchmarks/name prints as CSV. Where it fails, those that it printed before."""
        done = self.execute(self.find(f"benchmarks/{name}"), options, ranks, seconds)
        if done.returncode:
            self.fail(f"{name} on {ranks} rank{'s' if ranks > 1 else ''} ended with {done.returncode}: {done.stderr}")
        elif done.stderr:
            self.say(done.stderr.strip())
        return list(csv.DictReader(done.stdout.splitlines()))

    def launch(self, ranks, seconds):
        """What starts a program on so many ranks and ends it after so many seconds. One that fails may leave the others waiting."""
        limit = ["timeout", "--kill-after=10", str(seconds)]
        if ranks == 1:
            return limit
        lines = (self.build / "config.mk").read_text(encoding="utf-8").splitlines()
        found = [line.partition("=")[2].strip() for line in lines if line.startswith("MPIEXEC")]
        if not found or not found[0]:
            raise SystemExit(f"{self.build}/config.mk names no mpiexec")
        return [*limit, *shlex.split(found[0]), "-n", str(ranks)]

    def execute(self, program, options, ranks=1, seconds=LONGEST):
        """Runs a program to its end, or so many seconds, and gives what it printed."""
        # threads that spin while they wait lose whole time slices when anything else runs on the machine
        environment = {"OMP_WAIT_POLICY": "passive"}
        if ranks > 1:  # each has its share of the cores; Open MPI would tie two ranks to a core each
            environment |= {"OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // ranks)),
                            "OMPI_MCA_hwloc_base_binding_policy": "none"}
        return subprocess.run([*self.launch(ranks, seconds), str(program), *map(str, options)], env=environment | os.environ,
                              capture_output=True, text=True, errors="replace", check=False)

    def start(self, program, key, values, solvers, options, ranks, seconds):
        words = ["-dll_append", self.plugin, f"-{key}", ",".join(values), *options]
        for index, (name, text) in enumerate(solvers.items()):
            words += [f"-solver_{index}", f"{name}: {text}"]
        done = self.execute(program, words, ranks, seconds)
        lines = done.stdout.splitlines()
        for line in lines:
            if line.startswith("# copy: "):
                self.copy_rate = float(line.split()[2])
            elif line.startswith("# "):
                self.petsc = line[2:].replace("Petsc", "PETSc").replace("PETSc Release Version", "").strip()
        rows = {value: {} for value in values}
        for row in csv.DictReader(line for line in lines if line.count(",") >= 12 and not line.startswith("#")):
            rows[row[key]][row["solver"]] = numbers(row)
        code = done.returncode or int(any(set(rows[value]) != set(solvers) for value in values))
        return code, rows, OUT_OF_TIME if done.returncode in (124, 137) else message_of(done)


def numbers(row):
    return {key: text if key in TEXTS else float(text) if text else None for key, text in row.items()}


def failed(message):
    return {"status": "failed", "reason": message, "iterations": None, "residual": None}


def message_of(done):
    """PETSc's own words, where it printed an error; else how the process ended."""
    lines = [line.split("PETSC ERROR:")[1].strip() for line in done.stderr.splitlines() if "PETSC ERROR:" in line]
    lines = [line for line in lines if line and not line.startswith("-----")]
    other = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
    # the first line is the error's kind, the second is about this one
    return ": ".join(lines[:2]) if lines else f"the program ended with {done.returncode}: {' '.join(other[:2])}"


def processor():
    """The CPU's name and the number of cores that this process may use."""
    model = "unknown CPU"
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0))
    return f"{model}, {cores} core{'s' if cores > 1 else ''}"


def devices():
    """The GPUs' names; none where there is none."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True,
                              check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def device():
    """The first GPU's name; empty where there is none."""
    return next(iter(devices()), "")


def commit():
    """The commit that is checked out, with a plus where files have changed since. PETSCRRB_COMMIT names it where a build
    was carried to a machine that has no repository."""
    if os.environ.get("PETSCRRB_COMMIT"):
        return os.environ["PETSCRRB_COMMIT"]
    here = Path(__file__).resolve().parent
    try:
        name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
        changed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no", "--", "../src", "../include"],
                                 cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no git"
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")
