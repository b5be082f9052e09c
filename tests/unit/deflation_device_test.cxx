// What the device's projection is made of and a host can run: a row of A Z, chunks, the pattern of E.
#include "ksp/deflation/core/az_row.hpp"
#include "ksp/deflation/core/chunks.hpp"
#include "ksp/deflation/core/coarse_pattern.hpp"
#include "small_matrix.hpp"

#include <numeric>
#include <gtest/gtest.h>

#include <cmath>

using namespace petscrrb::deflation;

namespace {

// The row of A Z as a map; the own entry must come last.
std::map<int, double> az_row(SmallMatrix &A, const std::vector<int> &label, int i, RowSum *sum = nullptr) {
  const petscrrb::Csr csr = A.csr(3);
  const RowSum s = row_sum(csr, label.data(), 1e-14, i);
  std::map<int, double> row;
  int last = -1;
  each_of_az_row(csr, label.data(), i, s, [&](int t, double value) {
    EXPECT_EQ(row.count(t), 0u) << "twice";
    row[t] = value, last = t;
  });
  EXPECT_EQ(last, label[i]);
  if (sum) *sum = s;
  return row;
}

TEST(AZRow, IsTheSumBySubdomains) {
  const Shape s{6, 5, 1, false, false, false, 9};
  SmallMatrix A = random_matrix(s);
  for (const int identity : {8, 22}) A.make_identity(identity, false);
  std::vector<int> label(s.size());
  for (int i = 0; i < s.size(); ++i) label[i] = i == 8 || i == 22 ? -1 : i % 6 / 2 + 3 * (i / 12);
  for (int i = 0; i < s.size(); ++i) {
    if (label[i] < 0) continue;
    std::map<int, double> expected{{label[i], 0.0}};
    for (int j = 0; j < s.size(); ++j)
      if (A.at(i, j) != 0 && label[j] >= 0) expected[label[j]] += A.at(i, j);
    const std::map<int, double> row = az_row(A, label, i);
    ASSERT_EQ(row.size(), expected.size());
    for (const auto &[t, value] : expected) EXPECT_NEAR(row.at(t), value, 1e-12);
  }
}

TEST(AZRow, InsideIsNothingButTheSum) {
  SmallMatrix A(3);
  A.set_both(0, 1, -0.1), A.set_both(1, 2, -0.7);
  A.set(0, 0, 0.1), A.set(1, 1, 0.1 + 0.7), A.set(2, 2, 0.7 + 1e-3);
  const std::vector<int> one{0, 0, 0}, two{0, 0, 1};
  RowSum sum;
  EXPECT_EQ(az_row(A, one, 1, &sum).at(0), 0.0);
  EXPECT_TRUE(sum.inside);
  EXPECT_NEAR(az_row(A, one, 2).at(0), 1e-3, 1e-15);
  const std::map<int, double> row = az_row(A, two, 1, &sum);
  EXPECT_FALSE(sum.inside);
  EXPECT_EQ(row.at(0) + row.at(1), 0.0) << "to the bit";
}

TEST(AZRow, IdentityRowsAndPhases) {
  SmallMatrix A(3);
  A.set_both(0, 1, 0.0), A.set_both(1, 2, -1);
  for (int i = 0; i < 3; ++i) A.set(i, i, i + 1);
  const petscrrb::Csr csr = A.csr();
  EXPECT_TRUE(is_identity(csr, 0));
  EXPECT_FALSE(is_identity(csr, 1));
  EXPECT_EQ(entry(csr, 2, 2), 3);
  EXPECT_TRUE(same_phase(0.0, 1.0));
  EXPECT_FALSE(same_phase(-1e-300, 0.0));
  EXPECT_TRUE(same_phase(1.0, 9.9, 10.0));
  EXPECT_FALSE(same_phase(10.0, 1.0, 10.0));
}

TEST(Chunks, CoverTheirSegmentsInOrder) {
  std::mt19937 random(1);
  std::vector<int> start{0}, second{0};
  for (const int length : {0, 1, 31, 32, 33, 1023, 1024, 1025, 5000, 0, 70000})
    start.push_back(start.back() + length), second.push_back(second.back() + int(random() % 3000));
  for (const bool two : {false, true}) {
    const Chunks chunks(start, two ? second : std::vector<int>());
    int longest = 0, at[2] = {0, 0}, next = 0;
    for (std::size_t k = 0; k < chunks.chunk.size(); ++k) {
      const Chunk &c = chunks.chunk[k];
      EXPECT_TRUE(c.segment == next || (k > 0 && c.segment == chunks.chunk[k - 1].segment));
      next = c.segment + 1;
      EXPECT_LE(c.first, int(k));
      EXPECT_LT(int(k), c.first + c.of);
      for (int list = 0; list < 2; ++list) {
        EXPECT_LE(c.end[list] - c.begin[list], longest_chunk);
        longest = std::max(longest, c.end[list] - c.begin[list]);
        if (list && !two) continue;
        const std::vector<int> &all = list ? second : start;
        EXPECT_EQ(c.begin[list], at[list]);
        at[list] = c.end[list];
        if (int(k) == c.first + c.of - 1) {
          EXPECT_EQ(c.end[list], all[c.segment + 1]);
        }
      }
    }
    EXPECT_EQ(next, int(start.size()) - 1);
    EXPECT_EQ(longest, chunks.longest);
  }
}

TEST(CoarsePattern, IsSymmetricWithADiagonal) {
  const int n = 5;
  const auto key = [&](int s, int t) { return key_of(s, t, n); };
  // row 2 has the sum of its rows alone, 3 nothing, (4, 0) has no partner
  const std::vector<SumKey> keys{key(0, 0), key(0, 1), key(1, 0), key(1, 1),
                                 key(1, n), key(2, n), key(4, 0), key(4, 4)};
  const CoarsePattern e(n, keys);
  EXPECT_EQ(e.size(), n);
  EXPECT_EQ(e.ia, (std::vector<int>{0, 3, 5, 6, 7, 9}));
  EXPECT_EQ(e.ja, (std::vector<int>{0, 1, 4, 0, 1, 2, 3, 0, 4}));
  EXPECT_EQ(e.from, (std::vector<int>{0, 1, -1, 2, 3, -1, -1, 6, 7}));
  EXPECT_EQ(e.across, (std::vector<int>{0, 3, 7, 1, 4, 5, 6, 2, 8}));
  EXPECT_EQ(e.excess_from, (std::vector<int>{-1, 4, 5, -1, -1}));
}

// Boxes that couple with those `steps` further, around or not.
CoarsePattern box_pattern(int nx, int ny, int steps, bool around) {
  std::vector<SumKey> keys;
  for (int s = 0; s < nx * ny; ++s)
    for (int t = 0; t < nx * ny; ++t) {
      const int dx = std::abs(s % nx - t % nx), dy = std::abs(s / nx - t / nx);
      const bool near = dx <= steps || (around && dx >= nx - steps);
      if (near && dy <= steps) keys.push_back(key_of(s, t, nx * ny));
    }
  return CoarsePattern(nx * ny, keys);
}

std::vector<int> numbers(int n) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(CoarsePattern, FitsGridsOfBoxes) {
  BoxGrid grid;
  const int flat[3] = {7, 5, 1}, upright[3] = {7, 1, 5}, line[3] = {1, 1, 35}, solid[3] = {7, 5, 2};
  EXPECT_TRUE(fits(box_pattern(7, 5, 1, false), numbers(7 * 5), flat, grid));
  EXPECT_EQ(grid.n[0], 7);
  EXPECT_EQ(grid.n[1], 5);
  EXPECT_FALSE(grid.periodic[0] || grid.periodic[1]);
  EXPECT_TRUE(fits(box_pattern(7, 5, 1, true), numbers(7 * 5), upright, grid));
  EXPECT_TRUE(grid.periodic[0]);
  EXPECT_FALSE(grid.periodic[1]);
  EXPECT_FALSE(fits(box_pattern(7, 5, 2, false), numbers(7 * 5), flat, grid));
  EXPECT_FALSE(fits(box_pattern(7, 5, 1, false), numbers(7 * 5), line, grid));
  EXPECT_FALSE(fits(box_pattern(7, 10, 1, false), numbers(7 * 10), solid, grid));
  EXPECT_TRUE(fits(box_pattern(35, 1, 1, false), numbers(35 * 1), line, grid));
  EXPECT_EQ(grid.n[0] * grid.n[1], 35);
  EXPECT_EQ(grid.x[34], 34);
  // boxes 0, 1, 2 of three, the second of them twice
  const int three[3] = {3, 1, 1};
  EXPECT_TRUE(fits(box_pattern(4, 1, 2, false), {0, 1, 1, 2}, three, grid));
  EXPECT_EQ(grid.x, (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(grid.y, (std::vector<int>(4, 0)));
}

TEST(CoarsePattern, NamesTheFirstBadPivot) {
  const CoarsePattern e = box_pattern(6, 4, 1, false);
  std::vector<double> a(e.ja.size());
  const auto fill = [&](int bad) {
    for (int s = 0; s < e.size(); ++s)
      for (int p = e.ia[s]; p < e.ia[s + 1]; ++p) a[p] = e.ja[p] == s ? (s == bad ? -0.5 : 9.0) : -1.0;
  };
  for (const int bad : {-1, 0, 7, 23}) {
    fill(bad);
    EXPECT_EQ(first_bad_pivot(e.ia, e.ja, a), bad);
  }
  a[0] = std::nan("");
  EXPECT_EQ(first_bad_pivot(e.ia, e.ja, a), 0);
}

} // namespace
