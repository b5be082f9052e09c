// RRB on the host.
#include "rrb/rrb_apply.hpp"
#include "rrb/rrb_factor.hpp"

template class petscrrb::rrb::Rrb<petscrrb::Host, int>;
template class petscrrb::rrb::Rrb<petscrrb::Host, std::int64_t>;
