"""Where the documentation's links go: to files, headings and man pages that are there; and that the site leads to every page."""
import functools
import re
import sys
from pathlib import Path

import doc_blocks
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS), str(ROOT / "benchmarks")]

import manpages  # noqa: E402
import pages  # noqa: E402
import tables  # noqa: E402

PAGES = [*doc_blocks.documents(ROOT), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@functools.cache
def text_of(path):
    """Without blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@functools.cache
def anchors(path):
    """Of its headings, as GitHub and the site make them, and those that it names itself."""
    text = text_of(path)
    titles = [title.strip().lower() for title in re.findall(r"^#{1,3} (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles} | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@functools.cache
def man_pages():
    return {manpages.anchor(name) for _, name, *_ in manpages.blocks(ROOT)}


@functools.cache
def generators():
    """What writes docs/generated, all in one text, and the names of the questions, each of which has a result there."""
    files = [*(DOCS / "figures").glob("*.py"), DOCS / "manpages.py", ROOT / "benchmarks/cost_model_report.py"]
    return " ".join([*(file.read_text(encoding="utf-8") for file in files), *(f'"{file.stem}"' for file in (ROOT / "benchmarks/questions").glob("*.py"))])


def is_there(page, target):
    name, _, anchor = target.partition("#")
    if anchor.startswith("man-"):
        return anchor in man_pages()
    if name.startswith("generated/"):
        return bool(re.search(rf"\b{Path(name).stem}\b", generators()))
    path = page.parent / name if name else page
    return path.exists() and (not anchor or anchor in anchors(path.resolve()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    text = text_of(page)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"\{download\}`[^`<]*<([^>]+)>`", text)
    targets += re.findall(r"^```\{(?:include|literalinclude)\} (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [target for target in targets if not target.startswith("https://") and not is_there(page, target)] == []


def test_the_link_of_a_page_that_is_not_there_is_found():
    page = DOCS / "index.md"
    wrong = ("nothing.md", "tutorial.md#nothing", "#man-nothing", "generated/figures/no_such.svg", "images/nothing.svg")
    right = ("tutorial.md", "tutorial.md#installing", "#man-pcrrb", "generated/figures/levels.svg", "images/speed.svg", "../README.md")
    assert [target for target in (*wrong, *right) if is_there(page, target)] == list(right)


def test_the_site_leads_to_every_page():
    listed = re.findall(r"^([\w/]+)$", "\n".join(re.findall(r"^```\{toctree\}\n.*?\n\n(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"),
                                                            re.MULTILINE | re.DOTALL)), re.MULTILINE)
    assert sorted(listed) == sorted([*(page.stem for page in DOCS.glob("*.md") if page.stem != "index"), "generated/manpages/index"])


@pytest.mark.parametrize("page", pages.PAGES)
def test_tables_are_those_of_the_results(page):
    assert (ROOT / page).read_text(encoding="utf-8") == pages.written(page), "type: python3 benchmarks/pages.py"


def test_the_picture_of_speed_is_that_of_the_results():
    picture = (DOCS / "images/speed.svg").read_text(encoding="utf-8")
    for name in ("solver_device", "gridmg"):
        notes, _ = tables.read_results(name)
        assert f"{name} of {notes['date']}, {notes['commit']}" in picture, "type: python3 docs/figures/speed.py"
