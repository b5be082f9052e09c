"""On a GPU: PETSc's tutorials with device types give the host's iterations, and their solves copy nothing."""
import re

import pytest

from test_tutorials import STRICT, counts, error

AIJ = ["-mat_type", "aijcusparse", "-vec_type", "cuda"]
DM = ["-dm_mat_type", "aijcusparse", "-dm_vec_type", "cuda"]
KINDS = {"default": [], "v": ["-pc_rrb_cycle", "v"], "amli": ["-pc_rrb_cycle", "amli"],
         "single": ["-pc_rrb_precision", "single"]}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def test_five_points_without_a_dm(run, tutorial, plugin, device, kind):
    words = ["-m", 300, "-n", 257, "-ksp_rtol", 1e-8, "-pc_rrb_lumping", 0.9, "-pc_rrb_levels", 8, *kind, *plugin,
             *device, *STRICT]
    here, there = run(tutorial("ksp/ksp", "ex2"), *words, *AIJ), run(tutorial("ksp/ksp", "ex2"), *words)
    assert counts(here) == counts(there)
    assert error(here) < 1e-4


def test_dmda(run, tutorial, plugin, device, kind):
    words = ["-da_grid_x", 250, "-da_grid_y", 263, "-random_exact_sol", "-ksp_rtol", 1e-8, "-pc_rrb_levels", 8, *kind,
             "-ksp_view", *plugin, *device, *STRICT]
    here, there = run(tutorial("ksp/ksp", "ex46"), *words, *DM), run(tutorial("ksp/ksp", "ex46"), *words)
    assert counts(here) == counts(there)
    assert error(here) < 1e-4
    assert "grid: 250 x 263, 5-point, from the Mat's DMDA" in here
    assert "type: seqaijcusparse" in here
    assert "backend: cuda\n" in here
    assert "backend: cuda" not in there


def test_newton_gives_new_values_in_each_step(run, tutorial, plugin, device, kind):
    words = ["-da_grid_x", 129, "-da_grid_y", 129, "-mms", 1, "-snes_converged_reason", "-snes_rtol", 1e-10,
             "-pc_rrb_levels", 8, *kind, *plugin, *device, *STRICT]
    here, there = run(tutorial("snes", "ex5"), *words, *DM), run(tutorial("snes", "ex5"), *words)
    newton = [int(re.search(r"Nonlinear solve converged due to \w+ iterations (\d+)", out)[1]) for out in (here, there)]
    assert newton[0] == newton[1]
    assert len(counts(here)) == newton[0]
    assert all(abs(a - b) <= 1 for a, b in zip(counts(here), counts(there)))
    assert float(re.search(r"error L2 (\S+)", here)[1]) < 1e-8


def copies(output, event):
    """(to the device, to the host): how many bulk copies -log_view counts in an event of the main stage."""
    row = re.search(rf"^{event} .*$", output, re.MULTILINE)
    assert row, f"no event {event} in\n{output}"
    # ... GPU Mflop/s, count and size to the device, count and size to the host, percentage of flops on the GPU
    words = row[0].split()
    return int(words[-5]), int(words[-3])


# the host's SOR shows that copies would be seen
@pytest.mark.parametrize("pc, event, some", [("rrb", "KSPSolve", False), ("rrb", "PCApply", False),
                                             ("rrb", "PCSetUp", False), ("sor", "KSPSolve", True)],
                         ids=["solve", "apply", "setup", "and_sor_does"])
def test_log_view_counts_no_copies(run, tutorial, library, device, pc, event, some):
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 500, "-n", 511, "-dll_append", library, "-pc_type", pc, "-ksp_type", "cg",
                 *AIJ, *device, "-log_view")
    assert (sum(copies(output, event)) > 0) == some, output


@pytest.mark.parametrize("space", [["block"], ["stripe"], ["levelset", "-ksp_deflation_blocks", "8,8"],
                                   ["block", "-ksp_deflation_variant", "def1"]], ids=["block", "stripe", "levelset", "def1"])
def test_deflation(run, tutorial, library, device, space):
    words = ["-da_grid_x", 250, "-da_grid_y", 263, "-random_exact_sol", "-ksp_rtol", 1e-8, "-pc_type", "jacobi", "-ksp_view",
             "-dll_append", library, "-ksp_deflation", *space, *device, *STRICT]
    here, there = run(tutorial("ksp/ksp", "ex46"), *words, *DM), run(tutorial("ksp/ksp", "ex46"), *words)
    assert abs(counts(here)[0] - counts(there)[0]) <= 1
    assert error(here) < 1e-3
    assert "on the device" in here
    assert "on the host" in there


def test_deflation_copies_nothing(run, tutorial, library, device):
    output = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 500, "-da_grid_y", 511, "-random_exact_sol", "-dll_append", library,
                 "-pc_type", "none", "-ksp_type", "cg", "-ksp_deflation", "block", "-ksp_converged_reason", "-options_left",
                 *DM, *device, "-log_view")
    assert counts(output)[0] > 10
    assert sum(copies(output, "PCApply")) == 0, output


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_messages_between_devices(run, build, device, ranks):
    """Where ranks share a device, they must find that out."""
    output = run(build / "tests/cuda", "--gtest_filter=*DeviceRanks.*", "--gtest_color=no", ranks=ranks, timeout=300,
                 env={"NCCL_NVLS_ENABLE": "0"})
    assert output.count("[  PASSED  ]") == ranks
    if "[  PASSED  ] 0 tests." in output:
        pytest.skip("; ".join(sorted(set(re.findall(r"\d+ ranks?, \d+ devices: .*", output)))))
