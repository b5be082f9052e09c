"""What make install gives is enough: a program builds against it with pkg-config and with CMake, and runs."""
import os
import re
import shlex
import shutil

import pytest

CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(application C)
find_package(petscrrb 0.1 REQUIRED)
add_executable(poisson "{source}")
target_link_libraries(poisson petscrrb::petscrrb m)
message(STATUS "built with PETSc ${{petscrrb_PETSC_VERSION}}")
"""


def make_install(run, root, build, *settings):
    # as the caller of make named it, or else the lists of objects differ and all is linked again
    folder = os.path.relpath(build, root) if build.is_relative_to(root) else build
    run("make", "-C", root, "install", f"BUILD={folder}", *settings, timeout=300)


@pytest.fixture(scope="module")
def prefix(run, root, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    make_install(run, root, build, f"PREFIX={folder}")
    return folder


def check_poisson(output):
    its, error = re.search(r"(\d+) iterations, largest error (\S+)", output).groups()
    assert 5 <= int(its) <= 14
    assert float(error) < 1e-4


def test_pkg_config(run, root, config, prefix, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "petscrrb", env=path))
    run(*shlex.split(config["CC"]), root / "docs/examples/poisson.c", "-o", tmp_path / "poisson", *flags, "-lm")
    check_poisson(run(tmp_path / "poisson", "-n", 63))
    header = (root / "include/petscrrb.h").read_text(encoding="utf-8")
    version = ".".join(re.findall(r"PETSCRRB_VERSION_\w+ +(\d+)", header))
    assert run("pkg-config", "--modversion", "petscrrb", env=path).strip() == version


def test_cmake(run, root, config, prefix, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("no cmake")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(source=root / "docs/examples/poisson.c"), encoding="utf-8")
    output = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert f"built with PETSc {config['PETSC_VERSION']}" in output
    run("cmake", "--build", tmp_path / "build")
    check_poisson(run(tmp_path / "build/poisson", "-n", 63))
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace("0.1", "99.0").format(source="x.c"), encoding="utf-8")
    output = run("cmake", "-S", tmp_path, "-B", tmp_path / "other", f"-DCMAKE_PREFIX_PATH={prefix}", fails=True)
    assert 'compatible with requested version "99.0"' in " ".join(output.split())


def test_the_installed_plugin_loads(run, tutorial, prefix):
    output = run(tutorial("ksp/ksp", "ex2"), "-dll_append", prefix / "lib/libpetscrrb.so", "-pc_type", "rrb",
                 "-ksp_converged_reason")
    assert "CONVERGED_RTOL" in output


def test_destdir(run, root, build, tmp_path):
    """Packagers install to a folder that the files must not know."""
    make_install(run, root, build, f"DESTDIR={tmp_path}", "PREFIX=/opt/rrb")
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert {"opt/rrb/include/petscrrb.h", "opt/rrb/lib/libpetscrrb.so", "opt/rrb/lib/pkgconfig/petscrrb.pc",
            "opt/rrb/lib/cmake/petscrrb/petscrrbConfig.cmake", "opt/rrb/share/doc/petscrrb/LICENSE"} <= files
    module = (tmp_path / "opt/rrb/lib/pkgconfig/petscrrb.pc").read_text(encoding="utf-8")
    assert "prefix=/opt/rrb\n" in module
    assert str(tmp_path) not in module
