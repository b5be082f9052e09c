// What loops over nodes find out about them.
#pragma once

#include "exec/range.hpp"

#include <limits>

namespace petscrrb {

// What a factorization step found at its nodes; functors return these bits.
enum NodeFlags : unsigned {
  node_ok = 0,
  node_unlumped = 1,
  node_null = 2,
  node_failed = 4,
  node_unsupported = 8 // a red node to which the plain red sets do no justice
};

struct NodeCounts {
  index_t unlumped = 0, null = 0, failed = 0, unsupported = 0;
  index_t first_failed = std::numeric_limits<index_t>::max(); // k * 2^32 + h of the first one

  void add(const NodeCounts &o) {
    unlumped += o.unlumped;
    null += o.null;
    failed += o.failed;
    unsupported += o.unsupported;
    if (o.first_failed < first_failed) first_failed = o.first_failed;
  }
};

// A loop over the nodes of a box, f(h, k) at those of inner and g(h, k) at the others, beside loops before it: row k reads rows k - down
// to k + up of what they write. counts: NULL, or where the flags that f and g return are added.
template <class F, class G> struct NodeLoop {
  Range2 box, inner;
  F f;
  G g;
  NodeCounts *counts;
  int down, up;
};

} // namespace petscrrb
