// Multigrid on the host.
#include "pc/gridmg/host/gridmg.hpp"

namespace petscrrb::gridmg {

template class Hierarchy<Host, float>;
template class Hierarchy<Host, double>;
template class Multigrid<Host, float>;
template class Multigrid<Host, double>;
template class GridMGOn<Host, float>;
template class GridMGOn<Host, double>;

std::unique_ptr<GridMG> make_gridmg(const Dealt &dealt, int points, const Options &o, bool single) {
  static Host on;
  if (single) return std::make_unique<GridMGOn<Host, float>>(on, dealt, points, o);
  return std::make_unique<GridMGOn<Host, double>>(on, dealt, points, o);
}

} // namespace petscrrb::gridmg
