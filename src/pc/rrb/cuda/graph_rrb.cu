// RRB on the graph, on CUDA devices.
#include "exec/cuda/sums.cuh"
#include "pc/rrb/cuda/graph_loops.cuh"
#include "pc/rrb/graph/graph_rrb.hpp"

namespace petscrrb::rrb {

template <>
std::unique_ptr<Factorization> make_on_graph(const Cuda &on, const Extent &x, const Options &o, bool single,
                                             const PreparedStencil &s, double omega) {
  if (single) return std::make_unique<GraphRrb<Cuda, float>>(on, x, o, s, omega);
  return std::make_unique<GraphRrb<Cuda, double>>(on, x, o, s, omega);
}

} // namespace petscrrb::rrb
