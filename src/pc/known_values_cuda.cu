#include "pc/known_values_cuda.hpp"

#include "exec/cuda/rows.cuh"

namespace petscrrb::cuda {

void find_known_rows(const FindKnownRows &find, cudaStream_t stream) {
  for_rows("known rows", static_cast<int>(find.A.n), find, stream);
}

} // namespace petscrrb::cuda
