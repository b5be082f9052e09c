// Red nodes chosen by support, written from docs/numerics.md alone: the tests that a red set passes, and the choice of
// one on a graph, in sequence and in rounds.
#pragma once

#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace reference {

using Flags = std::vector<bool>; // of all unknowns

// The nodes that are not yet eliminated, with their matrix; see Prepared.
struct LevelGraph {
  std::vector<int> nodes;
  Graph weight;
  Vector excess;
};

// Equal coefficients make many tests equations. Within this relative margin both sides count as equal, so that rounding,
// and with it the compiler or the device, decides nothing.
constexpr double tie = 1e-9;
inline bool at_most(double a, double b) { return a <= b + tie * std::abs(b); }

// What a red set may do: lost <= beta kept at each red node, w <= tau S at each coupling of two of them.
struct Limits {
  double beta, tau;
};
constexpr Limits plain_limits{3, 3}, choice_limits{1, 0.7};

// S_pq: the conductance of all paths p-a-q over nodes that are not red.
inline double support(const LevelGraph &graph, int p, int q, const Flags &red) {
  double sum = 0;
  for (const auto &[a, w] : graph.weight[p]) {
    const auto other = graph.weight[q].find(a);
    if (red[a] || other == graph.weight[q].end()) continue;
    const double u = other->second;
    if (w > 0 && u > 0) sum += w * u / (w + u);
  }
  return sum;
}

// Both sums are always formed anew and in the order of the nodes: with more red nodes `lost` cannot become smaller and
// `kept` not larger, in rounded arithmetic too. So rounds and sequence agree where a test is an equation.
inline bool keeps_enough(const LevelGraph &graph, int p, const Flags &red, const Limits &limits) {
  double lost = 0, kept = graph.excess[p];
  for (const auto &[q, w] : graph.weight[p]) (red[q] ? lost : kept) += w;
  return at_most(lost, limits.beta * kept);
}

inline bool is_supported(const LevelGraph &graph, int p, const Flags &red, const Limits &limits) {
  for (const auto &[q, w] : graph.weight[p])
    if (red[q] && !at_most(w, limits.tau * support(graph, p, q, red))) return false;
  return true;
}

inline int count_failing(const LevelGraph &graph, const std::vector<int> &reds, const Limits &limits) {
  Flags red(graph.weight.size(), false);
  for (int p : reds) red[p] = true;
  return static_cast<int>(std::count_if(reds.begin(), reds.end(), [&](int p) {
    return !keeps_enough(graph, p, red, limits) || !is_supported(graph, p, red, limits);
  }));
}

// Whether p can become red beside those that are.
inline bool may_turn_red(const LevelGraph &graph, int p, Flags &red) {
  constexpr std::size_t most = 256; // couplings, whose square eliminating it would add
  if (graph.weight[p].size() > most) return false;
  red[p] = true;
  bool may = keeps_enough(graph, p, red, choice_limits) && is_supported(graph, p, red, choice_limits);
  for (const auto &entry : graph.weight[p])
    if (red[entry.first]) may = may && keeps_enough(graph, entry.first, red, choice_limits);
  red[p] = false;
  return may;
}

// At which plain RRB eliminates the point (x, y).
inline int plain_level(int x, int y) {
  constexpr int never = 64;
  for (int level = 1; level < never; level += 2, x /= 2, y /= 2) {
    if ((x + y) % 2 == 1) return level;
    if (y % 2 == 1) return level + 1;
  }
  return never;
}

// Smaller is earlier, which is of higher priority: by the level of plain RRB, then by the bits of x, y, x, y ... from
// the lowest, 1 before 0. No two points have the same.
inline std::pair<int, std::uint64_t> rank_of(int x, int y) {
  std::uint64_t even_bits = 0;
  for (int bit = 0; bit < 31; bit++) even_bits = even_bits << 2 | (~x >> bit & 1) << 1 | (~y >> bit & 1);
  return {plain_level(x, y), even_bits};
}

// The same in 3D: a checkerboard, then the odd lines, then the odd planes of what is left make room for the next coarser grid.
inline std::pair<int, std::uint64_t> rank_of(int x, int y, int z) {
  std::uint64_t bits = 0;
  for (int bit = 0; bit < 19; bit++) bits = bits << 3 | (~x >> bit & 1) << 2 | (~y >> bit & 1) << 1 | (~z >> bit & 1);
  for (int level = 0; level < 57; level += 3, x /= 2, y /= 2, z /= 2) {
    if ((x + y + z) % 2 == 1) return {level, bits};
    if (y % 2 == 1) return {level + 1, bits};
    if (z % 2 == 1) return {level + 2, bits};
  }
  return {57, bits};
}

// What an unknown's number says of its place: it is on a 2D grid nx wide, on a 3D one of lines of nx and planes of nx ny points, or (nx = 0)
// on none. Then those with the fewest couplings come first, of these by a hash: the end of MurmurHash3.
struct Numbering {
  int nx, ny;

  Numbering(int along, int across = 0) : nx(along), ny(across) {}
  std::pair<int, std::uint64_t> rank(const LevelGraph &graph, int p) const {
    if (ny > 0) return rank_of(p % nx, p / nx % ny, p / nx / ny);
    if (nx > 0) return rank_of(p % nx, p / nx);
    std::uint64_t h = static_cast<std::uint64_t>(p);
    h = (h ^ h >> 16) * 0x85ebca6b % (std::uint64_t(1) << 32);
    h = (h ^ h >> 13) * 0xc2b2ae35 % (std::uint64_t(1) << 32);
    return {static_cast<int>(graph.weight[p].size()), h ^ h >> 16};
  }
};

inline std::vector<int> by_priority(const LevelGraph &graph, const Numbering &numbering) {
  std::vector<int> nodes = graph.nodes;
  std::vector<std::pair<std::pair<int, std::uint64_t>, int>> ranked;
  for (int p : nodes) ranked.push_back({numbering.rank(graph, p), p});
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < nodes.size(); i++) nodes[i] = ranked[i].second;
  return nodes;
}

// Greedily, one node after the other.
inline std::vector<int> choose_in_sequence(const LevelGraph &graph, const Numbering &numbering) {
  Flags red(graph.weight.size(), false);
  for (int p : by_priority(graph, numbering)) red[p] = may_turn_red(graph, p, red);
  std::vector<int> reds;
  for (int p : graph.nodes)
    if (red[p]) reds.push_back(p);
  return reds;
}

struct ChosenInRounds {
  std::vector<int> reds;
  int rounds = 0;
};

// The same set, all undecided nodes at once in every round from what the round before has left. A test that fails goes
// on failing, so a node that fails turns black at once. One that passes turns red when no undecided node before it is
// within two couplings: nothing else can change its tests.
inline ChosenInRounds choose_in_rounds(const LevelGraph &graph, const Numbering &numbering) {
  ChosenInRounds chosen;
  Flags red(graph.weight.size(), false), undecided(graph.weight.size(), false);
  std::vector<int> place(graph.weight.size()), open = by_priority(graph, numbering);
  for (std::size_t i = 0; i < open.size(); i++) place[open[i]] = static_cast<int>(i);
  for (int p : open) undecided[p] = true;
  const auto is_first = [&](int p) {
    const auto waits_for = [&](int q) { return undecided[q] && place[q] < place[p]; };
    for (const auto &near : graph.weight[p]) {
      if (waits_for(near.first)) return false;
      for (const auto &far : graph.weight[near.first])
        if (waits_for(far.first)) return false;
    }
    return true;
  };
  for (; !open.empty(); chosen.rounds++) {
    std::vector<int> turn_red, turn_black, wait;
    for (int p : open) (!may_turn_red(graph, p, red) ? turn_black : is_first(p) ? turn_red : wait).push_back(p);
    for (int p : turn_red) red[p] = true;
    for (const auto &decided : {turn_red, turn_black})
      for (int p : decided) undecided[p] = false;
    open = wait;
  }
  for (int p : graph.nodes)
    if (red[p]) chosen.reds.push_back(p);
  return chosen;
}

// At how many nodes the greedy, taken the kept decisions of all nodes before, decides otherwise. 0: it chooses them.
inline int count_changed(const LevelGraph &graph, const std::vector<int> &reds, const Numbering &numbering) {
  const std::set<int> kept(reds.begin(), reds.end());
  Flags red(graph.weight.size(), false);
  int changed = 0;
  for (int p : by_priority(graph, numbering)) {
    changed += may_turn_red(graph, p, red) != (kept.count(p) > 0);
    red[p] = kept.count(p) > 0;
  }
  return changed;
}

} // namespace reference
