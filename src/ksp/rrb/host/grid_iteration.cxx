// Conjugate gradients around multigrid on the host.
#include "ksp/rrb/host/black_product.hpp"
#include "ksp/rrb/host/iteration.hpp"
#include "pc/gridmg/host/gridmg.hpp"

namespace petscrrb::rrbsolver {

std::unique_ptr<GridIteration> make_grid_iteration(gridmg::GridMG &grids, bool black) {
  static Host on;
  return make_on_grids<Host, IterationOnHost>(grids, black, on);
}

} // namespace petscrrb::rrbsolver
