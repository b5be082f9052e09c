"""The project's own tools: the sources are laid out as make format does it, and configure.py says what to type."""
import re
import shutil
import sys

import pytest

SOURCES = ("include", "src", "tests", "benchmarks", "docs")


def texts(folder):
    found = (path for name in SOURCES for path in (folder / name).rglob("*"))
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in found
            if path.suffix in (".h", ".hpp", ".c", ".cxx", ".cu", ".cuh")}


def test_format_changes_nothing(run, root, build, tmp_path):
    copy = tmp_path / "copy"
    for name in SOURCES:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("results", "__pycache__"))
    for name in ("makefile", ".clang-format"):
        shutil.copy(root / name, copy)
    # the virtual environment of the tests gets the pinned clang-format
    command = ["make", "-C", copy, "format", f"VENV={build / 'venv'}"]
    try:
        run(*command, timeout=300)
    except AssertionError as error:
        if re.search("Failed to establish a new connection|No matching distribution|Could not find a version", str(error)):
            pytest.skip("the pinned clang-format cannot be installed: no network")
        raise
    before, after = texts(root), texts(copy)
    assert len(before) > 40
    assert [name for name in before if before[name] != after[name]] == [], "type: make format"


def test_format_would_change_a_crooked_file(run, root, build, tmp_path):
    """The same, on a file that is laid out in another way."""
    for name in SOURCES:
        (tmp_path / name).mkdir()
    for name in ("makefile", ".clang-format"):
        shutil.copy(root / name, tmp_path)
    crooked = tmp_path / "src/crooked.cxx"
    crooked.write_text("int  f( int a ){return a ;}\n", encoding="utf-8")
    if not list((build / "venv").glob("clang-format-*.installed")):
        pytest.skip("the pinned clang-format is not installed")
    run("make", "-C", tmp_path, "format", f"VENV={build / 'venv'}")
    assert crooked.read_text(encoding="utf-8") == "int f(int a) { return a; }\n"


def test_seeded_faults_fit_the_code(run, root):
    """Where code has moved its fault moves with it."""
    run(sys.executable, root / "tests/seeded_faults.py", "--check")


# from the ground up: a folder of src/ knows those before it, and within pc/ and ksp/ no type knows another one of the same folder
FLOORS = ("exec", "grid", "stencil", "dense", "petsc", "comm", "pc", "ksp", "register.cxx")
# within a type: what PETSc sees knows all, the mathematics nothing of where loops run
PARTS = ("core", "graph", "ranks", "host", "cuda", "")


def rooms(root):
    """{file below src/: the files below src/ that it includes}"""
    files = {str(path.relative_to(root / "src")): path.read_text(encoding="utf-8")
             for path in (root / "src").rglob("*") if path.is_file()}
    return {name: [found for found in re.findall(r'^ *# *include "([^"]+)"', text, re.MULTILINE) if found in files]
            for name, text in files.items()}


def room(name):
    """('pc', 'rrb', 'core') of pc/rrb/core/amli.hpp"""
    parts = name.split("/")[:-1]
    if not parts:
        return name, "", ""
    in_type = parts[0] in ("pc", "ksp") and len(parts) > 1
    return parts[0], parts[1] if in_type else "", parts[2] if in_type and len(parts) > 2 else ""


def test_includes_run_downwards(root):
    wrong = []
    for name, found in rooms(root).items():
        folder, kind, part = room(name)
        for other in found:
            there, other_kind, other_part = room(other)
            up = FLOORS.index(there) > FLOORS.index(folder)
            if there == folder:
                up = other_kind != kind and other_kind or other_kind == kind and kind and PARTS.index(other_part) > PARTS.index(part)
            if up:
                wrong.append(f"{name} includes {other}")
    assert not wrong


def test_no_file_includes_itself_through_others(root):
    included, done = rooms(root), set()

    def visit(name, way):
        assert name not in way, " -> ".join([*way, name])
        if name not in done:
            for other in included[name]:
                visit(other, [*way, name])
            done.add(name)

    for name in included:
        visit(name, [])


def test_no_folder_is_crowded(root):
    folders = [path for path in (root / "src").rglob("*") if path.is_dir()]
    crowded = {path.name: len([file for file in path.iterdir() if file.is_file()]) for path in folders}
    assert max(crowded.values()) <= 25, crowded


@pytest.fixture
def configure(run, root, tmp_path):
    """configure(argument, ..., fails=...) in a build folder that is thrown away; gives what it printed."""
    empty = {name: "" for name in ("PETSC_DIR", "PETSC_ARCH", "CXX", "CC", "CXXFLAGS", "CXXOPTFLAGS", "CUDAOPTFLAGS")}

    def call(*words, fails=True, env=None):
        return run(sys.executable, root / "configure.py", f"--build-dir={tmp_path / 'build'}", *words, fails=fails,
                   env={**empty, **(env or {})})

    return call


WHAT_TO_TYPE = ("apt-get install petsc-dev", "./configure.py --petsc-dir=/where/it/is", "./configure.py --download-petsc")


def test_configure_without_that_folder(configure, tmp_path):
    output = configure(f"--petsc-dir={tmp_path}/none")
    assert f"configure.py: PETSC_DIR={tmp_path}/none does not exist." in output
    assert all(words in output for words in WHAT_TO_TYPE)
    assert not (tmp_path / "build/config.mk").exists()


def test_configure_with_a_folder_without_petsc(configure, tmp_path):
    output = configure(env={"PETSC_DIR": str(tmp_path)})
    assert f"PETSC_DIR={tmp_path} contains no PETSc that was configured and built" in output
    assert all(words in output for words in WHAT_TO_TYPE)


def test_configure_names_the_builds_of_a_source_tree(configure, tmp_path):
    for arch in ("arch-debug", "arch-opt"):
        folder = tmp_path / arch / "lib/petsc/conf"
        folder.mkdir(parents=True)
        (folder / "petscvariables").touch()
    for words in ([], ["--petsc-arch=wrong"]):
        assert "add --petsc-arch= one of arch-debug, arch-opt" in configure(f"--petsc-dir={tmp_path}", *words)


def fake_petsc(folder, minor="20", macros=("PETSC_USE_REAL_DOUBLE 1", "PETSC_USE_SHARED_LIBRARIES 1")):
    (folder / "lib/petsc/conf").mkdir(parents=True)
    (folder / "lib/petsc/conf/petscvariables").write_text("SHLIBS = libpetsc\n", encoding="utf-8")
    (folder / "include").mkdir()
    version = {"MAJOR": "3", "MINOR": minor, "SUBMINOR": "0", "RELEASE": "1"}
    for name, lines in (("petscversion.h", [f"PETSC_VERSION_{part} {n}" for part, n in version.items()]),
                        ("petscconf.h", macros)):
        (folder / "include" / name).write_text("".join(f"#define {line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("changes, message", [
    ({"minor": "17"}, "is too old: petscrrb needs 3.18 or later"),
    ({"macros": ["PETSC_USE_COMPLEX 1"]}, "was built with complex scalars: petscrrb needs one configured with --with-scalar-type=real"),
    ({"macros": ["PETSC_USE_REAL_SINGLE 1"]}, "was not built in double precision"),
    ({"macros": ["PETSC_USE_REAL_DOUBLE 1"]}, "configured with --with-shared-libraries=1"),
], ids=["old", "complex", "single", "static"])
def test_configure_refuses_a_petsc_of_the_wrong_kind(configure, tmp_path, changes, message):
    fake_petsc(tmp_path / "petsc", **changes)
    output = configure(f"--petsc-dir={tmp_path / 'petsc'}")
    assert message in output
    assert all(words in output for words in WHAT_TO_TYPE)


def test_configure_with_a_compiler_that_is_not_there(configure, config):
    output = configure(f"--petsc-dir={config['PETSC_DIR']}", f"--petsc-arch={config['PETSC_ARCH']}", "CXX=nobodys-compiler")
    assert "CXX=nobodys-compiler was not found" in output


def test_configure_refuses_unknown_words(configure):
    assert "COLOUR=red: not one of PETSC_DIR" in configure("COLOUR=red")


def test_configure_with_nccl_but_without_cuda(configure, config):
    output = configure(f"--petsc-dir={config['PETSC_DIR']}", f"--petsc-arch={config['PETSC_ARCH']}", "--with-cuda=0", "--with-nccl")
    assert "--with-nccl=1, but this is a configuration without CUDA" in output


def test_configure_with_a_folder_without_nccl(configure, config, tmp_path):
    if not config["NVCC"]:
        pytest.skip("there is no nvcc")
    words = [f"--petsc-dir={config['PETSC_DIR']}", f"--petsc-arch={config['PETSC_ARCH']}", "--with-cuda=1"]
    output = configure(*words, f"--with-nccl={tmp_path}")
    assert f"there is no NCCL 2.12 or later in {tmp_path}" in output
    assert "./configure.py --with-nccl=0" in output
    assert "NCCL:      no" in configure(*words, "--with-nccl=0", fails=False)


@pytest.mark.parametrize("arch, codes", [("80,90", "sm_80 sm_90 compute_90"), ("90-real", "sm_90"), ("80;90-virtual", "sm_80 compute_90")])
def test_configure_for_gpu_generations(configure, config, tmp_path, arch, codes):
    if not config["NVCC"]:
        pytest.skip("there is no nvcc")
    configure(f"--petsc-dir={config['PETSC_DIR']}", f"--petsc-arch={config['PETSC_ARCH']}", "--with-cuda=1", f"--with-cuda-arch={arch}",
              fails=False)
    assert re.findall(r"code=(\w+)", (tmp_path / "build/config.mk").read_text(encoding="utf-8")) == codes.split()


def test_configure_again_gives_the_same(configure, config, build, tmp_path):
    """In a build folder of its own, from the arguments that the configuration in use was made with."""
    words = [word for word in config["CONFIGURE_ARGUMENTS"].split() if not word.endswith("=")]
    assert "Now type: make BUILD=" in configure(*words, fails=False)
    made = (tmp_path / "build/config.mk").read_text(encoding="utf-8")
    same = {line for line in made.splitlines() if line.startswith(("PETSC_", "CXX", "CC", "OPENMP", "PREFIX"))}
    assert len(same) > 8
    assert same <= set((build / "config.mk").read_text(encoding="utf-8").splitlines())
