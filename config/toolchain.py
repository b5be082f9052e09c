"""The compilers: which ones to take, and whether they can compile, link and run a program with PETSc."""
import os
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config.log import ConfigureError

DEFAULT_CUDA_ARCHITECTURES = ["75", "80", "90"]
CUDA_LIBRARIES = ["cudart", "cusolver", "cublas"]
OLDEST_NCCL = "2.12"

# The C compilers that a PETSc built without C++ names, and their C++ siblings.
CXX_OF_CC = {"mpicc": "mpicxx", "gcc": "g++", "clang": "clang++", "cc": "c++", "mpiicc": "mpiicpc", "icx": "icpx"}

PROGRAM = r"""
#include <petscksp.h>
int main(int argc, char **argv)
{
  char version[256];
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscGetVersion(version, sizeof version));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", version));
  PetscCall(PetscFinalize());
  return 0;
}
"""

OPENMP_PROGRAM = "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"

NCCL_PROGRAM = """
#include <nccl.h>
#if NCCL_VERSION_CODE < 21200
#error "this NCCL is too old"
#endif
int main() { ncclUniqueId id; return ncclGetUniqueId(&id); }
"""


def exists(command):
    return bool(command) and shutil.which(shlex.split(command)[0]) is not None


def choose_cxx(petsc, wish):
    if wish:
        if not exists(wish):
            raise ConfigureError(f"CXX={wish} was not found.")
        return wish
    cc = petsc.get("PCC") or petsc.get("CC")
    for candidate in (petsc.get("CXX"), CXX_OF_CC.get(Path(cc.split()[0]).name if cc else ""), "mpicxx", "c++"):
        if exists(candidate):
            return candidate
    raise ConfigureError("No C++ compiler found.\n  on Debian or Ubuntu:   apt-get install g++")


def choose_cc(petsc, wish, cxx):
    siblings = {plus: plain for plain, plus in CXX_OF_CC.items()}
    for candidate in (wish, petsc.get("PCC") or petsc.get("CC"), siblings.get(Path(cxx.split()[0]).name), "cc"):
        if exists(candidate):
            return candidate
    raise ConfigureError("No C compiler found.\n  on Debian or Ubuntu:   apt-get install gcc")


def mpi_flags(log, petsc):
    """Where MPI's headers and library are, for compilers that are no MPI wrappers: (compile flags, link flags). They are as
    PETSc's own wrapper tells, since another MPI that is found on the machine would not do."""
    wrapper = petsc.get("PCC") or petsc.get("CC")
    shows, line = log.run([*shlex.split(wrapper), "-show"]) if exists(wrapper) else (False, "")
    shown = shlex.split(petsc.get("MPICC_SHOW") or (line if shows else ""))
    shown += shlex.split(petsc.get("MPI_INCLUDE")) + shlex.split(petsc.get("MPI_LIB"))
    return ([flag for flag in shown if flag.startswith("-I") and flag != "-I/usr/include"],
            [flag for flag in shown if flag.startswith(("-L", "-l", "-Wl,"))])


def compiles(log, cxx, flags, program, libraries=()):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "test.cxx"
        source.write_text(program, encoding="utf-8")
        return log.run([*shlex.split(cxx), *flags, source, *libraries, "-o", Path(folder) / "test"])[0]


def test_petsc(log, petsc, cxx, compile_flags, link_flags):
    """Compiles, links and runs a program that starts PETSc. Returns the version that it prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test.cxx").write_text(PROGRAM, encoding="utf-8")
        compiler = shlex.split(cxx)
        steps = [
            ("compile", [*compiler, "-std=c++17", *compile_flags, "-c", folder / "test.cxx", "-o", folder / "test.o"]),
            ("link", [*compiler, folder / "test.o", *link_flags, "-o", folder / "test"]),
            ("run", [folder / "test"]),
        ]
        for what, command in steps:
            done, output = log.run(command)
            if not done:
                last = "\n".join("    " + line for line in output.strip().splitlines()[-6:])
                raise ConfigureError(f"Cannot {what} a program with PETSc at {petsc.prefix} and {cxx}:\n{last}\n"
                                     f"  The full output is in {log.path}. Another compiler: ./configure.py CXX=...")
        lines = [line for line in output.splitlines() if "Release Version" in line or "Development" in line]
        return lines[-1].split(",")[0] if lines else output.strip()


def openmp_flags(log, cxx):
    if not compiles(log, cxx, ["-fopenmp"], OPENMP_PROGRAM):
        raise ConfigureError(f"{cxx} cannot build OpenMP programs.\n  without threads:   ./configure.py --with-openmp=0")
    return ["-fopenmp"]


def find_nvcc(petsc):
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for candidate in (petsc.get("CUDAC"), "nvcc", *(f"{home}/bin/nvcc" for home in homes if home)):
        if exists(candidate):
            return str(Path(shutil.which(candidate)))
    return None


def cuda_architectures(log, petsc, nvcc, wish):
    """The wish, of which 90-virtual is PTX alone and 90-real none of it, as CMake says; or what PETSc was built for; or the usual ones that
    this nvcc knows."""
    if wish:
        return [word.removeprefix("sm_") for word in re.split(r"[,; ]+", wish.strip())]
    theirs = re.findall(r"code=sm_(\w+)", petsc.get("CUDAC_FLAGS"))
    if theirs:
        return sorted(set(theirs))
    known = re.findall(r"compute_(\w+)", log.run([nvcc, "--list-gpu-arch"])[1])
    return [name for name in DEFAULT_CUDA_ARCHITECTURES if name in known] or known[:1]


def cuda_codes(architectures):
    """(what they are called, what nvcc is to make): the newest as PTX, too, for GPUs that come later, unless its name ends with a kind."""
    kinds = [name.partition("-")[::2] for name in architectures]
    names = [f"{'compute' if kind == 'virtual' else 'sm'}_{name}" for name, kind in kinds]
    newest, kind = kinds[-1]
    return names, names if kind else [*names, f"compute_{newest}"]


def cuda_flags(log, petsc, nvcc, cxx, wish, optimization):
    """(compile flags, link flags, architectures)"""
    names, codes = cuda_codes(cuda_architectures(log, petsc, nvcc, wish))
    flags = ["-ccbin", shlex.split(cxx)[0],
             *(word for code in dict.fromkeys(codes) for word in ("-gencode", f"arch=compute_{code.partition('_')[2]},code={code}"))]
    if "--compress-mode" in log.run([nvcc, "--help"])[1]:  # CUDA 12.8: a library of a third of the size
        flags.append("--compress-mode=" + ("speed" if "-Ofc" in optimization else "size"))  # size takes a sixth of -Ofc's time
    home = Path(nvcc).resolve().parent.parent
    folders = [home / "lib64", home / "lib", *home.glob("targets/*/lib"), Path("/usr/lib/x86_64-linux-gnu")]
    for folder in folders:
        if (folder / "libcudart.so").exists():
            break
    else:
        folder = home / "lib64"
    missing = [f"lib{name}.so" for name in CUDA_LIBRARIES if not (folder / f"lib{name}.so").exists()]
    if missing:
        raise ConfigureError(f"{nvcc} was found, but not {', '.join(missing)} in {folder}: install the development files of "
                             "the CUDA libraries, or\n  without CUDA:   ./configure.py --with-cuda=0")
    return flags, [f"-L{folder}", f"-Wl,-rpath,{folder}", *(f"-l{name}" for name in CUDA_LIBRARIES)], names


@dataclass
class Nccl:
    version: str
    compile: list
    link: list


def nccl_version(log, cxx, flags, libraries):
    """The version of nccl.h with those flags, as text; empty where no program can be built with it."""
    if not compiles(log, cxx, flags, NCCL_PROGRAM, libraries):
        return ""
    headers = log.run([*shlex.split(cxx), *flags, "-E", "-dM", "-x", "c++", "-"], stdin="#include <nccl.h>\n")[1]
    numbers = dict(re.findall(r"^#define NCCL_(MAJOR|MINOR|PATCH) (\d+)", headers, re.MULTILINE))
    return ".".join(numbers[name] for name in ("MAJOR", "MINOR", "PATCH") if name in numbers)


def find_nccl(log, nvcc, cxx, wish):
    """An Nccl: in the folder that is wished for, or beside the CUDA toolkit, or where the compiler looks by itself; else None."""
    cuda = Path(nvcc).resolve().parent.parent
    cuda_headers = ["-isystem", str(cuda / "include")] if (cuda / "include").is_dir() else []
    for home in [Path(wish).expanduser().resolve()] if wish else [cuda, None]:
        headers = ["-isystem", str(home / "include")] if home and (home / "include/nccl.h").exists() else []
        if home and not headers:
            continue
        libraries = [home / name for name in ("lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")] if home else []
        folder = next((folder for folder in libraries if (folder / "libnccl.so").exists()), None)
        if home and not folder:
            continue
        link = [*([f"-L{folder}", f"-Wl,-rpath,{folder}"] if folder else []), "-lnccl"]
        version = nccl_version(log, cxx, [*headers, *cuda_headers], link)
        if version:
            return Nccl(version, headers, link)
    return None
