// Chooses the separators that leave the smallest dense matrix, and lists what the kernels gather.
#include "dense/core/plan.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace petscrrb::dense {

namespace {

// One side of the grid cut by `cuts` lines of separators; on a periodic one the first line is at the seam.
struct Side {
  bool periodic;
  int cuts, reach, intervals, free;

  Side(int n, int cuts, bool periodic, int reach)
      : periodic(periodic), cuts(cuts), reach(reach), intervals(periodic ? std::max(cuts, 1) : cuts + 1),
        free(n - reach * cuts) {}
  bool possible() const { return free >= intervals; }
  int largest() const { return (free + intervals - 1) / intervals; }
};

// Levels of a side's lines in its bisection, from 0; a ring is cut at its seam and in the middle first.
std::vector<int> bisection(const Side &side) {
  std::vector<int> level(side.cuts, 0);
  const std::function<void(int, int, int)> halve = [&](int first, int end, int depth) {
    if (first >= end) return;
    const int middle = (first + end) / 2;
    level[middle] = depth;
    halve(first, middle, depth + 1);
    halve(middle + 1, end, depth + 1);
  };
  halve(side.periodic ? 1 : 0, side.cuts, 0);
  return level;
}

constexpr int deepest_of_all = 6; // levels of a dissection

// Of points along a side: the interval that each lies in, or -1 and the level of the line that it is on; and how many lines of levels
// below the l-th lie before.
struct Points {
  std::vector<int> interval, level, before[deepest_of_all];

  explicit Points(const Side &side) {
    const std::vector<int> level_of_line = bisection(side);
    int lines[deepest_of_all] = {};
    const auto add = [&](int points, int in, int of_level) {
      interval.insert(interval.end(), points, in), level.insert(level.end(), points, of_level);
      for (int l = 0; l < deepest_of_all; ++l)
        before[l].insert(before[l].end(), points, lines[l]), lines[l] += of_level < l;
    };
    for (int i = 0; i < side.intervals; ++i) {
      if (side.cuts && (side.periodic || i)) add(side.reach, -1, level_of_line[side.periodic ? i : i - 1]);
      add(side.free / side.intervals + (i < side.free % side.intervals), i, deepest_of_all);
    }
  }
};

struct Cuts {
  int x, y, separators, longest;

  bool operator<(const Cuts &o) const {
    return separators != o.separators ? separators < o.separators : longest < o.longest;
  }
};

// All pairs of cuts whose blocks may be small enough, best first. Half of the points are unknowns where reach is 2.
std::vector<Cuts> candidates(const GridShape &s) {
  std::vector<Cuts> found;
  for (int kx = 0; kx <= s.nx; ++kx)
    for (int ky = 0; ky <= s.ny; ++ky) {
      const Side x(s.nx, kx, s.periodic_x, s.reach), y(s.ny, ky, s.periodic_y, s.reach);
      if (!x.possible() || !y.possible()) continue;
      if (x.largest() * y.largest() / s.reach > largest_interior) continue;
      found.push_back({kx, ky, s.nx * s.ny - x.free * y.free, std::max(x.largest(), y.largest())});
    }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace

Plan::Plan(std::vector<int> starts, std::vector<int> columns, const std::vector<int> &x, const std::vector<int> &y,
           const GridShape &s)
    : ia(std::move(starts)), ja(std::move(columns)) {
  const int n = unknowns();
  if (n > largest_n) throw std::invalid_argument("more unknowns than a device can solve for directly");
  for (int i = 0; i < n; ++i)
    if (ia[i + 1] - ia[i] > largest_row) throw std::invalid_argument("a row of the coarse matrix is too long");
  row_start.assign(1, 0);
  if (!n) return;
  for (const Cuts &cuts : candidates(s)) {
    const Side side_x(s.nx, cuts.x, s.periodic_x, s.reach), side_y(s.ny, cuts.y, s.periodic_y, s.reach);
    const Points px(side_x), py(side_y);
    std::vector<int> part(n);
    for (int i = 0; i < n; ++i) {
      const int in_x = px.interval[x[i]], in_y = py.interval[y[i]];
      part[i] = in_x < 0 || in_y < 0 ? -1 : in_y * side_x.intervals + in_x;
    }
    const auto region = [&](int i, int deepest) {
      const int level = std::min({px.level[x[i]], py.level[y[i]], deepest});
      return Region{level, px.before[level][x[i]], py.before[level][y[i]]};
    };
    if (!number(part, region)) continue;
    list_separators();
    return;
  }
  throw std::invalid_argument("the coarse matrix couples unknowns that are further apart than declared");
}

// Blocks, their unknowns and entries from the part that each unknown is in. False: they are too large, or not separated.
bool Plan::number(const std::vector<int> &part, const RegionOf &region) {
  std::vector<std::vector<int>> members(*std::max_element(part.begin(), part.end()) + 1);
  std::vector<int> separators;
  blocks.clear(), nodes.clear(), entries.clear();
  block_of_condensed.clear();
  factors = transposed = schurs = condensed = 0;
  entries.reserve(2 * ja.size());
  separator_of_.assign(unknowns(), -1);
  for (int i = 0; i < unknowns(); ++i) (part[i] >= 0 ? members[part[i]] : separators).push_back(i);
  order_separators(separators, region);
  members.erase(std::remove_if(members.begin(), members.end(), [](const auto &m) { return m.empty(); }), members.end());
  block_of_.assign(unknowns(), -1), place_.assign(unknowns(), -1);
  for (std::size_t b = 0; b < members.size(); ++b)
    for (std::size_t k = 0; k < members[b].size(); ++k)
      block_of_[members[b][k]] = int(b), place_[members[b][k]] = int(k);
  ring_of_.assign(pitch(), -1), ring_place_.resize(pitch());
  for (std::size_t b = 0; b < members.size(); ++b)
    if (!fill_block(int(b), members[b])) return false;
  return true;
}

// The nested dissection of fewest phases that does not enlarge the matrix by much: regions are padded to whole tiles.
void Plan::order_separators(const std::vector<int> &separators, const RegionOf &region) {
  std::size_t allowed = 0;
  DissectionOrder best;
  for (int deepest = 0; deepest < deepest_of_all; ++deepest) {
    std::vector<Region> regions;
    for (int i : separators) regions.push_back(region(i, deepest));
    DissectionOrder order = dissection_order(separators, regions);
    if (!deepest) allowed = std::max(order.rows.size() + 2 * panel, order.rows.size() * 27 / 25);
    if (order.rows.size() <= allowed && (!deepest || order.phases < best.phases)) best = std::move(order);
  }
  separator = std::move(best.rows), tile_level = std::move(best.tile_level);
  for (int p = 0; p < pitch(); ++p)
    if (separator[p] >= 0) separator_of_[separator[p]] = p;
}

bool Plan::fill_block(int b, const std::vector<int> &members) {
  Block block{};
  std::vector<int> ring;
  for (int i : members)
    for (int p = ia[i]; p < ia[i + 1]; ++p) {
      const int j = ja[p], s = separator_of_[j];
      if (s < 0 && block_of_[j] != b) return false;
      if (s >= 0 && std::exchange(ring_of_[s], b) != b) ring.push_back(s);
    }
  std::sort(ring.begin(), ring.end());
  for (std::size_t k = 0; k < ring.size(); ++k) ring_place_[ring[k]] = int(k);
  block.interior = int(members.size()), block.ring = int(ring.size());
  const int size = block.interior + block.ring;
  if (block.interior > largest_interior || size > tile * largest_tiles) return false;

  const auto by_place = [](const Entry &a, const Entry &c) { return a.at < c.at; };
  const auto of_block = long(entries.size()); // the first one; by rows and columns
  std::vector<Entry> of_ring;
  for (int row = 0; row < block.interior; ++row) {
    const auto first = long(entries.size());
    for (int p = ia[members[row]]; p < ia[members[row] + 1]; ++p) {
      const int s = separator_of_[ja[p]];
      const int column = s < 0 ? place_[ja[p]] : block.interior + ring_place_[s];
      entries.push_back({p, 256 * row + column});
      if (s >= 0) of_ring.push_back({p, 256 * column + row});
    }
    std::sort(entries.begin() + first, entries.end(), by_place);
  }
  std::sort(of_ring.begin(), of_ring.end(), by_place);
  entries.insert(entries.end(), of_ring.begin(), of_ring.end());
  for (int t = 0; t <= largest_tiles; ++t) {
    const auto end = std::partition_point(entries.begin() + of_block, entries.end(),
                                          [&](const Entry &e) { return e.at < 256 * tile * t; });
    block.strip[t] = int(end - entries.begin());
    if (t && block.strip[t] - block.strip[t - 1] > largest_strip) return false;
  }
  block.nodes = int(nodes.size()), block.factor = factors, block.transposed = transposed;
  block.schur = schurs, block.condensed = condensed;
  nodes.insert(nodes.end(), members.begin(), members.end());
  nodes.insert(nodes.end(), ring.begin(), ring.end());
  block_of_condensed.insert(block_of_condensed.end(), size, b);
  factors += block.interior * size, transposed += block.ring * block.interior;
  schurs += block.ring * block.ring, condensed += size;
  blocks.push_back(block);
  return true;
}

void Plan::list_separators() {
  for (int i : separator) {
    for (int p = i < 0 ? 0 : ia[i]; p < (i < 0 ? 0 : ia[i + 1]); ++p)
      if (separator_of_[ja[p]] >= 0) row_entries.push_back({p, separator_of_[ja[p]]});
    row_start.push_back(int(row_entries.size()));
  }
  std::vector<std::vector<std::pair<int, int>>> touched(pitch());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (int q = blocks[b].interior; q < blocks[b].interior + blocks[b].ring; ++q)
      touched[nodes[blocks[b].nodes + q]].push_back({int(b), blocks[b].condensed + q});
  for (const auto &t : touched) touching = std::max(touching, int(t.size()));
  touching_block.assign(std::size_t(touching) * pitch(), -1);
  touching_place.assign(std::size_t(touching) * pitch(), -1);
  for (int s = 0; s < pitch(); ++s)
    for (std::size_t k = 0; k < touched[s].size(); ++k) {
      touching_block[k * pitch() + s] = touched[s][k].first;
      touching_place[k * pitch() + s] = touched[s][k].second;
    }
}

} // namespace petscrrb::dense
