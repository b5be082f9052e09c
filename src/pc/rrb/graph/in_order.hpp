// Decisions about nodes one after the other, on a host.
#pragma once

#include "pc/rrb/graph/red_nodes.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace petscrrb::rrb {

// Decides about the nodes begin <= p < end that are undecided, in the order of priority. Of the others, those that come before one
// of these and that it must know about are waited for: other threads decide about them. It comes out as if one thread had decided about all, since
// whatever comes later waits in turn. As RedTests::passes(), of one node after the other: its weights stay with its neighbours, where those of a
// neighbour find them without a search, and without branches, which nobody could predict.
class InOrder {
public:
  InOrder(const Decide &decide, node_t begin, node_t end, signed char *colour)
      : decide_(decide), rows_(decide.tests.graph.rows), w_(decide.tests.graph.w), colour_(colour), begin_(begin),
        end_(end), order_(end - begin), weight_(decide.tests.graph.n) {
    for (node_t p = begin; p < end; ++p) order_[p - begin] = {decide.priority[p], p};
    std::sort(order_.begin(), order_.end());
  }

  void operator()() {
    for (const auto &[priority, p] : order_)
      if (colour_[p] == undecided) __atomic_store_n(colour_ + p, passes(p) ? red : black, __ATOMIC_RELEASE);
  }

private:
  bool is_red(node_t p) const { return settled_colour_of(colour_, p) == red; }
  void wait_for(node_t q, node_t p) const {
    while ((q < begin_ || q >= end_) && decide_.waits_for(q, decide_.priority[p])) std::this_thread::yield();
  }

  bool passes(node_t p) {
    const RedTests &tests = decide_.tests;
    const node_t begin = rows_.start[p], end = rows_.start[p + 1];
    if (tests.is_long(p)) return false;
    for (node_t k = begin; k < end; ++k) wait_for(rows_.column[k], p);
    if (!tests.keeps_enough(p, Alone())) return false;
    for (node_t k = begin; k < end; ++k)
      if (const node_t q = rows_.column[k]; !is_red(q)) weight_[q] = w_[k];
    bool ok = true;
    for (node_t k = begin; k < end && ok; ++k)
      if (const node_t q = rows_.column[k]; is_red(q)) ok = is_kept(q, w_[k], p);
    for (node_t k = begin; k < end; ++k) weight_[rows_.column[k]] = 0.0;
    return ok;
  }
  // of a red neighbour and its coupling, with p red, too
  bool is_kept(node_t q, double w, node_t p) const {
    constexpr double tiny = 1e-300;
    const RedTests &tests = decide_.tests;
    for (node_t m = rows_.start[q]; m < rows_.start[q + 1]; ++m) wait_for(rows_.column[m], p);
    double lost = 0.0, kept = tests.graph.e[q], support = 0.0;
    for (node_t m = rows_.start[q]; m < rows_.start[q + 1]; ++m) {
      const node_t r = rows_.column[m];
      const double v = w_[m], u = weight_[r], red_part = (is_red(r) | (r == p)) * v;
      lost += red_part, kept += v - red_part;
      support += u * v / (u + v + tiny);
    }
    return (at_most(w, 0.0) || at_most(w, tests.limits.tau * support)) && tests.keeps(lost, kept);
  }

  const Decide decide_;
  const Rows rows_;
  const double *const w_;
  signed char *const colour_;
  const node_t begin_, end_;
  std::vector<std::pair<priority_t, node_t>> order_;
  std::vector<double> weight_; // of a coupling with the node at hand, of its neighbours that are not red
};

} // namespace petscrrb::rrb
