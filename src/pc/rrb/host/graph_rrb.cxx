// RRB on the graph, on the host.
#include "exec/host/sums.hpp"
#include "pc/rrb/graph/graph_rrb.hpp"
#include "pc/rrb/host/graph_loops.hpp"

namespace petscrrb::rrb {

template <>
std::unique_ptr<Factorization> make_on_graph(const Host &on, const Extent &x, const Options &o, bool single,
                                             const PreparedStencil &s, double omega) {
  if (single) return std::make_unique<GraphRrb<Host, float>>(on, x, o, s, omega);
  return std::make_unique<GraphRrb<Host, double>>(on, x, o, s, omega);
}

} // namespace petscrrb::rrb
