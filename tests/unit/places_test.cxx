#include "comm/places.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using petscrrb::index_t;
using petscrrb::rrb::Places;

using List = std::vector<index_t>;

TEST(Places, AreListedInTheirOrder) {
  for (const List &list : {List{}, List{7}, List{-1}, List{-1, -1, -1}, List{3, 3}, List{0, 1, 2, 9, 7, 5, 5, 5, 4},
                           List{-1, 0, 1, -1, -1, 6, 2}, List{1, 3, 5, 6, 7, 9}}) {
    const Places places(list);
    EXPECT_EQ(places.listed(), list);
    EXPECT_EQ(places.size(), list.size());
    EXPECT_EQ(places.empty(), list.empty());
    EXPECT_EQ(places.largest(), list.empty() ? -1 : *std::max_element(list.begin(), list.end()));
  }
}

TEST(Places, OfEqualStepsAreOneRun) {
  for (const index_t step : {-5, 0, 1, 40}) {
    Places places;
    for (index_t i = 0; i < 1000; ++i) places.push_back(8000 + i * step);
    EXPECT_EQ(places.runs().size(), 1u);
  }
}

TEST(Places, AreRepeatedMovedAndJoined) {
  Places places(List{1, 2, 8});
  places.repeat(3, 100);
  EXPECT_EQ(places.listed(), (List{1, 2, 8, 101, 102, 108, 201, 202, 208}));
  EXPECT_EQ(places.size(), 9u);
  places.repeat(1, 7);
  EXPECT_EQ(places.size(), 9u);
  Places more(List{4});
  more.move(-3);
  more.append(places);
  more.append({10, -2, 3});
  EXPECT_EQ(more.listed(), (List{1, 1, 2, 8, 101, 102, 108, 201, 202, 208, 10, 8, 6}));
  more.push_back(4); // goes on
  EXPECT_EQ(more.size(), 14u);
  EXPECT_EQ(more.listed().back(), 4);
  Places none;
  none.repeat(5, 1);
  EXPECT_TRUE(none.empty());
}

} // namespace
