"""The documentation's code as it is printed: command lines, programs, and what a program is said to print.

A block in README.md or docs/*.md has a language: sh is run, line by line, or doc_blocks.py says why not.
"""
import re
import shlex
import shutil
from pathlib import Path

import doc_blocks
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
BLOCKS = doc_blocks.all_blocks(ROOT)


def of(language):
    return [pytest.param(block, id=block.name) for block in BLOCKS if block.language == language]


def run_at_all(block):
    return [command for command in block.commands() if not doc_blocks.why_not(command)]


def test_every_block_names_a_language():
    assert [block.name for block in BLOCKS if block.language not in (doc_blocks.SHELL, *doc_blocks.OTHERS)] == []


def test_no_exception_is_left_over():
    commands = [command for block in BLOCKS if block.language == doc_blocks.SHELL for command in block.commands()]
    for pattern in [*doc_blocks.NOT_RUN, *doc_blocks.SMALLER]:
        assert any(re.fullmatch(pattern, command) for command in commands), pattern


@pytest.fixture(scope="session")
def flags(run, prefix):
    """What the documentation has a compiler take from pkg-config."""
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    return shlex.split(run("pkg-config", "--cflags", "--libs", "petscrrb", env={"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}))


@pytest.fixture(scope="session")
def app(run, config, tmp_path_factory):
    """./app of the documentation."""
    program = tmp_path_factory.mktemp("app") / "app"
    run(*shlex.split(config["CC"]), PROGRAMS / "app.c", "-o", program, *shlex.split(config["PETSC_COMPILE_FLAGS"]),
        *shlex.split(config["PETSC_LINK_FLAGS"]))
    return program


@pytest.fixture
def folder(build, app, request, tmp_path):
    """A folder with all that the documentation's commands may find where they are typed."""
    (tmp_path / "build").mkdir()
    for name in ("lib", "benchmarks", "examples"):
        (tmp_path / "build" / name).symlink_to(build / name)
    (tmp_path / "app").symlink_to(app)
    for path in (ROOT / "docs/examples/poisson.c", *(ROOT / "docs/examples").glob("*.py"), ROOT / "configure.py"):
        shutil.copy(path, tmp_path)
    shutil.copytree(ROOT / "config", tmp_path / "config", ignore=shutil.ignore_patterns("__pycache__"))
    block = request.node.callspec.params["block"]
    for other in BLOCKS:
        if (other.file, other.language) == (block.file, "cmake"):
            (tmp_path / "CMakeLists.txt").write_text(other.text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def places(request, library):
    """The text with the documentation's placeholders for folders replaced."""

    def replace(text):
        if "/some/where" in text:
            text = text.replace("/some/where", str(request.getfixturevalue("prefix")))
        return text.replace("/path/to/libpetscrrb.so", str(library))

    return replace


def check_output(commands, output):
    apps = sum("./app" in command.split() for command in commands)
    assert output.count("There are no unused options.") == apps, "an option of a command line is unknown"
    assert len(re.findall(r"true relative residual \d\.\de-0[3-9]", output)) == apps
    if any("build/benchmarks/" in command for command in commands):
        rows = re.findall(r'^".*', output, re.MULTILINE)
        solvers = sum(command.count(" -solver_") for command in commands)
        assert len(rows) >= solvers and all(",ok," in row for row in rows), output


@pytest.mark.parametrize("block", of(doc_blocks.SHELL))
def test_commands(run, request, folder, places, block):
    commands = run_at_all(block)
    if not commands:
        pytest.skip(f"{block.commands()[0]}: {doc_blocks.why_not(block.commands()[0])}")
    script = "\n".join(doc_blocks.shortened(command) for command in commands)
    for tool in ("cmake", "pkg-config"):
        if tool in script and not shutil.which(tool):
            pytest.skip(f"no {tool}")
    if "python3" in script:
        python = folder / "python3"
        python.write_text(f'#!/bin/sh\nexec {request.getfixturevalue("python")} "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        script = f"PATH={folder}:$PATH\n{script}"
    output = run("bash", "-euo", "pipefail", "-c", places(script), cwd=folder, timeout=300,
                 env={"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1"})
    check_output(commands, output)
    if "poisson.c" in script or "poisson.py" in script:
        assert re.search(r"iterations, largest error \d\.\d+e-0[5-9]", output)
    if "compare.py" in script:
        solved = re.findall(r"^-ksp_type .* \d\.\de-(?:0[7-9]|1\d) +[\d.]+ +[\d.]+ +[\d.]+$", output, re.MULTILINE)
        assert len(solved) == 7 - output.count("-pc_type hypre -pc_hypre_type boomeramg: PETSc's error"), output
    if "configure.py" in script:
        assert "Now type: make" in output


@pytest.mark.parametrize("page", ["docs/design.md", "docs/design_ranks.md", "docs/design_devices.md", "docs/adding_a_type.md", "CONTRIBUTING.md"])
def test_files_that_developers_are_told_of_are_there(root, page):
    files = [str(path.relative_to(root)) for name in ("src", "tests", "docs", "benchmarks", "include", "config")
             for path in (root / name).rglob("*") if path.is_file()] + ["makefile", "configure.py"]
    text = (root / page).read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([\w./]+\.(?:hpp|cuh|cu|cxx|h|py|md))`", text) if "<" not in name]
    assert [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_what_ksp_view_prints(run, tutorial, library):
    """The tutorial's picture of a solver, line by line; where the library has other threads the memory may differ."""
    (block,) = (block for block in BLOCKS if block.language == "text" and block.file.endswith("tutorial.md"))
    output = run(tutorial("ksp/ksp", "ex2"), "-dll_append", library, "-m", 511, "-n", 511, "-ksp_type", "rrb", "-ksp_rtol", 1e-6,
                 "-ksp_view")

    def lines(text):
        return [re.sub(r"memory: .*", "memory", line) for line in text.splitlines()]

    printed, shown = lines(output), lines(block.text)
    start = printed.index(shown[0])
    assert printed[start:start + len(shown)] == shown


# what a fragment of C needs, by a word of it: the program's options, and what the solver's view then says
FRAGMENTS = {
    "MatNullSpaceCreate": (["-neumann", "-ksp_type", "rrb"], "has attached null space"),
    "MatZeroRowsColumns": (["-ksp_type", "rrb"], "identity rows, decoupled: 4"),
    "MatShift": (["-ksp_type", "rrb"], "conjugate gradients: on the first Schur complement"),
    "KSPSetDeflation": (["-ksp_type", "cg", "-pc_type", "icc"], "32 x 32 blocks"),
    "PCBlockRelaxSetPatches": (["-patches", "64,64,64,32,32,64", "-ksp_type", "cg", "-pc_type", "blockrelax"], "patches: 2"),
}


@pytest.mark.parametrize("block", of("c"))
def test_fragment_of_c(run, flags, tmp_path, block):
    (options, view), = (found for word, found in FRAGMENTS.items() if word in block.text)
    (tmp_path / "fragment.h").write_text(block.text, encoding="utf-8")
    run("cc", "-Werror=implicit", "-Werror=incompatible-pointer-types", '-DFRAGMENT="fragment.h"', f"-I{tmp_path}", PROGRAMS / "fragment.c", "-o", tmp_path / "program", *flags)
    assert view in run(tmp_path / "program", *options)
