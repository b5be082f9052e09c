// What the device's breakdowns share: a Poisson matrix that was factored on a device, and a clock.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "dense/cuda/substructured.hpp"
#include "pc/rrb/cuda/cycle_graphs.hpp"

#include <petscsystypes.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>

namespace petscrrb {

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

// Its RRB-l, all grids in r1/r2/b1/b2 storage; the V cycle unless AMLI is given a grid.
struct Factored {
  Cuda on;
  rrb::Extent extent;
  std::unique_ptr<rrb::Factorization> core;
  std::unique_ptr<dense::SubstructuredInverse> last;

  Factored(index_t n, int levels, bool single, int amli_grid = 0) : extent{{0, n, n, false}, {0, n, n, false}} {
    cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    core = rrb::make_factorization(on, extent, {levels, levels / 2, 32, amli_grid},
                                   single ? rrb::Precision::in_single : rrb::Precision::in_double);
    rrb::LastBlock &b = core->last_block();
    const std::vector<int> ia(b.ia.begin(), b.ia.end()), ja(b.ja.begin(), b.ja.end()), x(b.x.begin(), b.x.end()),
        y(b.y.begin(), b.y.end());
    last = std::make_unique<dense::SubstructuredInverse>(
        int(b.size()), ia.data(), ja.data(), x.data(), y.data(),
        dense::GridShape{int(b.grid.x.n), int(b.grid.y.n), false, false, b.skew ? 2 : 1});
  }
  void refresh(const Poisson &poisson) {
    const rrb::Lumping lumping{1.0, false};
    core->refresh(poisson.stencil(), lumping);
    last->refresh(core->last_values(), core->last_excess(), lumping.null_inverse, on.stream);
    if (!core->outcome().ok) throw std::runtime_error("the factorization failed");
    (void)rrb::Cycle(*core).estimate([this](rrb::Part) { return solve_last(); });
  }
  int solve_last() const {
    last->apply(core->coarse_r(), core->coarse_z(), on.stream);
    return 0;
  }
};

class Clock {
public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {
    cuda::check(cudaEventCreate(&start_), "cudaEventCreate");
    cuda::check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  // median of some batches, microseconds a call
  double time(const std::function<void()> &work, int batch = 20, int batches = 15) const {
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

// GB/s of a copy that no cache holds
inline double copy_bandwidth(const Cuda &on, const Clock &clock) {
  const cuda::Buffer<double> from(std::size_t(1) << 26), to(from.size());
  const double us = clock.time([&] {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, on.stream), "a copy");
  });
  return 2.0 * double(from.bytes()) / us * 1e-3;
}

// main() of a breakdown: run(n, levels, single), from the arguments N [LEVELS [single]].
template <class Run> int break_down(int argc, char **argv, const char *head, const Run &run) {
  const index_t n = argc > 1 ? std::atoll(argv[1]) : 0;
  if (n < 3) {
    std::fprintf(stderr, "usage: %s N [LEVELS [single]]\n", argv[0]);
    return 2;
  }
  try {
    const int levels = argc > 2 ? std::atoi(argv[2]) : rrb::default_levels(n, n, rrb::largest_device_inverse);
    std::puts(head);
    run(n, levels, argc > 3);
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

} // namespace petscrrb
