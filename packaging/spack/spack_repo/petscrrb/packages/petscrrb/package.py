from pathlib import Path

from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Petscrrb(Package, CudaPackage):
    """Fast solvers and preconditioners for matrices on structured grids, as a plugin for PETSc."""

    git = Path(__file__).resolve().parents[6].as_uri()  # the checkout that this file is in

    license("BSD-2-Clause")

    version("0.1.0", branch="main")

    variant("openmp", default=True, description="Threads on the host")
    variant("nccl", default=False, when="+cuda", description="Messages between GPUs by NCCL")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:3.26+double~complex+shared+mpi")
    depends_on("petsc@3.20:+cuda", when="+cuda")
    depends_on("nccl@2.12:", when="+nccl")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"petsc cuda_arch={arch}", when=f"cuda_arch={arch}")

    def install(self, spec, prefix):
        options = [
            f"--petsc-dir={spec['petsc'].prefix}",
            f"--prefix={prefix}",
            f"--with-openmp={int(spec.satisfies('+openmp'))}",
            f"--with-cuda={int(spec.satisfies('+cuda'))}",
            f"CXX={spec['mpi'].mpicxx}",
            f"CC={spec['mpi'].mpicc}",
        ]
        if spec.satisfies("+cuda"):
            options.append(f"--with-nccl={spec['nccl'].prefix if spec.satisfies('+nccl') else 0}")
            if not spec.satisfies("cuda_arch=none"):
                options.append(f"--with-cuda-arch={','.join(spec.variants['cuda_arch'].value)}")
        python("configure.py", *options)
        make()
        make("install")
