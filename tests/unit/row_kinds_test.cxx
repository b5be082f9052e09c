// Kinds of rows: found where there are few, and the product by them that by the diagonals, to the bit.
#include "ksp/rrb/core/matrix_product.hpp"
#include "exec/host/host.hpp"

#include "threads.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace petscrrb;
using namespace petscrrb::rrbsolver;

namespace {

// Diagonals that a grid has whose couplings and diagonal entries are one of so many each.
template <int pairs> class Made {
public:
  Made(index_t n, const index_t (&offset)[pairs], int different, unsigned seed)
      : values_((pairs + 1) * n), a_{n, values_.data(), {}, {}} {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    std::vector<double> some(different);
    for (double &v : some) v = real(random);
    const auto any = [&] { return some[random() % different]; };
    for (index_t i = 0; i < n; ++i) a_.main[i] = 7 + any();
    for (int k = 0; k < pairs; ++k) {
      a_.offset[k] = offset[k];
      a_.upper[k] = a_.main + (k + 1) * n;
      for (index_t i = 0; i + offset[k] < n; ++i) a_.upper[k][i] = i % 9 ? any() : 0;
    }
  }
  const Diagonals<pairs> &operator()() const { return a_; }

private:
  std::vector<double> values_;
  Diagonals<pairs> a_;
};

template <int pairs> bool few(AwaitedKinds<Host> &kinds, const Diagonals<pairs> &a) {
  kinds.resize(a.n, a.count);
  kinds.look(on_host, a);
  return kinds.are_few(on_host);
}

template <int pairs> void expect_same_product(const Diagonals<pairs> &a, const AwaitedKinds<Host> &kinds) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> p(a.n), q(a.n), expected(a.n);
  for (double &v : p) v = normal(random);
  const KindsTimes<pairs> times(a, kinds.kind(), kinds.values(), p.data(), q.data());
  const DiagonalsTimes<pairs, false> by_diagonals{a, p.data(), expected.data()};
  for (index_t i = 0; i < a.n; ++i) {
    EXPECT_EQ(times.put(int(i), times.compute(int(i))), by_diagonals(i));
    EXPECT_EQ(q[i], expected[i]) << i << " of " << a.n;
  }
}

TEST(RowKinds, MultiplyAsTheDiagonals) {
  for (const int threads : {1, 3}) {
    const Threads many(threads);
    AwaitedKinds<Host> kinds;
    for (const index_t n : {1, 2, 7, 40, 1000, 30000}) {
      const Made<1> line(n, {1}, 1, 1);
      ASSERT_TRUE(few(kinds, line())) << n;
      expect_same_product(line(), kinds);
      const Made<3> grid(n, {1, 20, 300}, 1, 2);
      ASSERT_TRUE(few(kinds, grid())) << n;
      expect_same_product(grid(), kinds);
    }
    const Made<2> two(5000, {1, 70}, 2, 3); // of 32 combinations, with sides
    ASSERT_TRUE(few(kinds, two()));
    expect_same_product(two(), kinds);
    const Made<13> points(3000, {1, 9, 10, 11, 89, 90, 91, 99, 100, 101, 109, 110, 111}, 1, 4);
    ASSERT_TRUE(few(kinds, points()));
    expect_same_product(points(), kinds);
  }
}

// A quarter of the places, one more than there are, and all different.
TEST(RowKinds, AreNotFoundWhereThereAreMany) {
  AwaitedKinds<Host> kinds;
  for (const int different : {KindTable::places / 4, KindTable::places + 1, 5000}) {
    Made<1> made(6000, {1}, 1, 1);
    const Diagonals<1> &a = made();
    for (index_t i = 0; i < a.n; ++i) a.upper[0][i] = 0, a.main[i] = 1 + i % different;
    EXPECT_EQ(few(kinds, a), different < KindTable::places) << different;
    if (different < KindTable::places) expect_same_product(a, kinds);
  }
}

// What is seen of one matrix is not left for the next; and after many it waits before it looks again, ever longer.
TEST(RowKinds, AreLookedForAgain) {
  AwaitedKinds<Host> kinds;
  const Made<2> one(4000, {1, 20}, 1, 7), two(4000, {1, 20}, 2, 7), many(4000, {1, 20}, 100, 7);
  EXPECT_TRUE(few(kinds, one()));
  EXPECT_FALSE(few(kinds, many()));
  EXPECT_FALSE(few(kinds, two())) << "did not wait";
  EXPECT_TRUE(few(kinds, two()));
  expect_same_product(two(), kinds);
  EXPECT_TRUE(few(kinds, one()));
  expect_same_product(one(), kinds);
  for (int waits = 1; waits < 200; waits = std::min(2 * waits, 64) + (waits == 64 ? 200 : 0)) {
    EXPECT_FALSE(few(kinds, many())) << waits;
    for (int k = 0; k < waits; ++k) EXPECT_FALSE(few(kinds, one())) << k << " of " << waits;
  }
  EXPECT_TRUE(few(kinds, one()));
  const Made<2> smaller(1000, {1, 20}, 1, 7);
  EXPECT_FALSE(few(kinds, many()));
  kinds.resize(0, 0); // another matrix
  EXPECT_TRUE(few(kinds, smaller()));
}

// A row whose hash is another's is not of its kind, whether that one's values are known when it is taken or afterwards.
TEST(RowKinds, AreCompared) {
  using Rows = Diagonals<1>;
  const Made<1> made(50, {1}, 1, 1);
  const Rows &a = made();
  std::vector<std::uint64_t> hash(KindTable::places);
  std::vector<index_t> row(KindTable::places);
  std::vector<int> known(KindTable::places);
  std::vector<std::uint8_t> kind(50, 3);
  std::vector<double> values(KindTable::places * Rows::count);
  int late = 0;
  index_t many = 0;
  const KindTable table{hash.data(), row.data(), known.data(), &late, &many};
  const auto put_place_3 = [&](bool now_known) {
    for (int place = 0; place < KindTable::places; ++place) ClearKinds{table}(place);
    hash[3] = 1, row[3] = 10;
    for (int place = 0; place < KindTable::places; ++place) PutKinds<Rows>{a, table, values.data(), now_known}(place);
  };
  const CompareKinds<Rows> compare{a, table, kind.data(), values.data()};
  put_place_3(false);
  compare(49);
  EXPECT_FALSE(many); // there is none to look for
  late = 1;
  compare(10);
  EXPECT_FALSE(many);
  compare(49);
  EXPECT_TRUE(many); // which has nothing above it
  const TakeKinds<Rows, false> take{a, table, kind.data(), values.data()};
  for (const index_t i : {10, 49}) {
    put_place_3(true);
    std::fill(hash.begin(), hash.end(), RowBits<Rows>(a, i).hash()); // that of place 3, and no place is free
    std::fill(known.begin(), known.end(), 1);
    for (int place = 0; place < KindTable::places; ++place)
      std::copy_n(values.data() + 3 * Rows::count, Rows::count, values.data() + place * Rows::count);
    take(i);
    EXPECT_EQ(many, i == 49);
  }
}

} // namespace
