// RRB on CUDA devices.
#include "exec/cuda/sums.cuh"
#include "pc/rrb/cuda/grid_product.cuh"
#include "pc/rrb/cuda/one_pass.cuh"
#include "pc/rrb/cuda/sweeps.cuh"

#include "pc/rrb/core/rrb_apply.hpp"
#include "pc/rrb/core/rrb_factor.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<Factorization> make_factorization(const Cuda &, const Extent &, const Options &, Precision);

} // namespace petscrrb::rrb
