// The forms of conjugate gradients on a device.
#include "ksp/rrb/core/graph_cg.hpp"
#include "ksp/rrb/core/matrix_product.hpp"
#include "ksp/rrb/core/products.hpp"
#include "ksp/rrb/cuda/black_product.cuh"
#include "ksp/rrb/cuda/iteration.cuh"
#include "ksp/rrb/cuda/schur_form.cuh"
#include "ksp/rrb/cuda/schur_loops.cuh"
#include "pc/gridmg/cuda/gridmg.cuh"
#include "pc/rrb/cuda/coupling_sums.cuh"
#include "stencil/cuda/rows.cuh"

namespace petscrrb::rrbsolver {

std::unique_ptr<RrbIteration> make_rrb_iteration(Cuda &on, Factorization &core, bool full, BlackRanks *ranks,
                                                 Iteration::Loop loop) {
  if (full) return std::make_unique<IterationOnDevice<StencilCG<Cuda>>>(on, loop, core);
  return std::make_unique<IterationOnDevice<SchurCG<Cuda>>>(on, loop, core, ranks);
}

std::unique_ptr<Iteration> make_graph_iteration(Cuda &on, Factorization &core) {
  return std::make_unique<IterationOnDevice<GraphCG<Cuda>>>(on, Iteration::Loop::automatic, core);
}

std::unique_ptr<GridIteration> make_grid_iteration(Cuda &on, gridmg::GridMG &grids, bool black) {
  const bool launched = grids.ranks() && !grids.ranks()->only_kernels();
  return make_on_grids<Cuda, IterationOnDevice>(grids, black, on,
                                                launched ? Iteration::Loop::launches : Iteration::Loop::automatic);
}

std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, Factorization &core) {
  using CG = MatrixCG<Cuda, FactorizationInside>;
  return std::make_unique<IterationOnDevice<CG>>(on, Iteration::Loop::automatic, FactorizationInside{core});
}
std::unique_ptr<MatrixIteration> make_matrix_iteration(Cuda &on, index_t n, const Callers &with) {
  using CG = MatrixCG<Cuda, CallersInside>;
  return std::make_unique<IterationOnDevice<CG>>(on, Iteration::Loop::automatic, CallersInside{n, with});
}

} // namespace petscrrb::rrbsolver
