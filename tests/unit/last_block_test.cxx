// The last block's pattern by itself, before there are levels: it is the one that these have.
#include "exec/host/host.hpp"
#include "pc/rrb/core/last_block.hpp"
#include "pc/rrb/core/rrb.hpp"

#include <gtest/gtest.h>

using namespace petscrrb;
using namespace petscrrb::rrb;

namespace {

TEST(LastBlockPattern, IsThatOfTheLevels) {
  for (const auto &[nx, ny] :
       {std::pair<index_t, index_t>{1, 1}, {1, 9}, {2, 2}, {3, 2}, {8, 8}, {17, 5}, {40, 33}, {64, 30}})
    for (const bool ring_x : {false, true})
      for (const bool ring_y : {false, true})
        for (int levels = 1; levels <= max_levels(nx, ny); ++levels)
          for (const int dense : {0, levels / 2}) {
            const Extent extent{{0, nx, nx, ring_x && nx > 2}, {0, ny, ny, ring_y && ny > 2}};
            Options options;
            options.levels = levels;
            options.storage_grids = dense;
            const auto core = make_factorization(on_host, extent, options, Precision::in_double);
            const LastBlock &block = core->last_block();
            const Extent last = last_extent(extent, levels);
            const LastBlockPattern pattern(last, levels % 2);
            SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + ", levels: " + std::to_string(levels));
            EXPECT_EQ(last.x.n, block.grid.x.n);
            EXPECT_EQ(last.y.n, block.grid.y.n);
            EXPECT_EQ(last.x.periodic, block.grid.x.periodic);
            EXPECT_EQ(last.y.periodic, block.grid.y.periodic);
            EXPECT_EQ(pattern.x, block.x);
            EXPECT_EQ(pattern.y, block.y);
            EXPECT_EQ(pattern.ia, block.ia);
            EXPECT_EQ(pattern.ja, block.ja);
          }
}

} // namespace
