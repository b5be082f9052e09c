#!/usr/bin/env python3
"""Configures petscrrb: finds PETSc and the compilers, tests them, and writes BUILD/config.mk for the makefile.

PETSC_DIR, PETSC_ARCH, CXX, CC, CXXFLAGS, CXXOPTFLAGS and CUDAOPTFLAGS are read from the environment, or set with NAME=value.
"""
import argparse
import os
import shlex
import sys
from pathlib import Path

from config import download, petsc as petscs, toolchain
from config.log import ConfigureError, Log

VARIABLES = ("PETSC_DIR", "PETSC_ARCH", "CXX", "CC", "CXXFLAGS", "CXXOPTFLAGS", "CUDAOPTFLAGS")


def boolean(text):
    words = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError(f"{text} is neither 0 nor 1")
    return words[text.lower()]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="configure.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add("--petsc-dir", metavar="DIR", help="where PETSc is (default: PETSC_DIR, else the Python package petsc, else "
        "what pkg-config finds, else Debian's)")
    add("--petsc-arch", metavar="ARCH", help="which of its builds to use, unless it is a prefix installation (default: PETSC_ARCH)")
    add("--download-petsc", default=False, type=boolean, metavar="0|1",
        help=f"get PETSc {download.VERSION} from PyPI and build it in the build folder")
    add("--with-cuda", type=boolean, metavar="0|1",
        help="build the CUDA part (default: 1 if PETSc has CUDA and nvcc is found)")
    add("--with-cuda-arch", metavar="LIST", default="",
        help=f"GPU generations; 90-virtual: PTX alone, compiled when it runs; 90-real: without PTX (default: PETSc's, else "
             f"{','.join(toolchain.DEFAULT_CUDA_ARCHITECTURES)})")
    add("--with-nccl", metavar="DIR|0|1", default="",
        help="use NCCL for messages between GPUs; DIR is where it is (default: if it is found beside CUDA or in the system's folders)")
    add("--with-openmp", default=True, type=boolean, metavar="0|1",
        help="use OpenMP threads on the host (default: 1)")
    add("--prefix", default="/usr/local", help="where make install installs (default: /usr/local)")
    add("--build-dir", default="build", metavar="DIR", help="where everything is built (default: build)")
    add("variables", nargs="*", metavar="NAME=value", help=", ".join(VARIABLES))
    switches = ("--download-petsc", "--with-cuda", "--with-nccl", "--with-openmp")  # as in PETSc, no =1 is needed
    options = parser.parse_intermixed_args([word + "=1" if word in switches else word for word in arguments])
    for name in VARIABLES:
        setattr(options, name, os.environ.get(name, ""))
    for word in options.variables:
        name, equals, value = word.partition("=")
        if not equals or name not in VARIABLES:
            parser.error(f"{word}: not one of {', '.join(VARIABLES)} with a value")
        setattr(options, name, value)
    options.petsc_dir = options.petsc_dir or options.PETSC_DIR
    options.petsc_arch = options.petsc_arch or options.PETSC_ARCH
    return options


def decide_cuda(log, petsc, options):
    """The nvcc to use, or None."""
    if options.with_cuda is False:
        return None
    nvcc = toolchain.find_nvcc(petsc)
    if options.with_cuda and not nvcc:
        raise ConfigureError("--with-cuda=1, but there is no nvcc on the PATH, in CUDA_HOME or in /usr/local/cuda.\n"
                             "  without CUDA:   ./configure.py --with-cuda=0")
    if options.with_cuda and not petsc.cuda:
        log.say("  note: this PETSc has no CUDA. The CUDA part is compiled and linked, but cannot run with it.")
    return nvcc if options.with_cuda or petsc.cuda else None


def decide_nccl(log, nvcc, cxx, options):
    """An Nccl, or None."""
    off, on = options.with_nccl.lower() in ("0", "no", "false"), options.with_nccl.lower() in ("1", "yes", "true")
    wanted = bool(options.with_nccl) and not off
    if wanted and not nvcc:
        raise ConfigureError(f"--with-nccl={options.with_nccl}, but this is a configuration without CUDA.")
    nccl = toolchain.find_nccl(log, nvcc, cxx, options.with_nccl if wanted and not on else "") if nvcc and not off else None
    if wanted and not nccl:
        where = "beside CUDA or in the system's folders" if on else f"in {options.with_nccl}"
        raise ConfigureError(f"--with-nccl={options.with_nccl}, but there is no NCCL {toolchain.OLDEST_NCCL} or later {where}.\n"
                             "  on Debian or Ubuntu, with NVIDIA's packages:   apt-get install libnccl-dev\n"
                             f"  without NCCL:   ./configure.py --with-nccl=0      The full output is in {log.path}.")
    return nccl


def configure(log, options):
    """Returns (what config.mk holds, the lines of the summary)."""
    if options.download_petsc:
        petsc = download.build(log, Path(options.build_dir), bool(options.with_cuda), options.with_cuda_arch)
    else:
        petsc = petscs.find(log, options.petsc_dir, options.petsc_arch)
    petsc.check()
    cxx = toolchain.choose_cxx(petsc, options.CXX)
    cc = toolchain.choose_cc(petsc, options.CC, cxx)
    mpi_compile, mpi_link = toolchain.mpi_flags(log, petsc)
    compile_flags = petsc.compile_flags() + mpi_compile
    link_flags = petsc.link_flags() + mpi_link + ["-lm"]  # PETSc's headers call it
    version = toolchain.test_petsc(log, petsc, cxx, compile_flags, link_flags)
    openmp = toolchain.openmp_flags(log, cxx) if options.with_openmp else []
    nvcc = decide_cuda(log, petsc, options)
    cuda_compile, cuda_link, architectures = [], [], []
    if nvcc:
        cuda_compile, cuda_link, architectures = toolchain.cuda_flags(log, petsc, nvcc, cxx, options.with_cuda_arch,
                                                                   options.CUDAOPTFLAGS or "")
    nccl = decide_nccl(log, nvcc, cxx, options)
    # Where PETSc was built without visibility attributes, PETSC_EXTERN could not undo -fvisibility=hidden.
    visibility = ["-fvisibility=hidden"] if "PETSC_USE_VISIBILITY_CXX" in petsc.macros else []

    made = {
        "PETSC_DIR": petsc.dir,
        "PETSC_ARCH": petsc.arch,
        "PETSC_VERSION": ".".join(map(str, petsc.version)),
        "PETSC_COMPILE_FLAGS": shlex.join(compile_flags),
        "PETSC_LINK_FLAGS": shlex.join(link_flags),
        "CXX": cxx,
        "CC": cc,
        "CXXFLAGS": options.CXXFLAGS,
        "CXXOPTFLAGS": options.CXXOPTFLAGS or "-O3",
        # of what the host does in a .cu: launches, which -O3 makes a sixth larger. Kernels are the same with both.
        "CUDAOPTFLAGS": options.CUDAOPTFLAGS or "-O2",
        "VISIBILITY_FLAGS": shlex.join(visibility),
        "OPENMP_FLAGS": shlex.join(openmp),
        "NVCC": nvcc or "",
        "CUDA_COMPILE_FLAGS": shlex.join(cuda_compile),
        "CUDA_LINK_FLAGS": shlex.join(cuda_link + (nccl.link if nccl else [])),
        "NCCL_COMPILE_FLAGS": shlex.join(["-DPETSCRRB_HAVE_NCCL=1", *nccl.compile] if nccl else []),
        "MPIEXEC": petsc.get("MPIEXEC"),
        "PREFIX": options.prefix,
    }
    summary = [
        f"  PETSc:     {version}",
        f"             {petsc.prefix} (found by {petsc.found})",
        f"  C++:       {cxx} {made['CXXOPTFLAGS']} {options.CXXFLAGS}".rstrip(),
        f"  OpenMP:    {'yes' if openmp else 'no'}",
        f"  CUDA:      {nvcc + ' for ' + ', '.join(architectures) if nvcc else 'no'}",
        *([f"  NCCL:      {nccl.version if nccl else 'no'}"] if nvcc else []),
        f"  prefix:    {options.prefix}",
        f"  build in:  {options.build_dir}",
    ]
    return made, summary


def repeat(made, options):
    """The arguments that give this configuration again, for the makefile when configure.py has changed."""
    words = [f"--petsc-dir={made['PETSC_DIR']}", f"--petsc-arch={made['PETSC_ARCH']}", f"--prefix={options.prefix}",
             f"--with-cuda={int(bool(made['NVCC']))}", f"--with-cuda-arch={options.with_cuda_arch}",
             f"--with-nccl={options.with_nccl}", f"--with-openmp={int(options.with_openmp)}"]
    words += [f"{name}={made[name]}" for name in ("CXX", "CC", "CXXFLAGS", "CXXOPTFLAGS", "CUDAOPTFLAGS")]
    return shlex.join(words)


def main():
    os.chdir(Path(__file__).resolve().parent)
    options = parse(sys.argv[1:])
    build = Path(options.build_dir)
    log = Log(build / "configure.log")
    log.say("Configuring petscrrb")
    try:
        made, summary = configure(log, options)
    except ConfigureError as error:
        log.say(f"\nconfigure.py: {error}")
        return 1
    lines = ["# Written by configure.py.", *(f"{name} = {value}".rstrip() for name, value in made.items())]
    lines.append(f"CONFIGURE_ARGUMENTS = {repeat(made, options)}")
    (build / "config.mk").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in summary:
        log.say(line)
    log.say("Now type: make" + ("" if options.build_dir == "build" else f" BUILD={options.build_dir}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
