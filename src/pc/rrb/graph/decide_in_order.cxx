#include "pc/rrb/graph/red_nodes.hpp"

#include <vector>

namespace petscrrb::rrb {

namespace {

// As RedTests::passes(), of one node after the other: its weights stay with its neighbours, where those of a neighbour find them without a search,
// and without branches, which nobody could predict.
class InOrder {
public:
  InOrder(const RedTests &tests, signed char *colour)
      : tests_(tests), rows_(tests.graph.rows), w_(tests.graph.w), colour_(colour), nodes_(tests.graph.n) {
    for (node_t p = 0; p < tests.graph.n; ++p) nodes_[p].is_red = colour[p] == red;
  }

  void decide(node_t p) {
    colour_[p] = passes(p) ? red : black;
    nodes_[p].is_red = colour_[p] == red;
  }

private:
  struct Node {
    double is_red, weight = 0.0; // the latter of its coupling with the node at hand, where it is not red
  };

  bool passes(node_t p) {
    const node_t begin = rows_.start[p], end = rows_.start[p + 1];
    if (tests_.is_long(p) || !tests_.keeps_enough(p, Alone())) return false;
    for (node_t k = begin; k < end; ++k) {
      Node &q = nodes_[rows_.column[k]];
      q.weight = w_[k] * (1.0 - q.is_red);
    }
    nodes_[p].is_red = 1.0;
    bool ok = true;
    for (node_t k = begin; k < end && ok; ++k)
      if (const node_t q = rows_.column[k]; colour_[q] == red) ok = is_kept(q, w_[k]);
    for (node_t k = begin; k < end; ++k) nodes_[rows_.column[k]].weight = 0.0;
    return ok;
  }
  // of a red neighbour and its coupling
  bool is_kept(node_t q, double w) const {
    constexpr double tiny = 1e-300;
    double lost = 0.0, kept = tests_.graph.e[q], support = 0.0;
    for (node_t m = rows_.start[q]; m < rows_.start[q + 1]; ++m) {
      const Node &r = nodes_[rows_.column[m]];
      const double v = w_[m], u = r.weight, red_part = r.is_red * v;
      lost += red_part, kept += v - red_part;
      support += u * v / (u + v + tiny);
    }
    return (at_most(w, 0.0) || at_most(w, tests_.limits.tau * support)) && tests_.keeps(lost, kept);
  }

  const RedTests tests_;
  const Rows rows_;
  const double *const w_;
  signed char *const colour_;
  std::vector<Node> nodes_;
};

} // namespace

void decide_in_order(const RedTests &tests, const node_t *order, signed char *colour) {
  InOrder nodes(tests, colour);
  for (node_t i = 0; i < tests.graph.n; ++i)
    if (colour[order[i]] == undecided) nodes.decide(order[i]);
}

} // namespace petscrrb::rrb
