// RRB on several ranks of CUDA devices.
#include "backend/scalars_cuda.cuh"
#include "rrb/box_sweeps_cuda.cuh"
#include "rrb/distributed_apply.hpp"
#include "rrb/distributed_factor.hpp"
#include "rrb/grid_product_cuda.cuh"

#include <petscsystypes.h>

namespace petscrrb::rrb {

template std::unique_ptr<Factorization<PetscInt>> make_distributed(const Cuda &, Ranks &, const Boxes &,
                                                                   const Options &, int, bool);

} // namespace petscrrb::rrb
