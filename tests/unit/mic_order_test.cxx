// The order of wavefronts: each point has its place, and finds its neighbours where sweeps look for them.
#include "pc/mic/host/order.hpp"

#include "mic_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

using namespace mic_support;
using namespace petscrrb;
using namespace petscrrb::mic;

namespace {

template <class F> void each_point(const Shape &s, const F &f) {
  for (PetscInt z = 0; z < s.nz; ++z)
    for (PetscInt y = 0; y < s.ny; ++y)
      for (PetscInt x = 0; x < s.nx; ++x) f(std::array<PetscInt, 3>{x, y, z});
}

std::vector<Order> orders(const Shape &s) {
  std::vector<Order> all;
  const Grid g = lattice(s);
  for (int lines : {0, 1, 3, 4, 100}) {
    Options o;
    o.block_lines = lines;
    all.push_back(host_order(g, o));
    for (const std::array<int, 3> axis : {std::array{0, 1, 2}, {1, 2, 0}, {0, 2, 1}})
      for (const std::array<int, 2> tile : {std::array{1, 1}, {8, 1}, {4, 4}, {16, 16}})
        all.push_back(make_order(g, lines, axis.data(), tile[0], tile[1]));
  }
  return all;
}

TEST(MicOrder, EachPointHasItsOwnPlace) {
  for (const Shape &s : shapes)
    for (const Order &o : orders(s)) {
      std::set<index_t> places;
      each_point(s, [&](const auto &x) {
        const index_t at = o.at(x.data());
        EXPECT_GE(at, 0);
        EXPECT_LT(at, o.size());
        places.insert(at);
      });
      ASSERT_EQ(int(places.size()), s.size()) << words(s);
    }
}

// Of the same step are points with the same sum of coordinates in the tile.
TEST(MicOrder, AStepIsAHyperplane) {
  for (const Shape &s : shapes)
    for (const Order &o : orders(s))
      each_point(s, [&](const auto &x) {
        const index_t in_block = o.at(x.data()) % o.block_size(), column = index_t(o.n[2]) * o.tile_size();
        const index_t tile = in_block / column, step = in_block % column / o.tile_size();
        PetscInt c[3] = {x[o.axis[0]], x[o.axis[1]], x[o.axis[2]]};
        const PetscInt block = c[o.cut] / o.n[o.cut];
        c[o.cut] %= o.n[o.cut];
        EXPECT_EQ(o.at(x.data()) / o.block_size(), block);
        EXPECT_EQ(tile, index_t(c[1] / o.tq) * o.tiles[0] + c[0] / o.tp);
        EXPECT_EQ(step, (c[2] + c[0] % o.tp + c[1] % o.tq) % o.points(block, 2));
      });
}

TEST(MicOrder, BlocksAndSidesAreNotCoupled) {
  const Shape s = solid(5, 4, 7);
  const PetscInt side[3] = {5, 4, 7};
  const int axis[3] = {1, 2, 0};
  const Order o = make_order(lattice(s), 3, axis, 8, 1);
  EXPECT_EQ(o.blocks, 3);
  EXPECT_EQ(o.last, 1);
  EXPECT_TRUE(o.kept(0, 3, side));
  EXPECT_FALSE(o.kept(0, 4, side));
  EXPECT_TRUE(o.kept(1, 2, side));
  EXPECT_TRUE(o.kept(2, 1, side));
  EXPECT_FALSE(o.kept(2, 2, side));
  EXPECT_FALSE(o.kept(2, 5, side));
  EXPECT_FALSE(o.kept(2, 6, side));
}

} // namespace
