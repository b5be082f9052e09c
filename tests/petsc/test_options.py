"""The options of PCRRB as a user meets them: -help, -ksp_view, -info, and what each says to a bad value."""
import re

import pytest

OPTIONS = {
    "levels": "PCRRBSetLevels",
    "lumping": "PCRRBSetLumping",
    "lump_nodes": "PCRRBSetLumpNodes",
    "grid": "PCRRBSetGrid",
    "storage": "PCRRBSetStorage",
    "storage_grids": "PCRRBSetStorageGrids",
    "compute_block": "PCRRBSetComputeBlock",
    "gather_size": "PCRRBSetGatherSize",
    "transport": "PCRRBSetTransport",
    "coarse": "PCRRBSetCoarse",
    "cycle": "PCRRBSetCycle",
    "red_nodes": "PCRRBSetRedNodes",
    "precision": "PCRRBSetPrecision",
}


def test_help_lists_every_option_with_its_function(run, poisson):
    listed = dict(re.findall(r"^ *-pc_rrb_(\w+):? .*\((PCRRB\w+)\)$", run(poisson, "-n", 15, "-help"), re.MULTILINE))
    assert listed == OPTIONS


def view(output):
    """What -ksp_view says of the type rrb: {"grid": "...", ...}."""
    lines = output.partition("type: rrb\n")[2].partition("linear system matrix")[0].splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_view_shows_what_was_decided(run, poisson):
    shown = view(run(poisson, "-n", 63, "-ksp_view"))
    assert shown["lumping"] == "1., of red nodes"
    assert shown["grid"] == "63 x 63, 5-point, from the option"
    assert shown["levels"] == "2, unknowns left: 3969 1985 1024"
    assert shown["storage"] == "r1r2b1b2 on 1 grids, compute block 32"
    assert shown["last block"] == "cholesky, 1024 unknowns"
    bytes_, each = re.fullmatch(r"(\d+) bytes, ([\d.]+) per unknown", shown["memory"]).groups()
    assert float(each) == pytest.approx(int(bytes_) / 63**2, abs=0.06)
    assert 50 < float(each) < 500


def test_view_shows_what_was_asked_for(run, poisson):
    shown = view(run(poisson, "-n", 63, "-ksp_view", "-pc_rrb_levels", 6, "-pc_rrb_lumping", 0.5, "-pc_rrb_lump_nodes",
                     "both", "-pc_rrb_storage_grids", 2, "-pc_rrb_compute_block", 16, "-pc_rrb_coarse", "inverse"))
    assert shown["lumping"] == "0.5, of red and black nodes"
    assert shown["levels"].startswith("6, unknowns left: 3969 1985 ")
    assert shown["storage"] == "r1r2b1b2 on 2 grids, compute block 16"
    assert shown["last block"] == "inverse, 64 unknowns"
    assert view(run(poisson, "-n", 31, "-ksp_view", "-pc_rrb_storage", "naive"))["storage"] == "naive"


def test_view_shows_the_inner_solver(run, poisson):
    output = run(poisson, "-n", 63, "-ksp_view", "-ksp_type", "fcg", "-pc_rrb_coarse", "ksp", "-rrb_coarse_pc_type", "icc",
                 "-options_left")
    assert "KSP Object: (rrb_coarse_)" in output
    assert "There are no unused options" in output


def test_view_and_info_say_which_cycle_it_is(run, poisson):
    options = ["-n", 127, "-pc_rrb_levels", 8, "-ksp_view", "-info", ":pc"]
    assert view(run(poisson, *options, "-pc_rrb_cycle", "v"))["cycle"] == "v"
    output = run(poisson, *options)  # amli from eight levels on
    used = r"amli at grid 32 x 32, lambda_max 2\.\d\d"
    assert re.search(r"RRB cycle: " + used, output)
    assert re.fullmatch(used, view(output)["cycle"])


ANISOTROPY = r"The couplings in (\w) are (\d+) times stronger than in (\w): RRB converges slowly"


def test_info_names_anisotropy(run, tutorial, plugin):
    """Its coefficients are hx/hy and hy/hx, squared in their ratio."""
    wide = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 640, "-da_grid_y", 20, *plugin, "-pc_rrb_red_nodes", "plain", "-info", ":pc")
    direction, times, other = re.search(ANISOTROPY, wide).groups()
    assert (direction, other) == ("x", "y")
    assert 900 < int(times) < 1150
    tall = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 20, "-da_grid_y", 640, *plugin, "-pc_rrb_red_nodes", "plain", "-info", ":pc")
    assert re.search(ANISOTROPY, tall)[1] == "y"
    square = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 40, "-da_grid_y", 40, *plugin, "-pc_rrb_red_nodes", "plain", "-info", ":pc")
    assert not re.search(ANISOTROPY, square)
    assert "Grid of 40 x 40 x 1 points, from the Mat's DMDA" in square


def test_info_names_the_choice_of_red_nodes(run, tutorial, plugin):
    wide = run(tutorial("ksp/ksp", "ex46"), "-da_grid_x", 640, "-da_grid_y", 20, *plugin, "-info", ":pc")
    assert re.search(r"\d+ plain red nodes fail the test of support: red nodes are chosen by support", wide)
    assert not re.search(ANISOTROPY, wide)


@pytest.mark.parametrize("option, value, message", [
    ("levels", "0", "Number of levels 0 must be at least 1"),
    ("levels", "many", "Input string many has no integer value"),
    ("lumping", "2", "Lumping 2. must be between 0 and 1"),
    ("lumping", "-0.5", "Lumping -0.5 must be between 0 and 1"),
    ("lumping", "nan", "nan. "),
    ("lump_nodes", "blue", "Unknown option blue for -pc_rrb_lump_nodes. Available options: red both"),
    ("grid", "31", "-pc_rrb_grid needs two sizes, nx,ny; got 1"),
    ("grid", "0,961", "Grid of 0 x 961 points: both sizes must be positive"),
    ("grid", "31,30", "A grid of 31 x 30 points does not match the matrix, which has 961 rows. Correct -pc_rrb_grid"),
    ("storage", "sideways", "Unknown option sideways for -pc_rrb_storage. Available options: naive r1r2b1b2"),
    ("storage_grids", "-5", "Number of storage grids -5 must not be negative"),
    ("storage_grids", "9", "-pc_rrb_storage_grids 9 needs 18 levels, but there are "),
    ("storage_grids", "1073741824", "-pc_rrb_storage_grids 1073741824 needs 2147483648 levels, but there are "),
    ("storage_grids", "2147483647", "-pc_rrb_storage_grids 2147483647 needs 4294967294 levels, but there are "),
    ("compute_block", "1073741824", "Compute block 1073741824 must be a power of two, from 8 to 4096"),
    ("compute_block", "4", "Compute block 4 must be a power of two, from 8 to 4096"),
    ("compute_block", "12", "Compute block 12 must be a power of two, from 8 to 4096"),
    ("coarse", "lu", "Unknown option lu for -pc_rrb_coarse. Available options: cholesky inverse ksp"),
    ("cycle", "w", "Unknown option w for -pc_rrb_cycle. Available options: v amli"),
    ("precision", "half", "Unknown option half for -pc_rrb_precision. Available options: double single"),
])
def test_a_bad_value_is_refused(run, poisson, option, value, message):
    output = run(poisson, "-n", 31, f"-pc_rrb_{option}", value, fails=True)
    # later PETSc puts the word that it does not know in quotes
    assert message in output.replace(f'"{value}"', value)


def test_a_large_dense_inverse_is_refused_with_its_memory(run, poisson):
    output = run(poisson, "-n", 100, "-pc_rrb_levels", 1, "-pc_rrb_coarse", "inverse", fails=True)
    assert "5000 unknowns, would take 0.2 GB; at most 4096 are allowed. Use more -pc_rrb_levels" in output


def test_the_errors_name_the_options_with_their_prefix(run, tutorial, library):
    output = run(tutorial("ksp/ksp", "ex2"), "-m", 31, "-n", 31, "-dll_append", library, "-pc_type", "bjacobi",
                 "-sub_pc_type", "rrb", "-sub_pc_rrb_grid", "31,30", fails=True)
    assert "Correct -sub_pc_rrb_grid" in output
