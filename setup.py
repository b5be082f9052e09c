"""Builds libpetscrrb.so with configure.py and make, and puts it into the Python package. All else is in pyproject.toml.

CONFIGURE_FLAGS are arguments of configure.py. PETSCRRB_BUILD is a build folder whose library is taken as it is.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
BUILD = "build-python"


def version():
    header = (ROOT / "include/petscrrb.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"PETSCRRB_VERSION_\w+ +(\d+)", header))


def library():
    """The library's path, after building it unless it was built elsewhere."""
    built = os.environ.get("PETSCRRB_BUILD")
    if not built:
        flags = shlex.split(os.environ.get("CONFIGURE_FLAGS", ""))
        subprocess.run([sys.executable, "configure.py", f"--build-dir={BUILD}", *flags], cwd=ROOT, check=True)
        subprocess.run(["make", f"-j{os.cpu_count()}", f"BUILD={BUILD}"], cwd=ROOT, check=True)
    return ROOT / (built or BUILD) / "lib/libpetscrrb.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = Path(self.get_package_dir("petscrrb") if self.editable_mode else Path(self.build_lib, "petscrrb"))
        shutil.copy(library(), package)


class WheelOfAnyPython(bdist_wheel):
    """The library is of one platform, but knows nothing of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=version(),
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfAnyPython},
    options={"build": {"build_base": f"{BUILD}/setuptools"}},  # build/ is the makefile's
)
