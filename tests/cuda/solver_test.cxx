// The RRB-solver's iteration on a device: as a loop that repeats itself, launch by launch and step by step it is the same.
#include "unit/reference_support.hpp"
#include "unit/rrb_support.hpp"

#include "exec/timeout.hpp"
#include "dense/cuda/substructured.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "ksp/rrb/core/iteration.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

namespace dense = petscrrb::dense;
namespace cuda = petscrrb::cuda;
namespace rrb = petscrrb::rrb;
using petscrrb::rrbsolver::Iteration;
using petscrrb::rrbsolver::Norm;
using petscrrb::rrbsolver::Numbers;
using reference::Vector;

// A matrix, its factorization and last block on a device.
struct Factored {
  petscrrb::Cuda on;
  cuda::Buffer<double> prepared[6], again[6];
  std::unique_ptr<rrb::Factorization> core;
  std::unique_ptr<dense::SubstructuredInverse> last;

  Factored(const support::Problem &p, const support::Choice &c) {
    petscrrb::Grid grid;
    grid.n[0] = p.nx, grid.n[1] = p.ny;
    petscrrb::Stencil s = support::stencil_of(p.A, grid, p.corners, p.v);
    const std::vector<double> *host[] = {&s.C, &s.E, &s.N, &s.NE, &s.NW, &s.v};
    for (int i = 0; i < 6; ++i) prepared[i].assign(*host[i]), again[i].assign(*host[i]);
    const rrb::Extent extent{{0, p.nx, p.nx, false}, {0, p.ny, p.ny, false}};
    core = rrb::make_factorization(on, extent, {c.levels, c.storage_grids, c.block, c.amli_grid}, c.precision);
    const auto &b = core->last_block();
    const auto ints = [](const auto &from) { return std::vector<int>(from.begin(), from.end()); };
    last = std::make_unique<dense::SubstructuredInverse>(
        dense::Substructure(ints(b.ia), ints(b.ja), ints(b.x), ints(b.y),
                            {int(b.grid.x.n), int(b.grid.y.n), false, false, b.skew ? 2 : 1}));
    core->refresh(stencil(prepared), {c.omega, c.both});
    last->refresh(core->last_values(), core->last_excess(), 0.0, on.stream);
    EXPECT_TRUE(core->outcome().ok);
    (void)rrb::Cycle(*core).estimate(solver());
  }
  static rrb::PreparedStencil stencil(const cuda::Buffer<double> (&a)[6]) {
    return {a[0].data(), a[1].data(), a[2].data(), a[3].data(), a[4].data(), a[5].data()};
  }
  Iteration::Solve solver() {
    return [this](rrb::Part) {
      last->apply(core->coarse_r(), core->coarse_z(), on.stream);
      return 0;
    };
  }
};

enum class How {
  loop,
  launches,
  steps
};

struct Solved {
  Vector x;
  std::vector<Numbers> steps;
};

Solved solve(const support::Problem &p, const support::Choice &c, bool full, Norm norm, How how) {
  Factored f(p, c);
  const auto iteration = petscrrb::rrbsolver::make_rrb_iteration(
      f.on, *f.core, full, nullptr, how == How::launches ? Iteration::Loop::launches : Iteration::Loop::automatic);
  iteration->refresh(Factored::stencil(f.again));
  EXPECT_TRUE(iteration->refreshed());
  Vector b(p.nx * p.ny);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.0 + 3.7 * double(i));
  const cuda::Buffer<double> r0(b);
  cuda::Buffer<double> x(b.size());
  Solved out;
  EXPECT_EQ(iteration->start(r0.data(), norm, f.solver()), 0);
  const double first = iteration->started(norm).norm;
  while (out.steps.size() < 40 && (out.steps.empty() || out.steps.back().norm > 1e-9 * first)) {
    std::vector<Numbers> more;
    const petscrrb::rrbsolver::Limits limits{int(40 - out.steps.size()), 0, 1e-9 * first, 1e5 * first};
    EXPECT_EQ(iteration->run(norm, limits, how != How::steps, f.solver(), more), 0);
    if (how == How::steps) {
      EXPECT_EQ(more.size(), 1u);
    }
    out.steps.insert(out.steps.end(), more.begin(), more.end());
  }
  iteration->solution(r0.data(), x.data(), false);
  out.x.resize(b.size());
  cuda::check(cudaMemcpy(out.x.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return out;
}

class SolverLoop : public testing::Test {
protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) GTEST_SKIP() << "no device";
  }
};

void expect_equal(const Solved &a, const Solved &b) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.steps[i].rho, b.steps[i].rho) << "step " << i;
    EXPECT_EQ(a.steps[i].curvature, b.steps[i].curvature) << "step " << i;
    EXPECT_EQ(a.steps[i].norm, b.steps[i].norm) << "step " << i;
  }
  EXPECT_EQ(a.x, b.x);
}

void expect_same(How how) {
  support::Choice v, amli;
  v.levels = 6, v.storage_grids = 3;
  amli.levels = 8, amli.storage_grids = 4, amli.amli_grid = 2;
  support::Problem problem = support::converted(reference::random_faces({65, 70}, 3));
  problem.corners = false;
  for (const support::Choice &choice : {v, amli})
    for (const Norm norm : {Norm::natural, Norm::unpreconditioned, Norm::preconditioned})
      for (const bool full : {false, true}) {
        SCOPED_TRACE(testing::Message() << "levels " << choice.levels << " norm " << int(norm) << " full " << full);
        const Solved steps = solve(problem, choice, full, norm, How::steps);
        EXPECT_GT(steps.steps.size(), 3u);
        EXPECT_LT(steps.steps.size(), 40u);
        expect_equal(steps, solve(problem, choice, full, norm, how));
      }
}

// The last block's solution fails while a step is captured: the run says so, and the next one is whole.
TEST_F(SolverLoop, SmallFailureWhileItIsCaptured) {
  support::Choice v;
  v.levels = 6, v.storage_grids = 3;
  support::Problem problem = support::converted(reference::random_faces({33, 30}, 3));
  problem.corners = false;
  for (const auto loop : {Iteration::Loop::automatic, Iteration::Loop::launches})
    for (const bool thrown : {false, true}) {
      Factored f(problem, v);
      const auto iteration = petscrrb::rrbsolver::make_rrb_iteration(f.on, *f.core, false, nullptr, loop);
      iteration->refresh(Factored::stencil(f.again));
      EXPECT_TRUE(iteration->refreshed());
      const cuda::Buffer<double> r0(Vector(problem.nx * problem.ny, 1.0));
      const petscrrb::rrbsolver::Limits limits{10, 10};
      std::vector<Numbers> steps;
      const cudaStream_t before = f.on.stream;
      const auto fails = [&](rrb::Part) -> int { return thrown ? throw std::out_of_range("of the last block") : 73; };
      EXPECT_EQ(iteration->start(r0.data(), Norm::natural, f.solver()), 0);
      if (thrown)
        EXPECT_THROW((void)iteration->run(Norm::natural, limits, true, fails, steps), std::out_of_range);
      else
        EXPECT_EQ(iteration->run(Norm::natural, limits, true, fails, steps), 73);
      EXPECT_EQ(f.on.stream, before);
      EXPECT_EQ(iteration->run(Norm::natural, limits, true, f.solver(), steps), 0);
      EXPECT_EQ(steps.size(), 10u);
    }
}

// A step that takes too long ends the run with an error; not a solve of many steps that takes as long.
TEST_F(SolverLoop, SmallStepThatTakesTooLong) {
  support::Choice v;
  v.levels = 6, v.storage_grids = 3;
  support::Problem problem = support::converted(reference::random_faces({33, 30}, 3));
  problem.corners = false;
  Factored f(problem, v);
  const auto iteration =
      petscrrb::rrbsolver::make_rrb_iteration(f.on, *f.core, false, nullptr, Iteration::Loop::launches);
  iteration->refresh(Factored::stencil(f.again));
  EXPECT_TRUE(iteration->refreshed());
  const cuda::Buffer<double> r0(Vector(problem.nx * problem.ny, 1.0));
  std::vector<Numbers> steps;
  const auto slow = [&](rrb::Part part) {
    const auto sleep = [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    cuda::check(cudaLaunchHostFunc(f.on.stream, sleep, nullptr), "cudaLaunchHostFunc");
    return f.solver()(part);
  };
  for (const double timeout : {0.03, 0.5}) {
    EXPECT_EQ(iteration->start(r0.data(), Norm::natural, f.solver()), 0);
    const double before = petscrrb::timeout.exchange(timeout);
    const petscrrb::rrbsolver::Limits limits{10, 10};
    if (timeout < 0.1) {
      EXPECT_THROW((void)iteration->run(Norm::natural, limits, true, slow, steps), petscrrb::TimedOut);
      cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    } else {
      EXPECT_EQ(iteration->run(Norm::natural, limits, true, slow, steps), 0);
      EXPECT_EQ(steps.size(), 10u);
    }
    petscrrb::timeout = before;
  }
}

TEST_F(SolverLoop, IsTheSameAsStepByStep) { expect_same(How::loop); }

// Without conditional nodes, which racecheck cannot follow.
TEST_F(SolverLoop, SmallLaunchesAreTheSameAsStepByStep) { expect_same(How::launches); }

} // namespace
