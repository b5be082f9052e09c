"""The options of README.md, docs/*.md and the man pages against those that -help lists: names, values and defaults."""
import re
import sys
from pathlib import Path

import doc_blocks
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import manpages  # noqa: E402

# the page with a type's table of options, what they begin with, and what makes -help list them
TYPES = {
    "pcrrb": ("-pc_rrb_", ["-pc_type", "rrb"]),
    "pcmic": ("-pc_mic_", ["-pc_type", "mic"]),
    "pcneumann": ("-pc_neumann_", ["-pc_type", "neumann"]),
    "pcblockrelax": ("-pc_blockrelax_", ["-pc_type", "blockrelax"]),
    "pcgridmg": ("-pc_gridmg_", ["-pc_type", "gridmg"]),
    "deflation": ("-ksp_deflation", ["-ksp_deflation", "block", "-pc_type", "jacobi"]),
}
OURS = "|".join(re.escape(prefix) for prefix, _ in TYPES.values())
# by themselves: the options of PETSc's type of that name begin with pc_
MENTIONED = re.compile(r"(?<![\w-])-(?:\w+_)?((?:pc_(?:rrb|mic|neumann|blockrelax|gridmg)_|ksp_deflation)\w*)(?: ([\w.,]+))?")
AUTOMATIC = ("-1", "-1.", "")  # of a number that is decided at set-up, and of a list of sizes
WORDS = {"true": "TRUE", "yes": "TRUE", "false": "FALSE", "no": "FALSE"}


@pytest.fixture(scope="module")
def listed(run, tutorial, library):
    """{option: (default, values)} of all types, from -help."""
    options = {}
    for prefix, words in TYPES.values():
        text = run(tutorial("ksp/ksp", "ex2"), "-dll_append", library, *words, "-help")
        for line in text.splitlines():
            found = re.match(rf"\s*({prefix}\w*):? <(.*?)>:?(.*)$", line)
            if not found:
                continue
            default = found[2].partition(" : ")[2].removeprefix("formerly ")
            values = re.search(r"one of\)? *(.*?) \(\w+\)$", found[3])
            options[found[1]] = (default, values[1].split() if values else [])
    return options


def table(page):
    """(option, the values in angle brackets or the one behind it, the default) of a page's tables of options."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| option \| default \| meaning \|\n\|[-|]*\n((?:\|.*\n)*)", text, re.MULTILINE))
    return [(name, words, said.strip()) for name, words, said in re.findall(r"^\| `(-\w+)(?: ([^`]*))?` \|(.*?)\|", rows, re.MULTILINE)]


def choices(words):
    """<a,b> as a list; empty where it is the name of a number or of sizes."""
    return words.strip("<>").split(",") if words.startswith("<") else [words] if words else []


def check_values(option, words, values):
    if not values:
        assert not words or words.startswith("<"), f"{option} {words}: -help has no such value"
    elif words.startswith("<"):
        assert sorted(choices(words)) == sorted(values), option
    else:
        assert set(choices(words)) <= set(values), option


def check_default(option, said, shown):
    """What a page says first, a value or a number, is the default of -help; words are for what set-up decides."""
    first = re.match(r"`?([\w.+-]+)", said)
    word = WORDS.get(first[1].lower(), first[1]) if first else ""
    if shown in AUTOMATIC:
        assert said, option
    elif said.startswith("`") or word in WORDS.values():
        assert word == shown, option
    else:
        assert float(word) == float(shown), option


def test_help_is_read(listed):
    assert listed["-pc_rrb_lump_nodes"] == ("red", ["red", "both"])
    assert listed["-pc_mic_shift"] == ("0.", [])
    assert listed["-pc_neumann_scale"] == ("TRUE", [])
    assert listed["-ksp_deflation"][0] == "none"
    assert len(listed) == 13 + 6 + 7 + 10 + 7 + 10


@pytest.mark.parametrize("page", TYPES)
def test_table_of_options(listed, page):
    prefix = TYPES[page][0]
    rows = table(page)
    assert {name for name, *_ in rows} == {name for name in listed if name.startswith(prefix)}
    for option, words, said in rows:
        default, values = listed[option]
        check_values(option, words, values)
        if said in ("yes", "") and words in values:
            assert (words == default) == (said == "yes"), f"{option} {words}"
        else:
            check_default(option, said, default)


@pytest.mark.parametrize("path", doc_blocks.documents(ROOT), ids=lambda path: path.stem)
def test_options_in_the_text(listed, path):
    """Wherever they are named, with the value behind them."""
    for name, value in MENTIONED.findall(path.read_text(encoding="utf-8").replace("\\\n", " ")):
        assert f"-{name}" in listed, path.name
        values = listed[f"-{name}"][1]
        if values and value:
            assert set(value.rstrip(".,").split(",")) <= set(values), f"-{name} {value}"


def keys():
    """(man page, option, <...>, the default that the text names) of all lists of options in the man pages."""
    for _, page, _, lines, _ in manpages.blocks(ROOT):
        for number, line in enumerate(lines):
            found = re.match(rf"^[+.\-]  ((?:{OURS})\w*) (<.*?>) +- (.*)$", line)
            if found:
                more = lines[number + 1]
                text = found[3] + ("" if more.startswith((".", "-")) else " " + more.strip())
                default = re.search(r"default:? ([\w.,+-]*\w)", text)
                yield page, found[1], found[2], default[1] if default else ""


def test_man_pages(listed):
    found = list(keys())
    assert {option for _, option, *_ in found} == set(listed)
    for page, option, words, said in found:
        default, values = listed[option]
        if values:
            check_values(option, words, values)
        if page.isupper() and said and default not in AUTOMATIC:
            word = WORDS.get(said.lower(), said)
            assert word == default or float(word) == float(default), f"{page}: {option}"
