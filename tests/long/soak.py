"""Soak: thousands of refreshes and solves, and of solvers made and destroyed, in constant memory; see soak.cxx."""
import re

WEIGHT = 2
KINDS = ("rrb", "ksp-rrb", "mic", "mic-3d", "neumann", "neumann-poisson", "blockrelax", "blockrelax-3d", "deflation", "deflation-def1")
MOST = 10000  # turns of each kind
ON_RANKS = 2


def run(context):
    """Each kind on one rank, then on ranks: as many turns as its share of the time is likely to allow, up to MOST."""
    backend = ["-backend", context.backend] if context.backend != "host" else []
    jobs = [(kind, ranks) for ranks in (1, ON_RANKS) for kind in KINDS if ranks in context.ranks]
    least = MOST
    for done, (kind, ranks) in enumerate(jobs):
        if context.left() <= 0:
            break
        words = [context.program("soak"), "-only", kind, *backend]
        share = context.left() / (len(jobs) - done)
        trial = context.execute([*words, "-count", 60], ranks, 300)
        turns = context.few or max(300, min(MOST, int(60 * (share - trial.seconds) / max(trial.seconds, 0.01))))
        words += ["-count", turns]
        ended = context.execute(words, ranks, max(120, 4 * share))
        found = re.findall(r"^(good|BAD) .*", ended.output, re.MULTILINE)
        for line in re.findall(r"^BAD.*", ended.output, re.MULTILINE):
            context.fault(line, words, ranks)
        if ended.status not in (0, 1) or not found:
            context.fault(f"{kind}: {ended.how()}", words, ranks)
        context.count(found.count("good") * turns)
        least = min(least, turns)
    context.note = f"{least} turns of each kind at least"
