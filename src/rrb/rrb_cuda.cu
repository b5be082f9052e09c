// RRB on CUDA devices.
#include "backend/scalars_cuda.cuh"
#include "rrb/grid_product_cuda.cuh"
#include "rrb/sweeps_cuda.cuh"

#include "rrb/rrb_amli.hpp"
#include "rrb/rrb_apply.hpp"
#include "rrb/rrb_energy.hpp"
#include "rrb/rrb_factor.hpp"

#include <petscsystypes.h>

namespace petscrrb::rrb {

template std::unique_ptr<Factorization<PetscInt>> make_factorization(const Cuda &, const Extent &, const Options &,
                                                                     bool);

} // namespace petscrrb::rrb
