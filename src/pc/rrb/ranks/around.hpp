// Loops over a box and what is around it: what happens at own nodes is counted, the rest is other ranks', computed once more.
#pragma once

#include "exec/counts.hpp"
#include "pc/rrb/ranks/boxes.hpp"

namespace petscrrb::rrb {

// f at all nodes of `box` that are not in `inner`, which is a part of it.
template <class Backend, class F> void for_each_around(const Backend &on, Range2 box, Range2 inner, const F &f) {
  if (!inner.size()) return on.for_each(box, f);
  on.for_each({box.h0, box.h1, box.k0, inner.k0}, f);
  on.for_each({box.h0, inner.h0, inner.k0, inner.k1}, f);
  on.for_each({inner.h1, box.h1, inner.k0, inner.k1}, f);
  on.for_each({box.h0, box.h1, inner.k1, box.k1}, f);
}

// f at the nodes of a class in the box and up to `steps` around it.
template <class Backend, class F>
void at_own_and_around(const Backend &on, const Extent &own, Class c, index_t steps, const F &f, NodeCounts counts[4]) {
  const Range2 nodes = own.nodes_of(c);
  on.count_each(nodes, nodes, f, f, counts + c);
  for_each_around(on, widened(own, steps).nodes_of(c), nodes, f);
}

} // namespace petscrrb::rrb
