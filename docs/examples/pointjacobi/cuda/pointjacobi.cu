// Point Jacobi on a device: the same loops, as kernels.
#include "exec/cuda/cuda.cuh"
#include "pc/pointjacobi/core/pointjacobi.hpp"

namespace petscrrb::pointjacobi {

std::unique_ptr<PointJacobi> make_pointjacobi(const Cuda &on, const Grid &g) {
  return std::make_unique<PointJacobiOn<Cuda>>(on, g);
}

} // namespace petscrrb::pointjacobi
