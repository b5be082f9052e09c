#include "exec/cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using petscrrb::Cache;

std::shared_ptr<const int> square(int i) { return std::make_shared<const int>(i * i); }
std::shared_ptr<const int> nothing() { throw std::runtime_error("made again"); }

TEST(Cache, KeepsWhatWasUsedLast) {
  Cache<int, int> cache;
  for (int i : {1, 2, 3, 4}) EXPECT_EQ(*cache.get(i, [&] { return square(i); }), i * i);
  EXPECT_EQ(*cache.get(1, nothing), 1);
  EXPECT_EQ(*cache.get(5, [] { return square(5); }), 25);
  EXPECT_FALSE(cache.has(2)); // 1 was used after it
  for (int i : {1, 3, 4, 5}) EXPECT_EQ(*cache.get(i, nothing), i * i);
}

TEST(Cache, WhatItGaveStays) {
  Cache<int, int> cache;
  const auto kept = cache.get(9, [] { return square(9); });
  for (int i = 0; i < 8; ++i) cache.get(i, [&] { return square(i); });
  EXPECT_FALSE(cache.has(9));
  EXPECT_EQ(*kept, 81);
}

TEST(Cache, KeepsNothingThatWasNotMade) {
  Cache<int, int> cache;
  EXPECT_THROW(cache.get(1, nothing), std::runtime_error);
  EXPECT_FALSE(cache.has(1));
  EXPECT_EQ(*cache.get(1, [] { return square(1); }), 1);
}

TEST(Cache, MakesAValueOnceForAllThreads) {
  Cache<int, int> cache;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const auto value = cache.get(7, [&] {
        ++made;
        return square(7);
      });
      EXPECT_EQ(*value, 49);
    });
  for (auto &t : threads) t.join();
  EXPECT_EQ(made, 1);
}

} // namespace
