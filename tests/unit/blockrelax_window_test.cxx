// What the host's sweep copies from around a block: nothing that another thread may be writing to.
#include "exec/host/host.hpp"
#include "pc/blockrelax/host/residual.hpp"

#include <cmath>
#include <gtest/gtest.h>

using namespace petscrrb::blockrelax;

namespace {

// Blocks that touch at edges and corners only have the same colour where cells couple along x, y and z.
bool is_read(const Block &block, const int cell[3], bool star) {
  int beside = 0;
  for (int d = 0; d < 3; ++d) {
    if (cell[d] < block.first[d] - 1 || cell[d] > block.first[d] + block.n[d]) return false;
    beside += cell[d] < block.first[d] || cell[d] >= block.first[d] + block.n[d];
  }
  return !star || beside < 2;
}

TEST(BlockRelaxWindow, IsOfCellsThatCouple) {
  for (int points : {5, 9, 7, 27}) {
    const bool solid = points == 7 || points == 27;
    const PetscInt n[3] = {7, 6, solid ? 5 : 1};
    const Layout l({{Patch{{n[0], n[1], n[2]}, 0}}, points}, Cut{{2, 3, 2}});
    std::vector<double> window(l.most_window());
    for (petscrrb::index_t b = 0; b < l.blocks(); ++b)
      l.at(b, [&](const Patch &p, const Block &block) {
        std::vector<double> x;
        double expected = 0, sum = 0;
        for (int k = 0; k < n[2]; ++k)
          for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) {
              const int cell[3] = {i, j, k};
              const bool read = is_read(block, cell, points == 5 || points == 7);
              x.push_back(read ? 1 : std::nan(""));
              expected += read;
            }
        Window copy(l, p, block, window.data());
        copy.fill<false>(x.data());
        for (int c = 0; c < copy.sides()[0] * copy.sides()[1] * copy.sides()[2]; ++c) sum += window[c];
        EXPECT_EQ(sum, expected) << points << " points, block " << b;
      });
  }
}

TEST(HostBuffer, HasNoSizeWhereThereWasNoMemory) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer ends the program instead";
#endif
  petscrrb::host::Buffer<double> buffer(10);
  EXPECT_THROW(buffer.resize(std::size_t(1) << 58), std::bad_alloc);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.data(), nullptr);
}

} // namespace
