"""benchmarks/cost_model.py: what is fitted comes back, and an iteration is the sum of what docs/scaling.md says."""
import sys

import pytest

EXCHANGE, GATHER = (7.5, 0.75, 4e-5), (8.0, 3.0, 3e-5)  # us: latency, for each neighbour or doubling, for each value


@pytest.fixture(scope="module")
def model(root):
    sys.path.insert(0, str(root / "benchmarks"))
    try:
        import cost_model
        yield cost_model
    finally:
        sys.path.remove(str(root / "benchmarks"))


@pytest.fixture(scope="module")
def node(model):
    return model.Node("made up", list(EXCHANGE), list(GATHER))


@pytest.fixture(scope="module")
def device(model):
    """A microsecond for 1000 points of the finest grid and for 4000 of another, 2 at least."""
    return model.OneDevice(model.Curve([(2000, 2), (10**7, 10**4)]), model.Curve([(8000, 2), (4 * 10**6, 1000)]), 11.0, 30.0)


def rows(graph=1, slower=1.0):
    for ranks, doublings in ((2, 1), (4, 2)):
        common = {"ranks": ranks, "transport": "nccl", "in_graph": graph}
        for values in (1, 512, 4096, 65536, 10**6):
            for neighbours in (1, 3)[:doublings]:
                us = slower * (EXCHANGE[0] + EXCHANGE[1] * neighbours + EXCHANGE[2] * neighbours * values)
                yield common | {"operation": "exchange", "values": values, "neighbours": neighbours, "microseconds": us}
            us = slower * (GATHER[0] + GATHER[1] * doublings + GATHER[2] * values)
            yield common | {"operation": "gather", "values": values, "neighbours": ranks - 1, "microseconds": us}


def test_the_fit_finds_what_was_put_in(model):
    node = model.Node.measured([*rows(graph=0, slower=3), *rows()])
    assert node.transport == "nccl, in a graph"
    assert node.per_exchange == pytest.approx(EXCHANGE, rel=1e-6)
    assert node.per_gather == pytest.approx(GATHER, rel=1e-6)
    assert model.Node.measured([*rows()], "nccl, no graph") is None
    assert model.Node.measured([]) is None


def test_the_fit_finds_no_negative_coefficient(model):
    """Times that fall with the number of values, and a term that is always the same as another."""
    assert model.fit([(1, 0), (1, 10), (1, 20)], [3.0, 2.9, 2.8]) == [pytest.approx(2.9, rel=0.01), 0]
    assert sum(model.fit([(1, 1, 0), (1, 1, 10), (1, 1, 30)], [2.0, 3.0, 5.0])[:2]) == pytest.approx(2)


def test_curve(model):
    curve = model.Curve([(100, 2.0), (100, 4.0), (10000, 30.0)])
    assert [curve(points) for points in (1, 100, 1000, 10000, 40000)] == pytest.approx([3, 3, 90**0.5, 30, 120])


def test_levels_are_the_library_s(model):
    assert [model.Problem(n, n).levels for n in (127, 255, 1023, 2047, 4095, 8191)] == [2, 4, 8, 10, 12, 14]
    assert model.Problem(8191, 4095).levels == 13  # too many points for one more
    assert [model.Problem(nx, ny).levels for nx, ny in ((80, 80), (300, 300), (2047, 1023), (2600, 2600))] == [1, 6, 10, 11]
    assert model.Problem(2047, 1023, levels=9).levels == 9
    assert [model.Problem(n, n).amli_grid for n in (1023, 4095, 8191, 65535)] == [2, 3, 3, 5]
    p = model.Problem(8191, 8191, 2, 2)
    assert [p.gathered(size) for size in (10**9, 512 * 512, 512 * 512 - 1, 1)] == [0, 4, 5, 7]
    assert p.box == (4096, 4096) and p.neighbours() == 3
    # two cuts of a box: both sides of 2 n values
    assert [p.down_values(grid) for grid in (0, 3)] == [8192, 1024]
    assert model.Problem(8191, 8191, 8, 8).neighbours() == 8


def test_one_rank_sends_nothing(model, device):
    p = model.Problem(2047, 2047)
    parts = model.iteration(device, None, p, 3)
    assert parts["exchanges"] == parts["gather"] == parts["all-reduce"] == parts["other grids"] == 0
    # grids 1 to 4, from grid 2 on twice, and AMLI's product
    grids = [device.grid(4**k) for k in (10, 9, 8, 7)]
    assert parts["tail"] == pytest.approx(grids[0] + 2 * sum(grids[1:]) + 0.5 * grids[1] + 22)
    assert model.iteration(device, None, model.Problem(2047, 2047, amli=False), 0)["tail"] == pytest.approx(sum(grids) + 11)


@pytest.mark.parametrize("amli, visits", [(True, 2), (False, 1)])
def test_an_odd_number_of_levels_costs_more(model, device, amli, visits):
    """Than an even one with the same grids, at each visit of the last block; on several ranks, too."""
    for ranks in (1, 2):
        network = model.Node("", [1, 0, 0], [1, 0, 0])
        even, odd = (model.iteration(device, network, model.Problem(2047, 1023, ranks, 1, amli=amli, levels=levels), 3)
                     for levels in (8, 9))
        assert odd == even | {"tail": pytest.approx(even["tail"] + 30 * visits)}


def test_what_an_odd_level_costs_is_a_mean(model, tmp_path, monkeypatch):
    """Over sizes, of what it takes more than one level more, for each visit: two where AMLI is the default."""
    times = {("300 x 300", 5): 73, ("300 x 300", 6): 40, ("1200 x 1200", 9): 150, ("1200 x 1200", 10): 120}
    rows = [{"unknowns": size, "levels": levels, "us_per_iteration": us} for (size, levels), us in times.items()]
    assert model.odd_level(rows) == (33 + 30 / 2) / 2
    assert model.odd_level(rows[:3]) == 33  # the other size lacks its second solver
    measured = model.OneDevice.measured()
    assert measured.odd_level == model.odd_level(model.read("odd_levels")[1]) > 0
    for name in ("breakdown", "solver_breakdown"):
        (tmp_path / f"{name}.csv").write_bytes((model.RESULTS / f"{name}.csv").read_bytes())
    monkeypatch.setattr(model, "RESULTS", tmp_path)
    without = model.OneDevice.measured()
    assert without.odd_level == 0 and without.last_block == measured.last_block


@pytest.mark.parametrize("gathered, exchanges, gathers", [(1, 1, 1), (2, 3, 1), (3, 7, 2), (5, 15, 2)])
def test_exchanges_are_counted(model, device, gathered, exchanges, gathers):
    """Two a grid but the last; from AMLI's grid 2 on all again, with one for the product."""
    only_latency = model.Node("", [1, 0, 0], [1, 0, 0])
    parts = model.iteration(device, only_latency, model.Problem(2047, 2047, 2, 2), gathered)
    assert (parts["exchanges"], parts["gather"], parts["all-reduce"]) == (exchanges, gathers, 1)


def test_the_best_gather(model, device, node):
    p = model.Problem(8191, 8191, 4, 4)
    for way in ("one", "two", "leader"):
        network = model.Cluster(node, way=way)
        every = {grid: sum(model.iteration(device, network, p, grid).values()) for grid in range(1, 8)}
        us, grid = model.best_gather(device, network, p)
        assert us == every[grid] == min(every.values())
        assert model.total(device, network, p, grid) == us
        assert model.best_gather(device, network, p, amli_in_tail=True)[0] <= us


def test_messages_between_nodes(model, node):
    inside, outside = model.Cluster(node), model.Cluster(node, latency_us=6, gb_per_s=40)
    assert inside.exchange(8, 3, 1000) == node.exchange(8, 3, 1000) and inside.gather(8, 1000) == node.gather(8, 1000)
    assert outside.exchange(16, 8, 10**6) == pytest.approx(node.exchange(16, 8, 10**6) + 6 + 200)
    # four nodes: two steps, and three quarters of the values come from other nodes
    assert outside.gather(32, 10**6) == pytest.approx(node.gather(8, 10**6) + 12 + 150)
    two = model.Cluster(node, latency_us=6, gb_per_s=40, way="two")
    assert two.gather(32, 10**6) == pytest.approx(node.gather(8, 250000) + 12 + 150 / 8 + node.gather(8, 10**6))


def test_the_page_s_tables(model, tmp_path, monkeypatch):
    """From what is measured on one GPU and messages that are made up; without those the page says what to run."""
    import cost_model_report

    pages = cost_model_report.Report().pages()
    assert "| 4095 x 4095 | AMLI |" in pages["one"] and "odd_levels.csv: " in pages["one"]
    for path in model.RESULTS.glob("*.csv"):
        if path.stem in ("breakdown", "solver_breakdown", "solver_device"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(model, "RESULTS", tmp_path)
    pages = cost_model_report.Report().pages()
    assert "make bench ARGS=exchange" in pages["conclusion"] and "make bench ARGS=odd_levels" in pages["one"]
    heads = ("ranks", "transport", "operation", "values", "neighbours", "in_graph", "microseconds")
    lines = [",".join(heads), *(",".join(str(row[key]) for key in heads) for row in rows())]
    (tmp_path / "exchange.csv").write_text("# device: made up\n" + "\n".join(lines) + "\n", encoding="utf-8")
    report = cost_model_report.Report()
    lines = ["part,unknowns,ranks,solver,levels,gather_size,us_per_iteration", "weak,2047 x 2047,1,rrb,10,,190",
             "strong,4095 x 4095,4,rrb,12,262144,300"]
    (tmp_path / "scaling_devices.csv").write_text("# device: made up\n" + "\n".join(lines) + "\n", encoding="utf-8")
    pages = report.pages()
    assert "| strong | 4095 x 4095 | 4 | 3: 512 x 512 |" in pages["measured"] and "of 2 are within 20 %" in pages["measured"]
    assert "| 7.5 us, 0.75 us a neighbour |" in pages["parameters"]
    assert pages["conclusion"].count("\n- ") >= 8
