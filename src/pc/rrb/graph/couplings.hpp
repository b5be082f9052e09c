// What each node of a list sums over, and loops that do so.
#pragma once

#include "exec/range.hpp"

namespace petscrrb::rrb {

// Numbers of nodes and of couplings; what has more of them is refused.
using node_t = std::int32_t;

struct ProductOf {
  const double *x, *y;

  PETSCRRB_HD double operator()(index_t i) const { return x[i] * y[i]; }
};

// What node i of a list sums over: begin[i] ... end[i]. It stays as it is while sweeps run. Place: of a coupling, and of a node.
template <class T, class Place = node_t> struct Couplings {
  const Place *begin, *end, *column;
  const T *weight;

  Couplings from(Place i) const { return {begin + i, end + i, column, weight}; } // those of node i and later ones
};

// For each node f.take(i, f.own(i) + the sum of f.term(i, weight, column) over f.couplings): several lanes of a device add it up. on_average: so
// many couplings.
//   each(on, n, on_average, f)
//   Terms terms(on, n, on_average, f, partial): of the sum of what f.take() returns, which take most_terms(n) of the partial sum
template <class Backend> struct CouplingSums;

} // namespace petscrrb::rrb
