// Times one application of RRB on a device grid by grid, on a 2D Poisson matrix: breakdown N [LEVELS [single]]. CSV.
#include "measure.hpp"

using namespace petscrrb;

namespace {

void row(index_t n, int grid, index_t points, const char *what, double us, double bytes) {
  std::printf("%lld,%d,%lld,%s,%.2f,%.0f,%.0f\n", (long long)n, grid, (long long)points, what, us, bytes,
              us > 0 ? bytes / us * 1e-3 : 0.0);
}

void run(index_t n, int levels, bool single) {
  const double word = single ? 4 : 8; // of the factor
  Factored rrb(n, levels, single);
  rrb.refresh(Poisson(n));
  auto &core = *rrb.core;
  const cuda::Buffer<double> r(n * n), z(n * n);
  const auto solve = [&](rrb::Part) {
    rrb.solve_last();
    return 0;
  };
  Clock clock(rrb.on.stream);

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
}

} // namespace

int main(int argc, char **argv) { return break_down(argc, argv, "n,grid,points,what,us,bytes,GB_per_s", run); }
