// Point Jacobi on a device, for those who are not compiled by nvcc.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "pc/pointjacobi/core/pointjacobi.hpp"

namespace petscrrb::pointjacobi {

// Its work goes to on.stream.
std::unique_ptr<PointJacobi> make(const Cuda &on, const Grid &);

} // namespace petscrrb::pointjacobi
