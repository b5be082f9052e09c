"""Soak: thousands of refreshes, solves, creates and destroys in constant memory; see soak.cxx."""
WEIGHT = 2


def run(context):
    context.note = "not written yet"
