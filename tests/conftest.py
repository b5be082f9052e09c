"""What every Python test may ask for: where the library was built, and how it was configured."""
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
