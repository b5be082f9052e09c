// Neumann series on grids, on the host, against dense matrices.
#include "pc/neumann/core/grid_series.hpp"
#include "stencil/refusal.hpp"

#include "neumann_support.hpp"

#include <gtest/gtest.h>

using namespace neumann_support;
using namespace petscrrb;
using namespace petscrrb::neumann;

namespace {

void expect_near(const std::vector<double> &x, const std::vector<double> &y, const std::string &what) {
  double most = 0;
  for (double v : y) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-12 * most) << what << ", at " << i;
}

void compare(SmallMatrix &A, const Shape &s, const Series &series, const reference::Dense &inverse,
             const std::string &what) {
  const std::vector<double> r = random_values(std::size_t(s.size()));
  std::vector<double> z(r.size(), std::nan(""));
  const auto grid = make_grid_series(lattice(s), series);
  const RowFacts found = grid->refresh(A.csr(3));
  EXPECT_EQ(found.result(), ReadResult::ok);
  EXPECT_EQ(found.bad_pivot, no_row);
  grid->apply(r.data(), z.data());
  expect_near(z, reference::product(inverse, r), words(s) + ", " + what);
}

TEST(NeumannGrid, IsTheSeriesOfTheDenseMatrix) {
  for (const Shape &s : shapes)
    for (int terms : {0, 1, 2, 3, 5, 8, 9, 20}) {
      SmallMatrix A = uneven(s);
      compare(A, s, neumann::neumann(terms), reference::neumann_inverse(reference_of(A), terms), std::to_string(terms));
    }
}

TEST(NeumannGrid, IsRelaxed) {
  for (const Shape &s : shapes)
    for (double omega : {0.25, 1.75}) {
      SmallMatrix A = uneven(s);
      compare(A, s, neumann::neumann(2, omega), reference::neumann_inverse(reference_of(A), 2, omega), "relaxed");
    }
}

TEST(NeumannGrid, IsTheDenseIncompletePoisson) {
  for (const Shape &s : shapes)
    for (bool scaled : {true, false}) {
      SmallMatrix A = uneven(s);
      compare(A, s, incomplete_poisson(scaled), reference::poisson_inverse(reference_of(A), scaled),
              scaled ? "scaled" : "not");
    }
}

TEST(NeumannGrid, DecouplesIdentityRows) {
  for (const Shape &s : shapes)
    for (bool column_too : {true, false}) {
      SmallMatrix A = uneven(s);
      for (int p = 0; p < s.size(); p += 3) A.make_identity(p, column_too, p % 2 ? 0.5 : 2);
      for (double omega : {1.0, 1.5})
        compare(A, s, neumann::neumann(3, omega), reference::neumann_inverse(reference_of(A), 3, omega),
                "identity rows");
    }
}

TEST(NeumannGrid, TellsWhatItFound) {
  const Shape s{6, 5};
  SmallMatrix A = random_matrix(s);
  A.make_identity(7, false);
  A.make_identity(8, true, 0);
  const auto grid = make_grid_series(lattice(s), neumann::neumann(2));
  RowFacts f = grid->refresh(A.csr());
  EXPECT_EQ(f.identity_rows, 2);
  EXPECT_EQ(f.bad_pivot, no_row);
  EXPECT_EQ(f.result(), ReadResult::ok);
  double norm = 0;
  const reference::ScaledTriangle t(reference_of(A));
  for (const auto &row : t.L) {
    double sum = 0;
    for (double v : row) sum += std::fabs(v);
    norm = std::max(norm, sum);
  }
  EXPECT_NEAR(f.norm, norm, 1e-14);
  SmallMatrix negative = A, zero = A, bad = A, skew = A, far = A;
  negative.set(11, 11, -1), negative.set(20, 20, 0);
  EXPECT_EQ(make_grid_series(lattice(s), neumann::neumann(2))->refresh(negative.csr()).bad_pivot, 11);
  bad.set(3, 4, std::nan(""));
  EXPECT_EQ(grid->refresh(bad.csr()).result(), ReadResult::refused);
  EXPECT_NE(why_refused(bad.csr()).find("row 3, column 4"), std::string::npos);
  skew.set(14, 15, -5);
  EXPECT_EQ(grid->refresh(skew.csr()).result(), ReadResult::refused);
  EXPECT_NE(why_refused(skew.csr()).find("row 14, column 15"), std::string::npos);
  far.set_both(2, 17, -1);
  EXPECT_EQ(grid->refresh(far.csr()).result(), ReadResult::rebuild);
  far.set_both(2, 17, 0);
  far.set(2, 8, -1); // with an identity row
  EXPECT_EQ(grid->refresh(far.csr()).result(), ReadResult::ok);
}

} // namespace
