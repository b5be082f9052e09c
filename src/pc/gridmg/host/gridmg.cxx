// Multigrid on the host.
#include "pc/gridmg/host/gridmg.hpp"

namespace petscrrb::gridmg {

template class Multigrid<Host, float>;
template class Multigrid<Host, double>;
template class GridMGOn<Host, float>;
template class GridMGOn<Host, double>;

std::unique_ptr<GridMG> make_gridmg(const Grid &g, const Options &o, bool single) {
  static Host on;
  if (single) return std::make_unique<GridMGOn<Host, float>>(on, g, o);
  return std::make_unique<GridMGOn<Host, double>>(on, g, o);
}

} // namespace petscrrb::gridmg
