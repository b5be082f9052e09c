"""The recipes of packaging/ and the files about the project agree with it: versions, options, targets, names."""
import re
import runpy
import shlex
import sys
import types
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import configure  # noqa: E402
from config import download, petsc, toolchain  # noqa: E402

SPACK = ROOT / "packaging/spack/spack_repo/petscrrb"
OLDEST = "3.18"
NEWEST = ".".join(download.VERSION.split(".")[:2])


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def load(name):
    return yaml.safe_load(text(name))


@pytest.fixture(scope="module")
def recipe():
    """conda's."""
    return load("packaging/conda/recipe.yaml")


def targets():
    return set(re.findall(r"^([a-z-]+):", text("makefile"), re.MULTILINE))


def made(line):
    """The targets of a command line with make in it, which is "all" where it names none."""
    words = [word for word in shlex.split(line) if not word.startswith("-") and "=" not in word]
    assert words[0] == "make"
    return set(words[1:]) or {"all"}


# --- Spack ---


class Spec:
    """Of a package with these variants, whose dependencies are all in /prefix/NAME."""

    def __init__(self, *variants, cuda_arch=("none",)):
        self.satisfied = {*variants, *(f"cuda_arch={name}" for name in cuda_arch)}
        self.variants = {"cuda_arch": types.SimpleNamespace(value=cuda_arch)}

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/prefix/{name}", mpicc=f"/prefix/{name}/mpicc", mpicxx=f"/prefix/{name}/mpicxx")

    def satisfies(self, what):
        return what in self.satisfied


@pytest.fixture
def spack(monkeypatch):
    """What package.py says to Spack: {directive: [(arguments, keywords)]}; and the class, with its calls in `commands`."""
    said, commands = {}, []
    names = ("license", "version", "variant", "depends_on")

    def directive(name):
        return lambda *words, **more: said.setdefault(name, []).append((words, more))

    def module(name, **contents):
        made = types.ModuleType(name)
        made.__dict__.update(contents, __path__=[])
        monkeypatch.setitem(sys.modules, name, made)

    class Empty:
        cuda_arch_values = ("80", "90")

    module("spack")
    module("spack.package", python=lambda *words: commands.append(("python", *words)),
           make=lambda *words: commands.append(("make", *words)), **{name: directive(name) for name in names})
    module("spack_repo")
    module("spack_repo.builtin")
    module("spack_repo.builtin.build_systems")
    module("spack_repo.builtin.build_systems.cuda", CudaPackage=type("CudaPackage", (Empty,), {}))
    module("spack_repo.builtin.build_systems.generic", Package=type("Package", (), {}))
    package = runpy.run_path(str(SPACK / "packages/petscrrb/package.py"))["Petscrrb"]
    return said, package, commands


def test_spack_versions(spack, version):
    said, package, _ = spack
    assert [words for words, _ in said["version"]] == [(version,)]
    assert package.git == ROOT.as_uri()
    assert said["license"] == [(("BSD-2-Clause",), {})]
    needs = {re.match(r"[a-z0-9-]+", words[0])[0]: words[0] for words, more in said["depends_on"] if more.get("when") in (None, "+nccl")}
    assert needs["petsc"].startswith(f"petsc@{OLDEST}:{NEWEST}+double~complex+shared")
    assert needs["nccl"] == f"nccl@{toolchain.OLDEST_NCCL}:"
    assert needs["python"] == f"python@{oldest_python()}:"
    assert load("packaging/spack/spack_repo/petscrrb/repo.yaml")["repo"]["namespace"] == SPACK.name


@pytest.mark.parametrize("spec, cuda, openmp, nccl, arch", [
    (Spec("+openmp"), False, True, "", ""),
    (Spec("+cuda", "+nccl", cuda_arch=("80", "90")), True, False, "/prefix/nccl", "80,90"),
    (Spec("+cuda", "+openmp"), True, True, "0", ""),
], ids=["host", "nccl", "cuda"])
def test_spack_installs(spack, spec, cuda, openmp, nccl, arch):
    _, package, commands = spack
    package().install(spec, "/prefix/petscrrb")
    (program, script, *words), *makes = commands
    assert (program, script) == ("python", "configure.py")
    options = configure.parse(words)
    assert (options.petsc_dir, options.prefix) == ("/prefix/petsc", "/prefix/petscrrb")
    assert (options.CC, options.CXX) == ("/prefix/mpi/mpicc", "/prefix/mpi/mpicxx")
    assert (options.with_cuda, options.with_openmp, options.with_nccl, options.with_cuda_arch) == (cuda, openmp, nccl, arch)
    assert makes == [("make",), ("make", "install")]


# --- conda ---


def test_conda_versions(recipe, version):
    assert recipe["context"]["version"] == version
    major, minor = NEWEST.split(".")
    assert f"petsc >={OLDEST},<{major}.{int(minor) + 1} real_*" in recipe["requirements"]["host"]
    (needed,) = re.findall(r'requires = \["(setuptools)>=(\d+)"\]', text("pyproject.toml"))
    assert " >=".join(needed) in recipe["requirements"]["host"]
    assert (ROOT / "packaging/conda" / recipe["source"]["path"]).resolve() == ROOT
    assert (ROOT / recipe["about"]["license_file"]).is_file()


def test_conda_builds(recipe):
    first, *makes, last = recipe["build"]["script"]
    options = configure.parse(shlex.split(first.replace("$PREFIX", "/prefix"))[1:])
    assert (options.petsc_dir, options.prefix, options.with_cuda) == ("/prefix", "/prefix", False)
    assert [made(line) for line in makes] == [{"all"}, {"install"}]
    assert last.startswith(f"PETSCRRB_BUILD={options.build_dir} $PYTHON -m pip install . ")


def test_conda_tests(recipe):
    contents, python, program = recipe["tests"]
    assert contents["package_contents"] == {"lib": ["petscrrb"], "include": ["petscrrb.h"]}
    compile(shlex.split(python["script"][0])[2], "python -c", "exec")
    for name in program["files"]["source"]:
        assert (ROOT / name).is_file() and name in program["script"][0]


# --- Docker ---


def test_docker():
    lines = text("packaging/docker/Dockerfile").replace("\\\n", "").splitlines()
    steps = [tuple(line.split(None, 1)) for line in lines if line.strip() and not line.startswith("#")]
    assert {word for word, _ in steps} <= {"FROM", "RUN", "COPY", "WORKDIR", "USER"}
    commands = [command.strip() for word, rest in steps if word == "RUN" for command in rest.split("&&")]
    makes = [made(command.replace("$(nproc)", "2")) for command in commands if command.startswith("make")]
    assert makes == [{"all"}, {"install"}, {"clean"}]
    assert set().union(*makes) <= targets()
    (install,) = (command for command in commands if "apt-get install" in command)
    packages = {word for word in install.split()[2:] if not word.startswith("-")}
    known = re.findall(r'^(?:petsc_)?packages="(.*)"', text("config/prerequisites.sh"), re.MULTILINE)
    assert packages <= {word for line in known for word in line.split()} | {"python3"}
    assert {"g++", "make", "petsc-dev"} <= packages


# --- about the project ---


def oldest_python():
    return re.search(r'requires-python = ">=([\d.]+)"', text("pyproject.toml"))[1]


def test_citation(version):
    citation = load("CITATION.cff")
    assert citation["version"] == version
    (paper,) = citation["references"]
    literals = re.findall(r'"(.*)"', text("src/petsc/about/citations.cxx"))
    cited = re.sub(r"[{}]", "", "".join(literals))
    assert paper["title"] in cited
    assert f'volume  = {paper["volume"]}' in cited and f'{paper["start"]}--{paper["end"]}' in cited
    assert " and ".join(f"{author['given-names']} {author['family-names']}" for author in paper["authors"]) in cited


def test_changelog(version):
    assert re.search(r"^## \[([\d.]+)\]", text("CHANGELOG.md"), re.MULTILINE)[1] == version


def test_versions_in_the_documentation():
    assert OLDEST == ".".join(map(str, petsc.OLDEST))
    table = re.findall(r"^\| PETSc ([\d.]+)", text("docs/installing.md"), re.MULTILINE)
    assert table[0].startswith(OLDEST) and table[-1] == download.VERSION
    assert f"setuptools {re.search(r'setuptools>=([0-9]+)', text('pyproject.toml'))[1]}" in text("docs/installing.md")


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").iterdir()), ids=lambda path: path.name)
def test_issue_forms(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "title", "labels", "body"}
    assert {item["type"] for item in form["body"]} <= {"input", "textarea"}
    names = [item["id"] for item in form["body"]]
    assert len(names) == len(set(names))
    assert all(item["attributes"]["label"] for item in form["body"])
    assert any(item.get("validations", {}).get("required") for item in form["body"])
