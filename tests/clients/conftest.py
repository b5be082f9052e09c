"""What the clients' tests share: an installation, and a Python with petsc4py."""
import os
import sys

import pytest

VERSION = "import petsc4py; petsc4py.init([]); from petsc4py import PETSc; print(*PETSc.Sys.getVersion(), sep='.')"


@pytest.fixture(scope="session")
def install(run, root, build):
    """install(setting, ...) is make install, of the build folder in use."""
    # as the caller of make named it, or else the lists of objects differ and all is linked again
    folder = os.path.relpath(build, root) if build.is_relative_to(root) else build

    def call(*settings):
        run("make", "-C", root, "install", f"BUILD={folder}", *settings, timeout=300)

    return call


@pytest.fixture(scope="session")
def prefix(install, tmp_path_factory):
    """Where the library is installed."""
    folder = tmp_path_factory.mktemp("prefix")
    install(f"PREFIX={folder}")
    return folder


@pytest.fixture(scope="session")
def python(run, config):
    """A Python whose petsc4py runs the PETSc that the library was built with."""
    for program in (sys.executable, "/usr/bin/python3"):
        try:
            if run(program, "-c", VERSION).strip() == config["PETSC_VERSION"]:
                return program
        except (AssertionError, OSError):
            continue
    pytest.skip(f"no petsc4py for PETSc {config['PETSC_VERSION']} (on Debian: apt-get install python3-petsc4py)")
