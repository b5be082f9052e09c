// Elimination of red nodes on a graph in terms of weights and excesses, as docs/numerics.md has it: lumping, the Schur
// complement, and the two sweeps over what was eliminated.
#pragma once

#include "prepared.hpp"
#include "red_by_support.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace reference {

struct Eliminated {
  int p;
  double pivot;                               // 0: a null direction
  std::vector<std::pair<int, double>> weight; // to the black nodes
};
using Eliminations = std::vector<Eliminated>;

inline Matrix matrix_of(const LevelGraph &graph) {
  Matrix A(static_cast<int>(graph.weight.size()));
  for (int p : graph.nodes) {
    A.add(p, p, graph.excess[p]);
    for (const auto &[q, w] : graph.weight[p]) {
      A.add(p, p, w);
      A.add(p, q, -w);
    }
  }
  return A;
}

// Red nodes lose what couples two of them; it leaves their diagonals, unless nothing would remain.
inline void lump(LevelGraph &graph, const std::vector<int> &reds, double omega) {
  Flags red(graph.weight.size(), false);
  for (int p : reds) red[p] = true;
  for (int p : reds) {
    double kept = graph.excess[p], lost = 0;
    for (const auto &[q, w] : graph.weight[p]) (red[q] ? lost : kept) += w;
    const bool unlumped = lost != 0 && kept + (1 - omega) * lost < smallest_lumped * (kept + lost);
    graph.excess[p] += unlumped ? lost : (1 - omega) * lost;
    for (auto entry = graph.weight[p].begin(); entry != graph.weight[p].end();)
      entry = red[entry->first] ? graph.weight[p].erase(entry) : std::next(entry);
  }
}

inline bool eliminate(LevelGraph &graph, const std::vector<int> &reds, double omega, Eliminations &list) {
  lump(graph, reds, omega);
  for (int p : reds) {
    const double e = graph.excess[p];
    double sum = 0;
    for (const auto &entry : graph.weight[p]) sum += entry.second;
    const double d = sum + e, terms = sum + std::abs(e);
    if (terms != 0 && !(d > 1e-12 * terms && std::isfinite(d))) return false;
    Eliminated node{p, d, {}};
    for (const auto &[q, w] : graph.weight[p]) {
      graph.weight[q].erase(p);
      if (d == 0) continue; // a null direction
      node.weight.push_back({q, w});
      graph.excess[q] += w / d * e;
      for (const auto &[r, u] : graph.weight[p])
        if (r != q) graph.weight[q][r] += w * u / d;
    }
    list.push_back(node);
  }
  for (int p : reds) graph.weight[p].clear();
  std::vector<int> black;
  std::set_difference(graph.nodes.begin(), graph.nodes.end(), reds.begin(), reds.end(), std::back_inserter(black));
  graph.nodes = black;
  return true;
}

inline void forward(const Eliminations &list, Vector &z) {
  for (const Eliminated &node : list)
    for (const auto &[q, w] : node.weight) z[q] += w / node.pivot * z[node.p];
}

inline void backward(const Eliminations &list, Vector &z) {
  for (const Eliminated &node : list) { // no two of a level couple
    for (const auto &[q, w] : node.weight) z[node.p] += w * z[q];
    z[node.p] = node.pivot == 0 ? 0 : z[node.p] / node.pivot;
  }
}

} // namespace reference
