// Point Jacobi on the host.
#include "exec/host/host.hpp"
#include "pc/pointjacobi/core/pointjacobi.hpp"

namespace petscrrb::pointjacobi {

static const Host host;

std::unique_ptr<PointJacobi> make_pointjacobi(const Grid &g) { return std::make_unique<PointJacobiOn<Host>>(host, g); }

} // namespace petscrrb::pointjacobi
