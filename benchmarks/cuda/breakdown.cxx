// Times one application of RRB on a device grid by grid, on a 2D Poisson matrix: breakdown N [LEVELS [single]]. CSV.
#include "measure.hpp"

using namespace petscrrb;

namespace {

void row(index_t n, int grid, index_t points, const char *what, double us, double bytes) {
  std::printf("%lld,%d,%lld,%s,%.2f,%.0f,%.0f\n", (long long)n, grid, (long long)points, what, us, bytes,
              us > 0 ? bytes / us * 1e-3 : 0.0);
}

// What is between the sweeps of the finest grid, in a graph: alone, and with its energy.
void time_below(const Clock &clock, Factored &rrb, index_t n, const char *what, const char *with_energy) {
  const index_t points = rrb.core->right_hand_side(1).extent.nodes();
  for (const auto energy : {rrb::Energy::no, rrb::Energy::yes}) {
    cuda::Graph graph;
    graph.capture(rrb.on, [&] {
      (void)rrb::Cycle(*rrb.core).apply_below(
          1, [&](rrb::Part) { return rrb.solve_last(); }, energy);
      return 0;
    });
    row(n, 1, points, energy == rrb::Energy::no ? what : with_energy, clock.time([&] { graph.launch(rrb.on); }), 0);
  }
}

// AMLI's step reads the matrix (40), right-hand side and solution (16), and writes two vectors (16).
void time_amli(index_t n, int levels, bool single, const double *r, double *z) {
  Factored rrb(n, levels, single, rrb::default_amli_grid(levels));
  rrb.refresh(Poisson(n));
  auto &core = *rrb.core;
  const auto solve = [&](rrb::Part) { return rrb.solve_last(); };
  const Clock clock(rrb.on.stream);
  const int g = core.options().amli_grid;
  const index_t points = core.amli().nx * core.amli().ny;
  cuda::Graph visit;
  visit.capture(rrb.on, [&] {
    core.down(g, core.grids(), nullptr, nullptr, rrb::Part::whole);
    rrb.solve_last();
    core.up(core.grids(), g, nullptr, nullptr, rrb::Part::whole);
    return 0;
  });
  rrb::CycleGraphs graphs;
  row(n, g, points, "one visit", clock.time([&] { visit.launch(rrb.on); }), 0);
  row(n, g, points, "second right-hand side", clock.time([&] { core.step(0).second_right_hand_side(nullptr); }),
      double(points) * 72);
  row(n, g, points, "estimate", clock.time([&] { graphs.estimate(rrb.on, core, solve); }), 0);
  if (!core.amli().used) return;
  time_below(clock, rrb, n, "amli below the finest grid", "amli below with energy");
  row(n, 0, n * n, "amli application", clock.time([&] { graphs.apply(rrb.on, core, r, z, solve); }), 0);
}

void run(index_t n, int levels, bool single) {
  const double word = single ? 4 : 8; // of the factor
  Factored rrb(n, levels, single);
  rrb.refresh(Poisson(n));
  auto &core = *rrb.core;
  const cuda::Buffer<double> r(n * n), z(n * n);
  const auto solve = [&](rrb::Part) { return rrb.solve_last(); };
  const Clock clock(rrb.on.stream);

  // a grid: forward reads r or its vector (8) and 3 couplings, writes b1 and b2 (4); backward reads 3 couplings, 3/4
  // pivots, r (8 in natural order, red alone 4 otherwise), b1 and b2 (4), and writes z (8)
  double bytes = 0;
  rrb::Extent e = rrb.extent;
  for (int g = 0; g < levels / 2; ++g, e = e.coarser()) {
    const double forward = double(e.nodes()) * (12 + 3 * word);
    const double backward = double(e.nodes()) * (12 + 3.75 * word + (g ? 4 : 8));
    row(n, g, e.nodes(), "forward", clock.time([&] { core.down(g, g + 1, r.data(), z.data(), rrb::Part::whole); }),
        forward);
    row(n, g, e.nodes(), "backward", clock.time([&] { core.up(g + 1, g, r.data(), z.data(), rrb::Part::whole); }),
        backward);
    bytes += forward + backward;
  }
  row(n, levels / 2, core.last_block().size(), "last block", clock.time([&] { rrb.solve_last(); }),
      double(rrb.last->bytes()));
  rrb::CycleGraphs graphs;
  row(n, 0, n * n, "application", clock.time([&] { graphs.apply(rrb.on, core, r.data(), z.data(), solve); }), bytes);
  row(n, 0, n * n, "application launch by launch",
      clock.time([&] { (void)rrb::Cycle(core).apply(r.data(), z.data(), rrb::Part::whole, solve); }), bytes);
  if (levels >= 4) time_below(clock, rrb, n, "below the finest grid", "below with energy");
  if (rrb::default_amli_grid(levels)) time_amli(n, levels, single, r.data(), z.data());
}

} // namespace

int main(int argc, char **argv) { return break_down(argc, argv, "n,grid,points,what,us,bytes,GB_per_s", run); }
