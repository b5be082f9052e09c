"""What every Python test may ask for: where the library was built, and how it was configured."""
import contextlib
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config):
    """Programs of Open MPI that start and end at the same time make and remove one folder, /tmp/ompi.HOST.UID, and some fail.

    So each process of tests has its own. And a program without mpiexec starts no daemon of its own, which would remove the folder
    only after the program's end, under the next one.
    """
    folder = tempfile.TemporaryDirectory(prefix="ompi-")
    os.environ["OMPI_MCA_orte_tmpdir_base"] = folder.name
    os.environ["OMPI_MCA_ess_singleton_isolated"] = "1"
    config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items):
    """Tests that run beside one another come first, the long ones on several ranks last."""
    items.sort(key=lambda item: item.path.name == "test_ranks.py")


@contextlib.contextmanager
def alone(path):
    """Nobody else is in here at the same time, in another process."""
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def root():
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def version(root):
    """The version in petscrrb.h."""
    header = (root / "include/petscrrb.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"PETSCRRB_VERSION_\w+ +(\d+)", header))


@pytest.fixture(scope="session")
def build():
    """The build folder: `make check` names it, a bare pytest takes build/."""
    return Path(os.environ.get("PETSCRRB_BUILD", ROOT / "build"))


@pytest.fixture(scope="session")
def config(build):
    """The variables of BUILD/config.mk: PETSC_DIR, PETSC_VERSION, CXX, MPIEXEC, ..."""
    pairs = (line.partition("=") for line in (build / "config.mk").read_text().splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


@pytest.fixture(scope="session")
def library(build):
    """The plugin, for -dll_append."""
    path = build / "lib/libpetscrrb.so"
    assert path.is_file(), f"{path} is not built"
    return path


@pytest.fixture(scope="session")
def run(build, config):
    """run(program, option, ..., ranks=1, fails=False) gives all that it printed; it must fail exactly where that is said."""

    def call(*words, ranks=1, fails=False, timeout=120, cwd=None, env=None):
        words = [str(word) for word in words]
        if ranks > 1:
            if not config.get("MPIEXEC"):
                pytest.skip("this PETSc names no mpiexec")
            words = [*shlex.split(config["MPIEXEC"]), "-n", str(ranks), *words]
        # passive: the threads share the machine with other tests; as root, Open MPI asks to be told twice
        settings = {"OMP_NUM_THREADS": "2" if ranks == 1 else "1", "OMP_WAIT_POLICY": "passive",
                    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        # ranks that share cores with other ranks wait for one another
        with alone(build / "tests.lock") if ranks > 1 else contextlib.nullcontext():
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=timeout, cwd=cwd, env={**os.environ, **settings, **(env or {})})
        # the end first, which says why: of a long message, a summary shows the beginning alone
        end = "\n".join(done.stdout.splitlines()[-20:])
        assert (done.returncode != 0) == fails, f"exit status {done.returncode} after\n{end}\n{shlex.join(words)}\n{done.stdout}"
        return done.stdout

    return call


@pytest.fixture(scope="session")
def plugin(library):
    """The options that load the plugin and choose its type."""
    return ["-dll_append", library, "-pc_type", "rrb"]


@pytest.fixture(scope="session")
def poisson(build):
    """docs/examples/poisson.c, linked with the library. Its grid: -n unknowns a side."""
    path = build / "examples/poisson"
    assert path.is_file(), f"{path} is not built: make examples"
    return path


@pytest.fixture(scope="session")
def device(config):
    """Skips where PETSc has no CUDA, or the machine no GPU; else the options that every program needs there."""
    include = Path(config["PETSC_DIR"], config.get("PETSC_ARCH", ""), "include/petscconf.h")
    if not re.search(r"^#define PETSC_HAVE_CUDA 1", include.read_text(encoding="utf-8"), re.MULTILINE):
        pytest.skip(f"the PETSc in {config['PETSC_DIR']} was configured without CUDA")
    if not shutil.which("nvidia-smi") or subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode:
        pytest.skip("there is no GPU: nvidia-smi finds none")
    return ["-use_gpu_aware_mpi", 0]


def find_tutorials(petsc):
    """PETSc's own sources, or what a package puts beside an installed PETSc. PETSCRRB_TUTORIALS names another src/."""
    folders = [petsc / "src", petsc / "share/petsc/examples/src"]
    if os.environ.get("PETSCRRB_TUTORIALS"):
        return [Path(os.environ["PETSCRRB_TUTORIALS"])]
    folders += sorted(Path("/usr/share/petsc").glob("*/share/petsc/examples/src"), reverse=True)
    return [folder for folder in folders if (folder / "ksp/ksp/tutorials").is_dir()]


@pytest.fixture(scope="session")
def tutorial(build, config, run, tmp_path_factory):
    """tutorial("ksp/ksp", "ex2") compiles that unmodified program of PETSc's, once, and gives its path. `make tutorials`
    compiles some beforehand, for machines that have neither the sources nor a compiler."""
    petsc = Path(config["PETSC_DIR"])
    series = ".".join(config["PETSC_VERSION"].split(".")[:2])
    # sources of another minor version than the library's may not compile
    folders = [folder for folder in find_tutorials(petsc)
               if not folder.is_relative_to("/usr/share/petsc") or folder.relative_to("/usr/share/petsc").parts[0] == series]
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # of all processes that run tests

    def compile_once(package, name):
        before = build / "tutorials" / f"{package.replace('/', '_')}_{name}"
        if before.is_file():
            return before
        if not folders:
            pytest.skip(f"no tutorials of PETSc {series}: neither {petsc}/src nor Debian's libpetsc{series}-dev-examples")
        program = shared / before.name
        with alone(f"{program}.lock"):
            if not program.is_file():
                run(*shlex.split(config["CC"]), "-w", folders[0] / package / "tutorials" / f"{name}.c", "-o", program,
                    *shlex.split(config["PETSC_COMPILE_FLAGS"]), *shlex.split(config["PETSC_LINK_FLAGS"]))
        return program

    return compile_once
