// Conjugate gradients with the rows of a matrix on a device.
#include "ksp/rrb/core/matrix_iteration.hpp"
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::rrbsolver {

template <class Inside> static std::unique_ptr<MatrixIteration> make(Cuda &on, const Inside &inside) {
  using CG = FullCG<Cuda, Inside, MatrixProduct<Cuda>>;
  return std::make_unique<OnMatrix<IterationOnDevice<CG, MatrixIteration>>>(on, Iteration::Loop::automatic, inside, on);
}

std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, Factorization &core) {
  return make(on, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, index_t n, const Callers &with) {
  return make(on, CallersInside{n, with});
}

} // namespace petscrrb::rrbsolver
