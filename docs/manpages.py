"""Writes a page of the site for every PETSc-style comment block (/*MC, /*@, /*E) in the header and the sources."""
import re
from pathlib import Path

BLOCK = re.compile(r"/\*(?P<kind>MC|@C?|E|S)\n(?P<text>.*?)\n\s*(?:M|@|E|S)\*/\n(?P<code>[^{;]*[{;](?:[^}]*\}[^;\n]*;)?)", re.DOTALL)
# of src/pc/parameter.h, and of deflation
PARAMETER = re.compile(r"(?:PETSCRRB|(?P<ksp>KSP_DEFLATION))_(?P<two>TWO_)?(?P<kind>PARAMETER|SIZES|OBJECT)\(\s*(?(ksp)|(?P<type>\w+),\s*)"
                       r"(?P<what>\w+),\s*(?P<number>\w+)?")
KINDS = ("MC", "@", "@C", "E", "S")  # in the order of the index: types, functions, enumerations, objects
# what the names of a group begin with, in small letters, the first that fits; and its heading
GROUPS = {"ksprrb": "The solver `-ksp_type rrb`", "pcrrb": "`-pc_type rrb`", "pcgridmg": "`-pc_type gridmg`", "pcmic": "`-pc_type mic`",
          "pcblockrelax": "`-pc_type blockrelax`", "pcneumann": "`-pc_type neumann`", "ksp": "`-ksp_deflation`", "petscrrb": "The library"}
LISTS = ("Input Parameter", "Output Parameter", "Options Database Key", "Value", "Reference")


def blocks(root):
    """(kind, name, summary, lines, declaration) of every comment block."""
    files = sorted((root / "include").glob("*.h")) + sorted((root / "src").rglob("*.cxx"))
    for path in files:
        for match in BLOCK.finditer(path.read_text(encoding="utf-8")):
            first, *lines = match["text"].splitlines()
            name, _, summary = (part.strip() for part in first.partition(" - "))
            summary = summary[0].upper() + summary[1:]
            parameter = PARAMETER.match(match["code"])
            if parameter:
                lines = completed(grid(lines, parameter, match["code"]), parameter)
            yield match["kind"], name, summary, lines, declaration(match["kind"], match["code"], parameter, lines)
            if parameter:
                yield getter(match["kind"], name, summary, lines, parameter)


def grid(lines, parameter, code):
    """The man page of PC<Type>SetGrid(), which all types have: what is told in the source comes last in its notes."""
    if parameter["what"] != "Grid" or "   Input Parameters:" in lines:
        return lines
    begin = next(i for i, line in enumerate(lines) if line.startswith(("   Note:", ".seealso")))
    end = next(i for i, line in enumerate(lines) if line.startswith(".seealso"))
    local = any("Collective" in line for line in lines[:begin])  # the grid of a rank's own unknowns
    whose, option = "this rank's unknowns" if local else "unknowns", re.search(r'"(-\w+)"', code)[1]
    sizes = [f"n{q} - number of {whose} in the {q} direction" for q in ("xy" if parameter["two"] else "xyz")]
    sizes[0] += ", along which they are numbered first"
    if len(sizes) == 3:
        sizes[2] += ", 1 for a 2D grid"
    place = "Unknown j nx + i is the point (i, j)." if parameter["two"] else "Unknown (k ny + j) nx + i is the point (i, j, k)."
    ranks = ["   With several ranks it is the grid of a rank's own unknowns, numbered in this way from the first of them on: the",
             "   product of the sizes is the number of the rank's rows."] if local else []
    return [*lines[:begin], "   Input Parameters:", "+  pc - the preconditioner context", *(f".  {size}" for size in sizes[:-1]), f"-  {sizes[-1]}",
            "", "   Options Database Key:", f".  {option} <nx,ny{'' if parameter['two'] else '[,nz]'}> - the grid" + ", the same on all ranks" * local,
            "", "   Level: intermediate", "", "   Notes:", "   Needed only if neither a `DMDA` nor the nonzeros of the matrix determine it.", f"   {place}",
            *ranks, "   A grid that does not fit is an error, raised in `PCSetUp()`, that names the row.", *lines[begin + 1:end],
            *([""] if begin == end else []), "   Errors:", "   `PETSC_ERR_ARG_OUTOFRANGE` if a size is not positive on some rank.", "", *lines[end:]]


def completed(lines, parameter):
    """The man page of a function that sets a parameter, with what all of them say."""
    if not any("Collective" in line for line in lines):
        lines = ["", "   Logically Collective", *lines]
    if parameter["kind"] == "OBJECT" or (parameter["kind"] == "SIZES" and not parameter["ksp"]) or any("takes effect" in line for line in lines):
        return lines
    end = next(i for i, line in enumerate(lines) if line == "   Errors:" or line.startswith(".seealso"))
    heading = [] if {"   Note:", "   Notes:"} & set(lines) else ["   Note:"]
    return [*lines[:end], *heading, f"   It takes effect at the next {'solve' if parameter['ksp'] else '`PCSetUp()`'}.", "", *lines[end:]]


def arguments(lines):
    """The lines about the arguments of a function that sets a parameter, without the object."""
    begin = lines.index("   Input Parameters:")
    return lines[begin + 2:begin + lines[begin:].index("")]


def owner(parameter):
    """What its functions begin with, the object that they are of, that one in words, and where it is described."""
    if parameter["ksp"]:
        return "KSPDeflation", "KSP", "the Krylov solver", "KSPSetDeflation()"
    return f"PC{parameter['type']}", "PC", "the preconditioner context", f"PC{parameter['type'].upper()}"


def signature(parameter, verb, lines, pointer=""):
    prefix, of, *_ = owner(parameter)
    value = "PetscInt" if parameter["kind"] == "SIZES" else parameter["number"]
    names = [re.match(r"[+.\-]  (\w+) +- ", line)[1] for line in arguments(lines) if line[:1] in "+.-"]
    return f"PetscErrorCode {prefix}{verb}{parameter['what']}({of} {of.lower()}, " + ", ".join(f"{value} {pointer}{name}" for name in names) + ");"


def getter(kind, name, summary, lines, parameter):
    """The man page of the function that gets what another one sets, from that one's."""
    given = arguments(lines)
    several = sum(line[:1] in "+.-" for line in given) > 1
    given = ["+" + given[0][1:], *given[1:]] if several else ["." + given[0][1:], *given[1:]]
    other = name.replace("Set", "Get", 1)
    _, of, words, described = owner(parameter)
    note = f"After `{of}SetUp()` this is what is in use, before it what was set." + (" Any of them may be `NULL`." if several else "")
    if parameter["kind"] == "OBJECT":
        note = "It is what was set, `NULL` if nothing was."
    about = ["", "   Not Collective", "", "   Input Parameter:", f".  {of.lower()} - {words}", "",
             f"   Output Parameter{'s' if several else ''}:", *given, "", "   Level: intermediate", "", "   Note:",
             f"   {note}", "", f".seealso: `{described}`, `{name}()`"]
    return kind, other, summary.replace("Sets", "Gets", 1), about, signature(parameter, "Get", lines, "*")


def declaration(kind, code, parameter=None, lines=()):
    if parameter:
        return signature(parameter, "Set", lines)
    if kind in ("@", "@C"):
        return re.sub(r"\s+", " ", code.split("{")[0]).strip() + ";"
    if kind == "E":
        return code.strip()
    return ""


def anchor(name):
    return f"man-{name.lower()}"


def prose(text, names):
    """Text as MyST: quoted names become links where there is a page, and nothing else is markup."""
    def quoted(match):
        bare = match[1].removesuffix("()")
        return f"[`{match[1]}`](#{anchor(bare)})" if bare in names else f"`{match[1]}`"

    parts = re.split(r"(`[^`]*`)", text)
    for index, part in enumerate(parts):
        if part.startswith("`"):
            parts[index] = re.sub(r"`([^`]*)`", quoted, part)
        else:
            part = re.sub(r"([\\*_<>\[\]$#|])", r"\\\1", part)
            parts[index] = re.sub(r"(?<!\S)(-(?:pc|ksp|dll|rrb|mat)\\_[\w\\]*)",
                                  lambda option: "`" + option[1].replace("\\", "") + "`", part)
    return "".join(parts)


def entry(line):
    """Of a list: the term, empty for a reference, and what it is."""
    text = re.sub(r"^\s*[+.\-]\s+", "", line)
    if text.startswith("* -"):
        return "", text[3:].strip()
    term, _, rest = (part.strip() for part in text.partition(" - "))
    return term.strip("`"), rest


def parts(lines):
    """What a comment block has, in order: (kind, content), of the kinds level, heading, entry (a pair), item (text that belongs to an entry),
    text (empty: a blank line), and see also (names)."""
    section, seealso = "", []
    for line in lines:
        text = line.strip()
        heading = re.fullmatch(r"([A-Z][A-Za-z ]+?)s?:", text)
        if text.startswith(".seealso:") or seealso:
            seealso.append(text)
        elif text.startswith("Level:"):
            section = ""
            yield "level", text.split(":")[1].strip()
        elif heading and not line.startswith("    "):
            section = heading[1]
            yield "heading", text[:-1]
        elif section.startswith(LISTS) and re.match(r"\s*[+.\-]\s", line):
            yield "entry", entry(line)
        else:
            yield "item" if section.startswith(LISTS) and text else "text", text
    if seealso:
        yield "see also", re.findall(r"`([^`]+)`", " ".join(seealso))


def body(lines, names):
    """Sections of a man page, in the order in which they are written."""
    out = []
    for kind, content in parts(lines):
        if kind == "level":
            out += ["", f"**Level**: {content}"]
        elif kind == "heading":
            out += ["", f"**{content}**", ""]
        elif kind == "entry":
            term, text = content
            out.append("- " + (f"`{term}`: " if term else "") + prose(text, names))
        elif kind == "see also":
            out += ["", "**See also**: " + ", ".join(prose(f"`{name}`", names) for name in content)]
        else:
            out.append(("  " if kind == "item" else "") + prose(content, names))
    return "\n".join(out)


def page(kind, name, summary, lines, code, names):
    synopsis = f"\n```c\n#include <petscrrb.h>\n\n{code}\n```\n" if code else ""
    return f"({anchor(name)})=\n# {name}\n\n{prose(summary, names)}\n{synopsis}\n{body(lines, names)}\n"


def group(name):
    return next((begin for begin in GROUPS if name.lower().startswith(begin)), "petscrrb")


def grouped(found):
    """{heading: its blocks}, types first."""
    chosen = {heading: [block for block in found if group(block[1]) == begin] for begin, heading in GROUPS.items()}
    return {heading: sorted(some, key=lambda block: KINDS.index(block[0])) for heading, some in chosen.items()}


def rows(some):
    """A row of the index for each block; a function that gets is in the row of the one that sets."""
    names = {name for _, name, *_ in some}
    for _, name, summary, *_ in some:
        other = name.replace("Set", "Get", 1)
        if other == name and name.replace("Get", "Set", 1) in names - {name}:
            continue
        shown = [name, other] if other in names - {name} else [name]
        yield shown, summary


def write(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    found = list(blocks(root))
    names = {name for _, name, *_ in found}
    index = ["# Man pages", "", "`make install` installs them for `man`, too: `man PCRRB`, `man petscrrb`.", ""]
    for heading, some in grouped(found).items():
        index += [f"## {heading}", "", "| | |", "|---|---|"]
        index += ["| " + ", ".join(f"[`{name}`](#{anchor(name)})" for name in shown) + f" | {prose(summary, names)} |"
                  for shown, summary in rows(some)]
        index += ["", "```{toctree}", ":hidden:", "", *(name for _, name, *_ in some), "```", ""]
    for kind, name, summary, lines, code in found:
        (folder / f"{name}.md").write_text(page(kind, name, summary, lines, code, names), encoding="utf-8")
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parent.parent
    write(ROOT, ROOT / "docs/generated/manpages")
