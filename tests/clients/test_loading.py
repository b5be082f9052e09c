"""Ways to load the library, the PETSc it refuses, and more than one rank."""
import re
import shlex

import pytest

EX2 = ("ksp/ksp", "ex2")
SMALL = ["-m", 40, "-n", 30, "-ksp_type", "cg", "-ksp_converged_reason"]


def test_without_the_plugin_the_type_is_unknown(run, tutorial):
    assert "rrb" in run(tutorial(*EX2), *SMALL, "-pc_type", "rrb", fails=True)


def test_loaded_twice(run, tutorial, library, plugin):
    output = run(tutorial(*EX2), *SMALL, "-dll_prepend", library, *plugin, "-options_left")
    assert "CONVERGED_RTOL iterations 1\n" in output
    assert "There are no unused options" in output
    assert "CONVERGED_RTOL" in run(tutorial(*EX2), *SMALL, *plugin, "-dll_append", f"{library},{library}")


def test_linked(run, poisson):
    assert "11 iterations, largest error 3.38e-06" in run(poisson, "-n", 63)


def test_linked_and_loaded(run, poisson, library):
    assert "iterations, largest error" in run(poisson, "-n", 15, "-dll_append", library)


# the entry points alone, as compiled with another PETSc; nobody may come as far as making the type
OTHER_MINOR = """
#include "petsc/compat.h"
#undef PETSC_VERSION_MINOR
#define PETSC_VERSION_MINOR 99
#include "register.cxx"
PETSC_INTERN PetscErrorCode PCCreate_RRB(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode KSPCreate_RRB(KSP) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode KSPCreate_FusedCG(KSP) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PCCreate_Neumann(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PCCreate_MIC(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PCCreate_BlockRelax(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PCCreate_GridMG(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PCCreate_SubdomainDeflation(PC) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode KSPDeflationStartHook(void) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode KSPDeflationStopHook(void) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PetscRRBInfoBuild(void) { return PETSC_ERR_PLIB; }
PETSC_INTERN PetscErrorCode PetscRRBForgetCitations(void) { return PETSC_ERR_PLIB; }
PetscErrorCode PetscRRBSetTimeout(PetscReal) { return PETSC_ERR_PLIB; }
"""


def test_another_minor_version_of_petsc_is_refused(run, config, tutorial, root, tmp_path):
    source, library = tmp_path / "other.cxx", tmp_path / "libpetscrrb.so"
    source.write_text(OTHER_MINOR, encoding="utf-8")
    run(*shlex.split(config["CXX"]), "-std=c++17", "-shared", "-fPIC", f"-I{root}/include", f"-I{root}/src",
        *shlex.split(config["PETSC_COMPILE_FLAGS"]), source, "-o", library, *shlex.split(config["PETSC_LINK_FLAGS"]))
    major, minor = config["PETSC_VERSION"].split(".")[:2]
    message = (f"petscrrb was built for PETSc {major}.99, but this program runs PETSc {major}.{minor}: "
               "rebuild petscrrb with this program's PETSC_DIR")
    assert message in run(tutorial(*EX2), "-dll_append", library, fails=True)


WIDE = (("ksp/ksp", "ex46"), ["-da_grid_x", 40, "-da_grid_y", 30])  # cut in x on two ranks
TALL = (("ksp/ksp", "ex46"), ["-da_grid_x", 30, "-da_grid_y", 40])  # cut in y
ROWS = (EX2, ["-m", 40, "-n", 30])
INSIDE = ["-ksp_type", "cg", "-ksp_converged_reason", "-ksp_rtol", 1e-8, "-sub_pc_type", "rrb"]


@pytest.mark.parametrize("problem, outer", [(ROWS, "bjacobi"), (ROWS, "asm"), (WIDE, "bjacobi"), (TALL, "bjacobi"),
                                            (TALL, "asm")],
                         ids=["rows-bjacobi", "rows-asm", "wide-bjacobi", "tall-bjacobi", "tall-asm"])
def test_inside_each_of_two_ranks(run, tutorial, library, problem, outer):
    program, sizes = problem
    output = run(tutorial(*program), *sizes, "-dll_append", library, "-pc_type", outer, *INSIDE, ranks=2)
    its = int(re.search(r"CONVERGED_RTOL iterations (\d+)", output)[1])
    assert 7 <= its <= 20
    assert float(re.search(r"Norm of error (\S+)", output)[1]) < 1e-5


def test_a_piece_that_is_no_grid(run, tutorial, library):
    """asm's overlap numbers the next rank's column of points after all of the own ones: a graph, which plain red nodes do not take."""
    program, sizes = WIDE
    asm = (tutorial(*program), *sizes, "-dll_append", library, "-pc_type", "asm", *INSIDE)
    assert 7 <= int(re.search(r"CONVERGED_RTOL iterations (\d+)", run(*asm, ranks=2))[1]) <= 20
    output = run(*asm, "-sub_pc_rrb_red_nodes", "plain", ranks=2, fails=True)
    assert "The matrix is not on a structured grid: up to row" in output
    assert "or use another preconditioner, for example -pc_type gamg" in output
