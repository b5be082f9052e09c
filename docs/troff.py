"""Writes the man pages for man(1), which make install calls: a page of section 3 for each comment block, and petscrrb(7).

usage: troff.py FOLDER, the folder of man3 and man7
"""
import re
import sys
from pathlib import Path

import manpages

ROOT = Path(__file__).resolve().parent.parent


def version():
    text = (ROOT / "include/petscrrb.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"PETSCRRB_VERSION_(?:MAJOR|MINOR|SUBMINOR) +(\d+)", text))


def plain(text):
    """Text that is no request and has no escapes; a hyphen stays what one can type."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text.startswith((".", "'")) else text


def prose(text):
    return plain(re.sub(r"`([^`]*)`", "\1\\1\2", text)).replace("\1", r"\fB").replace("\2", r"\fR")


def head(name, section, summary):
    return [f'.TH {name} {section} "" "petscrrb {version()}" petscrrb', ".SH NAME", f"{name} \\- {prose(summary)}"]


def body(lines):
    out = []
    for kind, content in manpages.parts(lines):
        if kind == "level":
            out += [".SH LEVEL", content]
        elif kind == "heading":
            out.append(f".SH {content.upper()}")
        elif kind == "entry":
            term, text = content
            out += [".TP", f"\\fB{plain(term)}\\fR"] if term else [".IP \\(bu 2"]
            out.append(prose(text))
        elif kind == "see also":
            names = [name.removesuffix("()") for name in content]
            out += [".SH SEE ALSO", ", ".join(f"\\fB{name}\\fR(3)" for name in names) + ", \\fBpetscrrb\\fR(7)"]
        elif content:
            out.append(prose(content))
        elif out and not out[-1].startswith("."):
            out.append(".PP")
    return [line for line, after in zip(out, [*out[1:], ".SH"], strict=True) if line != ".PP" or not after.startswith((".SH", ".TP", ".IP"))]


def page(name, summary, lines, code):
    synopsis = [".SH SYNOPSIS", ".nf", "#include <petscrrb.h>", "", *map(plain, code.splitlines()), ".fi"] if code else []
    first = next((line.strip() for line in lines if line.strip()), ":")
    notes = [] if first.endswith(":") or first.startswith(("Level:", ".seealso")) else [".SH DESCRIPTION"]
    return "\n".join([*head(name, 3, summary), *synopsis, *notes, *body(lines)]) + "\n"


def overview(found):
    out = head("petscrrb", 7, "fast solvers and preconditioners for matrices on structured grids, a plugin for PETSc")
    out += [".SH SYNOPSIS", ".nf", plain("./app -dll_append /path/to/libpetscrrb.so -ksp_type rrb"), ".fi"]
    for heading, some in manpages.grouped(found).items():
        out.append(f".SH {plain(heading.replace('`', ''))}")
        for shown, summary in manpages.rows(some):
            out += [".TP", ", ".join(f"\\fB{name}\\fR(3)" for name in shown), prose(summary)]
    return "\n".join(out) + "\n"


def write(folder):
    found = list(manpages.blocks(ROOT))
    for section in ("man3", "man7"):
        (folder / section).mkdir(parents=True, exist_ok=True)
    for _, name, summary, lines, code in found:
        (folder / f"man3/{name}.3").write_text(page(name, summary, lines, code), encoding="utf-8")
    (folder / "man7/petscrrb.7").write_text(overview(found), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
