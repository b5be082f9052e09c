"""Finds an installed PETSc and reads how it was built from its petscvariables, petscconf.h and petscversion.h."""
import re
import shlex
import sysconfig
from pathlib import Path

from config.log import ConfigureError

OLDEST = (3, 18)

HOW_TO_GET_IT = """\
  on Debian or Ubuntu:      apt-get install petsc-dev
  one that you built:       ./configure.py --petsc-dir=/where/it/is [--petsc-arch=its-arch]
  built here from source:   ./configure.py --download-petsc"""


class Petsc:
    """One PETSc: where it is (`dir`, `arch`), `version` as a tuple, `found` as words, and its variables."""

    def __init__(self, directory, arch, found):
        self.dir = Path(directory)
        self.arch = arch or ""
        self.found = found
        self.prefix = self.dir / self.arch
        self.variables = read_variables(self.prefix / "lib/petsc/conf/petscvariables")
        self.macros = read_macros(self.header("petscconf.h"))
        version = read_macros(self.header("petscversion.h"))
        self.version = tuple(int(version[f"PETSC_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "SUBMINOR"))
        if version.get("PETSC_VERSION_RELEASE") == "0":  # a development branch counts as the release it becomes
            self.version = (self.version[0], self.version[1] + 1, 0)
        self.cuda = "PETSC_HAVE_CUDA" in self.macros

    def header(self, name):
        candidates = [self.prefix / "include" / name, self.dir / "include" / name]
        for path in candidates:
            if path.is_file():
                return path
        raise ConfigureError(f"PETSc at {self.dir} has no include/{name}: its installation is incomplete.")

    def get(self, name, default=""):
        """A variable of petscvariables with the variables in it replaced."""
        text = self.variables.get(name, default)
        for _ in range(8):
            text, count = re.subn(r"\$[({](\w+)[)}]", lambda match: self.variables.get(match[1], ""), text)
            if not count:
                break
        return text.strip()

    def compile_flags(self):
        """Its include folders as system folders (its warnings are not ours), and its other preprocessor flags."""
        flags = []
        folders = [self.dir / "include", self.prefix / "include"]
        for word in shlex.split(self.get("PETSC_CC_INCLUDES")):
            if word.startswith("-I"):
                folders.append(Path(word[2:]))
            else:
                flags.append(word)
        kept = []
        for folder in folders:
            # -isystem /usr/include breaks the C++ library's include_next
            if folder.is_dir() and folder not in kept and folder != Path("/usr/include"):
                kept.append(folder)
        return [word for folder in kept for word in ("-isystem", str(folder))] + flags

    def link_flags(self):
        """PETSc's library, and the LAPACK that it uses: eigenvalue estimates call it."""
        name = self.get("SHLIBS", "libpetsc").split()[0]
        folder = self.prefix / "lib"
        return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-l" + name.removeprefix("lib"),
                *shlex.split(self.get("BLASLAPACK_LIB"))]

    def check(self):
        """Refuses a PETSc that the library cannot work with."""
        where = f"PETSc {'.'.join(map(str, self.version))} at {self.prefix}"
        if self.version[:2] < OLDEST:
            raise ConfigureError(f"{where} is too old: petscrrb needs {OLDEST[0]}.{OLDEST[1]} or later.\n{HOW_TO_GET_IT}")
        if "PETSC_USE_COMPLEX" in self.macros:
            raise ConfigureError(f"{where} was built with complex scalars: petscrrb needs one configured with "
                                 f"--with-scalar-type=real.\n{HOW_TO_GET_IT}")
        if "PETSC_USE_REAL_DOUBLE" not in self.macros:
            raise ConfigureError(f"{where} was not built in double precision: petscrrb needs one configured with "
                                 f"--with-precision=double.\n{HOW_TO_GET_IT}")
        if "PETSC_USE_SHARED_LIBRARIES" not in self.macros:
            raise ConfigureError(f"{where} is a static library, which cannot load plugins: petscrrb needs one "
                                 f"configured with --with-shared-libraries=1.\n{HOW_TO_GET_IT}")


def read_variables(path):
    variables = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, equals, value = line.partition("=")
        if equals and re.fullmatch(r"\w+\s*", name):
            variables[name.strip()] = value.strip()
    return variables


def read_macros(path):
    pattern = re.compile(r"^\s*#\s*define\s+(\w+)[ \t]*(.*?)\s*$", re.MULTILINE)
    return dict(pattern.findall(path.read_text(encoding="utf-8", errors="replace")))


def is_petsc(directory, arch=""):
    return (Path(directory) / (arch or "") / "lib/petsc/conf/petscvariables").is_file()


def find(log, directory, arch):
    """The PETSc that the user names, or else the one of this Python's packages, or else pkg-config's, or else Debian's."""
    if directory:
        return named(directory, arch)
    for scheme in ("platlib", "purelib"):  # not by import: an isolated build of pip's hides packages, but not their folder
        package = Path(sysconfig.get_path(scheme), "petsc")
        if is_petsc(package):
            return Petsc(package, "", "Python's package petsc")
    for module in ("petsc", "PETSc"):
        found, prefix = log.run(["pkg-config", "--variable=prefix", module])
        if found and is_petsc(prefix.strip()):
            return Petsc(prefix.strip(), "", "pkg-config")
    debian = [Path("/usr/lib/petsc"), *sorted(Path("/usr/lib/petscdir").glob("petsc*/*-real"), reverse=True)]
    for directory in debian:
        if is_petsc(directory):
            return Petsc(directory.resolve(), "", "the system's folders")
    raise ConfigureError("No PETSc found: PETSC_DIR is not set, pkg-config does not know petsc, and /usr/lib/petscdir has "
                         f"none.\n{HOW_TO_GET_IT}")


def named(directory, arch):
    """The PETSc at PETSC_DIR. A prefix installation needs no PETSC_ARCH, so that a stray one does no harm."""
    directory = Path(directory).expanduser().resolve()
    if is_petsc(directory, arch):
        return Petsc(directory, arch, "PETSC_DIR")
    if is_petsc(directory):
        return Petsc(directory, "", "PETSC_DIR")
    if not directory.is_dir():
        raise ConfigureError(f"PETSC_DIR={directory} does not exist.\n{HOW_TO_GET_IT}")
    built = sorted(path.parents[3].name for path in directory.glob("*/lib/petsc/conf/petscvariables"))
    if built:
        wrong = f"PETSC_ARCH={arch} is not one of its builds" if arch else "does not say which of its builds to use"
        raise ConfigureError(f"PETSC_DIR={directory} is a PETSc, but {wrong}: add --petsc-arch= one of {', '.join(built)}.")
    raise ConfigureError(f"PETSC_DIR={directory} contains no PETSc that was configured and built "
                         f"(no lib/petsc/conf/petscvariables in it).\n{HOW_TO_GET_IT}")
