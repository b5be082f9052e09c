// Red nodes chosen by support on several ranks: gathered_graph.hpp.
#pragma once

#include "comm/ranks.hpp"
#include "pc/rrb/core/rrb.hpp"
#include "pc/rrb/ranks/boxes.hpp"

namespace petscrrb::rrb {

// Made in three steps, so that no rank waits for one that has no memory: make_graph_on_ranks() and choose() are local.
class GraphOnRanks : public Factorization {
public:
  // The matrix of all ranks from that of each one's box; collective.
  virtual void gather(const PreparedStencil &box) = 0;
  // As make_by_support() in rrb.hpp, of what was gathered. Applications are shared, as by share(). prepare_exchanges() is next.
  virtual void choose(const Options &, bool single, Lumping lumping, index_t gather_size) = 0;
};
// corners: of a matrix with 9 points. on and ranks must outlive what is made.
template <class Backend>
std::unique_ptr<GraphOnRanks> make_graph_on_ranks(const Backend &on, Ranks &ranks, const Boxes &boxes, bool corners);

} // namespace petscrrb::rrb
