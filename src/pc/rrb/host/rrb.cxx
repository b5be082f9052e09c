// RRB on the host.
#include "exec/host/sums.hpp"
#include "pc/rrb/host/grid_product.hpp"
#include "pc/rrb/host/sweeps.hpp"
#include "pc/rrb/core/rrb_apply.hpp"
#include "pc/rrb/core/rrb_factor.hpp"

namespace petscrrb::rrb {

template std::unique_ptr<Factorization> make_factorization(const Host &, const Extent &, const Options &, Precision);

} // namespace petscrrb::rrb
