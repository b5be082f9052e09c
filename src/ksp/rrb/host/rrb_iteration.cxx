// Conjugate gradients on PCRRB's factorization on the host.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "pc/rrb/host/coupling_sums.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, RrbIteration::Core &core, bool full,
                                                 BlackRanks *ranks) {
  using Core = RrbIteration::Core;
  using Full = FullCG<Host, FactorizationInside, StencilProduct<Host>>;
  if (full)
    return std::make_unique<OnAllNodes<IterationOnHost<Full, RrbIteration>>>(on, FactorizationInside{core}, core);
  return std::make_unique<OnRrb<IterationOnHost<SchurCG<Host, Core>, RrbIteration>>>(on, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(const Host &on, Factorization &core) {
  return std::make_unique<IterationOnHost<GraphCG<Host>, Iteration>>(on, core);
}

} // namespace petscrrb::rrbsolver
