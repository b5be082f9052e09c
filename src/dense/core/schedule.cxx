// Orders the separators and lists the tasks of their matrix's elimination.
#include "dense/core/plan.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace petscrrb::dense {

DissectionOrder dissection_order(const std::vector<int> &separators, const std::vector<Region> &regions) {
  std::map<std::array<int, 3>, std::vector<int>> groups; // deepest level first
  for (std::size_t s = 0; s < separators.size(); ++s)
    groups[{-regions[s].level, regions[s].y, regions[s].x}].push_back(separators[s]);
  DissectionOrder order;
  std::vector<int> &rows = order.rows;
  std::vector<std::size_t> open; // ends of this level's tiles of small groups
  std::size_t level = 0, most = 0;
  for (const auto &entry : groups) {
    const std::vector<int> &group = entry.second;
    const std::size_t tiles = (group.size() + panel - 1) / panel;
    if (rows.empty() || level != std::size_t(-entry.first[0])) open.clear(), most = 0;
    level = std::size_t(-entry.first[0]);
    if (tiles > most) order.phases += int(tiles - most), most = tiles;
    const auto room = [&](std::size_t end) { return (end + panel - 1) / panel * panel - end >= group.size(); };
    const auto into = std::find_if(open.begin(), open.end(), room);
    if (tiles == 1 && into != open.end()) {
      std::copy(group.begin(), group.end(), rows.begin() + long(*into));
      *into += group.size();
      continue;
    }
    rows.insert(rows.end(), group.begin(), group.end());
    if (tiles == 1) open.push_back(rows.size());
    rows.resize((rows.size() + panel - 1) / panel * panel, -1);
    order.tile_level.insert(order.tile_level.end(), tiles, int(level));
  }
  return order;
}

namespace {

// Which tiles are not zero.
class Pattern {
public:
  explicit Pattern(const Plan &plan) : n_(plan.pitch() / panel), set_(std::size_t(n_) * n_, 0) {
    for (int t = 0; t < n_; ++t) couple(t, t);
    for (int p = 0; p < plan.pitch(); ++p)
      for (int e = plan.row_start[p]; e < plan.row_start[p + 1]; ++e) couple(p / panel, plan.row_entries[e].at / panel);
    for (const Block &b : plan.blocks) {
      const int *ring = plan.nodes.data() + b.nodes + b.interior;
      for (int i = 0; i < b.ring; ++i)
        for (int j = 0; j < i; ++j) couple(ring[i] / panel, ring[j] / panel);
    }
  }
  int tiles() const { return n_; }
  bool operator()(int i, int j) const { return set_[std::size_t(i) * n_ + j]; }
  void eliminate(int k) {
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j)
        if ((*this)(i, k) && (*this)(j, k)) couple(i, j);
  }

private:
  void couple(int i, int j) { set_[std::size_t(i) * n_ + j] = set_[std::size_t(j) * n_ + i] = 1; }

  int n_;
  std::vector<char> set_;
};

// The pivots of a phase, and the slots of what is kept of their columns.
struct Phase {
  std::vector<int> pivots, place; // place of tile k among the pivots, or -1
  std::vector<int> slot;          // [place * tiles + i], or -1
  int slots = 0;

  Phase(const Pattern &pattern, const std::vector<int> &level, const std::vector<char> &done) {
    const int n = pattern.tiles();
    place.assign(n, -1);
    for (int k = 0; k < n; ++k) {
      if (done[k] || (!pivots.empty() && level[k] != level[pivots[0]])) continue;
      const auto coupled = [&](int other) { return pattern(k, other); };
      if (std::any_of(pivots.begin(), pivots.end(), coupled)) continue;
      place[k] = int(pivots.size());
      pivots.push_back(k);
    }
    slot.assign(pivots.size() * n, -1);
    for (std::size_t p = 0; p < pivots.size(); ++p)
      for (int i = 0; i < n; ++i)
        if (i != pivots[p] && pattern(i, pivots[p])) slot[p * n + i] = slots++;
  }
  // of tile (i, k), k a pivot
  int at(int i, int k) const { return place[k] < 0 ? -1 : slot[place[k] * place.size() + i]; }
};

} // namespace

Schedule::Schedule(const Plan &plan) {
  Pattern pattern(plan);
  const int n = pattern.tiles();
  std::vector<char> done(n, 0);
  // phase 0 has no pivots and prepares those of phase 1
  Phase now(pattern, plan.tile_level, std::vector<char>(n, 1));
  for (;;) {
    const Pattern before = pattern;
    for (int k : now.pivots) pattern.eliminate(k), done[k] = 1;
    const Phase next(pattern, plan.tile_level, done);
    slots = std::max(slots, next.slots), pivots = std::max(pivots, int(next.pivots.size()));
    phase_start.push_back(int(tasks.size()));
    const bool last = next.pivots.empty();
    const auto add = [&](Role role, int i, int j) {
      Task t{role, i, j, int(pairs.size()), 0, -1, -1, last};
      if (i != j) t.copy = next.at(i, j), t.transposed_copy = next.at(j, i);
      if (role == Role::next_pivot) t.copy = next.place[i];
      const auto pair = [&](int x, int y, int k) { pairs.push_back({x, y, now.place[k]}); };
      if (role == Role::scale) pair(now.at(i, j), -1, j);
      if (role == Role::scale_transposed) pair(now.at(j, i), -1, i);
      if (role == Role::pivot) pair(-1, -1, i);
      if (role == Role::update || role == Role::next_pivot)
        for (int k : now.pivots)
          if (before(i, k) && before(j, k)) pair(now.at(i, k), now.at(j, k), k);
      t.count = int(pairs.size()) - t.first;
      const bool idle = role == Role::update && !t.count && t.copy < 0 && t.transposed_copy < 0 && !last;
      if (!idle) tasks.push_back(t);
    };
    for (int k : next.pivots) add(Role::next_pivot, k, k);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        if (!pattern(i, j)) continue;
        const bool row = now.place[i] >= 0, column = now.place[j] >= 0;
        if (i == j && (next.place[i] >= 0 || (row && !last))) continue;
        add(i == j && row ? Role::pivot : column ? Role::scale : row ? Role::scale_transposed : Role::update, i, j);
      }
    if (last) break;
    now = next;
  }
  phase_start.push_back(int(tasks.size()));
  // slots and pivots of odd phases lie behind those of even ones; those of phase 0, which has none, are never read
  for (int p = 0; p < phases(); ++p)
    for (int t = phase_start[p]; t < phase_start[p + 1]; ++t) {
      const int here = p % 2, there = 1 - here;
      for (int q = tasks[t].first; q < tasks[t].first + tasks[t].count; ++q)
        pairs[q].x += here * slots, pairs[q].y += here * slots, pairs[q].pivot += here * pivots;
      if (tasks[t].copy >= 0) tasks[t].copy += there * (tasks[t].role == Role::next_pivot ? pivots : slots);
      if (tasks[t].transposed_copy >= 0) tasks[t].transposed_copy += there * slots;
    }
}

} // namespace petscrrb::dense
