"""Ranks: the tests that any number of ranks passes, on other numbers than those of `make check`."""
WEIGHT = 2


def run(context):
    if context.ranks == [1]:
        context.note = "no mpiexec"
        return
    listed = context.execute([context.build / "tests/petsc", "--gtest_list_tests", "--gtest_filter=*Ranks*.*"]).output
    suites = [line[:-1] for line in listed.splitlines() if line.endswith(".") and not line.startswith(" ")]
    runs = [(suite, ranks) for suite in suites for ranks in (2, 5, 6)]
    context.random.shuffle(runs)
    for number, (suite, ranks) in enumerate(runs):
        if context.left() < 5:
            context.note = f"time for {number} of {len(runs)}"
            return
        check(context, suite, ranks)


def check(context, suite, ranks):
    words = [context.build / "tests/petsc", "-backend", context.backend, f"--gtest_filter={suite}.*", "--gtest_brief=1"]
    ended = context.execute(words, ranks=ranks, timeout=context.left() + 120)
    if ended.status == 0 and "[  PASSED  ]" in ended.output:
        context.count(1)
    else:
        context.fault(f"{suite} on {ranks} ranks: {ended.how()}\n{ended.output[-1500:]}", words, ranks)
