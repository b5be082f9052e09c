"""Sphinx configuration. Before the pages are read, man pages, figures and result tables are written to generated/."""
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "figures"), str(HERE.parent / "benchmarks")]

import cost_model_report  # noqa: E402
import manpages  # noqa: E402
import methods  # noqa: E402
import numbering  # noqa: E402
import red_nodes  # noqa: E402
import results  # noqa: E402
import troff  # noqa: E402

GENERATED = HERE / "generated"
manpages.write(HERE.parent, GENERATED / "manpages")
for figure in (methods, numbering, red_nodes):
    figure.write(GENERATED / "figures")
results.write(HERE.parent / "benchmarks", GENERATED / "results")
cost_model_report.write(GENERATED / "scaling")

project = "petscrrb"
author = "the petscrrb authors"
copyright = "2026, the petscrrb authors"
version = release = troff.version()
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
root_doc = "index"
exclude_patterns = ["_build", "requirements.txt", "generated/results", "generated/scaling"]
nitpicky = True

# formulas without a network; where the package is missing, a reader's browser fetches MathJax
if importlib.util.find_spec("sphinx-mathjax-offline"):
    extensions.append("sphinx-mathjax-offline")

html_theme = "furo"
html_title = f"petscrrb {version}"
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_copy_source = False
