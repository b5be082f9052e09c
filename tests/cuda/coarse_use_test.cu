// How the last block's solver is used on a device: in a captured graph, inside a kernel, without unknowns. And its times.
#include "coarse_support.hpp"

#include "dense/cuda/apply.cuh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace coarse_test {
namespace {

namespace dense = petscrrb::dense;

class CoarseUse : public OnDevice {
protected:
  Random random;
};

TEST_F(CoarseUse, NoUnknowns) {
  Problem none;
  none.shape = {0, 0, false, false, 1};
  Solver solver(none);
  EXPECT_TRUE(solver.status().definite);
  EXPECT_EQ(solver.status().null_directions, 0);
  EXPECT_TRUE(solver.apply({}).empty());
}

TEST_F(CoarseUse, RefusesCouplingsThatReachFurther) {
  Problem p = regular_problem({40, 40, true, true, 1}, random);
  p.shape.periodic_x = false; // the couplings around are still there
  EXPECT_THROW(Solver{p}, std::invalid_argument);
}

TEST_F(CoarseUse, InAGraph) {
  const Problem p = make_problem(
      {20, 21, false, false, 1}, [&](int, int) { return random.uniform(0.5, 2); }, [](int) { return 0.0; });
  Solver solver(p);
  const Vector r = random.vector(p.size()), z = solver.apply(r);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cuda::check(cudaStreamBeginCapture(solver.stream(), cudaStreamCaptureModeThreadLocal), "capture");
  solver.coarse().apply(solver.r().data(), solver.z().data(), solver.stream());
  cuda::check(cudaStreamEndCapture(solver.stream(), &graph), "capture");
  cuda::check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  const Vector other = random.vector(p.size()), expected = solver.apply(other);
  for (const auto &[right, solution] : {std::pair{r, z}, {other, expected}}) {
    solver.write(solver.r(), right);
    cuda::check(cudaGraphLaunch(executable, solver.stream()), "launch");
    EXPECT_EQ(solver.read(solver.z()), solution);
  }
  cuda::check(cudaGraphExecDestroy(executable), "destroy");
  cuda::check(cudaGraphDestroy(graph), "destroy");
}

__global__ void apply_once(dense::View view, const double *r, double *z) {
  extern __shared__ double shared[];
  dense::apply_by_block(view, r, z, shared);
}

void apply_in_kernel(const Solver &solver, const double *r, double *z, int threads) {
  const auto &view = solver.coarse().view();
  apply_once<<<1, threads, view.pitch * sizeof(double), solver.stream()>>>(view, r, z);
  cuda::check_launch("apply in a kernel");
}

// Without components that may be singular nothing is pinned.
TEST_F(CoarseUse, InAKernel) {
  for (const GridShape &shape :
       {GridShape{5, 5, false, false, 1}, {32, 32, false, false, 1}, {40, 40, true, true, 2}}) {
    const Problem p = make_problem(
        shape, [&](int, int) { return random.uniform(0.5, 2); }, [](int) { return 0.01; });
    Solver solver(p);
    const Vector r = random.vector(p.size()), expected = solver.apply(r);
    for (const int threads : {96, 1024}) {
      solver.write(solver.r(), r);
      apply_in_kernel(solver, solver.r().data(), solver.r().data(), threads);
      EXPECT_LE(distance(solver.read(solver.r()), expected), 1e-12 * norm(expected));
    }
  }
}

// Median time of f on the stream, in microseconds.
template <class F> double microseconds(cudaStream_t stream, int repeat, const F &f) {
  cudaEvent_t start, stop;
  cuda::check(cudaEventCreate(&start), "event");
  cuda::check(cudaEventCreate(&stop), "event");
  std::vector<float> times;
  for (int i = 0; i < 30; i++) {
    float ms = 0;
    cuda::check(cudaEventRecord(start, stream), "event");
    f();
    cuda::check(cudaEventRecord(stop, stream), "event");
    cuda::check(cudaEventSynchronize(stop), "event");
    cuda::check(cudaEventElapsedTime(&ms, start, stop), "event");
    times.push_back(ms);
  }
  cuda::check(cudaEventDestroy(start), "event");
  cuda::check(cudaEventDestroy(stop), "event");
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15] * 1e3 / repeat;
}

template <class F> double in_graph(cudaStream_t stream, int repeat, const F &f) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < repeat; i++) f();
  cuda::check(cudaStreamEndCapture(stream, &graph), "capture");
  cuda::check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  const double time = microseconds(stream, repeat, [&] { (void)cudaGraphLaunch(executable, stream); });
  cuda::check(cudaGraphExecDestroy(executable), "destroy");
  cuda::check(cudaGraphDestroy(graph), "destroy");
  return time;
}

// Not a test: --gtest_also_run_disabled_tests prints the times.
TEST_F(CoarseUse, DISABLED_Times) {
  for (const GridShape &shape : {GridShape{8, 8, false, false, 1},
                                 {16, 16, false, false, 1},
                                 {32, 32, false, false, 1},
                                 {64, 64, false, false, 1},
                                 {64, 64, true, true, 1},
                                 {45, 45, false, false, 2},
                                 {90, 90, false, false, 2}})
    for (bool singular : {false, true}) {
      const Problem p = make_problem(
          shape, [&](int, int) { return random.uniform(0.5, 2); }, [&](int) { return singular ? 0.0 : 0.01; });
      const auto begin = std::chrono::steady_clock::now();
      Solver solver(p);
      solver.status();
      const double setup = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      Solver phases(p, SubstructuredInverse::Launch::per_phase);
      const auto &view = solver.coarse().view();
      const cudaStream_t stream = solver.stream();
      const double *a = solver.a().data(), *excess = solver.excess().data();
      const double refresh = microseconds(stream, 1, [&] { solver.refresh(); });
      const double by_phases = microseconds(phases.stream(), 1, [&] { phases.refresh(); });
      const double components = in_graph(stream, 10, [&] { dense::find_components(view, a, excess, 0.0, stream); });
      const double blocks = in_graph(stream, 10, [&] { dense::eliminate_blocks(view, a, stream); });
      const int resident = dense::resident_blocks();
      const auto starts = dense::Schedule({p.ia, p.ja, p.x, p.y, shape}).phase_start;
      const double inverse = in_graph(stream, 2, [&] { dense::invert_separators(view, starts, resident, stream); });
      const double nulls = in_graph(stream, 10, [&] { dense::find_null_directions(view, stream); });
      solver.refresh();
      const double apply =
          in_graph(stream, 20, [&] { solver.coarse().apply(solver.r().data(), solver.z().data(), stream); });
      const double in_kernel =
          in_graph(stream, 2, [&] { apply_in_kernel(solver, solver.r().data(), solver.z().data(), 1024); });
      std::printf(
          "%3d x %-3d reach %d %s%s n %4d blocks %2d rows %4d phases %2zu bytes %8zu | setup %4.1f ms refresh %6.1f us "
          "(per phase "
          "%6.1f; "
          "components %5.1f blocks %5.1f inverse %5.1f null %5.1f) apply %5.2f us, by a block %6.1f us\n",
          shape.nx, shape.ny, shape.reach, shape.periodic_x ? "periodic " : "", singular ? "singular" : "", p.size(),
          view.blocks, view.pitch, starts.size() - 1, solver.coarse().bytes(), setup, refresh, by_phases, components,
          blocks, inverse, nulls, apply, in_kernel);
    }
}

} // namespace
} // namespace coarse_test
