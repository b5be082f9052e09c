"""Random use: random matrices, options and orders of calls, by number; see random_use.cxx."""
WEIGHT = 6


def run(context):
    context.note = "not written yet"
