// RRB on the host.
#include "backend/partial_sum_host.hpp"
#include "backend/scalars_host.hpp"
#include "rrb/grid_product_host.hpp"
#include "rrb/host_rows.hpp"
#include "rrb/rrb_amli.hpp"
#include "rrb/rrb_apply.hpp"
#include "rrb/rrb_energy.hpp"
#include "rrb/rrb_factor.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<Factorization<std::int32_t>> make_factorization(const Host &, const Extent &, const Options &,
                                                                         bool);
template std::unique_ptr<Factorization<std::int64_t>> make_factorization(const Host &, const Extent &, const Options &,
                                                                         bool);

} // namespace petscrrb::rrb
