#include "petsc/ghosts_cuda.hpp"

#include "exec/cuda/cuda.cuh"
#include "grid/source.hpp"

namespace petscrrb::cuda {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    put_own(index_t n, const PetscInt *source, const PetscScalar *first, const PetscScalar *second, PetscScalar *a) {
  for (index_t e = index_t(blockIdx.x) * threads + threadIdx.x; e < n; e += index_t(gridDim.x) * threads)
    Source::put(first, second, source[e], a + e);
}

} // namespace

void OwnValues::put(const PetscScalar *const from[2], PetscScalar *a) const {
  const index_t n = index_t(source_.size());
  if (!n) return;
  put_own<<<unsigned(std::min<index_t>((n + threads - 1) / threads, 1 << 16)), threads>>>(n, source_.data(), from[0],
                                                                                          from[1], a);
  check_launch("put_own");
}

} // namespace petscrrb::cuda
