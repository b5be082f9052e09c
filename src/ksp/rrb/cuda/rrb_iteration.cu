// Conjugate gradients on PCRRB's factorization on a device.
#include "ksp/rrb/core/full_cg.hpp"
#include "ksp/rrb/core/rrb_iteration.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"

namespace petscrrb::rrbsolver {

struct NothingPending {
  template <int> __device__ void add_up(double *, Norm) const {}
};
template <class Core> static device::Pending pending_of(const SchurCG<Cuda, Core> &cg, Norm norm, bool start) {
  return cg.loops().pending(norm, start);
}
template <class Core> static NothingPending pending_of(const FullCG<Cuda, Core> &, Norm, bool) { return {}; }

std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, RrbIteration::Core &core, bool full, BlackRanks *ranks,
                                                 Iteration::Loop loop) {
  using Core = RrbIteration::Core;
  if (full) return std::make_unique<OnRrb<IterationOnDevice<FullCG<Cuda, Core>, RrbIteration>>>(on, loop, core);
  return std::make_unique<OnRrb<IterationOnDevice<SchurCG<Cuda, Core>, RrbIteration>>>(on, loop, core, ranks);
}

} // namespace petscrrb::rrbsolver
