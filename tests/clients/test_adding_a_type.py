"""docs/adding_a_type.md: its type, in a copy of the project, does what PETSc's point Jacobi does."""
import re
import shutil

import pytest

pytestmark = pytest.mark.xdist_group("adding_a_type")  # so that one process makes the library with it

EX2 = ("ksp/ksp", "ex2")
EX45 = ("ksp/ksp", "ex45")
CG = ["-ksp_type", "cg", "-ksp_converged_reason"]


@pytest.fixture(scope="module")
def with_it(run, root, build, tmp_path_factory):
    """The options that load a library with the type."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("include", "src", "config"):
        shutil.copytree(root / name, copy / name)
    shutil.copy(root / "makefile", copy)
    shutil.copy(root / "configure.py", copy)
    shutil.copytree(build / "obj/src", copy / "build/obj/src")  # with their times: they are as new as their sources
    page = (root / "docs/adding_a_type.md").read_text(encoding="utf-8")
    line = re.search(r"```text\n(type\(.*\))\n```", page).group(1)
    register = copy / "src/register.cxx"
    text = register.read_text(encoding="utf-8")
    first = "type(PC, PCRRB,"
    assert text.count(first) == 1
    register.write_text(text.replace(first, f"{line} {first}"), encoding="utf-8")
    shutil.copytree(root / "docs/examples/pointjacobi", copy / "src/pc/pointjacobi")
    output = run("make", "-C", copy, "BUILD=build", f"CONFIG={build / 'config.mk'}", "all", "PREREQUISITES=no", timeout=300)
    assert "warning" not in output
    return ["-dll_append", copy / "build/lib/libpetscrrb.so"]


def iterations(output):
    return int(re.search(r"iterations (\d+)", output).group(1))


def test_all_of_its_files_are_shown(root):
    page = (root / "docs/adding_a_type.md").read_text(encoding="utf-8")
    folder = root / "docs/examples/pointjacobi"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert set(re.findall(r"\{literalinclude\} examples/pointjacobi/(\S+)", page)) == files


def test_takes_the_iterations_of_petscs(run, tutorial, with_it):
    problem = [tutorial(*EX2), "-m", 40, "-n", 30, *CG]
    assert iterations(run(*problem, *with_it, "-pc_type", "pointjacobi")) == iterations(run(*problem, "-pc_type", "jacobi"))


def test_on_ranks(run, tutorial, with_it):
    ours = run(tutorial(*EX2), "-m", 30, "-n", 30, *CG, *with_it, "-pc_type", "pointjacobi", ranks=3)
    assert iterations(ours) == iterations(run(tutorial(*EX2), "-m", 30, "-n", 30, *CG, "-pc_type", "jacobi"))


def test_dirichlet_rows_whose_columns_are_kept(run, tutorial, with_it):
    output = run(tutorial(*EX45), "-da_grid_x", 9, "-da_grid_y", 9, "-da_grid_z", 9, *CG, *with_it, "-pc_type", "pointjacobi")
    assert "CONVERGED_RTOL" in output


def test_its_parameters(run, tutorial, with_it):
    problem = [tutorial(*EX2), "-m", 20, "-n", 10, *with_it, "-pc_type", "pointjacobi", "-ksp_type", "richardson",
               "-ksp_max_it", 3000, "-ksp_converged_reason"]
    damped = run(*problem, "-pc_pointjacobi_omega", 0.5, "-ksp_view")
    assert "omega 0.5" in damped and "backend: host, memory: 1600 bytes" in damped
    assert iterations(damped) > 1.8 * iterations(run(*problem))
    assert "Omega 2. must be between 0 and 2" in run(*problem, "-pc_pointjacobi_omega", 2, fails=True)
    assert "A grid of 7 x 7 points does not match the matrix" in run(*problem, "-pc_pointjacobi_grid", "7,7", fails=True)


def test_on_a_device(run, tutorial, with_it, device):
    problem = [tutorial(*EX2), "-m", 40, "-n", 30, *CG]
    output = run(*problem, *with_it, *device, "-mat_type", "aijcusparse", "-vec_type", "cuda", "-pc_type", "pointjacobi", "-ksp_view")
    assert "backend: cuda" in output
    assert iterations(output) == iterations(run(*problem, "-pc_type", "jacobi"))
