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
