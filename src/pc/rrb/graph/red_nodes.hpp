// Which nodes are red: the tests of a set, and the decision about one node.
#pragma once

#include "exec/counts.hpp"
#include "pc/rrb/core/support_limits.hpp"
#include "pc/rrb/graph/lanes.hpp"

namespace petscrrb::rrb {

// Read while other threads decide about other nodes. What is decided stays.
PETSCRRB_HD inline Colour colour_of(const signed char *colour, node_t p) {
#if defined(__CUDA_ARCH__)
  return Colour(*const_cast<const volatile signed char *>(colour + p));
#else
  return Colour(__atomic_load_n(colour + p, __ATOMIC_ACQUIRE));
#endif
}

// The same where an older answer will do: several may be read at a time.
PETSCRRB_HD inline Colour settled_colour_of(const signed char *colour, node_t p) {
#if defined(__CUDA_ARCH__)
  return Colour(__ldcg(colour + p)); // what other processors wrote
#else
  return colour_of(colour, p);
#endif
}

struct RedTests {
  Graph graph;
  const signed char *colour;
  Limits limits;
  bool deciding = false; // colours are set meanwhile

  PETSCRRB_HD bool is_long(node_t p) const { return graph.rows.start[p + 1] - graph.rows.start[p] > most_of_red; }
  PETSCRRB_HD bool is_red(node_t p) const {
    return (deciding ? settled_colour_of(colour, p) : Colour(colour[p])) == red;
  }

  // Sums are always formed anew and in one order: with more red nodes `lost` cannot become smaller and `kept` not larger, in rounded arithmetic
  // either.
  template <class Lanes> PETSCRRB_HD bool keeps_enough(node_t p, const Lanes &lanes) const {
    double lost = 0.0, kept = lanes.first() ? graph.e[p] : 0.0;
    add(p, lanes.lane, lanes.count, lost, kept);
    return keeps(lanes.sum(lost), lanes.sum(kept));
  }
  PETSCRRB_HD void add(node_t p, int lane, int lanes, double &lost, double &kept) const {
    PETSCRRB_UNROLL_BY(8)
    for (node_t k = graph.rows.start[p] + lane; k < graph.rows.start[p + 1]; k += lanes)
      (is_red(graph.rows.column[k]) ? lost : kept) += graph.w[k];
  }
  PETSCRRB_HD bool keeps(double lost, double kept) const { return at_most(lost, limits.beta * kept); }

  // p being red: whether it keeps enough, and its red neighbours where they are asked, and whether each coupling with one of these has the
  // support of all paths of two couplings over nodes that are not red: their conductance.
  template <class Lanes> PETSCRRB_HD bool passes(node_t p, bool ask_neighbours, Lanes &lanes) const {
    return passes(p, ask_neighbours, lanes, [&](node_t k) { return is_red(graph.rows.column[k]); });
  }
  // The same of some of the red neighbours: a lane is asked for each of its places in row p.
  template <class Lanes, class F>
  PETSCRRB_HD bool passes(node_t p, bool ask_neighbours, Lanes &lanes, const F &is_one) const {
    const Rows &rows = graph.rows;
    const node_t end = rows.start[p + 1];
    bool ok = !is_long(p) && keeps_enough(p, lanes);
    if (ok) lanes.open(rows, p);
    for (node_t from = rows.start[p]; ok && from < end; from += lanes.count) {
      const node_t mine = from + lanes.lane;
      ok = lanes.all_of(mine < end && is_one(mine), mine, [&](node_t k, const auto &some) {
        const node_t q = rows.column[k];
        const bool ask_support = !at_most(graph.w[k], 0.0);
        double lost = 0.0, kept = some.first() ? graph.e[q] : 0.0, support = 0.0;
        PETSCRRB_UNROLL_BY(8)
        for (node_t m = rows.start[q] + some.lane; m < rows.start[q + 1]; m += some.count) {
          const node_t r = rows.column[m];
          const double v = graph.w[m];
          const bool counts_as_red = r == p || is_red(r);
          (counts_as_red ? lost : kept) += v;
          if (counts_as_red || !ask_support || !(v > 0.0)) continue;
          const node_t a = lanes.find(rows, r);
          const double u = a >= 0 ? graph.w[a] : 0.0;
          if (u > 0.0) support += u * v / (u + v);
        }
        const bool enough = !ask_neighbours || keeps(some.sum(lost), some.sum(kept));
        return (!ask_support || at_most(graph.w[k], limits.tau * some.sum(support))) && enough;
      });
    }
    return ok;
  }
};
// Returns NodeFlags. Most nodes need not be asked.
struct FailsPlainly {
  RedTests tests;

  template <class Lanes> PETSCRRB_HD bool asks(node_t p, const Lanes &lanes) const {
    if (!tests.is_red(p)) return false;
    double lost = 0.0, kept = lanes.first() ? tests.graph.e[p] : 0.0;
    tests.add(p, lanes.lane, lanes.count, lost, kept);
    lost = lanes.sum(lost);
    return lost > 0.0 || !tests.keeps(lost, lanes.sum(kept));
  }
  template <class Lanes> PETSCRRB_HD unsigned operator()(node_t p, Lanes &lanes) const {
    return tests.passes(p, false, lanes) ? node_ok : node_unsupported;
  }
};

// Whether p keeps the choice by support from being that of plain red nodes, where these come first: they are it where no coupling joins
// two nodes of one colour, red nodes lose nothing of a positive sum, and a black one has a red neighbour, with which it then has no other
// in common.
struct MayChooseOthers {
  RedTests tests;

  PETSCRRB_HD unsigned operator()(node_t p) const {
    const Rows &rows = tests.graph.rows;
    const bool own = tests.is_red(p);
    bool coupled = own;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      if (tests.is_red(rows.column[k]) == own) return true;
      coupled = coupled || tests.graph.w[k] > 0.0;
    }
    return !coupled || (own && !tests.keeps_enough(p, Alone()));
  }
};

// At which level plain RRB eliminates the point (x, y).
PETSCRRB_HD inline int plain_level(index_t x, index_t y) {
  if (x == 0 && y == 0) return 64;
  int level = 1;
  for (; !((x | y) & 1); x >>= 1, y >>= 1) level += 2;
  return level + !((x ^ y) & 1);
}

// Smaller comes first: by the level of plain RRB, then by the bits of x, y, x, y ... from the lowest, 1 before 0. No two points of a
// grid have the same.
using priority_t = std::uint64_t;
PETSCRRB_HD inline priority_t priority_of(index_t x, index_t y) {
  constexpr int bits = 28;                     // of a coordinate
  const auto spread = [](index_t coordinate) { // a zero behind each bit of what it is not
    priority_t p = ~priority_t(coordinate) & ((priority_t(1) << bits) - 1);
    p = (p | p << 16) & 0x0000ffff0000ffff;
    p = (p | p << 8) & 0x00ff00ff00ff00ff;
    p = (p | p << 4) & 0x0f0f0f0f0f0f0f0f;
    p = (p | p << 2) & 0x3333333333333333;
    return (p | p << 1) & 0x5555555555555555;
  };
  priority_t p = spread(x) | spread(y) << 1;
  const auto swap = [&](int step, priority_t low) { p = (p >> step & low) | (p & low) << step; }; // and so backwards
  swap(1, 0x5555555555555555), swap(2, 0x3333333333333333), swap(4, 0x0f0f0f0f0f0f0f0f);
  swap(8, 0x00ff00ff00ff00ff), swap(16, 0x0000ffff0000ffff), swap(32, 0x00000000ffffffff);
  return priority_t(plain_level(x, y)) << 2 * bits | p >> (64 - 2 * bits);
}

struct Decide {
  RedTests tests;
  const priority_t *priority;

  // Whether a node of priority `mine` must wait for q, which is next to it or to a red neighbour. When it need not for any, all that its tests read is
  // decided.
  PETSCRRB_HD bool waits_for(node_t q, priority_t mine) const {
    return (priority[q] < mine) & (colour_of(tests.colour, q) == undecided);
  }
};

} // namespace petscrrb::rrb
