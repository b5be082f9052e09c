"""Random use: random matrices, options and orders of calls, by number; see random_use.cxx.

Cases run in batches. A batch that crashes or hangs says at which case; that one is run again alone, and with PETSc's own types
in place of this library's: what crashes there, too, is no fault of ours.
"""
import re
import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

WEIGHT = 6
SHARES = {"one": 0.45, "ranks": 0.3, "sanitized": 0.25}  # of the time
SIZES = {"one": 1500, "ranks": 200, "sanitized": 150}    # of batches
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=1:protect_shadow_gap=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1",
             "LSAN_OPTIONS": f"suppressions={Path(__file__).resolve().parent.parent}/sanitizer/asan.supp:print_suppressions=0"}
SHOWN = 10  # faults that look alike


class Batches:
    def __init__(self, context):
        self.context, self.lock = context, Lock()
        self.next = {kind: 0 for kind in SHARES}
        self.used = {kind: 0.0 for kind in SHARES}
        self.clean = {kind: 0 for kind in SHARES}
        self.like, self.not_ours = {}, 0
        self.folder = None

    def kinds(self):
        kinds = ["one"]
        if len(self.context.ranks) > 1:
            kinds.append("ranks")
        if self.context.asan and self.context.backend == "host":
            kinds.append("sanitized")
        return kinds

    def take(self):
        """What to run next: the kind that is furthest behind its share, and its numbers. Each kind has numbers of its own."""
        few = self.context.few  # so many, in one batch of each kind
        with self.lock:
            kinds = [kind for kind in self.kinds() if not (few and self.next[kind])]
            if not kinds:
                return None
            kind = min(kinds, key=lambda k: self.used[k] / SHARES[k])
            first = self.next[kind]
            size = max(1, few * SIZES[kind] // SIZES["one"]) if few else SIZES[kind]
            self.next[kind] += size
            self.used[kind] += 0.1  # others look before it has ended
            ranks = 1 if kind != "ranks" else self.context.ranks[1 + first // SIZES[kind] % (len(self.context.ranks) - 1)]
            first += 10**7 * list(SHARES).index(kind)
            return kind, ranks, first, first + size

    def work(self):
        while self.context.left() > 0 and (batch := self.take()):
            kind, ranks, first, last = batch
            while first < last and self.context.left() > 0:
                first = self.run(kind, ranks, first, last)

    def words(self, kind, first, count, *more):
        program = self.context.program("random_use", self.context.asan if kind == "sanitized" else None)
        backend = ["-backend", self.context.backend] if self.context.backend != "host" else []
        patience = 30 if backend or kind == "sanitized" else 10
        if backend and kind == "ranks":
            patience = 120  # they take turns on the device
        return [program, "-seed", self.context.seed, "-first", first, "-count", count, *backend, "-case_seconds", patience, *more]

    def execute(self, kind, ranks, words, timeout):
        ended = self.context.execute(words, ranks, timeout, SANITIZED if kind == "sanitized" else {"OMP_WAIT_POLICY": "passive"})
        with self.lock:
            self.used[kind] += ended.seconds
        return ended

    def run(self, kind, ranks, first, last):
        """Runs cases from `first` on; returns the first one that was not run."""
        with tempfile.NamedTemporaryFile(dir=self.folder) as progress:
            words = self.words(kind, first, last - first, "-progress", progress.name, "-seconds", max(5, int(self.context.left())))
            ended = self.execute(kind, ranks, words, self.context.left() + 300)
            at = progress.read(16)
        bad = re.findall(r"^BAD case (\d+): (.*)\n  (.*)$", ended.output, re.MULTILINE)
        for number, what, story in bad:
            alone = self.words(kind, number, 1)
            if what.startswith("leaves") and ": leaves" in self.execute(kind, ranks, [*alone, "-plain"], 120).output:
                self.not_ours += 1  # PETSc's products on a device leave a part of a host's vector behind
            else:
                self.fault(kind, ranks, alone, what, story)
        done = re.search(r"^cases (\d+), ", ended.output, re.MULTILINE)
        if done and ended.status in (0, 1):
            self.count(kind, int(done[1]) - len(bad))
            return first + int(done[1]) if int(done[1]) < last - first and self.context.left() > 0 else last
        if done:  # it came to its end, where leaks are sought
            self.leaks(kind, ranks, self.words(kind, first, last - first), ended.output)
            self.count(kind, int(done[1]) - len(bad))
            return last
        number, refused = struct.unpack("qq", at) if len(at) == 16 else (first, 0)
        aborts = re.search(r"^ABORTS", ended.output, re.MULTILINE)
        self.count(kind, number - first - len(bad) + bool(aborts))
        if aborts:
            return number + 1
        if refused and after_an_error(ended.output) and "BROKEN" not in ended.output:
            self.not_ours += 1
        else:
            self.crash(kind, ranks, first, number, ended)
        return number + 1

    def crash(self, kind, ranks, first, number, ended):
        alone = self.words(kind, number, 1)
        again = self.execute(kind, ranks, [*alone, "-print"], 120)
        if not crashed(again):  # what came before may matter
            alone = self.words(kind, first, number - first + 1)
            again = self.execute(kind, ranks, alone, 600)
        plain = self.without_us(kind, ranks, alone)
        if crashed(plain):
            with self.lock:
                self.not_ours += 1
            return
        self.fault(kind, ranks, alone, f"{ended.how()}{'' if crashed(again) else ' (not again)'}: {where(ended.output)}",
                   again.output.partition("[")[0].strip())

    def without_us(self, kind, ranks, words):
        """The same by PETSc alone. What it reads of memory that it has freed differs from run to run: after ten it is innocent."""
        for _ in range(10):
            plain = self.execute(kind, ranks, [*words, "-plain"], 600)
            if crashed(plain):
                break
        return plain

    def leaks(self, kind, ranks, words, output):
        blocks = re.findall(r"^Direct leak of.*?(?=^$|\Z)", output, re.MULTILINE | re.DOTALL)
        ours = [block for block in blocks if re.search(r"#[1-4] .*libpetscrrb", block)]
        for block in ours[:1]:
            self.fault(kind, ranks, words, " ".join(block.split())[:600])

    def count(self, kind, clean):
        with self.lock:
            self.clean[kind] += max(0, clean)
            self.context.count(max(0, clean))

    def fault(self, kind, ranks, words, what, story=""):
        alike = re.sub(r"(?<![\w+])[-+]?\d[\d.]*(e[-+]?\d+)?|nan|inf", "#", what)
        with self.lock:
            self.like[alike] = self.like.get(alike, 0) + 1
            if self.like[alike] <= SHOWN:
                self.context.fault(f"{what}\n  {story[:1000]}" if story else what, words, ranks, SANITIZED if kind == "sanitized" else {"OMP_NUM_THREADS": "1"})
            else:
                self.context.cases += 1
                self.context.bad += 1


def where(output):
    """What a sanitizer says, or the innermost frames."""
    said = re.findall(r"(?:HANG|BROKEN device.*|ERROR: AddressSanitizer: \S+|runtime error: .*|terminate called.*|what\(\).*)", output)
    frames = re.findall(r"(libpetsc\w+\.so[\d.]*\([^)]*\))|#\d+ 0x\w+ in (\S+)", output)
    return " ".join([*said[:2], *(a or b for a, b in frames[:4])])


def after_an_error(output):
    """Whether nothing but PETSc's own objects could not be destroyed. An error inside of PCMG's cycle leaves work vectors of its
    smoothers in the place of their solutions, whoever destroys it."""
    inner, ours, _ = output.partition("libpetscrrb")
    return not ours or "PCReset_MG" in inner


def crashed(ended):
    return ended.hung or ended.status not in (0, 1) or "\ncases " not in "\n" + ended.output


def run(context):
    batches = Batches(context)
    with tempfile.TemporaryDirectory() as batches.folder:
        with ThreadPoolExecutor(context.workers) as pool:
            for future in [pool.submit(batches.work) for _ in range(context.workers)]:
                future.result()
    context.note = ", ".join(f"{kind}: {batches.clean[kind]} in {batches.used[kind]:.0f} s" for kind in batches.kinds())
    context.note += f"; {batches.not_ours} faults of PETSc's own" if batches.not_ours else ""
