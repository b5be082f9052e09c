// Conjugate gradients with the rows of a matrix on a device.
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::rrbsolver {

template <class Inside> static std::unique_ptr<MatrixIteration> make(Cuda &on, const Inside &inside) {
  return std::make_unique<IterationOnDevice<MatrixCG<Cuda, Inside>>>(on, Iteration::Loop::automatic, inside);
}

std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, Factorization &core) {
  return make(on, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, index_t n, const Callers &with) {
  return make(on, CallersInside{n, with});
}

} // namespace petscrrb::rrbsolver
