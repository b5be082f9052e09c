// Series on a device. On a grid warps march through strips.
#include "pc/neumann/core/grid_series.hpp"
#include "pc/neumann/core/sparse_values.hpp"
#include "pc/neumann/cuda/march.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::neumann {
namespace {

// no terms
__global__ void scale(PetscInt n, const double *s, Piece p) {
  for (index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += index_t(gridDim.x) * blockDim.x)
    p.z[i] = scaled(p.out, s[i], scaled(p.in, s[i], p.r[i]));
}

class DeviceSeries final : public GridSeriesOn<Cuda> {
public:
  DeviceSeries(const Cuda &on, const Lattice &grid, const Series &series)
      : GridSeriesOn(on, grid, series, most_marched(grid.steps, grid.any_periodic())) {}

private:
  void pass(const Piece &p) override {
    if (p.steps == 0) {
      scale<<<1024, 256, 0, on_.stream>>>(g_.size(), couplings().s, p);
      return cuda::check_launch("scale");
    }
    with_lattice([&](auto steps, auto around) {
      with_march<steps.value, around.value>(
          p, [&](auto marching) { march<steps.value, around.value>(marching, g_, couplings(), p, on_.stream); });
    });
  }
};

} // namespace

std::unique_ptr<GridSeries> make_grid_series(const Cuda &on, const Grid &grid, const Series &series) {
  return std::make_unique<DeviceSeries>(on, lattice_of(grid), series);
}
std::unique_ptr<SparseValues> make_sparse_values(const Cuda &on, PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<SparseValuesOn<Cuda>>(on, rows, plan);
}

} // namespace petscrrb::neumann
