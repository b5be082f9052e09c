// Conjugate gradients on PCRRB's factorization on the host.
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "pc/rrb/host/coupling_sums.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, RrbIteration::Core &core, bool full,
                                                 BlackRanks *ranks) {
  using Core = RrbIteration::Core;
  if (full)
    return std::make_unique<OnRrb<IterationOnHost<FullCG<Host, Core, StencilProduct<Host>>, RrbIteration>>>(on, core);
  return std::make_unique<OnRrb<IterationOnHost<SchurCG<Host, Core>, RrbIteration>>>(on, core, ranks);
}
std::unique_ptr<RowsIteration> make_rows_iteration(const Host &on, Factorization &core) {
  using CG = FullCG<Host, Factorization, RowsProduct<Host>>;
  return std::make_unique<OnRows<IterationOnHost<CG, RowsIteration>>>(on, core);
}

} // namespace petscrrb::rrbsolver
