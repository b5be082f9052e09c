#include "petsc/overlap_cuda.hpp"

#include "exec/cuda/cuda.cuh"

namespace petscrrb::cuda {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads)
    put_own(index_t n, const PetscInt *place, const unsigned char *block, const PetscInt *to, const PetscScalar *first,
            const PetscScalar *second, PetscScalar *a) {
  for (index_t e = index_t(blockIdx.x) * threads + threadIdx.x; e < n; e += index_t(gridDim.x) * threads)
    a[to ? to[e] : e] = (block[e] ? second : first)[place[e]];
}

} // namespace

void OwnValues::put(const PetscScalar *const from[2], PetscScalar *a) const {
  const index_t n = index_t(place_.size());
  if (!n) return;
  put_own<<<unsigned(std::min<index_t>((n + threads - 1) / threads, 1 << 16)), threads>>>(
      n, place_.data(), block_.data(), to_.data(), from[0], from[1], a);
  check_launch("put_own");
}

} // namespace petscrrb::cuda
