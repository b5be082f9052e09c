#!/usr/bin/env python3
"""Measures how strong the tests are: puts one small fault after the other into src/, and runs the tests on each.

    tests/seeded_faults.py --check
    tests/seeded_faults.py --build BUILD [--jobs N] [--only NAME,NAME] [--where host|device] [--suites SUITE,SUITE] [--likely]
                           [--output FILE.csv]

Each fault is what a careless hand leaves behind: a sign, an index one off, an exchange that is forgotten. A suite has caught it
if it fails, crashes or does not end. Faults go into copies of the sources and of BUILD, a folder with `make BUILD=BUILD all tests`
in it; one copy, called "unchanged", has none. The exit status is 1 if a fault is caught by no suite or does not compile, or if a
suite fails in the unchanged copy.

--check only looks whether each fault's old text is still there, exactly once. Whoever moves code moves the fault with it.

Suites: unit, petsc and ranks on the host; cuda, petsc-cuda, petsc-small (on a device that seems to have one multiprocessor),
cuda-ranks (each way in which values travel between two GPUs) and ranks-cuda on a GPU. Faults in code that only a device runs are left
to the latter.
"""
import argparse
import contextlib
import csv
import datetime
import itertools
import os
import queue
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/long"), str(ROOT / "benchmarks")]

from driver import commit, device, devices, processor  # noqa: E402
from run import find_backend, kill_group, read_config  # noqa: E402


class Fault(NamedTuple):
    name: str
    kind: str
    where: str  # host, or device: only device suites can see it
    file: str
    old: str
    new: str


FAULTS = [Fault(*fault) for fault in (
    # --- host, one rank ---
    ("rim-of-a-sum", "dropped border", "host", "src/exec/host/host.hpp",
     "for (index_t h = inside.last; h < box.h1; ++h) s += g(h, k);",
     "for (index_t h = inside.last; h + 1 < box.h1; ++h) s += g(h, k);"),
    ("b1-before-the-next-row", "wrong order", "host", "src/pc/rrb/core/steps.hpp",
     "counts + b1, 0, 1);", "counts + b1, 0, 0);"),
    ("curvature-of-the-step-before", "dropped term", "host", "src/pc/rrb/core/amli_polynomial.hpp",
     "if (j) s[curvature(j)] -= beta() * beta() * s[curvature(j - 1)];", ""),
    ("moved-couplings-lent", "missing test", "host", "src/ksp/rrb/ksprrb_rrb.cxx",
     "  if (v.positive) return \"the preconditioner has moved positive off-diagonal entries\";\n", ""),
    ("dropped-row-sums-lent", "missing test", "host", "src/ksp/rrb/ksprrb_rrb.cxx",
     "  if (v.rounded) return \"the preconditioner takes small row sums for 0, since there is a null space\";\n", ""),
    ("guess-of-a-KSP", "forgotten reset", "host", "src/pc/known_values.cxx",
     "      ksp->guess_zero = s.guess_zero;\n", ""),
    ("third-size", "wrong default", "host", "src/pc/parameter.h",
     "if (given < count) n[given] = 1;", ""),
    ("seam-in-x", "swapped direction", "host", "src/grid/reach.hpp",
     "petscrrb::towards(g, x, -1)", "petscrrb::towards(g, x, 1)"),
    ("coupling-around-a-ring", "forgotten update", "host", "src/stencil/stencil.cxx",
     "      if (i == nx - 1 && g.periodic[0]) settle(seam, p - static_cast<PetscInt>(i), East, p);\n", ""),
    ("dropped-corner-of-r2", "wrong index", "host", "src/pc/rrb/core/eliminate.hpp",
     "         near<c, -1, -1>(a.NE, h, k);", "         near<c, c == r2 ? 1 : -1, -1>(a.NE, h, k);"),
    ("halo-of-r2", "forgotten halo", "host", "src/pc/rrb/host/sweeps.hpp",
     "d.halo.exchange(on, {r1, r2}, {d.right_hand_side()[r1], d.right_hand_side()[r2]});",
     "d.halo.exchange(on, {r1}, {d.right_hand_side()[r1]});"),
    ("polynomial-of-AMLI", "wrong sign", "host", "src/pc/rrb/core/amli.hpp",
     "*c0 * before - *c1 * product", "*c0 * before + *c1 * product"),
    ("values-for-a-second-factorization", "missed refresh", "host", "src/pc/rrb/pcrrb_setup.cxx",
     "  PetscCall(ReadValues(pc, PETSC_FALSE, nullptr)); /* the first attempt overwrote it */\n", ""),
    ("norm-of-the-initial-residual", "dropped term", "host", "src/ksp/rrb/core/step.hpp",
     "if (start || norm == Norm::preconditioned)", "if (norm == Norm::preconditioned)"),
    ("ring-in-y", "wrong index", "host", "src/ksp/rrb/core/products.hpp",
     "x_.y.periodic ? x_.y.n : 0", "x_.x.periodic ? x_.y.n : 0"),
    ("partner-on-a-diagonal", "wrong index", "host", "src/ksp/rrb/core/matrix_product.hpp",
     "a.upper[k][i - offset] * p[i - offset]", "a.upper[k][i] * p[i - offset]"),
    ("symmetry-of-new-values", "dropped test", "host", "src/ksp/rrb/core/matrix_product.hpp",
     "&& found.asymmetry == 0.0", ""),
    ("shared-row-of-r", "forgotten update", "host", "src/ksp/rrb/host/schur_loops.hpp",
     "out[h] = start ? r[h] : r[h] - a * q[h];", "out[h] = r[h];"),
    ("rows-below-in-eisenstats-form", "forgotten halo", "host", "src/ksp/rrb/host/schur_loops.hpp",
     "    t_row(c.k0 - 1, false);\n", ""),
    ("another-factors-weights", "dropped test", "host", "src/pc/rrb/core/first_schur.hpp",
     "same = same && std::fabs(w * dinv - f.w[i][b1](h, k)) <= 1e-12 * std::fabs(w * dinv);", ""),
    ("edge-of-a-column", "off by one", "host", "src/pc/mic/host/column.hpp",
     "l.from_before(before[s])", "l.from_before(before[s - 1])"),
    ("default-omega-in-2D", "wrong default", "host", "src/pc/mic/core/mic.hpp",
     "sides += g.n[d] > 1;", "sides += g.n[d] > 0;"),
    ("wait-for-a-strip", "skipped synchronization", "host", "src/pc/mic/host/pipeline.hpp",
     "    if (before) before->wait_for(base + std::min<PetscInt>(to + lanes - 1, steps));\n", ""),
    ("reversed-coupling", "swapped direction", "host", "src/pc/neumann/core/tile.hpp",
     "b[m][c] * in[c + u[m]]", "b[m][c] * in[c - u[m]]"),
    ("last-colour-of-a-symmetric-sweep", "off by one", "host", "src/pc/blockrelax/core/layout.hpp",
     "int c = o.omega == 1 ? colours - 1 : colours;", "int c = colours - 1;"),
    ("new-values-of-Amat", "missed refresh", "host", "src/pc/blockrelax/pcblockrelax_richardson.cxx",
     "Amat == s->values", "Amat.id == s->values.id"),
    ("new-values-in-E", "missed refresh", "host", "src/ksp/deflation/pcdeflation_setup.cxx",
     "now.A == d->seen.A &&", "now.A.id == d->seen.A.id &&"),
    ("second-PetscInitialize", "forgotten reset", "host", "src/register.cxx",
     "  PetscCall(KSPDeflationStopHook());\n  initialized = PETSC_FALSE;\n", "  PetscCall(KSPDeflationStopHook());\n"),
    # --- host, several ranks ---
    ("block-of-an-entry", "wrong index", "host", "src/petsc/overlap.cxx",
     "Source::of(b, e[b]++)", "Source::of(0, e[b]++)"),
    ("set-up-that-begins-again", "lost agreement of ranks", "host", "src/pc/set_up.h",
     "PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm));", ""),
    ("row-of-a-transposed-entry", "wrong index", "host", "src/petsc/rank_rows.cxx",
     "== first_ + p)", "== p)"),
    ("sums-in-a-gather", "wrong index", "host", "src/pc/rrb/ranks/gather.hpp",
     "return fields * start[r] + numbers * r;", "return fields * start[r] + numbers;"),
    ("fourth-row-around-a-box", "forgotten halo", "host", "src/pc/rrb/ranks/slots.hpp",
     "return what_ == Exchanged::more_rows ? 4 : 3;", "return 3;"),
    ("first-bad-pivot", "lost agreement of ranks", "host", "src/pc/rrb/ranks/distributed_factor.hpp",
     "const std::vector<double> all = ranks_.gather_numbers(mine);", "const std::vector<double> &all = mine;"),
    ("second-layer-of-ghosts", "forgotten halo", "host", "src/pc/neumann/pcneumann_setup.cxx",
     "n->drop == PC_NEUMANN_DROP_THRESHOLD ? 2 : 1", "1"),
    ("end-of-the-search-for-phases", "lost agreement of ranks", "host", "src/ksp/deflation/core/labels.cxx",
     "    changed = ranks.any(changed);\n", ""),
    ("sweeps-of-a-graph", "forgotten halo", "host", "src/pc/rrb/graph/shared_sweeps.cxx",
     "    if (q < rest) up[level(q)].add(q, owner[q], owner[a]);\n", ""),
    ("coupling-at-its-other-end", "wrong index", "host", "src/pc/rrb/graph/slide_levels.hpp",
     "once[k] = once[reverse[k]] = to;", "once[k] = to, once[reverse[k]] = 0;"),
    ("values-of-the-other-block", "wrong index", "host", "src/pc/rrb/graph/rows_of_ranks.hpp",
     "on_.copy(mine_.data() + own_, mine.others.a", "on_.copy(mine_.data(), mine.others.a"),
    ("diagonal-of-red-nodes-of-a-graph", "dropped factor", "host", "src/ksp/rrb/core/graph_cg.hpp",
     "dp[i] = sum / inverse[i];", "dp[i] = sum;"),
    ("red-nodes-below-them", "wrong array", "host", "src/pc/rrb/graph/graph_apply.hpp",
     "from == 1 && black_ ? below_first_[l - 2] : forward_[l - 1]", "forward_[l - 1]"),
    ("room-of-an-estimate", "wrong array", "host", "src/pc/rrb/graph/graph_apply.hpp",
     "double *const y = of_.s_.data();", "double *const y = of_.q_.data();"),
    ("a-few-steps-of-an-estimate", "weak condition", "host", "src/pc/rrb/core/amli_polynomial.hpp",
     "steps < estimate_steps && lambda_max_ > few_suffice", "false"),
    ("ways-along-the-other-end", "swapped", "host", "src/pc/rrb/graph/slide.hpp",
     "if (along_a) items.push_back(Way::to(sliding, a, q, middle, b));",
     "if (along_a) items.push_back(Way::to(sliding, b, q, middle, a));"),
    ("coupling-of-two-lists", "dropped term", "host", "src/pc/rrb/graph/eliminate.hpp",
     "(of_a ? a->w : 0.0) + (of_b ? b->w : 0.0)", "of_a ? a->w : b->w"),
    ("node-of-another-part", "skipped synchronization", "host", "src/pc/rrb/graph/in_order.hpp",
     "decide_.waits_for(q, decide_.priority[p])", "false"),
    ("run-of-places", "weak condition", "host", "src/comm/places.hpp",
     "if (place == run.last() + run.step)", "if (place >= run.last() + run.step)"),
    ("gather-under-AMLI", "wrong condition", "host", "src/pc/rrb/ranks/distributed_apply.hpp",
     "(sums_.count && !above)", "sums_.count"),
    # --- device ---
    ("bits-of-the-other-end", "swapped", "device", "src/pc/rrb/graph/slide.hpp",
     "(known ? found->b >> nth & 1", "(known ? found->a >> nth & 1"),
    ("coupling-to-the-left-in-a-tile", "wrong index", "device", "src/pc/rrb/cuda/one_pass.cuh",
     "(root * scale.root(h - 1, k));", "(root * root);"),
    ("last-warp-of-a-sum", "off by one", "device", "src/exec/cuda/sums.cuh",
     "w < threads / 32;", "w < threads / 32 - 1;"),
    ("rows-on-their-way", "skipped synchronization", "device", "src/exec/cuda/ahead.cuh",
     "cp.async.wait_group 1;", "cp.async.wait_group 2;"),
    ("guess-on-the-host", "forgotten update", "device", "src/pc/vectors.h",
     "    if (reads_y) PetscCall(VecCopy(y, y_));\n", ""),
    ("interior-from-the-ring", "dropped term", "device", "src/dense/cuda/blocks.cu",
     "        s.transposed[b.transposed + (column - b.interior) * b.interior + row] = value;\n", ""),
    ("b1-to-the-lower-left", "forgotten update", "device", "src/pc/rrb/cuda/sweep_kernels.cuh",
     "b.v[0][0] = b.v[1][0], b.v[0][1] = b.v[1][1];", "b.v[0][1] = b.v[1][1];"),
    ("round-of-a-sum-over-ranks", "forgotten update", "device", "src/comm/cuda/stores.cu",
     "  p.rounds[i] = round;\n", ""),
    ("received-values", "wrong index", "device", "src/comm/cuda/exchange.cu",
     "values() + first_unpacked_", "values()"),
    ("steps-after-a-pause", "forgotten reset", "device", "src/ksp/rrb/cuda/iteration.cuh",
     "  scalars[ended] = 0.0;\n", ""),
    ("number-of-a-sweep", "skipped synchronization", "device", "src/pc/mic/cuda/column.cuh",
     "return kinds * sweeps + Work::kind + 1;", "return Work::kind + 1;"),
    ("first-column-of-a-strip", "off by one", "device", "src/pc/neumann/cuda/march.cuh",
     "lane >= Marching::west &&", "lane > Marching::west &&"),
    ("top-of-a-low-block", "dropped border", "device", "src/pc/blockrelax/cuda/small.cuh",
     "(z == b.n[2] - 1 ? A.ahead[2] : 0)", "(z == side - 1 ? A.ahead[2] : 0)"),
    ("chunks-that-have-arrived", "forgotten reset", "device", "src/ksp/deflation/cuda/chunk_sums.cuh",
     "    if (last) *arrived = 0; // for the next kernel\n", ""),
)]
UNCHANGED = Fault("unchanged", "", "host", "", "", "")


class Suite(NamedTuple):
    where: str
    program: str  # in BUILD/tests
    ranks: tuple = (1,)
    options: tuple = ()


MARCHING = "--gtest_filter=" + re.search("^marching='(.*)'", (ROOT / "tests/cuda_device.sh").read_text(encoding="utf-8"), re.M)[1]
ON_RANKS = "--gtest_filter=*Ranks*.*:RrbMemory.*"  # what tests/clients/test_ranks.py runs
SUITES = {"unit": Suite("host", "unit"), "petsc": Suite("host", "petsc"), "ranks": Suite("host", "petsc", (2, 3), (ON_RANKS,)),
          "cuda": Suite("device", "cuda"), "petsc-cuda": Suite("device", "petsc", (1,), ("-backend", "cuda")),
          "petsc-small": Suite("device", "petsc", (1,), ("-backend", "cuda", "-multiprocessors", "1", MARCHING)),
          "cuda-ranks": Suite("device", "cuda", (2,), ("--gtest_filter=*DeviceRanks.*",)),  # each way between GPUs, as test_device.py
          "ranks-cuda": Suite("device", "petsc", (2,), ("-backend", "cuda", ON_RANKS))}


LIKELY = {  # a word in the file's path: words in the names of tests
    "matrix_product": "FusedCG Graphs", "stores": "Stores DeviceRanks", "exchange": "DeviceRanks RrbRanks", "mic": "Mic",
    "neumann": "Neumann", "blockrelax": "BlockRelax", "deflation": "Deflation", "graph": "Graph Slide Support RedNodes RowsOf", "rrb": "Rrb RRBSolver Eisenstat Apply Amli Cycle", "dense": "Coarse",
    "sum": "Deflation Coarse SolverLoop", "ahead": "SolverLoop RRBSolver", "vectors": "Guess Places Device", "known_values": "KnownValues",
    "register": "Lifecycle"}


def filters(suite, fault, likely):
    """The tests that are likely to catch it, if a guess is to be had, before all: the first to fail ends a suite."""
    words = next((words for word, words in LIKELY.items() if word in fault.file), "").split()
    ranks = "Ranks*" if max(suite.ranks) > 1 else ""
    patterns = [f"*{word}*" if word.endswith("Ranks") else f"*{word}*{ranks}" for word in words]
    guess = [f"--gtest_filter={':'.join(patterns)}"] if words else []
    return guess if likely and guess else [*guess, ""]


def can_see(suite, fault):
    return fault.where == "host" or SUITES[suite].where == "device"


def misplaced(fault):
    """What is wrong with it; empty if nothing is."""
    path = ROOT / fault.file
    times = path.read_text(encoding="utf-8").count(fault.old) if path.is_file() else 0
    return "" if times == 1 and fault.old != fault.new else f"{fault.name}: its old text occurs {times} times in {fault.file}"


class GPUs:
    """A program gets one that few others use; several ranks get all of them, alone."""

    AT_ONCE = 2  # programs on one

    def __init__(self, count):
        self.visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(str(i) for i in range(count))).split(",")[:count]
        self.slots = queue.Queue()
        self.count = len(self.visible) * self.AT_ONCE
        for gpu in self.visible * self.AT_ONCE:
            self.slots.put(gpu)
        self.all = threading.Lock()  # who holds it is collecting slots

    @contextlib.contextmanager
    def use(self, ranks):
        with self.all if ranks > 1 else contextlib.nullcontext():
            taken = [self.slots.get() for _ in range(self.count if ranks > 1 else 1)]
            try:
                yield {"CUDA_VISIBLE_DEVICES": ",".join(dict.fromkeys(taken))}
            finally:
                for gpu in taken:
                    self.slots.put(gpu)


class Runner:
    def __init__(self, arguments, suites):
        self.build = (ROOT / arguments.build).resolve().relative_to(ROOT)  # as make knows it, and as it is in the copies
        self.suites, self.seconds, self.fail_fast = suites, arguments.seconds, arguments.fail_fast
        self.likely = arguments.likely
        self.make_jobs = max(1, (os.cpu_count() or 1) // arguments.jobs)
        self.mpiexec = shlex.split(read_config(ROOT / self.build).get("MPIEXEC", ""))
        self.gpus = GPUs(len(devices()))

    def copy(self, to):
        """With time stamps, so that make compiles only what the fault has changed; without what no suite needs."""
        def needless(folder, names):
            here = Path(folder).relative_to(ROOT)
            return [n for n in names if n in ("__pycache__", "venv") or here / n in without]

        without = {self.build / name for name in ("tests/long", "obj/tests/long", "obj/benchmarks", "obj/docs", "examples", "benchmarks",
                                                  "docs", "tutorials")}
        for name in ("makefile", "configure.py"):
            shutil.copy2(ROOT / name, to)
        for folder in ("config", "include", "src", "tests", self.build):
            shutil.copytree(ROOT / folder, to / folder, ignore=needless, symlinks=True)

    def test(self, fault):
        """{suite: how it caught the fault, or ""}; of "build", what the compiler said."""
        with tempfile.TemporaryDirectory(prefix="seeded-") as folder:
            tree = Path(folder)
            self.copy(tree)
            if fault.file:
                path = tree / fault.file
                path.write_text(path.read_text(encoding="utf-8").replace(fault.old, fault.new), encoding="utf-8")
            suites = [name for name in self.suites if can_see(name, fault)]
            programs = sorted({str(self.build / "tests" / SUITES[name].program) for name in suites})
            env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
            made = subprocess.run(["make", f"-j{self.make_jobs}", f"BUILD={self.build}", "PREREQUISITES=no", "all", *programs], cwd=tree,
                                  env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
            if made.returncode:
                return {"build": made.stdout}
            return {name: self.run(tree / self.build, SUITES[name], fault) for name in suites}

    def run(self, build, suite, fault):
        for ranks, tests in itertools.product(suite.ranks, filters(suite, fault, self.likely)):
            words = [build / "tests" / suite.program, *suite.options, *([tests] if tests else []), "--gtest_brief=1", "--gtest_color=no"]
            if ranks > 1:
                words = [*self.mpiexec, "-n", ranks, *words]
            env = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, [str(build / "lib"), os.environ.get("LD_LIBRARY_PATH")])),
                   "OMP_NUM_THREADS": "2" if ranks == 1 else "1", "OMP_WAIT_POLICY": "passive",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   # one mpiexec does not know of the others
                   "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
            check_library(build, suite.program, env)
            with self.gpus.use(ranks) if suite.where == "device" else contextlib.nullcontext({}) as gpu:
                how = self.watch([str(word) for word in words], {**env, **gpu})
            if how:
                return how + (f" on {ranks} ranks" if ranks > 1 else "")
        return ""

    def watch(self, words, env):
        """How the program fails: by its first test that does, by a signal or by not ending; empty if it passes."""
        late, failed, killed = threading.Event(), [], False
        process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   text=True, errors="replace", start_new_session=True)
        timer = threading.Timer(self.seconds, lambda: (late.set(), kill_group(process)))
        timer.start()
        for line in process.stdout:
            if line.startswith("[  FAILED  ]") and "." in line:
                failed.append(line.split("]")[1].split(",")[0].split("(")[0].strip())
                if self.fail_fast and not killed:  # the other ranks would wait for the one that failed
                    killed = True
                    kill_group(process)
        process.wait()
        timer.cancel()
        others = len(set(failed)) - 1
        if failed:
            return failed[0] + (f" and {others} more" if others else "")
        if late.is_set():
            return f"no end in {self.seconds:.0f} s"
        return f"ended with {process.returncode}" if process.returncode else ""


def check_library(build, program, env):
    """It is the one with the fault that gets loaded."""
    needed = subprocess.run(["ldd", build / "tests" / program], env=env, capture_output=True, text=True, check=False).stdout
    loaded = [line.split()[2] for line in needed.splitlines() if line.strip().startswith("libpetscrrb.so")]
    if any(build not in Path(path).resolve().parents for path in loaded):
        raise SystemExit(f"{program} would load {', '.join(loaded)}, not what is in {build}")


def report(faults, results, suites):
    """Prints a table, and gives the number of what should not be."""
    width = [max(len(row) for row in column) for column in zip(*((f.name, f.kind, f.file) for f in faults), strict=True)]
    bad = 0
    for fault, caught in zip(faults, results, strict=True):
        by = [name for name in suites if caught.get(name)]
        words = "DOES NOT COMPILE" if "build" in caught else ", ".join(by) or ("-" if fault is UNCHANGED else "NOT CAUGHT")
        bad += bool(by) if fault is UNCHANGED else not by
        print(f"{fault.name:{width[0]}}  {fault.kind:{width[1]}}  {fault.file:{width[2]}}  {words}")
    for name in suites:
        ran = [caught[name] for fault, caught in zip(faults, results, strict=True) if name in caught and fault is not UNCHANGED]
        print(f"{name}: {sum(map(bool, ran))} of {len(ran)}")
    for fault, caught in zip(faults, results, strict=True):
        if "build" in caught:
            print(f"--- {fault.name} ---\n{caught['build'][-3000:]}")
    return bad


def write(path, faults, results, suites, petsc):
    machine = processor() + (f"\n# device: {device()}" if device() else "")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"# Which suites of tests catch small faults in the code?\n# date: {datetime.date.today()}\n# machine: {machine}\n"
                   f"# PETSc: {petsc}\n# commit: {commit()}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["fault", "kind", "file", "where", *suites])
        for fault, caught in zip(faults, results, strict=True):
            cells = [caught[name] or "passed" if name in caught else "does not compile" if "build" in caught else "" for name in suites]
            table.writerow([fault.name, fault.kind, fault.file, fault.where, *cells])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only look whether the faults still fit the code")
    parser.add_argument("--build", default="build", help="the build folder, within the project's folder")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument("--only", help="names of faults, separated by commas; unchanged: none")
    parser.add_argument("--where", choices=("host", "device"), help="only faults in code of the host, or of a device")
    parser.add_argument("--suites", help=f"some of {','.join(SUITES)}; default: all, those of a device where there is one")
    parser.add_argument("--seconds", type=float, default=900, help="of a suite, after which it is taken to hang")
    parser.add_argument("--fail-fast", action=argparse.BooleanOptionalAction, default=True, help="end a suite at its first failure")
    parser.add_argument("--likely", action="store_true", help="only tests that are likely to catch a fault, where there is a guess")
    parser.add_argument("--output", help="a CSV file for the results")
    return parser, parser.parse_args()


def chosen(parser, arguments):
    """The faults and the names of the suites."""
    has_device = find_backend(ROOT / arguments.build) == "cuda"
    names = arguments.only.split(",") if arguments.only else []
    suites = arguments.suites.split(",") if arguments.suites else [name for name in SUITES if has_device or SUITES[name].where == "host"]
    unknown = {*names, *suites} - {fault.name for fault in (UNCHANGED, *FAULTS)} - set(SUITES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not has_device and any(SUITES[name].where == "device" for name in suites):
        parser.error("there is no GPU, or PETSc has no CUDA")
    faults = [fault for fault in FAULTS if (fault.name in names or not names) and arguments.where in (None, fault.where)]
    seen = [fault for fault in faults if any(can_see(name, fault) for name in suites)]
    return ([UNCHANGED] if not names or UNCHANGED.name in names else []) + seen, suites


def main():
    parser, arguments = parse()
    wrong = [why for why in map(misplaced, FAULTS) if why]
    if wrong or arguments.check:
        print("\n".join([*wrong, f"{len(FAULTS)} faults, {len(wrong)} misplaced"]))
        return 1 if wrong else 0
    faults, suites = chosen(parser, arguments)
    runner = Runner(arguments, suites)

    def test(fault):
        caught = runner.test(fault)
        how = [f"{name}: {words}" for name, words in caught.items() if words and name != "build"]
        print(f"  {fault.name}: {'does not compile' if 'build' in caught else '; '.join(how) or '-'}", flush=True)
        return caught

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(test, faults))
    bad = report(faults, results, suites)
    if arguments.output:
        write(arguments.output, faults, results, suites, read_config(ROOT / runner.build)["PETSC_VERSION"])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
