// Kinds of rows: found where there are few, and the product by them that by the diagonals, to the bit.
#include "ksp/rrb/core/matrix_product.hpp"
#include "stencil/host/rows.hpp"

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

template <int pairs> bool few(RowKinds<Host> &kinds, const Diagonals<pairs> &a) {
  RowLoops<Host> loops{Host()};
  kinds.resize(a.n, pairs);
  kinds.find(a, loops);
  return !loops.read().varies;
}

template <int pairs> void expect_same_product(const Diagonals<pairs> &a, const RowKinds<Host> &kinds) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> p(a.n), q(a.n), expected(a.n);
  for (double &v : p) v = normal(random);
  const auto times = kinds.times(a, p.data(), q.data());
  const DiagonalsTimes<pairs, false> by_diagonals{a, p.data(), expected.data()};
  for (index_t i = 0; i < a.n; ++i) {
    EXPECT_EQ(times.put(int(i), times.compute(int(i))), by_diagonals(i));
    EXPECT_EQ(q[i], expected[i]) << i << " of " << a.n;
  }
}

TEST(RowKinds, MultiplyAsTheDiagonals) {
  for (const int threads : {1, 3}) {
    const Threads many(threads);
    RowKinds<Host> kinds;
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
  RowKinds<Host> kinds;
  for (const int different : {KindTable::places / 4, KindTable::places + 1, 5000}) {
    Made<1> made(6000, {1}, 1, 1);
    const Diagonals<1> &a = made();
    for (index_t i = 0; i < a.n; ++i) a.upper[0][i] = 0, a.main[i] = 1 + i % different;
    EXPECT_EQ(few(kinds, a), different < KindTable::places) << different;
    if (different < KindTable::places) expect_same_product(a, kinds);
  }
}

// What is seen of one matrix is not left for the next.
TEST(RowKinds, AreThoseOfTheNewValues) {
  RowKinds<Host> kinds;
  const index_t offset[] = {1, 20};
  for (const int different : {1, 100, 2, 1}) {
    const Made<2> made(4000, {offset[0], offset[1]}, different, 7);
    EXPECT_EQ(few(kinds, made()), different < 100);
    if (different < 100) expect_same_product(made(), kinds);
  }
}

// A row whose hash is another's is not of its kind.
TEST(RowKinds, AreCompared) {
  const Made<1> made(50, {1}, 1, 1);
  const Diagonals<1> &a = made();
  std::vector<std::uint64_t> hash(KindTable::places);
  std::vector<index_t> row(KindTable::places);
  std::vector<std::uint8_t> kind(50, 3);
  std::vector<double> values(KindTable::places * 3);
  int full = 0;
  const KindTable table{hash.data(), row.data(), &full};
  hash[3] = 1, row[3] = 10;
  for (PetscInt place = 0; place < KindTable::places; ++place) PutKinds<1>{a, table, values.data()}(place);
  const CompareKinds<1> compare{a, table, kind.data(), values.data()};
  EXPECT_FALSE(compare(10).varies);
  EXPECT_TRUE(compare(49).varies); // which has nothing above it
  full = 1;
  EXPECT_TRUE(compare(10).varies);
}

} // namespace
