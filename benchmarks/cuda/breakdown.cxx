// Times one application of RRB on a device grid by grid, on a 2D Poisson matrix: breakdown N [LEVELS [single]]. CSV.
#include "backend/cuda.hpp"
#include "rrb/coarse_cuda.hpp"
#include "rrb/cycle_graphs.hpp"

#include <petscsystypes.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

using namespace petscrrb;

namespace {

// A five-point matrix with Dirichlet sides: weights 1, and as excess what a side takes away.
struct Poisson {
  cuda::Buffer<double> X, E, N;

  explicit Poisson(index_t n) {
    std::vector<double> x(n * n, 0.0), e(n * n, 1.0), u(n * n, 1.0);
    for (index_t i = 0; i < n; ++i) {
      x[i] += 1, x[(n - 1) * n + i] += 1, x[i * n] += 1, x[i * n + n - 1] += 1;
      e[i * n + n - 1] = 0, u[(n - 1) * n + i] = 0;
    }
    X.assign(x), E.assign(e), N.assign(u);
  }
  rrb::PreparedStencil stencil() const { return {X.data(), E.data(), N.data(), nullptr, nullptr, nullptr}; }
};

class Clock {
public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    cuda::check(cudaEventCreate(&start_), "cudaEventCreate");
    cuda::check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  // median of some batches, microseconds a call
  double time(const std::function<void()> &work) {
    constexpr int batch = 20, batches = 15;
    std::vector<float> ms(batches);
    work();
    for (float &m : ms) {
      cuda::check(cudaEventRecord(start_, stream_), "cudaEventRecord");
      for (int i = 0; i < batch; ++i) work();
      cuda::check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
      cuda::check(cudaEventSynchronize(stop_), "cudaEventSynchronize");
      cuda::check(cudaEventElapsedTime(&m, start_, stop_), "cudaEventElapsedTime");
    }
    std::sort(ms.begin(), ms.end());
    return 1000.0 * ms[batches / 2] / batch;
  }

private:
  cudaStream_t stream_;
  cudaEvent_t start_, stop_;
};

void row(index_t n, int grid, index_t points, const char *what, double us, double bytes) {
  std::printf("%lld,%d,%lld,%s,%.2f,%.0f,%.0f\n", (long long)n, grid, (long long)points, what, us, bytes,
              us > 0 ? bytes / us * 1e-3 : 0.0);
}

void run(index_t n, int levels, bool single) {
  const double word = single ? 4 : 8; // of the factor
  Cuda on;
  cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const rrb::Extent extent{{0, n, n, false}, {0, n, n, false}};
  const auto core = rrb::make_factorization<PetscInt>(on, extent, {levels, levels / 2, 32, 0}, single);
  const Poisson poisson(n);
  rrb::LastBlock<PetscInt> &b = core->last_block();
  const std::vector<int> ia(b.ia.begin(), b.ia.end()), ja(b.ja.begin(), b.ja.end()), x(b.x.begin(), b.x.end()),
      y(b.y.begin(), b.y.end());
  rrb::DeviceCoarse last(int(b.size()), ia.data(), ja.data(), x.data(), y.data(),
                         {int(b.grid.x.n), int(b.grid.y.n), false, false, b.skew ? 2 : 1});
  core->refresh(poisson.stencil(), {1.0, false});
  last.refresh(core->last_values(), core->last_excess(), on.stream);
  if (!core->outcome().ok) throw std::runtime_error("the factorization failed");
  const cuda::Buffer<double> r(n * n), z(n * n);
  const auto solve = [&](rrb::Part) {
    last.apply(core->coarse_r(), core->coarse_z(), on.stream);
    return 0;
  };
  Clock clock(on.stream);

  // a grid: forward reads r or its vector (8) and 3 couplings, writes b1 and b2 (4); backward reads 3 couplings, 3/4
  // pivots, r (8 in natural order, red alone 4 otherwise), b1 and b2 (4), and writes z (8)
  rrb::Extent e = extent;
  for (int g = 0; g < levels / 2; ++g, e = e.coarser()) {
    const double m = double(e.nodes());
    row(n, g, e.nodes(), "forward", clock.time([&] { core->down(g, g + 1, r.data(), z.data(), rrb::Part::whole); }),
        m * (12 + 3 * word));
    row(n, g, e.nodes(), "backward", clock.time([&] { core->up(g + 1, g, r.data(), z.data(), rrb::Part::whole); }),
        m * (12 + 3.75 * word + (g ? 4 : 8)));
  }
  row(n, levels / 2, b.size(), "last block",
      clock.time([&] { last.apply(core->coarse_r(), core->coarse_z(), on.stream); }), double(last.bytes()));
  double bytes = 0;
  e = extent;
  for (int g = 0; g < levels / 2; ++g, e = e.coarser()) bytes += double(e.nodes()) * (24 + 6.75 * word + (g ? 4 : 8));
  rrb::CycleGraphs graphs;
  row(n, 0, n * n, "application", clock.time([&] { graphs.apply(on, *core, r.data(), z.data(), solve); }), bytes);
  row(n, 0, n * n, "application launch by launch",
      clock.time([&] { (void)rrb::Cycle(*core).apply(r.data(), z.data(), rrb::Part::whole, solve); }), bytes);
}

} // namespace

int main(int argc, char **argv) {
  const index_t n = argc > 1 ? std::atoll(argv[1]) : 0;
  if (n < 3) {
    std::fprintf(stderr, "usage: breakdown N [LEVELS [single]]\n");
    return 2;
  }
  try {
    const int levels = argc > 2 ? std::atoi(argv[2]) : rrb::default_levels(n, n, 1024);
    std::printf("n,grid,points,what,us,bytes,GB_per_s\n");
    run(n, levels, argc > 3);
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
