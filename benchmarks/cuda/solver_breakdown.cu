// Times an iteration of the RRB-solver on a device kernel by kernel, and its forward sweep grid by grid, on a 2D Poisson
// matrix: solver_breakdown N [LEVELS [single]]. CSV.
#include "measure.hpp"
#include "ksp/rrb/core/iteration.hpp"
#include "ksp/rrb/cuda/schur_form.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"

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
        memory(9 * level.layout.size()), x{level, s1.first(), scalars, {}, {}, {}, {}, {}, nullptr} {
    double *p = memory.data();
    const auto next = [&] {
      const auto view = level.layout.view(p);
      p += level.layout.size();
      return view;
    };
    for (auto *vector : {&x.p, &x.q, &x.delta, &x.r})
      for (const rrb::Class c : {rrb::b1, rrb::b2}) vector->c[c] = next();
    x.r_odd = next();
    s1.refresh(rrb.on, poisson.stencil(), nullptr);
    for (std::size_t i = 0; i < rrbsolver::slots; i += 2)
      scalars.write(rrb.on, i, i == rrbsolver::steps, i + 1 == rrbsolver::steps);
  }
};

// Microseconds of one iteration in a run of many, from a residual that is far from smooth.
double iteration(Factored &rrb, const Poisson &poisson, index_t n) {
  constexpr int few = 2, many = 10, repeats = 15;
  const auto all = rrbsolver::make_rrb_iteration(rrb.on, *rrb.core, false);
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

// What a vector's copy takes that no cache holds: the bandwidth that anything bound by memory can reach.
void copy(const Cuda &on, Clock &clock) {
  const cuda::Buffer<double> from(std::size_t(1) << 26), to(from.size());
  const auto work = [&] {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, on.stream), "a copy");
  };
  row("copy", "of a vector", clock.time(work), 2.0 * double(from.bytes()), 0);
}

struct Work {
  double bytes = 0, flops = 0;

  Work operator+(const Work &o) const { return {bytes + o.bytes, flops + o.flops}; }
};
Work operator*(double nodes, const Work &w) { return {nodes * w.bytes, nodes * w.flops}; }

// Of a black node, as docs/numerics.md counts it; word: the factor's. A coarser grid's is that of breakdown.cxx.
Work product() { return {56, 19}; }
Work forward(double word) { return {28 + 2.5 * word, 7.5}; }
Work backward(double word) { return {40 + 2.5 * word, 8.5}; }
Work coarser_forward(double word) { return {12 + 3 * word, 6}; }
Work coarser_backward(double word) { return {16 + 3.75 * word, 7}; }
Work last_block(const Factored &rrb) { return {double(rrb.last->bytes()), double(rrb.last->bytes()) / 4}; }

void time(Clock &clock, const char *part, const std::string &what, const Work &w, const std::function<void()> &work) {
  row(part, what, clock.time(work), w.bytes, w.flops);
}

void forward_by_grids(Factored &rrb, Clock &clock, double word) {
  rrb::Extent e = rrb.extent.coarser();
  for (int g = 1; g < rrb.core->options().storage_grids; ++g, e = e.coarser())
    time(clock, "forward", "grid " + std::to_string(g + 1), double(e.nodes()) * coarser_forward(word),
         [&] { rrb.core->down(g, g + 1, nullptr, nullptr, rrb::Part::whole); });
  time(clock, "forward", "last block", last_block(rrb), [&] { rrb.solve_last(); });
}

void run(index_t n, int levels, bool single) {
  const double word = single ? 4 : 8, black = 0.5 * double(n) * double(n);
  const Poisson poisson(n), again(n), third(n); // each is overwritten
  Factored rrb(n, levels, single);
  rrb.refresh(poisson);
  const Vectors v(rrb, again);
  rrbsolver::SchurLoops<Cuda> loops(v.level);
  Clock clock(rrb.on.stream);
  Work below = last_block(rrb);
  rrb::Extent e = rrb.extent.coarser();
  for (int g = 1; g < levels / 2; ++g, e = e.coarser())
    below = below + double(e.nodes()) * (coarser_forward(word) + coarser_backward(word));
  cuda::Graph graph;
  const auto solve = [&](rrb::Part) {
    rrb.solve_last();
    return 0;
  };
  graph.capture(rrb.on, [&] {
    (void)rrb::Cycle(*rrb.core).apply_below(1, solve, rrb::Energy::yes);
    return 0;
  });
  const auto subtract = [&] { loops.residual(rrb.on, v.x, false, Norm::natural); };

  time(clock, "kernel", "product", black * product(), [&] {
    loops.product(rrb.on, v.x);
    loops.product_added(rrb.on, v.x);
  });
  time(clock, "kernel", "r and forward", black * forward(word), subtract);
  time(clock, "kernel", "below", below, [&] { graph.launch(rrb.on); });
  time(clock, "kernel", "backward with p and x", black * backward(word), [&] { loops.direction(rrb.on, v.x); });
  time(clock, "forward", "grid 1", black * forward(word), subtract);
  forward_by_grids(rrb, clock, word);
  copy(rrb.on, clock);
  const Work all = black * (product() + forward(word) + backward(word)) + below;
  row("iteration", "in a loop of many", iteration(rrb, third, n), all.bytes, all.flops);
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  return petscrrb::break_down(argc, argv, "part,what,us,bytes,flops,GB_per_s,GFlop_per_s", petscrrb::run);
}
