// Point Jacobi on a device: the same loops, as kernels.
#include "pc/pointjacobi/cuda/pointjacobi.hpp"

#include "exec/cuda/cuda.cuh"

namespace petscrrb::pointjacobi {

std::unique_ptr<PointJacobi> make(const Cuda &on, const Grid &g) {
  return std::make_unique<PointJacobiOn<Cuda>>(on, g);
}

} // namespace petscrrb::pointjacobi
