// Conjugate gradients around multigrid on a device.
#include "ksp/rrb/cuda/black_product.cuh"
#include "ksp/rrb/cuda/iteration.cuh"
#include "pc/gridmg/cuda/gridmg.cuh"

namespace petscrrb::rrbsolver {

template <class Inside, Points points> static PendingSquares pending_of(const GridCG<Inside, points> &cg, Norm, bool) {
  return {cg.squares()};
}

std::unique_ptr<GridIteration> make_grid_iteration(Cuda &on, gridmg::GridMG &grids, bool black) {
  const bool launched = grids.ranks() && !grids.ranks()->only_kernels();
  return make_on_grids<Cuda, IterationOnDevice>(grids, black, on,
                                                launched ? Iteration::Loop::launches : Iteration::Loop::automatic);
}

} // namespace petscrrb::rrbsolver
