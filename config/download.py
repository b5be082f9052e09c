"""--download-petsc: PETSc's source package from PyPI, configured and built in the build folder."""
import os
import re
import shutil
import sys
import tarfile

from config.log import ConfigureError
from config.petsc import Petsc, is_petsc
from config.toolchain import compiles

VERSION = "3.26.1"
ARCH = "arch-petscrrb"

LAPACK_PROGRAM = 'extern "C" void dgetrf_(); int main(int argc, char **) { if (argc > 9) dgetrf_(); return 0; }\n'


def check_tools(log, with_cuda):
    missing = [tool for tool in ("gcc", "g++", "make") if not shutil.which(tool)]
    if not missing and not compiles(log, "g++", [], LAPACK_PROGRAM, ["-llapack", "-lblas"]):
        missing.append("liblapack-dev")
    if missing:
        raise ConfigureError("--download-petsc needs these, which were not found: " + ", ".join(missing) +
                             "\n  on Debian or Ubuntu:   apt-get install " + " ".join(missing))
    if with_cuda and not shutil.which("nvcc"):
        raise ConfigureError("--download-petsc with --with-cuda=1 needs nvcc on the PATH.")


def petsc_options(with_cuda, cuda_arch):
    """MPI where it is there; no Fortran, which petscrrb does not need and many machines lack."""
    options = [f"PETSC_ARCH={ARCH}", "--with-fc=0", "--with-debugging=0", "--with-shared-libraries=1", "--with-x=0",
               "--with-ssl=0", "COPTFLAGS=-O3", "CXXOPTFLAGS=-O3"]
    if shutil.which("mpicc") and shutil.which("mpicxx"):
        options += ["--with-cc=mpicc", "--with-cxx=mpicxx"]
    else:
        options += ["--with-mpi=0", "--with-cc=gcc", "--with-cxx=g++"]
    if with_cuda:
        options += ["--with-cuda=1", "CUDAOPTFLAGS=-O3"]
        if cuda_arch:
            options.append(f"--with-cuda-arch={re.sub('-(virtual|real)', '', cuda_arch)}")
    return options


def unpack(log, folder):
    """The unpacked source, from PyPI where it is not there yet."""
    source = folder / f"petsc-{VERSION}"
    if not (source / "configure").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        log.say(f"  downloading PETSc {VERSION} (17 MB)")
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d", folder,
               f"petsc=={VERSION}"]
        archive = folder / f"petsc-{VERSION}.tar.gz"
        log.follow(pip)  # pip also tries to read the package's metadata; what counts is that the archive came
        if not archive.is_file():
            raise ConfigureError(f"pip could not download petsc=={VERSION}: see {log.path}.\n  without pip:   put "
                                 f"petsc-{VERSION}.tar.gz into {folder} and try again")
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
    return source


def build(log, build_dir, with_cuda, cuda_arch):
    """Returns the PETSc in the build folder, building it where it is not there yet."""
    source = (build_dir / "petsc" / f"petsc-{VERSION}").resolve()
    built = source / ARCH / "lib/libpetsc.so"
    if not (is_petsc(source, ARCH) and built.exists()):
        check_tools(log, with_cuda)
        unpack(log, build_dir / "petsc")
        env = {key: value for key, value in os.environ.items()
               if key not in ("PETSC_DIR", "PETSC_ARCH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        log.say("  configuring PETSc (minutes)")
        command = [sys.executable, "./configure", *petsc_options(with_cuda, cuda_arch)]
        if not log.follow(command, cwd=source, env=env):
            raise ConfigureError(f"PETSc's configure failed: see {log.path} and {source}/configure.log.")
        log.say("  building PETSc (ten minutes or more)")
        command = ["make", f"PETSC_DIR={source}", f"PETSC_ARCH={ARCH}", "all"]
        if not log.follow(command, cwd=source, env=env):
            raise ConfigureError(f"PETSc's build failed: see {log.path}.")
    return Petsc(source, ARCH, "--download-petsc")
