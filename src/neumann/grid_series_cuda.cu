// A series on a grid on a device: warps march through strips where no side is periodic; else tiles in shared memory.
#include "grid_series.hpp"

#include "march_cuda.cuh"
#include "rows_cuda.cuh"
#include "tiles_cuda.cuh"

namespace petscrrb::neumann {
namespace {

using cuda::check;

// no terms
__global__ void scale(PetscInt n, const double *s, Piece p) {
  for (index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += index_t(gridDim.x) * blockDim.x)
    p.z[i] = scaled(p.out, s[i], scaled(p.in, s[i], p.r[i]));
}

constexpr int most_in_tiles = 3;
constexpr double worth_fusing = 8; // what a tile may read for each of its points, if that saves a pass

class DeviceSeries final : public GridSeries {
public:
  DeviceSeries(const Cuda &on, const Grid &grid, const Series &series)
      : on_(on), g_(lattice_of(grid)), series_(series) {
    const std::size_t n = static_cast<std::size_t>(g_.size());
    for (int m = 0; m < g_.steps; ++m) w_[m].resize(n);
    s_.resize(n);
    choose_limits();
    for (int k = 0; k < work_vectors(series, limits_); ++k) work_[k].resize(n);
  }

  Findings refresh(const Csr &A) override {
    double *w[most_steps];
    for (int m = 0; m < g_.steps; ++m) w[m] = w_[m].data();
    found_.clear(on_.stream);
    read_couplings(A, g_, s_.data(), w, [&](const auto &f) { at_rows(g_.size(), f, found_, on_.stream); });
    return read(found_, on_.stream);
  }

  void apply(const double *r, double *z) override {
    double *const work[3] = {work_[0].data(), work_[1].data(), work_[2].data()};
    in_pieces(series_, limits_, r, z, work, [&](const Piece &p) { pass(p); });
  }

  double bytes() const override {
    std::size_t sum = s_.bytes();
    for (const auto &w : w_) sum += w.bytes();
    for (const auto &w : work_) sum += w.bytes();
    return static_cast<double>(sum);
  }

private:
  Couplings couplings() const {
    Couplings c{{}, s_.data()};
    for (int m = 0; m < g_.steps; ++m) c.w[m] = w_[m].data();
    return c;
  }

  // The marches are for K^T K.
  bool marches(const Piece &p) const {
    return !g_.any_periodic() && p.first == Triangle::lower && p.then == p.steps && p.steps > 0 &&
           p.steps <= most_marched && p.in == Scale::s && p.between == Scale::none && p.out == Scale::s;
  }

  void choose_limits() {
    int device, most;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
    shared_ = static_cast<std::size_t>(most);
    check(cudaFuncSetAttribute(kernel_of_tiles(g_.steps, g_.any_periodic()),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, most),
          "cudaFuncSetAttribute");
    TileShape ignored;
    const auto cost = [&](int steps, int then) {
      const Piece p{Triangle::lower, steps, then, Scale::s, Scale::none, Scale::s, nullptr, nullptr, nullptr};
      if (marches(p)) return 1.0;
      return choose_tile(g_, halo_of(g_, p), shared_, ignored);
    };
    for (int k = 1; k <= most_in_tiles; ++k) {
      const double both = cost(k, k), one = cost(k, 0);
      if (both > 0 && both <= worth_fusing) limits_.both = k;
      if (one > 0 && one <= worth_fusing) limits_.one = k;
    }
  }

  void pass(const Piece &p) const {
    if (p.steps == 0) {
      scale<<<1024, 256, 0, on_.stream>>>(g_.size(), s_.data(), p);
      return cuda::check_launch("scale");
    }
    if (!marches(p)) return apply_in_tiles(g_, couplings(), p, shared_, on_.stream);
    if (g_.steps == 2) return march<2>(p.steps, g_, couplings(), p.r, p.z, on_.stream);
    if (g_.steps == 3) return march<3>(p.steps, g_, couplings(), p.r, p.z, on_.stream);
    march<4>(p.steps, g_, couplings(), p.r, p.z, on_.stream);
  }

  const Cuda &on_;
  const Lattice g_;
  const Series series_;
  Limits limits_{0, 1};
  std::size_t shared_ = 0;
  cuda::Buffer<double> w_[most_steps], s_, work_[3];
  cuda::Report<DeviceFindings> found_;
};

} // namespace

std::unique_ptr<GridSeries> make_grid_series(const Cuda &on, const Grid &grid, const Series &series) {
  return std::make_unique<DeviceSeries>(on, grid, series);
}

} // namespace petscrrb::neumann
