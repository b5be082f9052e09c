// Conjugate gradients around multigrid on a device.
#include "ksp/rrb/cuda/black_product.cuh"
#include "ksp/rrb/cuda/iteration.cuh"
#include "pc/gridmg/cuda/gridmg.cuh"

namespace petscrrb::rrbsolver {

std::unique_ptr<GridIteration> make_grid_iteration(Cuda &on, gridmg::GridMG &grids, bool black) {
  const bool launched = grids.ranks() && !grids.ranks()->only_kernels();
  return make_on_grids<Cuda, IterationOnDevice>(grids, black, on,
                                                launched ? Iteration::Loop::launches : Iteration::Loop::automatic);
}

} // namespace petscrrb::rrbsolver
