// Conjugate gradients on PCRRB's factorization on a device.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/products.hpp"
#include "ksp/rrb/cuda/iteration.cuh"
#include "ksp/rrb/cuda/schur_form.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, Factorization &core, bool full, BlackRanks *ranks,
                                                 Iteration::Loop loop) {
  if (full) return std::make_unique<IterationOnDevice<StencilCG<Cuda>>>(on, loop, core);
  return std::make_unique<IterationOnDevice<SchurCG<Cuda>>>(on, loop, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(Cuda &on, Factorization &core) {
  return std::make_unique<IterationOnDevice<GraphCG<Cuda>>>(on, Iteration::Loop::automatic, core);
}

} // namespace petscrrb::rrbsolver
