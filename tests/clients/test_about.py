"""What the library says of itself in any program: its version, how it was built, and the papers to cite."""
import re
import shlex

import pytest

EX2 = ("ksp/ksp", "ex2")
RRB = "Fine-grain parallel {RRB}-solver"
TWO_LEVEL = "Efficient two-level preconditioned"
TYPES = {
    "-ksp_type rrb": RRB,  # the solver and the preconditioner have the same paper
    "-pc_type rrb": RRB,
    "-pc_type mic": "A class of first order factorization methods",
    "-pc_type blockrelax": "Block-relaxation methods",
    "-pc_type neumann": TWO_LEVEL,
    "-pc_type icc -ksp_deflation block": TWO_LEVEL,
    "-pc_type gridmg": None,
}


@pytest.mark.parametrize("options, paper", TYPES.items(), ids=TYPES)
def test_version_and_paper(run, tutorial, library, version, options, paper):
    output = run(tutorial(*EX2), "-dll_append", library, "-m", 20, "-n", 20, "-ksp_view", "-citations", *options.split())
    assert output.count(f"  petscrrb {version}\n") == 1
    papers = [words for words in {*TYPES.values()} - {None} if words in output]
    assert papers == [paper] * (paper is not None)
    assert paper is None or output.count(paper) == 1


def test_nothing_is_cited_that_is_not_used(run, tutorial, library):
    output = run(tutorial(*EX2), "-dll_append", library, "-citations", "-pc_type", "jacobi")
    assert "petsc-user-ref" in output
    assert not any(words in output for words in TYPES.values() if words)


def test_info_says_how_it_was_built(run, tutorial, library, config, version):
    output = run(tutorial(*EX2), "-dll_append", library, "-info", ":sys", "-pc_type", "rrb")
    openmp, cuda = ("yes" if config[name] else "no" for name in ("OPENMP_FLAGS", "NVCC"))
    assert re.search(rf"petscrrb {version}, built with PETSc {config['PETSC_VERSION']}, (32|64)-bit indices, OpenMP: {openmp}, "
                     rf"CUDA: {cuda}, NCCL: ", output)


TWICE = """
#include <petscrrb.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int time = 0; time < 2; ++time) {
    PC pc;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscRRBInitializePackage());
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCRRB));
    PetscCall(PCDestroy(&pc));
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize();
}
"""


def test_cited_again_after_another_petscinitialize(run, config, root, build, tmp_path):
    source, program = tmp_path / "twice.cxx", tmp_path / "twice"
    source.write_text(TWICE, encoding="utf-8")
    run(*shlex.split(config["CXX"]), "-std=c++17", f"-I{root}/include", *shlex.split(config["PETSC_COMPILE_FLAGS"]), source, "-o",
        program, f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-lpetscrrb", *shlex.split(config["PETSC_LINK_FLAGS"]))
    assert run(program, "-citations").count(RRB) == 2
