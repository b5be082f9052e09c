// Couplings that slide along stronger ones: which ones, and where to. Decided once, then done with whatever numbers there are.
#pragma once

#include "pc/rrb/graph/red_nodes.hpp"

#include <cstring>
#include <vector>

namespace petscrrb::rrb {

constexpr double slide_eps = 0.1; // of the coupling along which one slides
constexpr int most_passes = 4;

// What is known of each coupling of a graph while passes go over it.
struct Sliding {
  Graph graph;
  const node_t *reverse;   // the place of (q, p)
  const signed char *gone; // the pass in which it slides, from 1; 0: it is there
  signed char *candidate;  // at this end
  double eps;

  PETSCRRB_HD bool is_there(node_t k) const { return !gone[k]; }
  PETSCRRB_HD bool is_candidate(node_t k) const { return candidate[k] || candidate[reverse[k]]; }
  PETSCRRB_HD bool is_strong(node_t k, node_t along) const {
    const double w = graph.w[k] < 0.0 ? -graph.w[k] : graph.w[k];
    return at_most(w, eps * graph.w[along]);
  }
  // f(near, far): the place of near-middle, which is strong beside coupling k from `far` to `near`, and of far-middle
  template <class F> PETSCRRB_HD void for_ways(node_t far, node_t k, const F &f) const {
    for_common(graph.rows, far, graph.rows.column[k], [&](node_t a, node_t b) {
      if (!is_there(a) || !is_there(b) || is_candidate(a) || is_candidate(b)) return;
      if (is_strong(k, b)) f(b, a);
    });
  }
};

// Rounded, so that weights that differ by rounding only are equal.
PETSCRRB_HD inline double to_24_digits(double w) {
  std::uint64_t bits;
  std::memcpy(&bits, &w, sizeof bits);
  bits = (bits + (std::uint64_t(1) << 28)) & ~((std::uint64_t(1) << 29) - 1);
  std::memcpy(&w, &bits, sizeof bits);
  return w;
}

// At a node with more than 8 couplings the lightest quarter, but none of the 8 heaviest. Of equal weights, to 24 digits, that to the
// later node is lighter.
struct MarkLight {
  Sliding sliding;

  PETSCRRB_HD void operator()(node_t p) const {
    constexpr int enough = 8;
    const Graph &g = sliding.graph;
    const node_t begin = g.rows.start[p], end = g.rows.start[p + 1];
    int couplings = 0;
    for (node_t k = begin; k < end; ++k) sliding.candidate[k] = 0, couplings += sliding.is_there(k);
    if (couplings <= enough) return;
    const int quarter = couplings / 4 > 1 ? couplings / 4 : 1;
    const int light = quarter < couplings - enough ? quarter : couplings - enough;
    for (int i = 0; i < light; ++i) {
      node_t lightest = -1;
      double least = 0.0;
      for (node_t k = begin; k < end; ++k) {
        if (!sliding.is_there(k) || sliding.candidate[k]) continue;
        const double w = to_24_digits(g.w[k]);
        if (lightest < 0 || w <= least) lightest = k, least = w;
      }
      sliding.candidate[lightest] = 1;
    }
  }
};

struct MarkPositive {
  Sliding sliding;

  PETSCRRB_HD void operator()(node_t p) const {
    const Graph &g = sliding.graph;
    for (node_t k = g.rows.start[p]; k < g.rows.start[p + 1]; ++k) sliding.candidate[k] = g.w[k] < 0.0;
  }
};

// Of each coupling, how many ways there are from this end.
struct CountWays {
  Sliding sliding;
  node_t *ways;

  PETSCRRB_HD void operator()(node_t p) const {
    const Rows &rows = sliding.graph.rows;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      node_t n = 0;
      if (sliding.is_there(k) && sliding.is_candidate(k)) sliding.for_ways(p, k, [&](node_t, node_t) { ++n; });
      ways[k] = n;
    }
  }
};

// What slides in one pass, coupling by coupling from both ends.
template <class Backend> struct SlidePass {
  template <class T> using Array = typename Backend::template Array<T>;
  Array<node_t> row, first;   // rows from which something slides; first[i] ... first[i + 1]: of the couplings
  Array<node_t> coupling, at; // its place; at[s] ... at[s + 1]: of the ways
  Array<node_t> near, far;    // near-middle along which it slides, far-middle that takes it
  Array<node_t> taking;       // each coupling that takes something, once

  std::size_t bytes() const {
    return row.bytes() + first.bytes() + coupling.bytes() + at.bytes() + near.bytes() + far.bytes() + taking.bytes();
  }
};
struct SlideViews {
  const node_t *row, *first, *coupling, *at, *near, *far;
};
template <class Backend> SlideViews view(const SlidePass<Backend> &p) {
  return {p.row.data(), p.first.data(), p.coupling.data(), p.at.data(), p.near.data(), p.far.data()};
}

// The places of what slides from a row, and of its ways.
struct ListSlides {
  Sliding sliding;
  const node_t *ways;
  const node_t *rows_before, *slides_before, *ways_before; // of each row
  node_t *row, *first, *coupling, *at, *near, *far;

  PETSCRRB_HD bool slides(node_t k) const { return ways[k] + ways[sliding.reverse[k]] > 0; }
  PETSCRRB_HD void operator()(node_t p) const {
    const Rows &rows = sliding.graph.rows;
    node_t s = slides_before[p], w = ways_before[p];
    if (slides_before[p + 1] == s) return;
    row[rows_before[p]] = p;
    first[rows_before[p]] = s;
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      if (!slides(k)) continue;
      coupling[s] = k;
      at[s++] = w;
      if (ways[k])
        sliding.for_ways(p, k, [&](node_t b, node_t a) {
          near[w] = b;
          far[w++] = a;
        });
    }
  }
};

// Of each coupling that slides, from this end: the sum of the weights along which it does. How many of them are too weak for that by
// `eps`, with numbers that are newer than the decision.
struct SumWays {
  SlideViews pass;
  const double *w;
  double eps;
  double *sum; // of each coupling

  PETSCRRB_HD unsigned operator()(node_t i) const {
    unsigned weak = 0;
    for (node_t s = pass.first[i]; s < pass.first[i + 1]; ++s) {
      const node_t k = pass.coupling[s];
      const double size = w[k] < 0.0 ? -w[k] : w[k];
      double all = 0.0;
      for (node_t a = pass.at[s]; a < pass.at[s + 1]; ++a) {
        all += w[pass.near[a]];
        weak += !at_most(size, eps * w[pass.near[a]]);
      }
      sum[k] = all;
    }
    return weak;
  }
};

// What each coupling of the row takes.
struct Take {
  SlideViews pass;
  const node_t *reverse;
  const double *w, *sum;
  double *taken;

  PETSCRRB_HD void operator()(node_t i) const {
    for (node_t s = pass.first[i]; s < pass.first[i + 1]; ++s) {
      const node_t k = pass.coupling[s];
      const double all = sum[k] + sum[reverse[k]];
      if (!(all > 0.0)) continue; // it is lumped
      for (node_t a = pass.at[s]; a < pass.at[s + 1]; ++a) taken[pass.far[a]] += w[k] * (w[pass.near[a]] / all);
    }
  }
};

// Adds what was taken at both ends; and what slid is gone.
struct AddTaken {
  const node_t *taking, *reverse;
  double *w, *taken;

  PETSCRRB_HD void operator()(node_t i) const {
    const node_t k = taking[i], r = reverse[k];
    const double more = taken[k] + taken[r];
    w[k] += more;
    w[r] = w[k];
    taken[k] = taken[r] = 0.0;
  }
};
struct Remove {
  const node_t *coupling;
  double *w;

  PETSCRRB_HD void operator()(node_t s) const { w[coupling[s]] = 0.0; }
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
