"""What make install gives is enough: a program builds against it with pkg-config and with CMake, and runs."""
import shlex
import shutil

import pytest

CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(application {languages})
find_package(petscrrb {version} REQUIRED)
add_executable(poisson "{source}")
target_link_libraries(poisson petscrrb::petscrrb)
message(STATUS "built with PETSc ${{petscrrb_PETSC_VERSION}}")
"""


def check_poisson(output):
    assert "11 iterations, largest error 3.38e-06" in output


@pytest.fixture
def pkg_config(run, prefix):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    return lambda *words: run("pkg-config", *words, "petscrrb", env={"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")})


@pytest.fixture
def source(root, tmp_path):
    """The example, to be compiled as the language that the ending tells."""
    return lambda ending: shutil.copy(root / "docs/examples/poisson.c", tmp_path / f"poisson.{ending}")


def test_pkg_config_tells_the_version(version, pkg_config):
    assert pkg_config("--modversion").strip() == version


@pytest.mark.parametrize("static", [[], ["--static"]], ids=["", "static"])
@pytest.mark.parametrize("compiler, ending", [("cc", "c"), ("CC", "c"), ("c++", "cxx"), ("CXX", "cxx")])
def test_pkg_config(run, config, pkg_config, source, tmp_path, compiler, ending, static):
    """With plain compilers and with PETSc's own, CC and CXX; libraries that nothing before them needs are left out."""
    words = shlex.split(config.get(compiler, compiler))
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]}")
    flags = shlex.split(pkg_config("--cflags", "--libs", *static))
    run(*words, source(ending), "-o", tmp_path / "poisson", "-Wl,--as-needed", *flags)
    check_poisson(run(tmp_path / "poisson", "-n", 63))


@pytest.fixture
def cmake(run, prefix, tmp_path):
    """cmake(text, ...) configures a project of that CMakeLists.txt in tmp_path / "build"."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake")

    def call(text, **how):
        (tmp_path / "CMakeLists.txt").write_text(text, encoding="utf-8")
        return run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", **how)

    return call


@pytest.mark.parametrize("languages, ending", [("C", "c"), ("CXX", "cxx"), ("C CXX", "c"), ("C CXX", "cxx")])
def test_cmake(run, config, cmake, source, tmp_path, languages, ending):
    output = cmake(CMAKE.format(languages=languages, version="0.1", source=source(ending)))
    assert f"built with PETSc {config['PETSC_VERSION']}" in output
    run("cmake", "--build", tmp_path / "build")
    check_poisson(run(tmp_path / "build/poisson", "-n", 63))


def test_cmake_refuses_another_version(cmake):
    output = cmake(CMAKE.format(languages="C", version="99.0", source="x.c"), fails=True)
    assert 'compatible with requested version "99.0"' in " ".join(output.split())


def test_the_installed_plugin_loads(run, tutorial, prefix):
    output = run(tutorial("ksp/ksp", "ex2"), "-dll_append", prefix / "lib/libpetscrrb.so", "-pc_type", "rrb",
                 "-ksp_converged_reason")
    assert "CONVERGED_RTOL" in output


def test_documentation_that_was_made(install, tmp_path):
    """Twice, to the same place."""
    (tmp_path / "docs/images").mkdir(parents=True)
    for name in ("index.html", "images/picture.svg"):
        (tmp_path / "docs" / name).write_text(name, encoding="utf-8")
    for _ in range(2):
        install(f"DESTDIR={tmp_path}", "PREFIX=/opt/rrb", f"DOCS={tmp_path / 'docs'}")
    html = tmp_path / "opt/rrb/share/doc/petscrrb/html"
    assert [(html / name).read_text(encoding="utf-8") for name in ("index.html", "images/picture.svg")] == ["index.html", "images/picture.svg"]
    assert not (html / "docs").exists()


def test_destdir(install, tmp_path):
    """Packagers install to a folder that the files must not know."""
    install(f"DESTDIR={tmp_path}", "PREFIX=/opt/rrb")
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert {"opt/rrb/include/petscrrb.h", "opt/rrb/lib/libpetscrrb.so", "opt/rrb/lib/pkgconfig/petscrrb.pc",
            "opt/rrb/lib/cmake/petscrrb/petscrrbConfig.cmake", "opt/rrb/share/doc/petscrrb/LICENSE",
            "opt/rrb/share/man/man3/KSPRRB.3", "opt/rrb/share/man/man3/PCRRBGetLevels.3", "opt/rrb/share/man/man7/petscrrb.7"} <= files
    module = (tmp_path / "opt/rrb/lib/pkgconfig/petscrrb.pc").read_text(encoding="utf-8")
    assert "prefix=/opt/rrb\n" in module
    assert str(tmp_path) not in module


def test_man_pages(run, prefix):
    """man finds them, and groff has nothing to say of them."""
    if shutil.which("groff"):
        assert run("groff", "-man", "-ww", "-z", *sorted((prefix / "share/man").glob("man?/*"))) == ""
    if not shutil.which("man"):
        pytest.skip("no man")
    env = {"MANPATH": str(prefix / "share/man"), "MANPAGER": "cat", "MANWIDTH": "100"}
    assert "-pc_rrb_levels <l>" in run("man", "PCRRBSetLevels", env=env)
    assert "PCRRBSetLevels(3), PCRRBGetLevels(3)" in run("man", "petscrrb", env=env)
