// Couplings that slide along stronger ones: which ones, and where to. Decided once, then done with whatever numbers there are.
#pragma once

#include "pc/rrb/graph/lanes.hpp"
#include "pc/rrb/graph/red_nodes.hpp"

#include <cstring>
#include <vector>

namespace petscrrb::rrb {

constexpr double slide_eps = 0.1; // of the coupling along which one slides
constexpr int most_passes = 8, most_passes_on_grids = 4;
constexpr int worth_another_pass = 20; // one of so many couplings went in this one

// What is known of each coupling of a graph in a pass.
struct Sliding {
  Graph graph;
  const signed char *gone;  // the pass in which it slid, from 1; 0: it is there
  signed char *own, *other; // whether it is a candidate by its row, and by the other end's
  double eps;

  PETSCRRB_HD bool stays(node_t k) const { return !(gone[k] | own[k] | other[k]); }
  PETSCRRB_HD bool is_strong(double w, double along) const { return at_most(w, eps * along); }
};

// Rounded, so that weights that differ by rounding only are equal. Those that are not negative have the order of their bits.
PETSCRRB_HD inline std::uint64_t bits_of_24_digits(double w) {
  std::uint64_t bits;
  memcpy(&bits, &w, sizeof bits);
  return (bits + (std::uint64_t(1) << 28)) & ~((std::uint64_t(1) << 29) - 1);
}
// At a node with more than 8 couplings the lightest quarter, but none of the 8 heaviest. Of equal weights, to 24 digits, that to the
// later node is lighter. How many there are.
struct MarkLight {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    constexpr node_t enough = 8;
    const Graph &g = sliding.graph;
    const node_t begin = g.rows.start[p], end = g.rows.start[p + 1];
    node_t couplings = 0;
    for (node_t k = begin + lanes.lane; k < end; k += lanes.count) couplings += !sliding.gone[k];
    couplings = lanes.sum(couplings);
    const node_t quarter = couplings / 4 > 1 ? couplings / 4 : 1, more = couplings > enough ? couplings - enough : 0,
                 light = quarter < more ? quarter : more;
    mark(begin, end, light, lanes);
    if (lanes.first()) count[p] = light;
  }

private:
  template <class Lanes> PETSCRRB_HD void mark(node_t begin, node_t end, node_t light, Lanes &lanes) const {
    constexpr std::uint64_t infinite = ~std::uint64_t(0);
    const auto bits = [&](node_t k) { return sliding.gone[k] ? infinite : bits_of_24_digits(sliding.graph.w[k]); };
    std::uint64_t heaviest = infinite;   // that slides
    node_t stay = end - begin, seen = 0; // of those that are equal to it, the first ones
    if (light) {
      heaviest = lanes.smallest(begin, end, light, bits);
      node_t n = 0;
      for (node_t k = begin + lanes.lane; k < end; k += lanes.count) n += bits(k) <= heaviest;
      stay = lanes.sum(n) - light;
    }
    for (node_t from = begin; from < end; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const std::uint64_t mine = k < end && light ? bits(k) : infinite;
      const node_t rank = lanes.rank(light && mine == heaviest, seen);
      if (k < end) sliding.own[k] = mine < heaviest || (mine == heaviest && rank >= stay);
    }
  }
};

struct MarkPositive {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Graph &g = sliding.graph;
    node_t n = 0;
    for (node_t k = g.rows.start[p] + lanes.lane; k < g.rows.start[p + 1]; k += lanes.count)
      n += sliding.own[k] = g.w[k] < 0.0;
    n = lanes.sum(n);
    if (lanes.first()) count[p] = n;
  }
};

// A row's candidates follow those of the rows before: the place of each, and that at the other end; ~ of it where the candidate is dealt with there.
struct Candidates {
  const node_t *before; // each row
  node_t *row, *place, *reverse;
};
struct ListCandidates {
  Sliding sliding;
  Candidates to;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Rows &rows = sliding.graph.rows;
    const node_t end = rows.start[p + 1];
    node_t n = to.before[p];
    if (to.before[p + 1] == n) return;
    for (node_t from = rows.start[p]; from < end; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool mine = k < end && sliding.own[k];
      const node_t i = lanes.rank(mine, n);
      if (!mine) continue;
      const node_t r = rows.find(rows.column[k], p);
      to.row[i] = p, to.place[i] = k, to.reverse[i] = sliding.own[r] && r < k ? ~r : r;
      sliding.other[r] = 1;
    }
  }
};
struct ForgetCandidate {
  const node_t *reverse;
  signed char *other;

  PETSCRRB_HD void operator()(node_t i) const { other[reverse[i] < 0 ? ~reverse[i] : reverse[i]] = 0; }
};

// The rows of what is neither a candidate nor gone: supports.
struct Support {
  node_t column, place; // in the graph's rows
  double w;
};
struct Supports {
  const node_t *start;
  const Support *all;
  const double *heaviest; // of each row; 0 in an empty one

  PETSCRRB_HD node_t column_at(node_t k) const { return all[k].column; }
};
struct CountSupports {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Rows &rows = sliding.graph.rows;
    node_t n = 0;
    for (node_t k = rows.start[p] + lanes.lane; k < rows.start[p + 1]; k += lanes.count) n += sliding.stays(k);
    n = lanes.sum(n);
    if (lanes.first()) count[p] = n;
  }
};
struct ListSupports {
  Sliding sliding;
  const node_t *start;
  Support *to;
  double *heaviest;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Rows &rows = sliding.graph.rows;
    double most = 0.0;
    for (node_t from = rows.start[p], n = start[p]; from < rows.start[p + 1]; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool mine = k < rows.start[p + 1] && sliding.stays(k);
      const node_t i = lanes.rank(mine, n);
      if (!mine) continue;
      const double w = sliding.graph.w[k];
      to[i] = {rows.column[k], k, w};
      if (w > most) most = w;
    }
    most = lanes.most(most);
    if (lanes.first()) heaviest[p] = most;
  }
};

// f(a, b, along a, along b), together, for each support b of the end q of candidate i: whether it slides to the coupling a of the other end, p, with
// the same middle, along b, and to b along a. a NULL: there is none.
template <class Lanes, class F>
PETSCRRB_HD inline void for_ways(const Sliding &s, const Supports &supports, const Candidates &c, node_t i,
                                 Lanes &lanes, const F &f) {
  if (c.reverse[i] < 0) return;
  const node_t p = c.row[i], k = c.place[i];
  const double w = s.graph.w[k] < 0.0 ? -s.graph.w[k] : s.graph.w[k];
  const node_t q = s.graph.rows.column[k], end = supports.start[q + 1];
  if (!s.is_strong(w, supports.heaviest[p]) && !s.is_strong(w, supports.heaviest[q])) return;
  lanes.open(supports, p);
  for (node_t from = supports.start[q]; from < end; from += lanes.count) {
    const node_t mine = from + lanes.lane, at = mine < end ? lanes.find(supports, supports.all[mine].column) : -1;
    const Support *a = at < 0 ? nullptr : &supports.all[at], *b = &supports.all[mine];
    f(a, b, a && s.is_strong(w, a->w), a && s.is_strong(w, b->w));
  }
}
struct CountWays {
  Sliding sliding;
  Supports supports;
  Candidates candidates;
  node_t *slides, *ways;

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, Lanes &lanes) const {
    node_t n = 0;
    for_ways(sliding, supports, candidates, i, lanes,
             [&](const Support *, const Support *, bool along_a, bool along_b) { n += along_a + along_b; });
    n = lanes.sum(n);
    if (lanes.first()) slides[i] = n > 0, ways[i] = n;
  }
};

// What slides in one pass.
template <class Backend> struct SlidePass {
  template <class T> using Array = typename Backend::template Array<T>;
  Array<node_t> place;                  // of each coupling that slides
  Array<node_t> at, near;               // along near[at[s]] ... near[at[s + 1] - 1]
  Array<node_t> taking, taking_reverse; // each coupling that takes something,
  Array<node_t> first, from, along;     // from coupling from[c] in proportion to along[c], first[t] <= c < first[t + 1]

  std::size_t bytes() const {
    return place.bytes() + at.bytes() + near.bytes() + taking.bytes() + taking_reverse.bytes() + first.bytes() +
           from.bytes() + along.bytes();
  }
};
struct ListWays {
  Sliding sliding;
  Supports supports;
  Candidates candidates;
  const node_t *slides, *ways; // before each candidate
  node_t *place, *reverse, *at, *near, *of;
  node_t *far, *far_row; // the coupling that takes, in its lower row

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, Lanes &lanes) const {
    node_t n = ways[i];
    if (ways[i + 1] == n) return;
    const node_t s = slides[i], p = candidates.row[i], q = sliding.graph.rows.column[candidates.place[i]];
    if (lanes.first()) place[s] = candidates.place[i], reverse[s] = candidates.reverse[i], at[s] = n;
    for_ways(sliding, supports, candidates, i, lanes,
             [&](const Support *a, const Support *b, bool along_a, bool along_b) {
               node_t with_a = n, with_b = n;
               node_t w = lanes.rank(along_a, with_a) - n + lanes.rank(along_b, with_b);
               n = with_a + with_b - n;
               if (along_b) put(w++, s, b->place, p, a->place);
               if (along_a) put(w, s, a->place, q, b->place);
             });
  }

private:
  PETSCRRB_HD void put(node_t w, node_t s, node_t along, node_t row, node_t taking) const {
    const Rows &rows = sliding.graph.rows;
    const node_t other = rows.column[taking];
    near[w] = along, of[w] = s;
    far[w] = other < row ? rows.find(other, row) : taking, far_row[w] = other < row ? other : row;
  }
};

// Ways in the order of the couplings that take.
struct IsNewTaker {
  const node_t *order, *far;
  node_t *count;

  PETSCRRB_HD void operator()(node_t c) const { count[c] = c == 0 || far[order[c]] != far[order[c - 1]]; }
};
struct ListTaking {
  Rows rows;
  const node_t *order, *of, *ways, *far, *far_row;
  const node_t *takers; // before each way
  node_t *taking, *taking_reverse, *first, *from, *along;

  PETSCRRB_HD void operator()(node_t c) const {
    const node_t w = order[c], t = takers[c];
    from[c] = of[w], along[c] = ways[w];
    if (takers[c + 1] == t) return;
    taking[t] = far[w], taking_reverse[t] = rows.find(rows.column[far[w]], far_row[w]), first[t] = c;
  }
};

// --- with numbers ---

// Of each coupling that slides, its weight over the sum of those along which it does; 0 where these have no weight: it is lumped.
// Returns along how many of them it is too strong by `eps`.
struct FindShare {
  const node_t *place, *at, *near;
  const double *w;
  double eps;
  double *share;

  PETSCRRB_HD unsigned operator()(node_t s) const {
    const double own = w[place[s]], size = own < 0.0 ? -own : own;
    double all = 0.0;
    unsigned weak = 0;
    for (node_t k = at[s]; k < at[s + 1]; ++k) {
      all += w[near[k]];
      weak += !at_most(size, eps * w[near[k]]);
    }
    share[s] = all > 0.0 ? own / all : 0.0;
    return weak;
  }
};
struct Take {
  const node_t *first, *from, *along;
  const double *w, *share;
  double *more;

  PETSCRRB_HD void operator()(node_t t) const {
    double sum = 0.0;
    for (node_t c = first[t]; c < first[t + 1]; ++c) sum += share[from[c]] * w[along[c]];
    more[t] = sum;
  }
};
// What takes has more; nobody asks any more for what slides. None does both in one pass.
struct AddTaken {
  const node_t *place, *reverse;
  const double *more;
  double *w;

  PETSCRRB_HD void operator()(node_t t) const { w[reverse[t]] = w[place[t]] += more[t]; }
};

constexpr signed char lumped = 127; // `gone` of a coupling that has no weight, or is positive

struct IsPositive {
  const double *w;

  PETSCRRB_HD unsigned operator()(node_t k) const { return w[k] < 0.0; }
};
struct LumpPositive {
  double *w;

  PETSCRRB_HD unsigned operator()(node_t k) const {
    if (!(w[k] < 0.0)) return 0;
    w[k] = 0.0;
    return 1;
  }
};

// The numbers of what has stayed. first: of the matrix, where some may have become positive, and some that were are no more; returns how many.
struct PackNumbers {
  Rows before;
  const signed char *gone;
  const double *w;
  const node_t *start;
  double *to;
  bool first;

  template <class Lanes> PETSCRRB_HD unsigned operator()(node_t p, Lanes &lanes) const {
    unsigned changed = 0;
    node_t n = start[p];
    for (node_t from = before.start[p]; from < before.start[p + 1]; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool there = k < before.start[p + 1], stays = there && !gone[k];
      if (there && first) changed += stays ? w[k] < 0.0 : gone[k] == lumped && w[k] > 0.0;
      const node_t i = lanes.rank(stays, n);
      if (stays) to[i] = w[k] > 0.0 ? w[k] : 0.0;
    }
    return changed;
  }
};

} // namespace petscrrb::rrb
