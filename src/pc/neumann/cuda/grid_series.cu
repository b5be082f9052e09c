// A series on a grid on a device: warps march through strips.
#include "pc/neumann/core/grid_series.hpp"

#include "pc/neumann/cuda/march.cuh"
#include "stencil/cuda/rows.cuh"
#include "pc/neumann/core/read.hpp"

namespace petscrrb::neumann {
namespace {

// no terms
__global__ void scale(PetscInt n, const double *s, Piece p) {
  for (index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += index_t(gridDim.x) * blockDim.x)
    p.z[i] = scaled(p.out, s[i], scaled(p.in, s[i], p.r[i]));
}

class DeviceSeries final : public GridSeries {
public:
  DeviceSeries(const Cuda &on, const Grid &grid, const Series &series)
      : on_(on), g_(lattice_of(grid)), series_(series), limits_(most_marched(g_.steps, g_.any_periodic())) {
    const std::size_t n = static_cast<std::size_t>(g_.size());
    for (int m = 0; m < g_.steps; ++m) w_[m].resize(n);
    s_.resize(n);
    for (int k = 0; k < work_vectors(series, limits_); ++k) work_[k].resize(n);
  }

  RowFacts refresh(const Csr &A) override {
    double *w[most_steps];
    for (int m = 0; m < g_.steps; ++m) w[m] = w_[m].data();
    found_.clear(on_.stream);
    read_couplings(A, g_, series_.omega, s_.data(), w,
                   [&](const auto &f) { at_rows(g_.size(), f, found_, on_.stream); });
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

  void pass(const Piece &p) const {
    if (p.steps == 0) {
      scale<<<1024, 256, 0, on_.stream>>>(g_.size(), s_.data(), p);
      return cuda::check_launch("scale");
    }
    if (g_.any_periodic())
      pass<true>(p);
    else
      pass<false>(p);
  }
  template <bool around> void pass(const Piece &p) const {
    if (g_.steps == 2)
      pass<2, around>(p);
    else if (g_.steps == 3)
      pass<3, around>(p);
    else
      pass<4, around>(p);
  }
  template <int steps, bool around> void pass(const Piece &p) const {
    with_march<steps, around>(p,
                              [&](auto marching) { march<steps, around>(marching, g_, couplings(), p, on_.stream); });
  }

  const Cuda &on_;
  const Lattice g_;
  const Series series_;
  const Limits limits_;
  cuda::Buffer<double> w_[most_steps], s_, work_[3];
  cuda::Report<SharedFacts> found_;
};

} // namespace

std::unique_ptr<GridSeries> make_grid_series(const Cuda &on, const Grid &grid, const Series &series) {
  return std::make_unique<DeviceSeries>(on, grid, series);
}

} // namespace petscrrb::neumann
