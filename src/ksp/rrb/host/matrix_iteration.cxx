// Conjugate gradients with the rows of a matrix on the host.
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "pc/rrb/host/coupling_sums.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, Factorization &core) {
  return std::make_unique<IterationOnHost<MatrixCG<Host, FactorizationInside>>>(on, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, index_t n) {
  return std::make_unique<IterationOnHost<MatrixCG<Host, CallersInside>>>(on, CallersInside{n, {}});
}

} // namespace petscrrb::rrbsolver
