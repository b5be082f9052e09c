// RRB on several ranks of CUDA devices.
#include "exec/cuda/sums.cuh"
#include "pc/rrb/cuda/one_pass.cuh"
#include "pc/rrb/cuda/box_sweeps.cuh"
#include "pc/rrb/ranks/distributed_apply.hpp"
#include "pc/rrb/ranks/distributed_factor.hpp"
#include "pc/rrb/ranks/gathered_graph.hpp"
#include "pc/rrb/cuda/grid_product.cuh"

namespace petscrrb::rrb {

template std::unique_ptr<FactorizationOnRanks> make_distributed(const Cuda &, Ranks &, const Boxes &, const Options &,
                                                                int, Precision);
template std::unique_ptr<GraphOnRanks> make_graph_on_ranks(const Cuda &, Ranks &, const Boxes &, bool);

} // namespace petscrrb::rrb
