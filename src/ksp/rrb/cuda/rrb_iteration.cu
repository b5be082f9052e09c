// Conjugate gradients on PCRRB's factorization on a device.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "ksp/rrb/cuda/schur_form.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"

namespace petscrrb::rrbsolver {

template <class Core> static device::Pending pending_of(const SchurCG<Cuda, Core> &cg, Norm norm, bool start) {
  return cg.loops().pending(norm, start);
}

std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, RrbIteration::Core &core, bool full, BlackRanks *ranks,
                                                 Iteration::Loop loop) {
  using Core = RrbIteration::Core;
  using Full = FullCG<Cuda, FactorizationInside, StencilProduct<Cuda>>;
  if (full)
    return std::make_unique<OnAllNodes<IterationOnDevice<Full, RrbIteration>>>(on, loop, FactorizationInside{core},
                                                                               core);
  return std::make_unique<OnRrb<IterationOnDevice<SchurCG<Cuda, Core>, RrbIteration>>>(on, loop, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(Cuda &on, Factorization &core) {
  return std::make_unique<IterationOnDevice<GraphCG<Cuda>, Iteration>>(on, Iteration::Loop::automatic, core);
}

} // namespace petscrrb::rrbsolver
