// The first elimination on a graph, where red nodes couple with black ones only, and these with no others: what S1 is made of.
#pragma once

#include "pc/rrb/graph/couplings.hpp"

namespace petscrrb::rrb {

// Of a factor. Nodes are in the order of elimination: the first red ones, then the black ones, the first of which is node `reds`.
struct BlackGraph {
  node_t reds, blacks;
  node_t couplings;                 // of red ones with black ones
  const node_t *point;              // the unknown of each node
  Couplings<double> upper, lower;   // of red nodes, of black ones: weights, over d of the red one
  const double *inverse, *diagonal; // 1/d of red nodes, d of black ones
  double *x;                        // of all nodes: in that of the black ones sweeps from level 1 begin and end

  double on_average(node_t n) const { return n ? double(couplings) / n : 0.0; } // couplings of one of n
};

} // namespace petscrrb::rrb
