// Conjugate gradients with the rows of a matrix on the host.
#include "ksp/rrb/core/matrix_iteration.hpp"
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "pc/rrb/host/coupling_sums.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::rrbsolver {

template <class Inside> static std::unique_ptr<MatrixIteration> make(const Host &on, const Inside &inside) {
  using CG = FullCG<Host, Inside, MatrixProduct<Host>>;
  return std::make_unique<OnMatrix<IterationOnHost<CG, MatrixIteration>>>(on, inside, on);
}

std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, Factorization &core) {
  return make(on, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, index_t n) {
  return make(on, CallersInside{n, {}});
}

} // namespace petscrrb::rrbsolver
