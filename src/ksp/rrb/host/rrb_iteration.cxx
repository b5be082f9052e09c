// Conjugate gradients on PCRRB's factorization on the host.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/products.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "pc/rrb/host/coupling_sums.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, Factorization &core, bool full, BlackRanks *ranks) {
  if (full) return std::make_unique<IterationOnHost<StencilCG<Host>>>(on, core);
  return std::make_unique<IterationOnHost<SchurCG<Host>>>(on, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(const Host &on, Factorization &core) {
  return std::make_unique<IterationOnHost<GraphCG<Host>>>(on, core);
}

} // namespace petscrrb::rrbsolver
