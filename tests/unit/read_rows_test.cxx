// What the rows of a rank turned out to be, added up: the same bits for any number of threads.
#include "cut_rows.hpp"
#include "small_matrix.hpp"

#include "pc/rrb/ranks/read_rows.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace petscrrb;

namespace {

SmallMatrix random_faces(int nx, int ny) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-3, 3);
  SmallMatrix A(nx * ny);
  for (int p = 0; p < nx * ny; ++p) A.set(p, p, 1.0);
  for (int p = 0; p < nx * ny; ++p)
    for (const int q : {p % nx < nx - 1 ? p + 1 : p, p / nx < ny - 1 ? p + nx : p}) {
      if (q == p) continue;
      const double a = std::pow(10.0, exponent(random));
      A.set_both(p, q, -a);
      A.set(p, p, A.at(p, p) + a);
      A.set(q, q, A.at(q, q) + a);
    }
  return A;
}

TEST(ReadRows, AddUpInTheSameOrderWhateverTheThreads) {
  constexpr int nx = 211, ny = 190, n = nx * ny;
  SmallMatrix A = random_faces(nx, ny);
  const cut_rows::AllRanks ranks(A.csr(), cut_rows::slabs({n - 3 * nx, 3 * nx}));
  const RankRows rows = ranks.rows(0).rows();
  Grid grid;
  grid.dim = 2, grid.n[0] = nx, grid.n[1] = ny, grid.points = 5;
  std::vector<double> X(rows.n), E(rows.n), N(rows.n), transposed(rows.others.a, rows.others.a + nx);
  rrb::PreparedStencil to;
  to.X = X.data(), to.E = E.data(), to.N = N.data();
  const auto read = [&](int n) {
    const Threads threads(n);
    return rrb::read_rows(
        rrb::reading(rows, transposed.data(), ranks.pattern(0).identity(), nullptr, grid, 1e-14, Positive::moves, to),
        grid);
  };
  const RowFacts one = read(1);
  EXPECT_GT(one.weights[0], 0);
  EXPECT_EQ(one.bad_pivot, no_row);
  for (const int threads : {2, 3, 5, 8})
    for (int times = 0; times < 5; ++times) { // in another order now and then
      const RowFacts many = read(threads);
      EXPECT_EQ(many.weights[0], one.weights[0]) << threads;
      EXPECT_EQ(many.weights[1], one.weights[1]) << threads;
    }
}

} // namespace
