// Times an iteration of the RRB-solver on a device kernel by kernel, and its forward sweep grid by grid, on a 2D Poisson
// matrix: solver_breakdown N [LEVELS [single]]. CSV.
#include "measure.hpp"
#include "rrbsolver/iteration_cuda.hpp"
#include "rrbsolver/schur_loops_cuda.cuh"

#include <chrono>

namespace petscrrb {
namespace {

using rrbsolver::Norm;

void row(const char *part, const std::string &what, double us, double bytes, double flops) {
  std::printf("%s,%s,%.2f,%.0f,%.0f,%.0f,%.0f\n", part, what.c_str(), us, bytes, flops, bytes / us * 1e-3,
              flops / us * 1e-3);
}

// What an iteration works on, as SchurCG has it.
struct Vectors {
  rrb::BlackLevel level;
  rrbsolver::SchurMatrix<Cuda> s1;
  Scalars<Cuda> scalars;
  cuda::Buffer<double> memory;
  rrbsolver::SchurVectors<Cuda> x;

  Vectors(const Factored &rrb, const Poisson &poisson)
      : level(rrb.core->black_level()), s1(level.extent, level.layout), scalars(rrbsolver::slots, level.layout.rows),
        memory(9 * level.layout.size()), x{level, s1, scalars, {}, {}, {}, {}, {}, nullptr} {
    double *p = memory.data();
    const auto next = [&] {
      const auto view = level.layout.view(p);
      p += level.layout.size();
      return view;
    };
    for (auto *vector : {&x.p, &x.q, &x.delta, &x.r})
      for (const rrb::Class c : {rrb::b1, rrb::b2}) vector->c[c] = next();
    x.r_odd = next();
    s1.refresh(rrb.on, poisson.stencil());
    for (std::size_t i = 0; i < rrbsolver::slots; ++i) scalars.write(rrb.on, i, i == rrbsolver::steps);
  }
};

// Microseconds of one iteration in a run of many, from a residual that is far from smooth.
double iteration(Factored &rrb, const Poisson &poisson, index_t n) {
  constexpr int few = 2, many = 10, repeats = 15;
  const auto all = rrbsolver::make_device_iteration(rrb.on, *rrb.core, false);
  all->refresh(poisson.stencil());
  std::vector<double> residual(n * n), times(repeats);
  for (index_t i = 0; i < n * n; ++i) residual[i] = double(i * 7919 % 10007) / 10007 - 0.5;
  cuda::Buffer<double> r0;
  r0.assign(residual);
  const auto solve = [&](rrb::Part) {
    rrb.solve_last();
    return 0;
  };
  const auto run = [&](int steps) {
    std::vector<rrbsolver::Numbers> numbers;
    if (all->start(r0.data(), Norm::natural, solve)) throw std::runtime_error("the start failed");
    (void)all->started(Norm::natural); // waits
    const auto begin = std::chrono::steady_clock::now();
    const int error = all->run(Norm::natural, {steps, 0, -1.0, 1e300}, true, solve, numbers);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (error || int(numbers.size()) != steps) throw std::runtime_error("the iteration ended early");
    return took.count();
  };
  (void)run(many);
  for (double &us : times) us = (run(many) - run(few)) / (many - few);
  std::sort(times.begin(), times.end());
  return times[repeats / 2];
}

void run(index_t n, int levels, bool single) {
  const double word = single ? 4 : 8; // of the factor
  const double black = 0.5 * double(n) * double(n);
  const Poisson poisson(n), again(n); // the factorization overwrites its matrix
  Factored rrb(n, levels, single);
  rrb.refresh(poisson);
  auto &core = *rrb.core;
  const Vectors v(rrb, again);
  rrbsolver::SchurLoops<Cuda> loops(v.level);
  Clock clock(rrb.on.stream);
  double bytes = 0, flops = 0;
  const auto time = [&](const char *part, const std::string &what, double b, double f,
                        const std::function<void()> &work) {
    row(part, what, clock.time(work), b, f);
    if (part == std::string("kernel")) bytes += b, flops += f;
  };

  // bytes a black node as docs/numerics.md counts them, operations likewise; a coarser grid's as breakdown.cxx does
  time("kernel", "product", 56 * black, 19 * black, [&] { loops.product(rrb.on, v.x); });
  const auto forward = [&] { loops.residual(rrb.on, v.x, false, Norm::natural); };
  time("kernel", "r and forward", (28 + 2.5 * word) * black, 7.5 * black, forward);
  const double last = double(rrb.last->bytes());
  double below = last, below_flops = last / 4;
  rrb::Extent e = rrb.extent.coarser();
  for (int g = 1; g < levels / 2; ++g, e = e.coarser()) {
    below += double(e.nodes()) * (28 + 6.75 * word);
    below_flops += double(e.nodes()) * 13;
  }
  cuda::Graph graph;
  const auto solve = [&](rrb::Part) {
    rrb.solve_last();
    return 0;
  };
  graph.capture(rrb.on, [&] { (void)rrb::Cycle(core).apply_below(1, solve, rrb::Energy::yes); });
  time("kernel", "below", below, below_flops, [&] { graph.launch(rrb.on); });
  time("kernel", "backward with p and x", (40 + 2.5 * word) * black, 8.5 * black,
       [&] { loops.direction(rrb.on, v.x); });

  time("forward", "grid 1", (28 + 2.5 * word) * black, 7.5 * black, forward);
  e = rrb.extent.coarser();
  for (int g = 1; g < levels / 2; ++g, e = e.coarser())
    time("forward", "grid " + std::to_string(g + 1), double(e.nodes()) * (12 + 3 * word), 6 * double(e.nodes()),
         [&] { core.down(g, g + 1, nullptr, nullptr, rrb::Part::whole); });
  time("forward", "last block", last, last / 4, [&] { rrb.solve_last(); });
  const Poisson third(n);
  row("iteration", "in a loop of many", iteration(rrb, third, n), bytes, flops);
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  return petscrrb::break_down(argc, argv, "part,what,us,bytes,flops,GB_per_s,GFlop_per_s", petscrrb::run);
}
