// Multigrid on a device.
#include "pc/gridmg/cuda/gridmg.cuh"

namespace petscrrb::gridmg {

template class Hierarchy<Cuda, float>;
template class Hierarchy<Cuda, double>;
template class Multigrid<Cuda, float>;
template class Multigrid<Cuda, double>;
template class GridMGOn<Cuda, float>;
template class GridMGOn<Cuda, double>;

std::unique_ptr<GridMG> make_gridmg(Cuda &on, const Dealt &dealt, int points, const Options &o, bool single) {
  if (single) return std::make_unique<GridMGOn<Cuda, float>>(on, dealt, points, o);
  return std::make_unique<GridMGOn<Cuda, double>>(on, dealt, points, o);
}

} // namespace petscrrb::gridmg
