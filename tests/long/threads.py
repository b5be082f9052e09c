"""Threads: the thread sanitizer over each case, with grids large enough for several threads; see cases.cxx, and
tests/sanitizer/threads.cxx for OpenMP's runtime, which the sanitizer does not know."""
import concurrent.futures
import re

WEIGHT = 2

OPTIONS = "ignore_noninstrumented_modules=1:exitcode=66:history_size=4"


def run(context):
    build = context.build.with_name(context.build.name + "-tsan")
    program = context.program("cases", build)
    if not program:
        context.note = "not built: make BUILD=build-tsan CONFIG=build/config.mk SANITIZE=thread long"
        return
    names = context.execute([program, "-list"]).output.split()
    context.random.shuffle(names)
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(context.workers) as pool:
        for _ in pool.map(lambda name: check(context, build, program, name, seen), names):
            pass


def check(context, build, program, name, seen):
    if context.left() < 5:
        return
    words = [program, "-case", name]
    env = {"OMP_NUM_THREADS": context.random.choice((2, 3, 4)), "TSAN_OPTIONS": OPTIONS, "LD_LIBRARY_PATH": build / "lib"}
    env = {key: str(value) for key, value in env.items()}
    ended = context.execute(words, timeout=context.left() + 60, env=env)
    if "unexpected memory mapping" in ended.output:  # addresses that are more random than the sanitizer bears
        words = ["setarch", "-R", *words]
        ended = context.execute(words, timeout=context.left() + 60, env=env)
    races = [race for race in re.findall(r"WARNING: ThreadSanitizer:.*?(?=\n={18})", ended.output, re.DOTALL) if ours(race)]
    for race in races:
        key = tuple(sorted(set(re.findall(r"#0 (.*?)[\s(]", race))))  # the two innermost functions
        if key not in seen:
            seen.add(key)
            context.fault(f"{name}: {short(race)}", words, env=env)
    if not races and "done" not in ended.output:
        context.fault(f"{name}: {ended.how()}\n{ended.output[-1500:]}", words, env=env)
    elif not races:
        context.count(1)


def short(race):
    """The innermost functions of the two threads."""
    lines = race.splitlines()
    return "\n".join(line for line in lines if not re.match(r"\s+#([3-9]|\d\d)", line) and "std::" not in line and line.strip())


def ours(race):
    return "libpetscrrb" in race or "/src/" in race
