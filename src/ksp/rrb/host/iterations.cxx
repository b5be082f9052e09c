// The forms of conjugate gradients on the host.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/core/products.hpp"
#include "ksp/rrb/host/black_product.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "pc/gridmg/host/gridmg.hpp"
#include "pc/rrb/host/coupling_sums.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, Factorization &core, bool full, BlackRanks *ranks) {
  if (full) return std::make_unique<IterationOnHost<StencilCG<Host>>>(on, core);
  return std::make_unique<IterationOnHost<SchurCG<Host>>>(on, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(const Host &on, Factorization &core) {
  return std::make_unique<IterationOnHost<GraphCG<Host>>>(on, core);
}

std::unique_ptr<GridIteration> make_grid_iteration(gridmg::GridMG &grids, bool black) {
  static Host on;
  return make_on_grids<Host, IterationOnHost>(grids, black, on);
}

std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, Factorization &core) {
  return std::make_unique<IterationOnHost<MatrixCG<Host, FactorizationInside>>>(on, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(const Host &on, index_t n) {
  return std::make_unique<IterationOnHost<MatrixCG<Host, CallersInside>>>(on, CallersInside{n, {}});
}

} // namespace petscrrb::rrbsolver
