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

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    constexpr int enough = 8;
    const Graph &g = sliding.graph;
    const node_t begin = g.rows.start[p], end = g.rows.start[p + 1];
    int couplings = 0;
    for (node_t k = begin; k < end; ++k) couplings += !sliding.gone[k];
    const int quarter = couplings / 4 > 1 ? couplings / 4 : 1, more = couplings > enough ? couplings - enough : 0,
              light = quarter < more ? quarter : more;
    if (couplings <= few)
      for (node_t k = begin + lanes.lane; k < end; k += lanes.count)
        sliding.own[k] = !sliding.gone[k] && lighter_ones(k, begin, end, light) < light;
    else
      mark(begin, end, light, lanes);
    if (lanes.first()) count[p] = light;
  }

private:
  static constexpr int few = 64; // are compared with one another

  // up to `most`
  PETSCRRB_HD int lighter_ones(node_t k, node_t begin, node_t end, int most) const {
    const std::uint64_t w = bits_of_24_digits(sliding.graph.w[k]);
    int lighter = 0;
    for (node_t m = begin; m < end && lighter < most; ++m) {
      const std::uint64_t v = bits_of_24_digits(sliding.graph.w[m]);
      lighter += !sliding.gone[m] && (v < w || (v == w && m > k));
    }
    return lighter;
  }
  // The heaviest one of `light` is found bit by bit.
  template <class Lanes> PETSCRRB_HD void mark(node_t begin, node_t end, node_t light, const Lanes &lanes) const {
    const auto bits = [&](node_t k) {
      return sliding.gone[k] ? ~std::uint64_t(0) : bits_of_24_digits(sliding.graph.w[k]);
    };
    const auto lighter_than = [&](std::uint64_t most) {
      node_t n = 0;
      for (node_t k = begin + lanes.lane; k < end; k += lanes.count) n += bits(k) < most;
      return lanes.sum(n);
    };
    std::uint64_t heaviest = 0;
    for (int bit = 62; bit >= 29; --bit)
      if (const std::uint64_t more = heaviest | std::uint64_t(1) << bit; lighter_than(more) < light) heaviest = more;
    node_t stay = lighter_than(heaviest + 1) - light; // of those that are equal to it, the first ones
    const Places mine = part_of(begin, end, lanes);
    node_t equal = 0;
    for (node_t k = mine.begin; k < mine.end; ++k) equal += bits(k) == heaviest;
    stay -= lanes.before(equal);
    for (node_t k = mine.begin; k < mine.end; ++k)
      sliding.own[k] = bits(k) < heaviest || (bits(k) == heaviest && stay-- <= 0);
  }
};

struct MarkPositive {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    const Graph &g = sliding.graph;
    node_t n = 0;
    for (node_t k = g.rows.start[p]; k < g.rows.start[p + 1]; ++k) n += g.w[k] < 0.0;
    for (node_t k = g.rows.start[p] + lanes.lane; k < g.rows.start[p + 1]; k += lanes.count)
      sliding.own[k] = g.w[k] < 0.0;
    if (lanes.first()) count[p] = n;
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

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    const Rows &rows = sliding.graph.rows;
    if (before[p + 1] == before[p]) return;
    const Places mine = part_of(rows.start[p], rows.start[p + 1], lanes);
    node_t n = 0;
    for (node_t k = mine.begin; k < mine.end; ++k) n += sliding.own[k];
    node_t i = before[p] + lanes.before(n);
    for (node_t k = mine.begin; k < mine.end; ++k) {
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

// f(near, far) for each way that candidate i goes, by the one end that has it: of a strong coupling near-middle, and far-middle. A lane has
// those over part of the middles.
template <class Lanes, class F>
PETSCRRB_HD inline void for_ways(const Sliding &s, const Candidates &c, node_t i, const Lanes &lanes, const F &f) {
  const node_t k = c.place[i], r = c.reverse[i];
  if (s.own[r] && r < k) return; // it is at the other end
  const double w = s.graph.w[k] < 0.0 ? -s.graph.w[k] : s.graph.w[k];
  const Rows &rows = s.graph.rows;
  const Places mine = part_of(rows.start[c.row[i]], rows.start[c.row[i] + 1], lanes);
  (void)any_common(rows, mine.begin, mine.end, rows.column[k], [&](node_t a, node_t b) {
    if (!s.stays(a) || !s.stays(b)) return false;
    if (s.is_strong(w, b)) f(b, a);
    if (s.is_strong(w, a)) f(a, b);
    return false;
  });
}
struct CountWays {
  Sliding sliding;
  Candidates candidates;
  node_t *slides, *ways;

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, const Lanes &lanes) const {
    node_t mine = 0;
    for_ways(sliding, candidates, i, lanes, [&](node_t, node_t) { ++mine; });
    const node_t n = lanes.sum(mine);
    if (lanes.first()) slides[i] = n > 0, ways[i] = n;
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

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, const Lanes &lanes) const {
    node_t w = ways[i], n = 0;
    if (ways[i + 1] == w) return;
    const node_t s = slides[i];
    if (lanes.first()) place[s] = candidates.place[i], reverse[s] = candidates.reverse[i], at[s] = w;
    if (lanes.count > 1) for_ways(sliding, candidates, i, lanes, [&](node_t, node_t) { ++n; });
    w += lanes.before(n);
    const Rows &rows = sliding.graph.rows;
    const node_t p = candidates.row[i], q = rows.column[candidates.place[i]];
    for_ways(sliding, candidates, i, lanes, [&](node_t b, node_t a) {
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
