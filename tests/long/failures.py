"""Failures: each allocation, each call of MPI and each of CUDA fails once, in every phase of every case; see failures.cxx.

The contract that is checked:
- An allocation fails on one rank: PETSC_ERR_MEM on all ranks, or no error and a right solution. The next solve works. While
  an object is made, only that rank has the error, as with PETSc's own types.
- A call of CUDA fails on one rank: PETSC_ERR_GPU or PETSC_ERR_MEM on all ranks. The next solve works.
- A call of MPI fails on all ranks, or there is one: an error. The next solve works.
- A call of MPI fails on one rank of several, or one of CUDA among the iterations of a solve: that rank gets an error at once, or
  all ranks do, or all find the right solution. An error ends a program, so that others, who may wait for this rank, end with
  it: no application agrees on whether it went well. MPI's own state is unknown then, and nothing is said of a next solve.
- Nowhere a crash, an endless wait, or a solution that is called converged and is not.
"""
import bisect
import concurrent.futures
import re
import shutil
import subprocess

WEIGHT = 4

ABORTS = 77  # failures.cxx ends so where a rank got its error, and the others are not asked


class Sweep:
    """One kind of failure over some cases, on so many ranks; rank: the one that it happens to, -1 for all."""

    def __init__(self, kind, cases, ranks, rank):
        self.kind, self.cases, self.ranks, self.rank = kind, cases, ranks, rank

    def words(self, program, context):
        return [program, "-backend", context.backend, "-kind", self.kind, "-rank", self.rank]

    def run(self, context, program, faults):
        """Goes on behind whatever ends the process."""
        behind, cases = None, self.cases
        while cases and context.left() > 5:
            words = self.words(program, context) + [word for case in cases for word in ("-case", case)]
            words += ["-seconds", int(context.left())] + (["-from", behind] if behind else [])
            ended = context.execute(words, ranks=self.ranks, timeout=context.left() + 60, env={"OMPI_MCA_orte_abort_print_stack": "0"})
            at = self.read(ended, context, program, faults)
            if at is None:
                return
            case, phase, n = at
            cases = cases[cases.index(case) + (n < 0):]  # a case that fails by itself has no more to say
            behind = f"{case}:{phase}:{n + 1}" if n >= 0 else None

    def read(self, ended, context, program, faults):
        """Counts what went well, notes faults; gives where it ended early, or None."""
        at, where, clean, bad = None, "", 0, set()
        for line in ended.output.splitlines():
            if line.startswith("at "):
                clean += at is not None
                case, phase, n = line[3:].split(":")
                at, where = (case, phase, int(n)), ""
            elif line.startswith("fails in "):
                words = line.split()[2:]
                petsc = words[:2] == ["PETSc", "for"]
                where = ("PETSc for " if petsc else "") + faults.names.of(words[2 * petsc:])
            elif found := re.match(r"bad (\S+):(\w+):(-?\d+): (.*)", line):
                place = found[1], found[2], int(found[3])
                if place not in bad:
                    clean -= 1
                    bad.add(place)
                    faults.note(self, place, found[4], where, context, program)
        if re.search(r"^tried \d+", ended.output, re.MULTILINE) and ended.status == 0:
            context.count(clean + (at is not None))
            return None
        if re.search(r"^aborts", ended.output, re.MULTILINE):
            context.count(clean + 1)
            return at
        context.count(clean)
        if at is None:
            faults.note(self, (self.cases[0], "create", -1), f"{ended.how()}: {ended.output[-500:]}", "", context, program)
        else:
            faults.note(self, at, self.why_ended(ended), where, context, program)
        return at

    @staticmethod
    def why_ended(ended):
        if ended.hung or re.search(r"^hangs", ended.output, re.MULTILINE):
            return "waits without end"
        words = re.search(r"terminate called.*(?:\n.*what\(\).*)?|crashes in PETSc|PETSc is broken|.*out of memory.*", ended.output)
        return " ".join(words[0].split()) if words else f"crashes, {ended.how()}"


class Names:
    """What the library's functions are called, where there is an nm that says it."""

    def __init__(self, library):
        self.starts, self.names = [], []
        if shutil.which("nm"):
            listed = subprocess.run(["nm", "-C", "-n", "--defined-only", library], capture_output=True, text=True, check=False).stdout
            for line in listed.splitlines():
                address, kind, name = line.split(" ", 2)
                if kind in "tTwW":
                    self.starts.append(int(address, 16))
                    self.names.append(name)

    def of(self, addresses):
        return " < ".join(self.name(int(address, 16)) for address in addresses)

    def name(self, address):
        i = bisect.bisect(self.starts, address) - 1
        if i < 0:
            return f"{address:#x}"
        while "<" in (plain := re.sub(r"<[^<>]*>", "", self.names[i])) and plain != self.names[i]:
            self.names[i] = plain
        return re.sub(r"\(.*|petscrrb::|\[clone.*", "", plain) or self.names[i]


class Faults:
    """Each kind of fault is reported once, with the first command that showed it, and how often it was seen."""

    def __init__(self, library):
        self.seen, self.names, self.petscs_own = {}, Names(library), 0

    def note(self, sweep, place, text, where, context, program):
        case, phase, n = place
        if where.startswith("PETSc for") and text in ("crashes in PETSc", "PETSc is broken"):
            self.petscs_own += 1  # of what it has made in part it neither destroys nor completes all
            context.note = f"{self.petscs_own} times PETSc did not survive that its own allocation failed: not counted"
            return
        text += f"; it fails in {where}" if where else ""
        key = sweep.kind, phase, sweep.ranks > 1, re.sub(r"\d+", "#", re.sub(r"\[[^]]*\]", "", text))
        self.seen.setdefault(key, []).append(f"{case}:{phase}:{n}")
        if len(self.seen[key]) > 1:
            context.cases += 1
            context.bad += 1
            return
        words = [*sweep.words(program, context), "-case", case, "-phase", phase, "-n", n]
        context.fault(f"{sweep.kind}, {case}, {phase}, call {n}: {text}", words, ranks=sweep.ranks, env={"OMP_NUM_THREADS": "1"})

    def summary(self):
        for key, places in sorted(self.seen.items(), key=lambda item: -len(item[1])):
            print(f"  {len(places)} times {key[0]} {key[1]}{' on ranks' if key[2] else ''}: {key[3]}\n"
                  f"      {' '.join(places[:6])}{' ...' if len(places) > 6 else ''}")


# what cannot fail (ncclTeamLsa returns a struct), or ends something whether it fails or not
NEVER_FAIL = re.compile(r"MPI_(Comm_free|Wtime|Initialized|Finalized|Error_string)|PMPI_|__cuda(Register|Unregister|Push|Pop|InitModule|GetKernel)"
                        r"|cuda\w*(Free|Destroy|Close|String|LastError)|ncclTeamLsa$|\w*(Destroy|Free|Abort|Deregister|String)(_v2)?$")


def check_calls(context, program, library):
    """A function that the library calls and no file of failures/ stands in front of."""
    if not shutil.which("nm"):
        return
    def symbols(path, which):
        listed = subprocess.run(["nm", "-D", which, path], capture_output=True, text=True, check=False).stdout
        return {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.strip()}
    calls = {name for name in symbols(library, "--undefined-only") if re.match(r"MPI_[A-Z]\w*$|(__)?cuda[A-Z]|cublas[A-Z]|cusolver|nccl[A-Z]", name)}
    for name in sorted(calls - symbols(program, "--defined-only")):
        if not NEVER_FAIL.match(name):
            context.fault(f"the library calls {name}, and no file in tests/long/failures makes it fail", ["nm", "-D", library])


def sweeps(context, names):
    """In random order, on one rank and on several; the whole list takes longer than there may be time for."""
    kinds = ["memory", "mpi"] + ["cuda"] * (context.backend == "cuda")
    settings = [(1, -1, 12)] + ([(2, 0, 12), (2, 1, 12), (3, 1, 12), (2, -1, 12)] if max(context.ranks) > 1 else [])
    found = []
    for kind in kinds:
        for ranks, rank, together in settings:
            if rank < 0 < ranks - 1 and kind != "mpi":
                continue
            shuffled = context.random.sample(names, len(names))
            found += [Sweep(kind, shuffled[i:i + together], ranks, rank) for i in range(0, len(names), together)]
    context.random.shuffle(found)
    return found


def run(context):
    program = context.program("failures")
    if not program:
        context.note = "not built: make long"
        return
    names = context.execute([program, "-list"]).output.split()
    check_calls(context, program, context.build / "lib/libpetscrrb.so")
    faults = Faults(context.build / "lib/libpetscrrb.so")
    with concurrent.futures.ThreadPoolExecutor(context.workers) as pool:
        done = [pool.submit(sweep.run, context, program, faults) for sweep in sweeps(context, names)]
        for future in done:
            future.result()
    faults.summary()
