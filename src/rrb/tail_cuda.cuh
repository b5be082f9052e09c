// The coarsest grids and the last block in one kernel: a cluster of thread blocks, whose barrier costs a tenth of a launch.
#pragma once

#include "rrb/coarse_cuda_apply.cuh"
#include "rrb/sweep_kernels.cuh"

#include <cooperative_groups.h>

namespace petscrrb::rrb {
namespace device {

constexpr int most_tail_grids = 6, tail_threads = 512;
constexpr index_t most_tail_nodes = 128 * 132; // on the first of its grids

template <class T> struct TailGrid {
  Arrays<const T> factor;
  Box box;
  DenseVector<false> x;
  Arrays<double> b1_after;
  DenseNext<false> next; // of the last grid: last_next
};

template <class T> struct TailGrids {
  TailGrid<T> grid[most_tail_grids];
  NaturalNext<false> last_next;
  int first, end;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// f(part) for the parts of a box, dealt out to the cluster's warps
template <class F> __device__ void in_parts(const Box &box, int warp, int warps, const F &f) {
  const int across = (box.h1 - box.h0 + columns - 1) / columns, rows = box.k1 - box.k0;
  for (int i = warp; i < across * rows; i += warps) f(Part(box, 1, i % across, i / across));
}

#endif

template <class T> __global__ void __launch_bounds__(tail_threads) tail(TailGrids<T> grids, coarse::View last) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ double shared[];
  const auto cluster = cooperative_groups::this_cluster();
  const int warp = (cluster.block_rank() * tail_threads + threadIdx.x) / 32;
  const int warps = cluster.num_blocks() * tail_threads / 32;
  for (int g = grids.first; g < grids.end; ++g) {
    const TailGrid<T> &d = grids.grid[g];
    in_parts(d.box, warp, warps, [&](const Part &part) {
      if (g + 1 < grids.end)
        forward_part<true>(part, d.factor, d.box, d.x, d.b1_after, d.next);
      else
        forward_part<true>(part, d.factor, d.box, d.x, d.b1_after, grids.last_next);
    });
    cluster.sync();
  }
  coarse::apply_by_team(last, grids.last_next.p, grids.last_next.p, true, shared, cluster);
  for (int g = grids.end - 1; g >= grids.first; --g) {
    const TailGrid<T> &d = grids.grid[g];
    in_parts(d.box, warp, warps, [&](const Part &part) {
      if (g + 1 < grids.end)
        backward_part<true, Scaling::full, false>(part, d.factor, d.box, d.x, d.b1_after, d.next);
      else
        backward_part<true, Scaling::full, false>(part, d.factor, d.box, d.x, d.b1_after, grids.last_next);
    });
    if (g > grids.first) cluster.sync();
  }
#endif
}

} // namespace device

// From which grid on one kernel does it all, and that kernel. None where the device has no clusters or where no grid is
// small enough.
template <class T> class Tail {
public:
  int first() const { return view_ ? first_ : std::numeric_limits<int>::max(); }

  // next(g): where grid g continues; view: must outlive this
  template <class Next>
  void set_up(const std::deque<DenseGrid<Cuda, T>> &dense, const Next &next, const coarse::View *view) {
    view_ = nullptr;
    if (!view) return;
    const int grids = int(dense.size());
    first_ = grids;
    while (first_ > 1 && grids - first_ < device::most_tail_grids &&
           dense[first_ - 1].extent.nodes() <= device::most_tail_nodes)
      --first_;
    if (first_ == grids || !find_cluster(*view)) return;
    for (int g = first_; g < grids; ++g) {
      const DenseGrid<Cuda, T> &d = dense[g];
      device::TailGrid<T> &t = grids_.grid[g - first_];
      t = {device::factor_of(d), device::box_of(d.extent, d.layout()), device::dense_vector<false>(d), device::b1_after(d),
           {}};
      if (g + 1 < grids)
        t.next = device::dense_next<false>(d.extent, next(g));
      else
        grids_.last_next = device::natural_next<false>(d.extent, next(g));
    }
    grids_.end = grids - first_;
    view_ = view;
  }

  // The right-hand side on grid `from` >= first() is replaced by the solution.
  void solve(const Cuda &on, int from) {
    grids_.first = from - first_;
    cudaLaunchConfig_t config = configuration(on.stream);
    cudaLaunchAttribute cluster = dimension();
    config.attrs = &cluster;
    config.numAttrs = 1;
    cuda::check(cudaLaunchKernelEx(&config, device::tail<T>, grids_, *view_), "the coarsest grids");
  }

private:
  cudaLaunchConfig_t configuration(cudaStream_t stream) const {
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(blocks_);
    c.blockDim = dim3(device::tail_threads);
    c.dynamicSmemBytes = shared_;
    c.stream = stream;
    return c;
  }
  cudaLaunchAttribute dimension() const {
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {unsigned(blocks_), 1, 1};
    return a;
  }

  // The largest cluster that the device can hold; false if none.
  bool find_cluster(const coarse::View &view) {
    int device, clusters = 0, major = 0;
    shared_ = coarse::team_values(view) * sizeof(double);
    cuda::check(cudaGetDevice(&device), "cudaGetDevice");
    cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    if (major < 9) return false;
    (void)cudaFuncSetAttribute(device::tail<T>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    for (blocks_ = 16; blocks_ > 1; blocks_ /= 2) {
      cudaLaunchConfig_t config = configuration(nullptr);
      cudaLaunchAttribute cluster = dimension();
      config.attrs = &cluster;
      config.numAttrs = 1;
      const cudaError_t asked = cudaOccupancyMaxActiveClusters(&clusters, device::tail<T>, &config);
      (void)cudaGetLastError(); // a size that the device does not have
      if (asked == cudaSuccess && clusters > 0) return true;
    }
    return false;
  }

  device::TailGrids<T> grids_ = {};
  const coarse::View *view_ = nullptr;
  int first_ = 0, blocks_ = 0;
  std::size_t shared_ = 0;
};

} // namespace petscrrb::rrb
