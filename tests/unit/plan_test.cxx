// How the last block of a device is cut into blocks and separators: each unknown and each nonzero has its place, once.
#include "cuda/coarse_problems.hpp"
#include "dense/core/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace petscrrb::dense;
using coarse_test::Problem;

namespace {

int row_of(const Problem &p, int nonzero) {
  return int(std::upper_bound(p.ia.begin(), p.ia.end(), nonzero) - p.ia.begin()) - 1;
}

// The unknowns of a block's rows: those inside, then those of the separators around it.
std::vector<int> unknowns_of(const Plan &plan, const Block &b) {
  std::vector<int> unknowns(plan.nodes.begin() + b.nodes, plan.nodes.begin() + b.nodes + b.interior + b.ring);
  for (int k = b.interior; k < b.interior + b.ring; k++)
    unknowns[std::size_t(k)] = plan.separator[std::size_t(unknowns[std::size_t(k)])];
  return unknowns;
}

void each_plan(const std::function<void(const Problem &, const Plan &)> &f) {
  coarse_test::Random random;
  for (const auto &[nx, ny] : {std::pair{1, 1}, {1, 7}, {2, 2}, {5, 4}, {16, 16}, {17, 9}, {33, 31}, {64, 64}})
    for (const int reach : {1, 2})
      for (const bool ring_x : {false, true})
        for (const bool ring_y : {false, true}) {
          SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + ", reach " + std::to_string(reach) +
                       (ring_x ? ", ring in x" : "") + (ring_y ? ", ring in y" : ""));
          const Problem p = coarse_test::regular_problem({nx, ny, ring_x, ring_y, reach}, random);
          f(p, Plan(p.ia, p.ja, p.x, p.y, p.shape));
        }
}

TEST(Plan, HasEachUnknownOnce) {
  each_plan([](const Problem &p, const Plan &plan) {
    std::multiset<int> found;
    for (const Block &b : plan.blocks) {
      EXPECT_LE(b.interior, largest_interior);
      EXPECT_LE(b.interior + b.ring, tile * largest_tiles);
      found.insert(plan.nodes.begin() + b.nodes, plan.nodes.begin() + b.nodes + b.interior);
    }
    for (const int i : plan.separator)
      if (i >= 0) found.insert(i);
    std::multiset<int> all;
    for (int i = 0; i < p.size(); i++) all.insert(i);
    EXPECT_EQ(found, all);
  });
}

TEST(Plan, HasEachNonzeroOnceAndThoseBesideSeparatorsTwice) {
  each_plan([](const Problem &p, const Plan &plan) {
    std::map<int, int> times; // of each nonzero
    std::set<int> separators(plan.separator.begin(), plan.separator.end());
    for (const Block &b : plan.blocks) {
      const std::vector<int> unknown = unknowns_of(plan, b);
      int last = -1;
      for (int e = b.strip[0]; e < b.strip[largest_tiles]; e++) {
        const Entry &entry = plan.entries[std::size_t(e)];
        const int row = entry.at / 256, column = entry.at % 256, t = row / tile;
        EXPECT_GT(entry.at, last);
        EXPECT_TRUE(b.strip[t] <= e && e < b.strip[t + 1]);
        last = entry.at;
        const int i = unknown[std::size_t(row)], j = unknown[std::size_t(column)];
        const bool transposed = row >= b.interior;
        EXPECT_EQ(row_of(p, entry.from), transposed ? j : i);
        EXPECT_EQ(p.ja[std::size_t(entry.from)], transposed ? i : j);
        times[entry.from]++;
      }
    }
    for (int s = 0; s < plan.pitch(); s++)
      for (int e = plan.row_start[std::size_t(s)]; e < plan.row_start[std::size_t(s) + 1]; e++) {
        const Entry &entry = plan.row_entries[std::size_t(e)];
        EXPECT_EQ(row_of(p, entry.from), plan.separator[std::size_t(s)]);
        EXPECT_EQ(p.ja[std::size_t(entry.from)], plan.separator[std::size_t(entry.at)]);
        times[entry.from]++;
      }
    for (int i = 0; i < p.size(); i++)
      for (int q = p.ia[std::size_t(i)]; q < p.ia[std::size_t(i) + 1]; q++) {
        const bool here = separators.count(i), there = separators.count(p.ja[std::size_t(q)]);
        EXPECT_EQ(times[q], here && !there ? 0 : !here && there ? 2 : 1) << i << ", " << p.ja[std::size_t(q)];
      }
  });
}

TEST(Plan, KnowsTheBlocksAroundEachSeparator) {
  each_plan([](const Problem &, const Plan &plan) {
    std::set<std::array<int, 3>> listed, there; // row of the separators' matrix, block, place
    for (int s = 0; s < plan.pitch(); s++)
      for (int k = 0; k < plan.touching; k++)
        if (const auto at = std::size_t(k * plan.pitch() + s); plan.touching_block[at] >= 0)
          listed.insert({s, plan.touching_block[at], plan.touching_place[at]});
    for (std::size_t b = 0; b < plan.blocks.size(); b++)
      for (int k = plan.blocks[b].interior; k < plan.blocks[b].interior + plan.blocks[b].ring; k++)
        there.insert({plan.nodes[std::size_t(plan.blocks[b].nodes + k)], int(b), plan.blocks[b].condensed + k});
    EXPECT_EQ(listed, there);
  });
}

} // namespace
