// Scalars on a CUDA device: sums in two stages of fixed shape, so that every run gives the same bits.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "exec/scalars.hpp"

#include <cub/block/block_reduce.cuh>

namespace petscrrb {
namespace cuda {

constexpr int sum_threads = 256, sum_blocks = 128;

// Each block sums the nodes that are its own whatever the device: every sum_blocks-th tile of sum_threads of them.
template <class F, class G> __global__ void sum_tiles(Range2 box, Range2 inner, F f, G g, double *partial) {
  using Reduce = cub::BlockReduce<double, sum_threads>;
  __shared__ typename Reduce::TempStorage shared;
  const index_t columns = box.h1 - box.h0, nodes = box.size();
  double sum = 0.0;
  for (index_t i = index_t(blockIdx.x) * sum_threads + threadIdx.x; i < nodes; i += sum_threads * sum_blocks) {
    const index_t h = box.h0 + i % columns, k = box.k0 + i / columns;
    sum += contains(inner, h, k) ? f(h, k) : g(h, k);
  }
  sum = Reduce(shared).Sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

static __global__ void sum_partials(const double *partial, double *total) {
  using Reduce = cub::BlockReduce<double, sum_blocks>;
  __shared__ typename Reduce::TempStorage shared;
  const double sum = Reduce(shared).Sum(partial[threadIdx.x]);
  if (threadIdx.x == 0) *total = sum;
}

static __global__ void set_value(double *to, double value) { *to = value; }

} // namespace cuda

template <> class Scalars<Cuda> {
public:
  Scalars(std::size_t n, index_t) : value_(n), partial_(cuda::sum_blocks), host_(n) {}

  double *data() const { return value_.data(); } // for loops that compute several at a time
  const double *at(std::size_t i) const { return value_.data() + i; }

  // at(i) = sum over the box of f(h, k), or of g(h, k) at nodes that are not in inner
  template <class F, class G>
  void sum(const Cuda &on, std::size_t i, Range2 box, Range2 inner, const F &f, const G &g) const {
    cuda::sum_tiles<<<cuda::sum_blocks, cuda::sum_threads, 0, on.stream>>>(box, intersection(box, inner), f, g,
                                                                           partial_.data());
    cuda::check_launch("sum");
    cuda::sum_partials<<<1, cuda::sum_blocks, 0, on.stream>>>(partial_.data(), value_.data() + i);
    cuda::check_launch("sum");
  }

  template <class F> void sum(const Cuda &on, std::size_t i, Range2 box, const F &f) const {
    sum(on, i, box, box, f, f);
  }

  // waits for the stream
  const double *read(const Cuda &on) const {
    cuda::check(cudaMemcpyAsync(host_.data(), value_.data(), value_.bytes(), cudaMemcpyDeviceToHost, on.stream),
                "cudaMemcpyAsync");
    cuda::wait_for(on.stream, "the sums of all ranks");
    return host_.data();
  }
  void write(const Cuda &on, std::size_t i, double value) const {
    cuda::set_value<<<1, 1, 0, on.stream>>>(value_.data() + i, value);
    cuda::check_launch("set_value");
  }
  std::size_t bytes() const { return value_.bytes() + partial_.bytes(); }

private:
  cuda::Buffer<double> value_, partial_;
  cuda::Pinned<double> host_;
};

} // namespace petscrrb
