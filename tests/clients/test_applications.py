"""docs/examples: the applications, each at a small size, against what physics says."""
import re

import numpy as np
import pytest


@pytest.fixture
def app(run, python, root, library, tmp_path):
    """app(name, option, ...) is what it printed; it runs in a folder of its own, and knows all of its options."""

    def call(name, *words):
        output = run(python, root / f"docs/examples/{name}.py", "-dll_append", library, *words, "-options_left", cwd=tmp_path,
                     env={"PYTHONDONTWRITEBYTECODE": "1"})
        assert "There are no unused options." in output
        return output

    return call


def numbers(output, name):
    """All numbers behind that word."""
    return [float(number) for number in re.findall(rf"\b{name} (-?[\d.]+(?:e[-+]\d+)?)", output)]


def read_vtk(path):
    """The sizes, as arrays have them, and the scalars by name."""
    text = path.read_bytes()
    sizes = [int(size) for size in re.search(rb"DIMENSIONS (\d+) (\d+) (\d+)\n", text).groups()][::-1]
    fields = {}
    for found in re.finditer(rb"SCALARS (\w+) float 1\nLOOKUP_TABLE default\n", text):
        fields[found[1].decode()] = np.frombuffer(text, ">f4", np.prod(sizes), found.end()).reshape(sizes)
    return fields


@pytest.mark.parametrize("density", [1000, 2])
def test_a_bubble_starts_with_its_buoyancy_over_its_mass_and_the_added_one(app, density):
    """A cylinder between walls has the added mass (1 + s) / (1 - s), with s = (pi R)^2 / 3."""
    output = app("bubbles", "-n", 32, "-steps", 1, "-single", "-sigma", 0, "-mu", 1e-3, "-density", density)
    s = (np.pi * 0.2) ** 2 / 3
    expected = 0.98 * (1 - 1 / density) / (1 / density + (1 + s) / (1 - s))
    (rise,), (time,) = numbers(output, "rise"), numbers(output, "time")
    assert 0.88 < rise / time / expected < 1  # the mean includes some water around it


def test_a_sphere_starts_faster_than_a_cylinder(app):
    """Its added mass is 1/2 and some more between walls, not 1: without walls the acceleration is 2 g instead of g."""
    output = app("bubbles", "-n", 16, "-steps", 1, "-single", "-sigma", 0, "-mu", 1e-3, "-dim", 3)
    assert 1.3 < numbers(output, "rise")[0] / numbers(output, "time")[0] / 0.98 < 2
    assert "rrb with gridmg" in output


def test_bubbles_rise_and_keep_their_air(app, tmp_path):
    output = app("bubbles", "-n", 24, "-steps", 40, "-frames", 40, "-pc_rrb_levels", 4)
    assert max(numbers(output, "divergence")) < 1e-5
    assert all(abs(air - 1) < 1e-3 for air in numbers(output, "air"))
    assert np.all(np.diff(numbers(output, "centre")[1:]) > 0.01) and len(numbers(output, "centre")) == 5
    assert 3 <= max(numbers(output, "iterations")) <= 20
    phi = read_vtk(tmp_path / "bubbles-0040.vtk")["phi"][0]
    assert phi.shape == (48, 24)
    assert np.mean(phi < 0) * 2 == pytest.approx(np.pi * sum(r**2 for r in (0.2, 0.13, 0.1, 0.08)), rel=0.04)
    other = app("bubbles", "-n", 24, "-steps", 40, "-ksp_type", "cg", "-pc_type", "mic")
    assert numbers(other, "centre") == pytest.approx(numbers(output, "centre"), abs=1e-4)


def test_the_pressure_in_a_bubble_is_higher_by_surface_tension_over_radius(app, tmp_path):
    """Laplace; at equal densities the bubble stays where it is."""
    output = app("bubbles", "-n", 24, "-steps", 10, "-single", "-density", 1, "-viscosity", 1, "-mu", 100, "-picture", "bubble")
    assert abs(numbers(output, "rise")[-1]) < 1e-3
    assert numbers(output, "centre")[-1] == pytest.approx(0.5, abs=1e-3)
    pressure = read_vtk(tmp_path / "bubble.vtk")["pressure"][0]
    assert pressure[12, 12] - pressure[12, 1] == pytest.approx(2.0 / 0.2, rel=0.05)
    assert pressure[4, 1] - pressure[40, 1] == pytest.approx(1000 * 0.98 * 36 / 24, rel=0.01)


def test_a_standing_wave_has_the_period_of_the_dispersion_relation(app):
    """omega^2 = g h k^2 (1 + (k h)^2 / 15) / (1 + 2 (k h)^2 / 5); shallow water alone, sqrt(g h) k, is 13 % off here."""
    output = app("harbour", "-basin", "-n", 64, "-steps", 400, "-waves", 4)
    h, k = 20, 4 * np.pi / (64 * 5)
    omega = np.sqrt(9.81 * h * k**2 * (1 + (k * h) ** 2 / 15) / (1 + 0.4 * (k * h) ** 2))
    assert numbers(output, "period")[-1] == pytest.approx(2 * np.pi / omega, rel=2e-3)
    assert max(map(abs, numbers(output, "water"))) < 1e-9
    energy = numbers(output, "energy")
    assert max(energy) / min(energy) < 1.05


def test_waves_come_into_the_harbour_and_stop_at_land(app, tmp_path):
    output = app("harbour", "-n", 64, "-steps", 240, "-picture", "harbour", "-moving")
    fields = read_vtk(tmp_path / "harbour.vtk")
    zeta, depth = fields["zeta"][0], fields["depth"][0]
    assert zeta.shape == (48, 64)
    assert np.all(zeta[depth == 0] == 0) and 0.15 < np.mean(depth == 0) < 0.4
    assert 0.1 < abs(zeta[6:16]).max() < 3
    assert abs(zeta[46]).max() < abs(zeta[6:16]).max() / 5
    assert 2 <= max(numbers(output, "iterations")) <= 12
    assert "refresh 0.0 ms" not in output


def test_the_largest_harbour(app):
    """One that makes that many steps a second, while another one, at most an eighth larger or 16 cells, does not."""
    output = app("harbour", "-find_largest", "-n", 32, "-rate", 400)
    speeds = {int(n): float(speed) for n, speed in re.findall(r"^(\d+) x \d+ cells: speed ([\d.]+)", output, re.MULTILINE)}
    largest = int(numbers(output, "largest")[0])
    assert largest == max([n for n, speed in speeds.items() if speed >= 400], default=0)
    assert min(n for n, speed in speeds.items() if speed < 400) - largest <= max(16, largest / 8)


def test_flow_around_a_sphere_has_the_energy_of_its_added_mass(app, tmp_path):
    """1/2 of the sphere's volume without walls, and some more between them; potential flow at the side of a sphere has the velocity 3/2."""
    output = app("obstacle", "-n", 24, "-steps", 4, "-radius", 0.15, "-picture", "obstacle")
    assert 0.45 < numbers(output, "added")[0] < 0.7  # of a staircase
    assert 1.35 < numbers(output, "fastest")[0] < 1.65
    assert max(numbers(output, "divergence")) < 1e-5
    for name in ("through", "to"):  # what comes in goes through every section
        assert numbers(output, name) == pytest.approx([1] * 4, abs=1e-5)
    assert 4 <= max(numbers(output, "iterations")) <= 15 and "rrb with gridmg" in output
    fluid = read_vtk(tmp_path / "obstacle.vtk")["fluid"]
    assert (fluid == 0).sum() / 24**3 == pytest.approx(4 / 3 * np.pi * 0.15**3, rel=0.1)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_same_flow_in_c(app, run, build, ranks):
    words = ("-n", 16, "-steps", 3, "-viscosity", 0.01, "-ksp_rtol", 1e-10, "-ksp_norm_type", "unpreconditioned")
    output = run(build / "examples/obstacle", *words, ranks=ranks)
    other = app("obstacle", *words)
    for name in ("time", "fastest", "added"):
        assert numbers(output, name) == pytest.approx(numbers(other, name), abs=1e-4)
    assert max(numbers(output, "divergence")) < 1e-8
    assert numbers(output, "iterations") == numbers(other, "iterations")[:3]


def decay_by_crank_nicolson(n, dt):
    """It multiplies the first sine by (1 - l dt/2) / (1 + l dt/2) in each step, with the eigenvalue l of the 7 points."""
    eigenvalue = 12 * n**2 * np.sin(np.pi / (2 * n)) ** 2
    return -np.log((1 - eigenvalue * dt / 2) / (1 + eigenvalue * dt / 2)) / dt


def test_heat_decays_as_the_scheme_says(app):
    output = app("heat", "-n", 16, "-ts_type", "cn", "-ts_dt", 2e-3, "-ts_adapt_type", "none", "-ksp_rtol", 1e-10)
    assert numbers(output, "decay")[0] == pytest.approx(decay_by_crank_nicolson(16, 2e-3), rel=1e-5)
    assert numbers(output, "steps") == [50] and "cg with mic" in output


@pytest.mark.parametrize("ranks", [1, 3])
def test_heat_in_c_decays_as_the_scheme_says(run, build, ranks):
    output = run(build / "examples/heat", "-n", 16, "-ts_type", "cn", "-ts_dt", 2e-3, "-ts_adapt_type", "none", "-ksp_rtol", 1e-10, ranks=ranks)
    assert numbers(output, "decay")[0] == pytest.approx(decay_by_crank_nicolson(16, 2e-3), rel=1e-7)
    assert numbers(output, "steps") == [50] and 150 < numbers(output, "iterations")[0] < 700


def test_heat_with_steps_that_choose_themselves(app):
    output = app("heat", "-n", 16, "-ksp_type", "rrb", "-pc_type", "gridmg")
    assert numbers(output, "decay")[0] == pytest.approx(3 * np.pi**2, rel=0.01)
    assert numbers(output, "from")[0] > 20 * numbers(output, "to")[0] > 0
    assert 10 < numbers(output, "steps")[0] < 200 and "rrb with gridmg" in output


def test_notebook(app, run, python, root, library, tmp_path):
    """The matrix of poisson.py: -laplace u = 1 times h^2 has 0.07367 in the middle, whoever solves it."""
    run(python, root / "docs/examples/poisson.py", "-dll_append", library, "-n", 47, "-ksp_view_mat", "binary:A.bin", cwd=tmp_path)
    output = app("notebook")
    assert numbers(output, "to")[0] / 48**2 == pytest.approx(0.073671, rel=1e-3)
    assert len(numbers(output, "by")) == 4 and max(numbers(output, "by")) < 1e-6 * numbers(output, "to")[0]
    iterations = dict(re.findall(r"^(\w+ \w+) +(\d+) iterations", output, re.MULTILINE))
    assert int(iterations["cg icc"]) > 2 * int(iterations["cg rrb"])
