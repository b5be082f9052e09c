// Conjugate gradients on PCRRB's factorization on the host.
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "ksp/rrb/host/schur_loops.hpp"
#include "pc/rrb/host/coupling_sums.hpp"

namespace petscrrb::rrbsolver {

template <class CG, class Interface, class... With> static auto make(With &&...with) {
  return std::make_unique<OnRrb<IterationOnHost<CG, Interface>, Interface>>(with...);
}

std::unique_ptr<RrbIteration> make_rrb_iteration(const Host &on, RrbIteration::Core &core, bool full,
                                                 BlackRanks *ranks) {
  using Core = RrbIteration::Core;
  if (full) return make<FullCG<Host, Core, StencilProduct<Host>>, RrbIteration>(on, core);
  return make<SchurCG<Host, Core>, RrbIteration>(on, core, ranks);
}
std::unique_ptr<RowsIteration> make_rows_iteration(const Host &on, Factorization &core) {
  return make<FullCG<Host, Factorization, RowsProduct<Host>>, RowsIteration>(on, core);
}

} // namespace petscrrb::rrbsolver
