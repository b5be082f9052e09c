// The sweeps of one grid on a rank's box, which each backend has its own of: host/box_sweeps.hpp.
#pragma once

#include "pc/rrb/ranks/boxes.hpp"
#include "pc/rrb/core/dense_grid.hpp"

namespace petscrrb::rrb {

// A grid on a box, as its sweeps see it: x is the vector, in place, with what is around in the arrays' borders. b1 is
// computed on what is around, too, and is in b1_after after the way down.
template <class T> struct BoxGrid {
  Extent own;
  Quad<Dense> x;
  Dense b1_after, solution_b2; // on the host x[b1] and x[b2]
  const FactorFields<DenseFieldOf<T>> &factor;
};

// Where a box's solution goes, in natural order by coordinates: times v, if that is not NULL.
struct BoxSolution {
  Strided<1> z;
  Strided<1> v = {};
};

template <class Backend> class BoxSweeps;

} // namespace petscrrb::rrb
