"""The tarball of `make dist`, `pip install`, and `import petscrrb` with petsc4py."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

import pytest

pytestmark = pytest.mark.xdist_group("python_package")  # so that one process makes what they share

# the files belong to somebody else where a container's root runs the tests
GIT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


@pytest.fixture(scope="module")
def tarball(run, root, tmp_path_factory):
    """What make dist packs, with the changes that were not committed."""
    if not (root / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git repository")
    changed = run("git", "-C", root, "stash", "create", env=GIT).strip()
    folder = tmp_path_factory.mktemp("dist")
    run("make", "-C", root, "dist", f"BUILD={folder}", f"REVISION={changed or 'HEAD'}", env=GIT)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def sources(root, tmp_path_factory):
    """A copy of the project: setuptools writes into it."""
    leave_out = shutil.ignore_patterns("build*", "*.egg-info", "__pycache__", ".git", "generated", "results")
    return shutil.copytree(root, tmp_path_factory.mktemp("sources") / "petscrrb", ignore=leave_out)


def pip(run, *words, **how):
    """pip, without downloading anything."""
    return run(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
               "--disable-pip-version-check", *words, **how)


@pytest.fixture(scope="module")
def sdist(run, sources, tmp_path_factory):
    """Python's own kind of tarball, which holds less."""
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-c", f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})", cwd=sources)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def site(run, build, sdist, tmp_path_factory):
    """A folder for PYTHONPATH with the package in it, whose library is the one under test."""
    folder = tmp_path_factory.mktemp("site")
    pip(run, "--target", folder, sdist, env={"PETSCRRB_BUILD": str(build)})
    return folder


@pytest.fixture
def petscrrb(run, python, site):
    """petscrrb(program, argument, ...) runs a program in Python that can import petscrrb."""
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    return lambda program, *words, **how: run(python, "-c", program, *words, env={"PYTHONPATH": path}, **how)


# --- what is packed ---


def names(archive):
    with tarfile.open(archive) as tar:
        return {name.partition("/")[2] for name in tar.getnames() if tar.getmember(name).isfile()}


def test_the_tarball_has_all_files(run, root, version, tarball):
    assert tarball.name == f"petscrrb-{version}.tar.gz"
    assert names(tarball) == set(run("git", "-C", root, "ls-files", env=GIT).split())


def test_the_tarball_compiles_all_sources(run, build, tarball, tmp_path):
    with tarfile.open(tarball) as tar:
        tar.extractall(tmp_path)
    (unpacked,) = tmp_path.iterdir()
    commands = run("make", "-n", "all", "BUILD=made", f"CONFIG={build / 'config.mk'}", cwd=unpacked)
    compiled = set(re.findall(r"-c (src/\S+\.cxx)", commands))
    assert compiled == {str(path.relative_to(unpacked)) for path in (unpacked / "src").rglob("*.cxx")}


def test_the_sdist_has_what_pip_builds_from(sources, sdist):
    needed = {str(path.relative_to(sources)) for name in ("config", "include", "src", "python") for path in (sources / name).rglob("*")
              if path.is_file() and "egg-info" not in str(path)}
    assert len(needed) > 100
    assert needed | {"configure.py", "makefile", "pyproject.toml", "setup.py", "LICENSE", "README.md"} <= names(sdist)
    assert not any(name.startswith(("tests/", "benchmarks/", "docs/")) for name in names(sdist))


# --- pip ---


def test_the_wheel_is_for_any_python_on_this_platform(site):
    (wheel,) = site.glob("petscrrb-*.dist-info/WHEEL")
    assert re.search(r"^Tag: py3-none-linux_", wheel.read_text(encoding="utf-8"), re.MULTILINE)


def test_pip_configures_and_makes(run, config, library, sdist, tmp_path):
    """All but the compilers, which take minutes: make puts the library there that is under test."""
    make = tmp_path / "bin/make"
    make.parent.mkdir()
    make.write_text('#!/bin/sh\ntest -f "${2#BUILD=}/config.mk" && mkdir "${2#BUILD=}/lib" && '
                    f'cp "{library}" "${{2#BUILD=}}/lib" && cp "${{2#BUILD=}}/config.mk" "{tmp_path}"\n', encoding="utf-8")
    make.chmod(0o755)
    pip(run, "--target", tmp_path / "site", sdist,
        env={"PATH": f"{make.parent}:{os.environ['PATH']}", "PETSC_DIR": config["PETSC_DIR"], "PETSC_ARCH": config["PETSC_ARCH"],
             "PETSCRRB_BUILD": "", "CONFIGURE_FLAGS": "--with-openmp=0"})
    assert (tmp_path / "site/petscrrb/libpetscrrb.so").read_bytes() == library.read_bytes()
    made = (tmp_path / "config.mk").read_text(encoding="utf-8")
    assert f"PETSC_DIR = {config['PETSC_DIR']}\n" in made
    assert "OPENMP_FLAGS =\n" in made


def test_pip_says_what_configure_says(run, sdist, tmp_path):
    output = pip(run, "--target", tmp_path, sdist, env={"PETSC_DIR": str(tmp_path / "none"), "PETSCRRB_BUILD": ""}, fails=True)
    assert f"configure.py: PETSC_DIR={tmp_path}/none does not exist." in output


def test_pip_without_the_library_that_is_named(run, sdist, tmp_path):
    output = pip(run, "--target", tmp_path, sdist, env={"PETSCRRB_BUILD": str(tmp_path)}, fails=True)
    assert f"No such file or directory: '{tmp_path}/lib/libpetscrrb.so'" in output


def test_configure_finds_the_petsc_of_python(run, root, config, tmp_path):
    """PyPI's package petsc, in a virtual environment; the system may have another one."""
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    (packages,) = venv.glob("lib/python3*/site-packages")
    (packages / "petsc").symlink_to(config["PETSC_DIR"] + (f"/{config['PETSC_ARCH']}" if config["PETSC_ARCH"] else ""))
    output = run(venv / "bin/python", root / "configure.py", f"--build-dir={tmp_path / 'build'}",
                 env={"PETSC_DIR": "", "PETSC_ARCH": ""})
    assert f"{packages}/petsc (found by Python's package petsc)" in output


# --- import petscrrb ---


def test_the_documentations_programs(petscrrb, root):
    """With a solver in place of the dots."""
    blocks = re.findall(r"^```\{code-block\} python\n(.*?)^```$", (root / "docs/installing.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        head, _, rest = block.partition("...\n")
        assert "type: rrb\n" in petscrrb(f"{head}from petsc4py import PETSc\n{SOLVE}{rest}ksp.solve(b, x)\nksp.view()\n")


SOLVE = """
n = 40
A = PETSc.Mat().createAIJ((n * n, n * n), nnz=5)
for row in range(n * n):
    i, j = row % n, row // n
    for near, there in ((row - n, j > 0), (row - 1, i > 0), (row + 1, i < n - 1), (row + n, j < n - 1)):
        if there:
            A[row, near] = -1
    A[row, row] = 4
A.assemble()
x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)

def refused(error, words, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except error as caught:
        assert words in str(caught), caught
    else:
        raise AssertionError(f"no {error.__name__}")
"""
LOADED = {
    "instead": "import sys, petscrrb; petscrrb.init(sys.argv); from petsc4py import PETSc",
    "after": "import sys, petsc4py; petsc4py.init(sys.argv); from petsc4py import PETSc; import petscrrb; "
             "petscrrb.load(); petscrrb.load()",
    "alone": "import petscrrb; petscrrb.load(); from petsc4py import PETSc",
}


@pytest.mark.parametrize("load", LOADED.values(), ids=LOADED)
def test_loaded(petscrrb, load):
    output = petscrrb(load + SOLVE + "ksp.setType('rrb')\nksp.setFromOptions()\nksp.solve(b, x)\nksp.view()", "-ksp_rtol", 1e-9)
    assert "type: rrb\n    conjugate gradients: on " in output
    assert ("relative=1e-09" in output) == ("argv" in load)


CHOOSE = LOADED["instead"] + SOLVE + """
ksp.setType("cg")
for type, options, words in (("rrb", dict(cycle="v", levels=6, storage_grids=2), "levels: 6"), ("mic", dict(omega=0.5), "omega: 0.5"),
                             ("gridmg", dict(smooths=2), "type: gridmg"), ("neumann", dict(type="poisson", scale=False), "unscaled"),
                             ("blockrelax", dict(block_size=(4, 3)), "blocks: 4 x 3")):
    petscrrb.set_pc(ksp, type, **options)
    assert ksp.getPC().getType() == type
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    viewer = PETSc.Viewer().createASCII(sys.argv[1])
    ksp.view(viewer)
    viewer.destroy()
    assert words in open(sys.argv[1]).read(), type
pc = PETSc.PC().create()
pc.setOptionsPrefix("inner_")
petscrrb.set_pc(pc, "mic", precision="single")
assert not any("pc_" in name for name in PETSc.Options().getAll()), "an option stays behind"
refused(TypeError, "no such option here: -pc_rrb_level, -pc_rrb_cycles", petscrrb.set_pc, ksp, "rrb", level=3, cycles="v", levels=2)
refused(TypeError, "no such option here: -inner_pc_mic_level", petscrrb.set_pc, pc, "mic", level=3)
refused(PETSc.Error, "Unknown option w for -pc_rrb_cycle", petscrrb.set_pc, ksp, "rrb", cycle="w")
refused(PETSc.Error, "Unable to find requested PC type nobody", petscrrb.set_pc, ksp, "nobody")
assert not any("pc_" in name for name in PETSc.Options().getAll()), "an option stays behind"
petscrrb.set_pc(ksp, "neumann")
petscrrb.set_deflation(ksp, "block", blocks=(4, 4), variant="def1")
ksp.solve(b, x)
ksp.view()
refused(TypeError, "no such option here: -ksp_deflation_block", petscrrb.set_deflation, ksp, "block", block=3)
assert not any("ksp_" in name for name in PETSc.Options().getAll()), "an option stays behind"
petscrrb.set_deflation(ksp, "none")
assert ksp.getPC().getType() == "neumann"
"""


def test_types_and_their_options(petscrrb, tmp_path):
    output = petscrrb(CHOOSE, tmp_path / "view")
    assert "deflation: block, variant def1" in output
    assert "4 x 4 blocks of the grid of 40 x 40" in output


OVERRIDDEN = LOADED["instead"] + SOLVE + """
petscrrb.set_pc(ksp, "rrb", levels=5, lumping=0.5)
ksp.setUp()
ksp.view()
assert PETSc.Options().getInt("pc_rrb_levels") == 4
"""


def test_the_command_line_takes_precedence(petscrrb):
    output = petscrrb(OVERRIDDEN, "-pc_rrb_levels", 4)
    assert "levels: 4" in output
    assert "lumping: 0.5" in output
    assert "type: mic" in petscrrb(OVERRIDDEN, "-pc_rrb_levels", 4, "-pc_type", "mic")


def test_another_petsc_is_refused(run, petscrrb, config, site, tmp_path):
    """Two libraries of PETSc in one process."""
    source, other = tmp_path / "other.c", tmp_path / "libother.so"
    source.write_text("int PetscInitialize(void) { return 0; }\n", encoding="utf-8")
    run(*shlex.split(config["CC"]), "-shared", "-fPIC", source, "-o", other)
    output = petscrrb(f"import petscrrb; petscrrb.LIBRARY = {str(other)!r}; petscrrb.load()", fails=True)
    assert f"was not built with the PETSc of petsc4py {config['PETSC_VERSION']}: set PETSC_DIR to that of petsc4py" in output


def test_the_path_of_the_plugin_for_other_programs(run, tutorial, python, site):
    done = subprocess.run([python, "-m", "petscrrb"], env={**os.environ, "PYTHONPATH": str(site)}, stdout=subprocess.PIPE, text=True,
                          check=True)
    output = run(tutorial("ksp/ksp", "ex2"), "-dll_append", done.stdout.strip(), "-ksp_type", "rrb", "-ksp_converged_reason")
    assert "CONVERGED" in output


TYPED = """
import typing
import petscrrb
from petsc4py import PETSc
for name in petscrrb.__all__:
    value = getattr(petscrrb, name)
    if callable(value) and hasattr(value, "__code__"):
        hints = typing.get_type_hints(value, localns={"PETSc": PETSc})
        assert set(hints) == {*value.__code__.co_varnames[:value.__code__.co_argcount], "return"} | set(hints) & {"options"}, name
print(petscrrb.__version__, *typing.get_args(petscrrb.PCType), *typing.get_args(petscrrb.DeflationType))
"""


def test_typed_with_the_types_of_the_header(petscrrb, root, version, site):
    assert (site / "petscrrb/py.typed").is_file()
    header = (root / "include/petscrrb.h").read_text(encoding="utf-8")
    number, *words = petscrrb(TYPED).split()
    assert number == version
    preconditioners = re.findall(r'^#define PC\w+ +"(\w+)"', header, re.MULTILINE)
    (deflations,) = re.findall(r"typedef enum \{([^}]*)\} KSPDeflationType;", header)
    assert sorted(words) == sorted(preconditioners + re.findall(r"ksp_deflation_(\w+)", deflations.lower()))
