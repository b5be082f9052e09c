// Couplings that slide along stronger ones, written from docs/numerics.md alone: those of a node that has too many,
// and positive ones. Which ones and where to is decided once and can be done again with other numbers.
#pragma once

#include "red_by_support.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace reference {

// The coupling p-q goes. For each pair (near, middle), near being p or q, a part of it in proportion to the weight of
// near-middle becomes a coupling of middle with the other end.
struct Slide {
  int p, q;
  std::vector<std::pair<int, int>> along;
  int far(int near) const { return p + q - near; }
};

using Couplings = std::vector<std::set<int>>; // in both directions

// To 24 binary digits, so that weights that differ by rounding only are equal and the nodes' order decides.
inline double without_rounding(double w) {
  int exponent;
  const double digits = std::round(std::ldexp(std::frexp(w, &exponent), 24));
  return std::ldexp(digits, exponent - 24);
}

// At a node with m > 8 couplings the 1 + m/8 lightest, but none of the 8 heaviest. The other end has no say.
inline Couplings light_couplings(const LevelGraph &graph) {
  constexpr std::size_t enough = 8;
  Couplings light(graph.weight.size());
  for (int p : graph.nodes) {
    std::vector<std::pair<double, int>> by_weight; // heaviest first, then by node
    for (const auto &[q, w] : graph.weight[p]) by_weight.push_back({-without_rounding(w), q});
    std::sort(by_weight.begin(), by_weight.end());
    const std::size_t m = by_weight.size();
    if (m <= enough) continue;
    for (std::size_t i = std::max(enough, m - (1 + m / 8)); i < m; i++) {
      light[p].insert(by_weight[i].second);
      light[by_weight[i].second].insert(p);
    }
  }
  return light;
}

inline Couplings positive_couplings(const LevelGraph &graph) {
  Couplings positive(graph.weight.size());
  for (int p : graph.nodes)
    for (const auto &[q, w] : graph.weight[p])
      if (w < 0) positive[p].insert(q);
  return positive;
}

inline bool is_strong(double w, double strong, double eps) { return at_most(std::abs(w), eps * strong); }

// A candidate slides over each common neighbour with which neither end's coupling is a candidate, along the couplings
// that are strong beside it. Without any it stays.
inline std::vector<Slide> decide_slides(const LevelGraph &graph, const Couplings &candidates, double eps) {
  std::vector<Slide> slides;
  for (int p : graph.nodes)
    for (int q : candidates[p]) {
      if (q < p) continue;
      Slide slide{p, q, {}};
      const double w = graph.weight[p].at(q);
      for (const auto &[a, w_pa] : graph.weight[p]) {
        const auto w_qa = graph.weight[q].find(a);
        if (w_qa == graph.weight[q].end() || candidates[p].count(a) || candidates[q].count(a)) continue;
        if (is_strong(w, w_pa, eps)) slide.along.push_back({p, a});
        if (is_strong(w, w_qa->second, eps)) slide.along.push_back({q, a});
      }
      if (!slide.along.empty()) slides.push_back(slide);
    }
  return slides;
}

// All shares are of weights as they were. Excesses do not change. With kept decisions all of `along` may have become 0:
// then the coupling is lumped.
inline void perform(const std::vector<Slide> &slides, Graph &weight) {
  struct Move {
    int a, b;
    double w;
  };
  std::vector<Move> moves;
  for (const Slide &slide : slides) {
    double total = 0;
    for (const auto &[near, middle] : slide.along) total += weight[near][middle];
    if (!(total > 0)) continue;
    for (const auto &[near, middle] : slide.along)
      moves.push_back({slide.far(near), middle, weight[slide.p][slide.q] * weight[near][middle] / total});
  }
  for (const Slide &slide : slides) {
    weight[slide.p].erase(slide.q);
    weight[slide.q].erase(slide.p);
  }
  for (const Move &move : moves) {
    weight[move.a][move.b] += move.w;
    weight[move.b][move.a] += move.w;
  }
}

// How many slides go along a coupling that is not strong enough.
inline int count_weak(const std::vector<Slide> &slides, Graph &weight, double eps) {
  return static_cast<int>(std::count_if(slides.begin(), slides.end(), [&](const Slide &slide) {
    return std::any_of(slide.along.begin(), slide.along.end(), [&](const std::pair<int, int> &strong) {
      return !is_strong(weight[slide.p][slide.q], weight[strong.first][strong.second], eps);
    });
  }));
}

} // namespace reference
