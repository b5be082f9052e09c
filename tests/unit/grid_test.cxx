// Finding the grid in a matrix, and holding a given grid against it.
#include "grid/find.hpp"

#include "small_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using petscrrb::Grid;
using petscrrb::Widest;

namespace {

std::string find(SmallMatrix &A, Grid &g, Widest widest = Widest::flat, unsigned seed = 0) {
  return petscrrb::find_grid(A.csr(seed), widest, "-pc_rrb_grid", g);
}

std::string check(SmallMatrix &A, Grid &g, Widest widest = Widest::star) {
  return petscrrb::check_grid(A.csr(), widest, "-pc_rrb_grid", g);
}

Grid given(int dim, int nx, int ny, int nz = 1) {
  Grid g;
  g.dim = dim;
  g.n[0] = nx;
  g.n[1] = ny;
  g.n[2] = nz;
  return g;
}

void expect_shape(const Grid &g, const Shape &s) {
  EXPECT_EQ(g.dim, s.points == 7 || s.points == 27 ? 3 : 2);
  EXPECT_EQ(g.n[0], s.nx);
  EXPECT_EQ(g.n[1], s.ny);
  EXPECT_EQ(g.n[2], s.nz);
  EXPECT_EQ(g.periodic[0], s.px);
  EXPECT_EQ(g.periodic[1], s.py);
  EXPECT_EQ(g.periodic[2], s.pz);
  EXPECT_EQ(g.points, s.points);
}

void expect_part(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
}

std::string name(const Shape &s) {
  return std::to_string(s.nx) + "x" + std::to_string(s.ny) + "x" + std::to_string(s.nz) + (s.px ? " px" : "") +
         (s.py ? " py" : "") + (s.pz ? " pz" : "") + " " + std::to_string(s.points);
}

} // namespace

TEST(FindGrid, EverySmall2DGrid) {
  for (int points : {5, 9})
    for (int nx = 2; nx <= 9; ++nx)
      for (int ny = 2; ny <= 9; ++ny)
        for (int periodic = 0; periodic < 4; ++periodic) {
          const Shape s{nx, ny, 1, (periodic & 1) != 0, (periodic & 2) != 0, false, points};
          if ((s.px && nx < 3) || (s.py && ny < 3)) continue;
          if (nx * ny == 6 && points == 9 && (s.px || s.py)) continue; // all coupled with all: see Ambiguous
          SCOPED_TRACE(name(s));
          auto A = random_matrix(s);
          Grid g, h = given(2, nx, ny);
          EXPECT_EQ(find(A, g, Widest::flat, 7), "");
          expect_shape(g, s);
          EXPECT_EQ(check(A, h), "");
          expect_shape(h, s);
          EXPECT_EQ(find(A, h, Widest::star), ""); // where 3D is possible too
          expect_shape(h, s);
        }
}

TEST(FindGrid, EverySmall3DGrid) {
  for (int nx = 2; nx <= 5; ++nx)
    for (int ny = 2; ny <= 5; ++ny)
      for (int nz = 2; nz <= 4; ++nz)
        for (int periodic = 0; periodic < 8; ++periodic) {
          const Shape s{nx, ny, nz, (periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0, 7};
          if ((s.px && nx < 3) || (s.py && ny < 3) || (s.pz && nz < 3)) continue;
          SCOPED_TRACE(name(s));
          auto A = random_matrix(s);
          Grid g, h = given(3, nx, ny, nz);
          EXPECT_EQ(check(A, h), "");
          expect_shape(h, s);
          EXPECT_EQ(find(A, g, Widest::star, 5), "");
          expect_shape(g, s);
        }
}

// All of six points that are 2 along a side and 3 around the next one are coupled with all, and so they are the other way
// round.
bool is_ambiguous(const Shape &s) {
  const auto pair = [](int n, bool around, int m, bool around_m) {
    return (n == 2 && m == 3 && around_m) || (n == 3 && around && m == 2);
  };
  return pair(s.nx, s.px, s.ny, s.py) || pair(s.ny, s.py, s.nz, s.pz);
}

TEST(FindGrid, EverySmallGridOf27Points) {
  for (int nx = 2; nx <= 6; ++nx)
    for (int ny = 2; ny <= 6; ++ny)
      for (int nz = 2; nz <= 5; ++nz)
        for (int periodic = 0; periodic < 8; ++periodic) {
          const Shape s{nx, ny, nz, (periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0, 27};
          if ((s.px && nx < 3) || (s.py && ny < 3) || (s.pz && nz < 3)) continue;
          SCOPED_TRACE(name(s));
          auto A = random_matrix(s);
          Grid g, h = given(3, nx, ny, nz);
          EXPECT_EQ(check(A, h, Widest::box), "");
          expect_shape(h, s);
          const std::string why = find(A, g, Widest::box, 5);
          if (is_ambiguous(s)) {
            expect_part(why, "Several grids fit");
            continue;
          }
          EXPECT_EQ(why, "");
          expect_shape(g, s);
        }
}

// Trilinear elements on cubes: neighbours at faces are not coupled. With Dirichlet rows at the boundary.
TEST(FindGrid, TrilinearElements) {
  for (const Shape &s :
       {Shape{4, 4, 4}, Shape{5, 4, 6}, Shape{8, 8, 8}, Shape{4, 7, 5, true}, Shape{5, 5, 6, true, true, true}})
    for (const bool walls : {false, true}) {
      Shape box = s;
      box.points = 27;
      SmallMatrix A = random_matrix(box);
      for (int p = 0; p < s.size(); ++p)
        for (const auto &[q, a] : A.entries()[p]) {
          const int d[3] = {p % s.nx - q % s.nx, p / s.nx % s.ny - q / s.nx % s.ny, p / s.nx / s.ny - q / s.nx / s.ny};
          int along = 0;
          for (int x : d) along += x != 0;
          if (along == 1) A.set(p, q, 0);
        }
      for (int p = 0; p < s.size() && walls && s.nx > 4; ++p) {
        const int at[3] = {p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny};
        if (at[0] == 0 || at[0] == s.nx - 1 || at[1] == 0 || at[2] == 0) A.make_identity(p, true);
      }
      SCOPED_TRACE(name(box) + (walls ? " walls" : ""));
      Grid g, h = given(3, s.nx, s.ny, s.nz);
      EXPECT_EQ(find(A, g, Widest::box), "");
      EXPECT_EQ(check(A, h, Widest::box), "");
      for (const Grid &found : {g, h}) {
        EXPECT_EQ(found.n[0], s.nx);
        EXPECT_EQ(found.n[1], s.ny);
        EXPECT_EQ(found.points, 27);
      }
    }
}

TEST(FindGrid, CornersInThreeDimensionsWhereTheyAreNotTaken) {
  auto A = random_matrix({6, 5, 4, false, false, false, 27});
  Grid g, h = given(3, 6, 5, 4);
  expect_part(find(A, g, Widest::flat), "It is a 3D matrix on 6 x 5 x 4 points, but this preconditioner is for 2D");
  expect_part(find(A, g, Widest::star), "It is a 3D matrix on 6 x 5 x 4 points. Its stencils have 27 points, but this");
  expect_part(check(A, h), "Its stencils have 27 points, but this preconditioner takes only 7-point");
}

TEST(FindGrid, ChainsAndRings) {
  for (int n = 1; n <= 9; ++n)
    for (bool ring : {false, true}) {
      if (ring && n < 3) continue;
      const Shape s{n, 1, 1, ring};
      auto A = random_matrix(s);
      Grid g, column = given(2, 1, n);
      EXPECT_EQ(find(A, g, Widest::star), "");
      expect_shape(g, s);
      EXPECT_EQ(check(A, column), "");
      expect_shape(column, {1, n, 1, false, ring});
    }
}

TEST(FindGrid, DiagonalMatrixIsAChain) {
  SmallMatrix A(12);
  for (int p = 0; p < 12; ++p) A.set(p, p, 2);
  A.pad(5);
  Grid g;
  EXPECT_EQ(find(A, g), "");
  expect_shape(g, {12, 1});
  SmallMatrix nothing(4); // no entries at all
  EXPECT_EQ(find(nothing, g), "");
  expect_shape(g, {4, 1});
}

TEST(FindGrid, LinesWithoutCouplingAcross) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  for (int p = 0; p + 5 < 20; ++p) A.set_both(p, p + 5, 0);
  Grid g;
  EXPECT_EQ(find(A, g), "");
  expect_shape(g, {20, 1});
  auto B = random_matrix(s);
  for (int p = 0; p + 1 < 20; ++p) B.set_both(p, p + 1, 0);
  EXPECT_EQ(find(B, g), "");
  expect_shape(g, s);
}

TEST(FindGrid, OneDiagonalOnly) {
  auto A = random_matrix({6, 7, 1, false, false, false, 9});
  for (int j = 0; j < 6; ++j)
    for (int i = 1; i < 6; ++i) A.set_both(j * 6 + i, (j + 1) * 6 + i - 1, 0); // as linear triangles leave it
  Grid g;
  EXPECT_EQ(find(A, g), "");
  expect_shape(g, {6, 7, 1, false, false, false, 9});
}

TEST(FindGrid, ExplicitZerosAreNoCouplings) {
  auto A = random_matrix({7, 6, 1, true});
  A.pad(16);
  Grid g;
  EXPECT_EQ(find(A, g, Widest::flat, 3), "");
  expect_shape(g, {7, 6, 1, true});
}

TEST(FindGrid, IdentityRowsAreIgnoredBothWays) {
  for (bool column_too : {false, true}) {
    const Shape s{8, 7};
    auto A = random_matrix(s);
    for (int j = 0; j < 7; ++j)
      for (int i = 0; i < 8; ++i)
        if (i == 0 || j == 0 || i == 7 || j == 6) A.make_identity(s.row(i, j), column_too);
    A.make_identity(s.row(3, 3), column_too, 0);
    A.set(s.row(2, 2), s.row(7, 6), -5); // into an identity row: of no importance
    Grid g;
    EXPECT_EQ(find(A, g), "");
    expect_shape(g, s);
  }
}

TEST(FindGrid, MissingDiagonal) {
  auto A = random_matrix({4, 5});
  A.erase(7, 7);
  Grid g;
  EXPECT_EQ(find(A, g), "");
  expect_shape(g, {4, 5});
}

// Neighbouring divisors (12 x 13 and 13 x 12) are the hard case: what is nx for one is a corner for the other.
TEST(FindGrid, RandomMasks) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    const Shape s{trial % 2 ? 12 : 13, trial % 2 ? 13 : 12, 1, trial % 3 == 0, trial % 5 == 0, false,
                  trial % 4 ? 5 : 9};
    auto A = random_matrix(s, trial);
    for (int p = 0; p < s.size(); ++p) {
      if (random() % 4 == 0) A.make_identity(p, trial % 7 != 0);
      for (int q = 0; q < p; ++q)
        if (A.at(p, q) != 0 && A.at(q, p) != 0 && random() % 10 == 0) A.set_both(p, q, 0); // a wall
    }
    Grid g;
    SCOPED_TRACE(trial);
    EXPECT_EQ(find(A, g, Widest::star), "");
    expect_shape(g, s);
  }
}

TEST(FindGrid, KeepsTheSource) {
  auto A = random_matrix({4, 5});
  Grid g;
  g.source = "matrix pattern";
  g.periodic[0] = true;
  EXPECT_EQ(find(A, g), "");
  EXPECT_EQ(g.source, "matrix pattern");
  expect_shape(g, {4, 5});
}

TEST(FindGrid, Ambiguous) {
  SmallMatrix A(6);
  for (int p = 0; p < 6; ++p)
    for (int q = 0; q < 6; ++q) A.set(p, q, p == q ? 8 : -1);
  Grid g;
  const std::string why = find(A, g);
  expect_part(why, "Several grids fit");
  expect_part(why, "2 x 3 (9 points, periodic in y)");
  expect_part(why, "3 x 2 (9 points, periodic in x)");
  expect_part(why, "-pc_rrb_grid nx,ny");
  Grid h = given(2, 2, 3);
  EXPECT_EQ(check(A, h), "");
  expect_shape(h, {2, 3, 1, false, true, false, 9});
}

TEST(FindGrid, AmbiguousCanal) {
  SmallMatrix A(12); // a canal 4 - 7 - 10: straight on 3 x 4, diagonal on 4 x 3
  for (int p = 0; p < 12; ++p) A.set(p, p, 4);
  A.set_both(4, 7, -1);
  A.set_both(7, 10, -1);
  Grid g;
  const std::string why = find(A, g);
  expect_part(why, "3 x 4 (5 points)");
  expect_part(why, "4 x 3 (9 points");
  expect_part(why, "-pc_rrb_grid");
}

TEST(FindGrid, NotFinite) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    auto A = random_matrix({5, 5});
    A.set(17, 18, bad);
    A.set(23, 23, bad);
    Grid g, h = given(2, 5, 5);
    expect_part(find(A, g), "row 17, column 18 holds");
    expect_part(check(A, h), "row 17, column 18 holds");
  }
}

TEST(FindGrid, NoStencil) {
  auto A = random_matrix({5, 6});
  A.set(8, 21, -0.5);
  Grid g;
  const std::string why = find(A, g);
  expect_part(why, "No 2D grid with 5 or 9 points fits");
  expect_part(why, "1, 5, 13 apart");
  expect_part(why, "on 5 x 6 points row 8 couples with column 21 (-0.5), from (3, 1) to (1, 4)");
  expect_part(why, "-pc_rrb_grid nx,ny");
  expect_part(why, "-pc_type gamg");
}

TEST(FindGrid, TooManyDistances) {
  SmallMatrix A(60);
  for (int p = 0; p < 60; ++p) A.set(p, p, 9);
  for (int q = 1; q <= 12; ++q) A.set_both(20, 20 + q, -1);
  Grid g;
  const std::string why = find(A, g);
  expect_part(why, "row 20 couples with column 31 (-1)");
  expect_part(why, "more than 10 different distances");
  expect_part(why, "-pc_type gamg");
  expect_part(find(A, g, Widest::box), "No 2D grid with 5 or 9 points, nor a 3D one with 7 or 27, fits");
}

// On short rings all points are neighbours: no coupling speaks against a grid, only what is not coupled.
TEST(FindGrid, RandomCouplings) {
  int gaps = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const int n = seed % 2 ? 33 : 27;
    SmallMatrix A(n);
    for (int p = 0; p < n; ++p) A.set(p, p, 9);
    for (int k = 0; k < 3 * n; ++k) {
      const int p = int(random() % unsigned(n)), q = int(random() % unsigned(n));
      if (p != q) A.set_both(p, q, -1);
    }
    Grid g;
    const std::string why = find(A, g, Widest::box);
    if (n == 33 || !why.empty()) expect_part(why, "couples with column"); // any 27 rows are a box of 3 x 3 x 3
    gaps += why.find("most neighbours are not coupled") != std::string::npos;
  }
  EXPECT_GT(gaps, 0);
}

TEST(FindGrid, ThreeDimensionalWhereTwoArePossible) {
  auto A = random_matrix({4, 5, 6, false, false, false, 7});
  Grid g;
  const std::string why = find(A, g, Widest::flat);
  expect_part(why, "3D matrix on 4 x 5 x 6 points");
  expect_part(why, "row ");
  expect_part(why, "-pc_type gridmg");
}

TEST(FindGrid, NoRows) {
  SmallMatrix A(0);
  Grid g;
  expect_part(find(A, g), "no rows");
}

TEST(CheckGrid, SizesThatAreNotTheMatrix) {
  auto A = random_matrix({5, 6});
  for (Grid g : {given(2, 5, 7), given(2, 0, 6), given(2, -5, -6), given(2, 1 << 30, 1 << 30), given(2, 5, 5)}) {
    const std::string why = check(A, g);
    expect_part(why, "which has 30 rows");
    expect_part(why, "-pc_rrb_grid");
  }
}

TEST(CheckGrid, TransposedSizesAreToldTheRightOnes) {
  auto A = random_matrix({5, 7});
  Grid g = given(2, 7, 5);
  const std::string why = check(A, g);
  expect_part(why, "on 7 x 5 points row 0 couples with column 5");
  expect_part(why, "from (0, 0) to (5, 0)");
  expect_part(why, "Its nonzeros fit 5 x 7 (5 points)");
}

TEST(CheckGrid, SeamOfAShortSideIsNoSeam) {
  auto A = random_matrix({2, 5});
  Grid g = given(2, 2, 5);
  EXPECT_EQ(check(A, g), "");
  EXPECT_FALSE(g.periodic[0]);
}

TEST(CheckGrid, OneCouplingAcrossMakesASidePeriodic) {
  const Shape s{5, 4};
  auto A = random_matrix(s);
  A.set_both(s.row(4, 2), s.row(0, 2), -1);
  Grid g = given(2, 5, 4);
  EXPECT_EQ(check(A, g), "");
  expect_shape(g, {5, 4, 1, true});
  A.set(s.row(0, 0), s.row(4, 3), -1); // a corner across both, in one direction
  EXPECT_EQ(check(A, g), "");
  expect_shape(g, {5, 4, 1, true, true, false, 9});
}

TEST(CheckGrid, ThreeDimensionalCornersAreRefused) {
  const Shape s{3, 4, 5, false, false, false, 7};
  auto A = random_matrix(s);
  A.set_both(s.row(1, 1, 1), s.row(2, 2, 1), -1);
  Grid g = given(3, 3, 4, 5);
  expect_part(check(A, g), "row 16 couples with column 20 (-1), from (1, 1, 1) to (2, 2, 1)");
  EXPECT_EQ(check(A, g, Widest::box), "");
  expect_shape(g, {3, 4, 5, false, false, false, 27});
}

TEST(CheckGrid, FarFetchedSizesAreRefused) {
  auto A = random_matrix({5, 6});
  Grid g = given(2, 6, 5); // fits with the seam in x and the corners to the north-west
  const std::string why = check(A, g);
  expect_part(why, "on 6 x 5 points row 0 couples with column 5");
  expect_part(why, "Its nonzeros fit 5 x 6 (5 points)");
  auto chain = random_matrix({12, 1});
  g = given(2, 4, 3);
  expect_part(check(chain, g), "Its nonzeros fit 12 x 1 (5 points)");
}

// As many are left where the sides were exchanged that nothing fits by chance.
TEST(CheckGrid, ExchangedSizesOfAMatrixWithKnownValuesAreRefused) {
  for (const int points : {5, 9})
    for (const int one_of : {3, 7, 100}) {
      const Shape s{63, 64, 1, false, true, false, points};
      auto A = random_matrix(s);
      for (int p = 0; p < s.size(); ++p)
        if (p * 37 % one_of == 0) A.make_identity(p, true);
      for (int j = 1; j < 60; j += 7) A.set_both(s.row(5, j), s.row(6, j), 0); // not in all rows
      SCOPED_TRACE(name(s) + ", one of " + std::to_string(one_of));
      for (const Widest widest : {Widest::flat, Widest::star, Widest::box}) {
        Grid g = given(2, 64, 63, 1);
        EXPECT_NE(check(A, g, widest), "") << int(widest);
        g = given(2, 63, 64, 1);
        EXPECT_EQ(check(A, g, widest), "") << int(widest);
      }
    }
}

// So few couplings are left that other grids may fit by chance: the given one is right.
TEST(CheckGrid, GivenSizesOfAMatrixWithMostlyKnownValuesAreAccepted) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 3000; ++trial) {
    const bool solid = trial % 3 == 2;
    const int nx = 3 + int(random() % 5), ny = 3 + int(random() % 8), nz = solid ? 3 + int(random() % 4) : 1;
    const Shape s{nx, ny, nz, trial % 5 == 0, trial % 7 == 0, solid && trial % 4 == 0, solid ? 7 : trial % 2 ? 5 : 9};
    auto A = random_matrix(s, unsigned(trial));
    for (int p = 0; p < s.size(); ++p)
      if (random() % 10 < 8) A.make_identity(p, true);
    Grid g = given(solid ? 3 : 2, nx, ny, nz);
    SCOPED_TRACE(name(s));
    EXPECT_EQ(check(A, g), "");
  }
}

TEST(CheckGrid, CornersAloneAreAccepted) {
  const Shape s{6, 5, 1, false, false, false, 9};
  auto A = random_matrix(s);
  for (int p = 0; p < 30; ++p)
    for (int away : {1, 6})
      if (p + away < 30) A.set_both(p, p + away, 0);
  Grid g = given(2, 6, 5);
  EXPECT_EQ(check(A, g), "");
  expect_shape(g, s);
}

TEST(CheckGrid, LinesWithoutCouplingAcrossAreAccepted) {
  auto A = random_matrix({5, 4});
  for (int p = 0; p + 5 < 20; ++p) A.set_both(p, p + 5, 0);
  Grid g = given(2, 5, 4);
  EXPECT_EQ(check(A, g), "");
  expect_shape(g, {5, 4});
}
