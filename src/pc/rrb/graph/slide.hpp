// Couplings that slide along stronger ones: which ones, and where to. Decided once, then done with whatever numbers there are.
#pragma once

#include "pc/rrb/graph/red_nodes.hpp"

#include <cstring>
#include <vector>

namespace petscrrb::rrb {

constexpr double slide_eps = 0.1; // of the coupling along which one slides
constexpr int most_passes = 4;

// What is known of each coupling of a graph in a pass.
struct Sliding {
  Graph graph;
  const signed char *gone;  // the pass in which it slid, from 1; 0: it is there
  signed char *own, *other; // whether it is a candidate by its row, and by the other end's
  double eps;

  PETSCRRB_HD bool stays(node_t k) const { return !(gone[k] | own[k] | other[k]); }
  PETSCRRB_HD bool is_strong(double w, node_t along) const { return at_most(w, eps * graph.w[along]); }
};

// Rounded, so that weights that differ by rounding only are equal.
PETSCRRB_HD inline double to_24_digits(double w) {
  std::uint64_t bits;
  memcpy(&bits, &w, sizeof bits);
  bits = (bits + (std::uint64_t(1) << 28)) & ~((std::uint64_t(1) << 29) - 1);
  memcpy(&w, &bits, sizeof bits);
  return w;
}

// At a node with more than 8 couplings the lightest quarter, but none of the 8 heaviest. Of equal weights, to 24 digits, that to the
// later node is lighter. How many there are.
struct MarkLight {
  Sliding sliding;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    constexpr int enough = 8;
    const Graph &g = sliding.graph;
    const node_t begin = g.rows.start[p], end = g.rows.start[p + 1];
    int couplings = 0;
    for (node_t k = begin; k < end; ++k) sliding.own[k] = 0, couplings += !sliding.gone[k];
    count[p] = 0;
    if (couplings <= enough) return;
    const int quarter = couplings / 4 > 1 ? couplings / 4 : 1;
    const int light = quarter < couplings - enough ? quarter : couplings - enough;
    for (int i = 0; i < light; ++i) {
      node_t lightest = -1;
      double least = 0.0;
      for (node_t k = begin; k < end; ++k) {
        if (sliding.gone[k] | sliding.own[k]) continue;
        const double w = to_24_digits(g.w[k]);
        if (lightest < 0 || w <= least) lightest = k, least = w;
      }
      sliding.own[lightest] = 1;
    }
    count[p] = light;
  }
};

struct MarkPositive {
  Sliding sliding;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    const Graph &g = sliding.graph;
    count[p] = 0;
    for (node_t k = g.rows.start[p]; k < g.rows.start[p + 1]; ++k) count[p] += sliding.own[k] = g.w[k] < 0.0;
  }
};

// A candidate of row p: its place, and that at the other end.
struct Candidates {
  node_t *row, *place, *reverse;
};
struct ListCandidates {
  Sliding sliding;
  const node_t *before; // each row
  Candidates to;

  PETSCRRB_HD void operator()(node_t p) const {
    const Rows &rows = sliding.graph.rows;
    node_t i = before[p];
    if (before[p + 1] == i) return;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      if (!sliding.own[k]) continue;
      const node_t r = rows.find(rows.column[k], p);
      to.row[i] = p, to.place[i] = k, to.reverse[i++] = r;
      sliding.other[r] = 1;
    }
  }
};
struct ForgetCandidate {
  const node_t *reverse;
  signed char *other;

  PETSCRRB_HD void operator()(node_t i) const { other[reverse[i]] = 0; }
};

// f(near, far) for each way that candidate i goes, by the one end that has it: of a strong coupling near-middle, and far-middle.
template <class F> PETSCRRB_HD inline void for_ways(const Sliding &s, const Candidates &c, node_t i, const F &f) {
  const node_t k = c.place[i], r = c.reverse[i];
  if (s.own[r] && r < k) return; // it is at the other end
  const double w = s.graph.w[k] < 0.0 ? -s.graph.w[k] : s.graph.w[k];
  for_common(s.graph.rows, c.row[i], s.graph.rows.column[k], [&](node_t a, node_t b) {
    if (!s.stays(a) || !s.stays(b)) return;
    if (s.is_strong(w, b)) f(b, a);
    if (s.is_strong(w, a)) f(a, b);
  });
}
struct CountWays {
  Sliding sliding;
  Candidates candidates;
  node_t *slides, *ways;

  PETSCRRB_HD void operator()(node_t i) const {
    node_t n = 0;
    for_ways(sliding, candidates, i, [&](node_t, node_t) { ++n; });
    slides[i] = n > 0, ways[i] = n;
  }
};

// What slides in one pass.
template <class Backend> struct SlidePass {
  template <class T> using Array = typename Backend::template Array<T>;
  Array<node_t> place, reverse;         // of each coupling that slides
  Array<node_t> at, near;               // along near[at[s]] ... near[at[s + 1] - 1]
  Array<node_t> taking, taking_reverse; // each coupling that takes something,
  Array<node_t> first, from, along;     // from coupling from[c] in proportion to along[c], first[t] <= c < first[t + 1]

  std::size_t bytes() const {
    return place.bytes() + reverse.bytes() + at.bytes() + near.bytes() + taking.bytes() + taking_reverse.bytes() +
           first.bytes() + from.bytes() + along.bytes();
  }
};
struct ListWays {
  Sliding sliding;
  Candidates candidates;
  const node_t *slides, *ways; // before each candidate
  node_t *place, *reverse, *at, *near, *of;
  node_t *far, *far_reverse; // far-middle from both ends, the one that comes first in `far`

  PETSCRRB_HD void operator()(node_t i) const {
    node_t w = ways[i];
    if (ways[i + 1] == w) return;
    const node_t s = slides[i];
    place[s] = candidates.place[i], reverse[s] = candidates.reverse[i], at[s] = w;
    const Rows &rows = sliding.graph.rows;
    const node_t p = candidates.row[i], q = rows.column[candidates.place[i]];
    for_ways(sliding, candidates, i, [&](node_t b, node_t a) {
      const node_t back = rows.find(rows.column[a], a < rows.start[p + 1] && a >= rows.start[p] ? p : q);
      near[w] = b, of[w] = s;
      far[w] = a < back ? a : back, far_reverse[w++] = a < back ? back : a;
    });
  }
};

// Ways in the order of the couplings that take.
struct IsNewTaker {
  const node_t *order, *far;
  node_t *count;

  PETSCRRB_HD void operator()(node_t c) const { count[c] = c == 0 || far[order[c]] != far[order[c - 1]]; }
};
struct ListTaking {
  const node_t *order, *of, *ways, *far, *far_reverse;
  const node_t *takers; // before each way
  node_t *taking, *taking_reverse, *first, *from, *along;

  PETSCRRB_HD void operator()(node_t c) const {
    const node_t w = order[c], t = takers[c];
    from[c] = of[w], along[c] = ways[w];
    if (takers[c + 1] == t) return;
    taking[t] = far[w], taking_reverse[t] = far_reverse[w], first[t] = c;
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
// What takes has more, what slides is gone; none does both in one pass.
struct Move {
  node_t takers;
  const node_t *place, *reverse; // of each that takes,
  const double *more;
  const node_t *gone, *gone_reverse; // and slides
  double *w;

  PETSCRRB_HD void operator()(node_t i) const {
    if (i < takers)
      w[reverse[i]] = w[place[i]] += more[i];
    else
      w[gone[i - takers]] = w[gone_reverse[i - takers]] = 0.0;
  }
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

  PETSCRRB_HD unsigned operator()(node_t p) const {
    unsigned changed = 0;
    node_t at = start[p];
    for (node_t k = before.start[p]; k < before.start[p + 1]; ++k) {
      if (first) changed += gone[k] ? gone[k] == lumped && w[k] > 0.0 : w[k] < 0.0;
      if (!gone[k]) to[at++] = w[k] > 0.0 ? w[k] : 0.0;
    }
    return changed;
  }
};

} // namespace petscrrb::rrb
