// RRB on several ranks, on the host.
#include "exec/host/sums.hpp"
#include "pc/rrb/host/box_sweeps.hpp"
#include "pc/rrb/ranks/distributed_apply.hpp"
#include "pc/rrb/ranks/distributed_factor.hpp"
#include "pc/rrb/ranks/gathered_graph.hpp"
#include "pc/rrb/host/grid_product.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<FactorizationOnRanks> make_distributed(const Host &, Ranks &, const Boxes &, const Options &,
                                                                int, Precision);
template std::unique_ptr<GraphOnRanks> make_graph_on_ranks(const Host &, Ranks &, const Boxes &, bool);

} // namespace petscrrb::rrb
