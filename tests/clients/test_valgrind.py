"""Under valgrind: no error anywhere, and no memory lost that petscrrb asked for."""
import shlex
import shutil
import xml.etree.ElementTree as xml

import pytest


@pytest.fixture
def memcheck(run, config, root, tmp_path):
    """memcheck(program, option, ...) gives (the errors, the leaks), each a list of the text of one error with its stack."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        pytest.skip("no valgrind (on Debian: apt-get install valgrind)")

    def call(*words):
        report = tmp_path / "report.xml"
        # deep stacks: petscrrb's frames are below those of PETSc's allocation and objects
        run(valgrind, "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40", "--xml=yes",
            f"--xml-file={report}", f"--suppressions={root}/tests/valgrind.supp", *words, env={"OMP_NUM_THREADS": "2"})
        found = [(error.findtext("kind"), xml.tostring(error, encoding="unicode")) for error in
                 xml.parse(report).getroot().findall("error")]
        leaks = [text for kind, text in found if kind.startswith("Leak_")]
        return [text for kind, text in found if not kind.startswith("Leak_")], leaks

    return call


def ours(texts):
    """Those with a frame of this library: what it asked for, itself or through PETSc."""
    return [text for text in texts if "libpetscrrb" in text]


def test_plugin(memcheck, tutorial, plugin):
    errors, leaks = memcheck(tutorial("ksp/ksp", "ex2"), "-m", 30, "-n", 25, *plugin, "-pc_rrb_levels", 5)
    assert errors == []
    assert ours(leaks) == []


@pytest.mark.parametrize("options", [
    ["-pc_rrb_levels", 6],
    ["-pc_rrb_storage", "naive", "-pc_rrb_lump_nodes", "both", "-pc_rrb_coarse", "inverse"],
    ["-pc_rrb_coarse", "ksp", "-ksp_type", "fcg", "-rrb_coarse_pc_type", "icc", "-ksp_view"],
], ids=["default", "naive", "inner ksp"])
def test_linked(memcheck, poisson, options):
    errors, leaks = memcheck(poisson, "-n", 33, *options)
    assert errors == []
    assert ours(leaks) == []


LEAKS = """
#include <petscsys.h>
#include <stdlib.h>
static void *volatile kept;
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscrrb(void)
{
  kept = malloc(1000);
  kept = NULL;
  return (PetscErrorCode)0;
}
"""


def test_a_leak_would_be_seen(memcheck, run, config, poisson, tmp_path):
    """A second library of this name, which loses memory when it is loaded."""
    source, library = tmp_path / "leaks.c", tmp_path / "libpetscrrb.so"
    source.write_text(LEAKS, encoding="utf-8")
    run(*shlex.split(config["CC"]), "-shared", "-fPIC", "-Wl,-z,nodelete", source, "-o", library,
        *shlex.split(config["PETSC_COMPILE_FLAGS"]), *shlex.split(config["PETSC_LINK_FLAGS"]))
    errors, leaks = memcheck(poisson, "-n", 5, "-dll_append", library)
    assert errors == []
    assert len(ours(leaks)) == 1
