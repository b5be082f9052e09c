// Reading the stencil of a matrix on a 2D grid, against a slow reader that looks every pair of rows up.
#include "stencil/stencil.hpp"

#include "small_matrix.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace petscrrb;

namespace {

bool decoupled_row(const SmallMatrix &A, int p) {
  for (int q = 0; q < A.size(); ++q)
    if (q != p && A.at(p, q) != 0) return false;
  return true;
}

struct Expected {
  Stencil stencil;
  RowFacts facts;
};

Expected read_slowly(const SmallMatrix &A, const Shape &s) {
  Expected e;
  const int n = s.size();
  auto &identity = e.stencil.identity;
  for (int p = 0; p < n; ++p) identity.push_back(decoupled_row(A, p));
  e.stencil.C.resize(n);
  auto coupling = [&](int p, int q) { return q < 0 || identity[p] || identity[q] ? 0 : (A.at(p, q) + A.at(q, p)) / 2; };
  for (int j = 0; j < s.ny; ++j)
    for (int i = 0; i < s.nx; ++i) {
      const int p = s.row(i, j);
      e.stencil.C[p] = identity[p] && A.at(p, p) == 0 ? 1 : A.at(p, p);
      if (e.facts.bad_pivot == no_row && !(e.stencil.C[p] > 0)) e.facts.bad_pivot = p;
      e.stencil.E.push_back(coupling(p, neighbour(s, i, j, 0, 1, 0, 0)));
      e.stencil.N.push_back(coupling(p, neighbour(s, i, j, 0, 0, 1, 0)));
      if (s.points == 5) continue;
      e.stencil.NE.push_back(coupling(p, neighbour(s, i, j, 0, 1, 1, 0)));
      e.stencil.NW.push_back(coupling(p, neighbour(s, i, j, 0, -1, 1, 0)));
    }
  for (int p = 0; p < n; ++p) {
    e.facts.identity_rows += identity[p];
    e.facts.zero_rows += identity[p] && A.at(p, p) == 0;
    for (int q = 0; q < n; ++q) {
      if (q == p) continue;
      if (identity[p] || identity[q]) continue;
      const double apart = std::fabs(A.at(p, q) - A.at(q, p)), mean = std::fabs((A.at(p, q) + A.at(q, p)) / 2);
      if (apart > 1e-10 * mean)
        e.facts.asymmetry = std::max(e.facts.asymmetry, apart / std::min(std::fabs(A.at(p, p)), std::fabs(A.at(q, q))));
      e.facts.positive += p < q && A.at(p, q) + A.at(q, p) > 0;
    }
  }
  for (const auto *corner : {&e.stencil.NE, &e.stencil.NW})
    for (double value : *corner) e.facts.corners |= value != 0;
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q) { // of neighbours that are two lines or more apart
      const bool coupled = p != q && coupling(p, q) != 0;
      e.facts.crosses[0] |= coupled && std::abs(p % s.nx - q % s.nx) > 1;
      e.facts.crosses[1] |= coupled && std::abs(p / s.nx - q / s.nx) > 1;
    }
  return e;
}

void expect_same(const Expected &e, const Stencil &got, const RowFacts &facts) {
  EXPECT_EQ(got.C, e.stencil.C);
  EXPECT_EQ(got.E, e.stencil.E);
  EXPECT_EQ(got.N, e.stencil.N);
  EXPECT_EQ(got.NE, e.stencil.NE);
  EXPECT_EQ(got.NW, e.stencil.NW);
  EXPECT_EQ(facts.identity_rows, e.facts.identity_rows);
  EXPECT_EQ(facts.zero_rows, e.facts.zero_rows);
  EXPECT_EQ(facts.bad_pivot, e.facts.bad_pivot);
  EXPECT_EQ(facts.crosses[0], e.facts.crosses[0]);
  EXPECT_EQ(facts.crosses[1], e.facts.crosses[1]);
  EXPECT_EQ(facts.positive, e.facts.positive);
  EXPECT_EQ(facts.corners, e.facts.corners);
  EXPECT_EQ(facts.asymmetry, e.facts.asymmetry);
  EXPECT_EQ(got.identity, e.stencil.identity);
}

void expect_same(const SmallMatrix &A, const Shape &s, const Stencil &got, const RowFacts &facts) {
  expect_same(read_slowly(A, s), got, facts);
}

ReadResult read(SmallMatrix &A, const Shape &s, Stencil &got, RowFacts &facts, std::string &why, unsigned seed = 0) {
  why.clear();
  return read_stencil(A.csr(seed), grid_of(s), got, facts, why);
}

void expect_read(SmallMatrix &A, const Shape &s, unsigned seed = 0) {
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why, seed), ReadResult::ok);
  EXPECT_EQ(why, "");
  expect_same(A, s, got, facts);
}

void expect_part(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
}

// Identity rows, zero rows, walls, positive and slightly nonsymmetric couplings, stored zeros: all at once.
SmallMatrix rough_matrix(const Shape &s, unsigned seed) {
  auto A = random_matrix(s, seed);
  std::mt19937 random(seed);
  for (int p = 0; p < s.size(); ++p)
    for (int q = 0; q < s.size(); ++q) {
      if (q >= p || A.at(p, q) == 0) continue;
      if (random() % 8 == 0) A.set_both(p, q, 0);
      if (random() % 8 == 0) A.set_both(p, q, 0.25);
      if (random() % 8 == 0) A.set(p, q, A.at(p, q) + 1e-9);
      if (random() % 16 == 0) A.erase(p, q), A.erase(q, p);
    }
  for (int p = 0; p < s.size(); ++p)
    if (random() % 6 == 0) A.make_identity(p, random() % 2 == 0, random() % 3);
  if (random() % 2 == 0) A.pad(static_cast<int>(random() % 12));
  return A;
}

std::vector<Shape> small_shapes() {
  std::vector<Shape> shapes;
  for (int points : {5, 9})
    for (int nx : {1, 2, 3, 4, 5, 8})
      for (int ny : {1, 2, 3, 4, 7})
        for (int periodic = 0; periodic < 4; ++periodic) {
          const Shape s{nx, ny, 1, (periodic & 1) != 0, (periodic & 2) != 0, false, points};
          if ((s.px && nx < 3) || (s.py && ny < 3)) continue;
          shapes.push_back(s);
        }
  return shapes;
}

} // namespace

TEST(ReadStencil, EverySmallGrid) {
  for (const Shape &s : small_shapes()) {
    SCOPED_TRACE(testing::Message() << s.nx << " x " << s.ny << " " << s.px << s.py << " " << s.points);
    auto A = random_matrix(s);
    expect_read(A, s);
    expect_read(A, s, 5);
  }
}

TEST(ReadStencil, EverySmallRoughGrid) {
  unsigned seed = 100;
  for (const Shape &s : small_shapes())
    for (int trial = 0; trial < 4; ++trial) {
      SCOPED_TRACE(testing::Message() << s.nx << " x " << s.ny << " " << s.px << s.py << " " << s.points << " "
                                      << ++seed);
      auto A = rough_matrix(s, seed);
      expect_read(A, s, trial % 2 ? seed : 0);
    }
}

// Many lines, few long ones, one line: above the size from which threads are used.
TEST(ReadStencil, SameBitsForAnyNumberOfThreads) {
  for (const Shape &s : {Shape{41, 53, 1, true, true, false, 9}, Shape{41, 53}, Shape{700, 3, 1, true, true, false, 9},
                         Shape{2100, 1, 1, true}}) {
    auto A = rough_matrix(s, 77);
    const Expected e = read_slowly(A, s);
    for (int n : {1, 2, 3, 5, 16, 60}) {
      const Threads threads(n);
      SCOPED_TRACE(testing::Message() << s.nx << " x " << s.ny << ", threads " << n);
      Stencil got;
      RowFacts facts;
      std::string why;
      EXPECT_EQ(read(A, s, got, facts, why, n % 2 ? n : 0), ReadResult::ok);
      expect_same(e, got, facts);
    }
  }
}

TEST(ReadStencil, FivePointMatrixOnNinePointGrid) {
  auto A = random_matrix({6, 5});
  const Shape nine{6, 5, 1, false, false, false, 9};
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, nine, got, facts, why), ReadResult::ok);
  expect_same(A, nine, got, facts);
  EXPECT_FALSE(facts.corners);
  EXPECT_EQ(got.NE.size(), 30u);
}

TEST(ReadStencil, MissingDiagonalIsZero) {
  const Shape s{4, 4};
  auto A = random_matrix(s);
  A.erase(5, 5);
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::ok);
  expect_part(why, "the diagonal entry of row 5 at (1, 1) is not positive");
  expect_same(A, s, got, facts);
}

TEST(ReadStencil, RefreshKeepsTheArraysAndForgetsTheOldValues) {
  for (int points : {5, 9}) {
    const Shape s{7, 6, 1, true, false, false, points};
    auto A = rough_matrix(s, 3), B = rough_matrix(s, 4);
    Stencil got;
    RowFacts facts;
    std::string why;
    ASSERT_EQ(read(A, s, got, facts, why), ReadResult::ok);
    const std::vector<const void *> before = {got.C.data(),  got.E.data(),  got.N.data(),
                                              got.NE.data(), got.NW.data(), got.identity.data()};
    ASSERT_EQ(read(B, s, got, facts, why), ReadResult::ok);
    const std::vector<const void *> after = {got.C.data(),  got.E.data(),  got.N.data(),
                                             got.NE.data(), got.NW.data(), got.identity.data()};
    EXPECT_EQ(before, after);
    expect_same(B, s, got, facts);
  }
}

TEST(ReadStencil, LeavesTheNearNullSpaceVectorAlone) {
  const Shape s{3, 3};
  auto A = random_matrix(s);
  Stencil got;
  RowFacts facts;
  std::string why;
  got.v.assign(9, 2.5);
  ASSERT_EQ(read(A, s, got, facts, why), ReadResult::ok);
  EXPECT_EQ(got.v, std::vector<double>(9, 2.5));
}

TEST(ReadStencil, CornerAtFivePointsAsksForRebuild) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  A.set_both(s.row(1, 1), s.row(2, 2), -0.5);
  A.set_both(s.row(3, 1), s.row(2, 2), -0.25);
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::rebuild);
  expect_part(why, "-0.5 in row 6 at (1, 1), column 12 at (2, 2)");
  expect_part(why, "5 x 4 (5 points)");
  A.make_identity(s.row(2, 2), false); // the columns stay, and do not count
  expect_read(A, s);
}

TEST(ReadStencil, SeamOfASideThatIsNotPeriodicAsksForRebuild) {
  for (bool x : {true, false}) {
    const Shape s{5, 4};
    auto A = random_matrix(s);
    A.set(s.row(x ? 4 : 2, x ? 2 : 3), s.row(x ? 0 : 2, x ? 2 : 0), -1);
    Stencil got;
    RowFacts facts;
    std::string why;
    EXPECT_EQ(read(A, s, got, facts, why), ReadResult::rebuild);
    expect_part(why, x ? "row 14 at (4, 2), column 10 at (0, 2)" : "row 17 at (2, 3), column 2 at (2, 0)");
  }
}

TEST(ReadStencil, NewIdentityRowsAreNoRebuild) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  Stencil got;
  RowFacts facts;
  std::string why;
  ASSERT_EQ(read(A, s, got, facts, why), ReadResult::ok);
  A.make_identity(7, false);
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::ok);
  expect_same(A, s, got, facts);
}

TEST(ReadStencil, OtherSizeAsksForRebuild) {
  auto A = random_matrix({5, 4});
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, {4, 4}, got, facts, why), ReadResult::rebuild);
  expect_part(why, "20 rows");
}

TEST(ReadStencil, NonsymmetricInsideIsRefused) {
  const Shape s{5, 4};
  auto A = random_matrix(s); // the diagonal entries of rows 6 and 7 are 30 and more: 3e-9 may differ
  A.set_both(6, 7, -1);
  A.set(7, 6, -1 - 2.9e-9);
  expect_read(A, s);
  A.set(12, 7, -1.5);
  A.set(7, 12, -1.25);
  A.set(7, 6, -1 - 1e-8);
  A.set(6, 11, A.at(11, 6) - 0.5); // the same row, a column further on
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why, 9), ReadResult::refused);
  expect_part(why, "row 6 at (1, 1), column 7 at (2, 1) holds -1, the transposed entry is -1.00000001");
  expect_part(why, "smaller diagonal entry of the two rows, 30");
  expect_part(why, "-pc_type gamg");
  A.set(7, 6, -1);
  A.set(6, 11, A.at(11, 6));
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::refused);
  expect_part(why, "row 7 at (2, 1), column 12 at (2, 2) holds -1.25, the transposed entry is -1.5");
}

TEST(ReadStencil, CouplingStoredOneWayOnlyIsRefused) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  A.set(8, 7, -2);
  A.erase(7, 8);
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::refused);
  expect_part(why, "row 7 at (2, 1), column 8 at (3, 1) holds 0, the transposed entry is -2");
}

// An identity row scaled by 1e20 must not excuse the others.
TEST(ReadStencil, ToleranceComesFromTheCoupledRows) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  A.make_identity(0, true, 1e20);
  A.set(7, 8, A.at(8, 7) + 0.1);
  Stencil got;
  RowFacts facts;
  std::string why;
  EXPECT_EQ(read(A, s, got, facts, why), ReadResult::refused);
}

TEST(ReadStencil, NotFiniteIsRefused) {
  const Shape s{5, 4};
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (int column : {7, 8, 3, 19}) { // the diagonal, a neighbour, a line below, elsewhere
      auto A = random_matrix(s);
      A.set(7, column, bad);
      A.set(18, 17, bad);
      Stencil got;
      RowFacts facts;
      std::string why;
      EXPECT_EQ(read(A, s, got, facts, why), ReadResult::refused);
      expect_part(why, "not finite: row 7 at (2, 1), column " + std::to_string(column) + " at");
    }
}
