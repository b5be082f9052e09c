// RRB on several ranks, on the host.
#include "backend/partial_sum_host.hpp"
#include "backend/scalars_host.hpp"
#include "rrb/box_rows.hpp"
#include "rrb/distributed_apply.hpp"
#include "rrb/distributed_factor.hpp"
#include "rrb/grid_product_host.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<FactorizationOnRanks<std::int32_t>> make_distributed(const Host &, Ranks &, const Boxes &,
                                                                              const Options &, int, bool);
template std::unique_ptr<FactorizationOnRanks<std::int64_t>> make_distributed(const Host &, Ranks &, const Boxes &,
                                                                              const Options &, int, bool);

} // namespace petscrrb::rrb
