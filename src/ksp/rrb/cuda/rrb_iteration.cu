// Conjugate gradients on PCRRB's factorization on a device.
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"

namespace petscrrb::rrbsolver {

template <class Core> static device::Pending pending_of(const SchurCG<Cuda, Core> &cg, Norm norm, bool start) {
  return cg.loops().pending(norm, start);
}
template <class Core, class Product>
static PendingSquares pending_of(const FullCG<Cuda, Core, Product> &cg, Norm, bool) {
  return {cg.squares()};
}

std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, RrbIteration::Core &core, bool full, BlackRanks *ranks,
                                                 Iteration::Loop loop) {
  using Core = RrbIteration::Core;
  if (full)
    return std::make_unique<OnRrb<IterationOnDevice<FullCG<Cuda, Core, StencilProduct<Cuda>>, RrbIteration>>>(on, loop,
                                                                                                              core);
  return std::make_unique<OnRrb<IterationOnDevice<SchurCG<Cuda, Core>, RrbIteration>>>(on, loop, core, ranks);
}
std::unique_ptr<RowsIteration> make_rows_iteration(Cuda &on, Factorization &core) {
  using CG = FullCG<Cuda, Factorization, RowsProduct<Cuda>>;
  return std::make_unique<OnRows<IterationOnDevice<CG, RowsIteration>>>(on, Iteration::Loop::automatic, core);
}

} // namespace petscrrb::rrbsolver
