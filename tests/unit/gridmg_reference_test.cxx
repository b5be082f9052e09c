// The reference of the multigrid on 3D grids is what docs/numerics_gridmg.md says it is.
#include "reference/blockrelax_reference.hpp"
#include "reference/dense.hpp"
#include "reference/gridmg_reference.hpp"
#include "reference/problems3d.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace reference;

namespace {

using Size = std::array<int, 3>;
constexpr Smoother all_smoothers[] = {Smoother::by_matrix, Smoother::points, Smoother::lines};

// Down to the smallest grids.
GridMGOptions deep(Smoother smoother = Smoother::by_matrix, int smooths = 1) {
  GridMGOptions options;
  options.coarse_size = 1;
  options.smoother = smoother;
  options.smooths = smooths;
  return options;
}

Grid3D on(const Size &n, int periodic = 0) { // a bit for each direction
  return {n, {(periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0}};
}

// Regular and singular ones, with dead points of both kinds and several components.
std::vector<Problem3D> matrices(const Grid3D &grid) {
  std::vector<Problem3D> out{random_couplings(grid, 100, 1), random_couplings(grid, 100, 0),
                             random_couplings(grid, 1e4, 0, 0.4), random_couplings(grid, 100, 0.01, 0.5)};
  out.push_back(identity_rows(
      random_couplings(grid, 10, 0), [](int p) { return p * 7 % 5 == 0; }, true));
  return out;
}

std::string description(const Grid3D &grid, int number) {
  std::string out = "matrix " + std::to_string(number) + " on";
  for (int q = 0; q < 3; q++) out += " " + std::to_string(grid.n[q]) + (grid.periodic[q] ? "p" : "");
  return out;
}

double norm(const Vector &x) { return std::sqrt(dot(x, x)); }

double difference(Vector x, const Vector &y) {
  for (std::size_t i = 0; i < x.size(); i++) x[i] -= y[i];
  return norm(x);
}

void expect_symmetric(const GridMG &M, int n) {
  const Vector x = random_vector(n, 2), y = random_vector(n, 3), Mx = M.apply(x), My = M.apply(y);
  EXPECT_NEAR(dot(x, My), dot(y, Mx), 1e-13 * (norm(x) * norm(My) + norm(y) * norm(Mx)));
}

TEST(GridMGReference, IsSymmetric) {
  for (const Size &n : {Size{1, 1, 1}, {2, 1, 3}, {5, 4, 3}, {7, 1, 64}, {8, 8, 8}, {3, 9, 7}, {16, 2, 5}})
    for (int periodic = 0; periodic < 8; periodic++) {
      const Grid3D grid = on(n, periodic);
      int number = 0;
      for (const Problem3D &problem : matrices(grid)) {
        SCOPED_TRACE(description(grid, number++));
        for (const Smoother smoother : all_smoothers)
          for (int smooths : {1, 2}) expect_symmetric({problem.A, grid, deep(smoother, smooths)}, grid.size());
      }
    }
}

DenseCholesky::Entries plus(std::vector<Vector> M, double shift, const std::vector<Vector> &vectors) {
  DenseCholesky::Entries out;
  const int n = static_cast<int>(M.size());
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double value = (M[i][j] + M[j][i]) / 2 + (i == j ? shift : 0);
      for (const Vector &w : vectors) value += w[i] * w[j] / dot(w, w);
      out.push_back({{i, j}, value});
    }
  return out;
}

// Semidefinite, and definite on what is orthogonal to the null space.
void expect_definite(const GridMG &M, const Problem3D &problem) {
  const int n = problem.A.size();
  std::vector<Vector> columns;
  double largest = 0;
  for (int p = 0; p < n; p++) {
    Vector unit(n, 0.0);
    unit[p] = 1;
    columns.push_back(M.apply(unit));
    largest = std::max(largest, columns[p][p]);
  }
  EXPECT_NO_THROW(DenseCholesky(n, plus(columns, 1e-12 * largest + 1e-12, {})));
  EXPECT_NO_THROW(DenseCholesky(n, plus(columns, 0, problem.null_space)));
}

TEST(GridMGReference, IsDefiniteUpToTheNullSpace) {
  for (const Size &n : {Size{1, 1, 1}, {2, 1, 3}, {5, 4, 3}, {4, 4, 4}, {3, 3, 5}, {7, 1, 9}})
    for (int periodic = 0; periodic < 8; periodic++) {
      const Grid3D grid = on(n, periodic);
      int number = 0;
      for (const Problem3D &problem : matrices(grid)) {
        SCOPED_TRACE(description(grid, number++));
        for (const Smoother smoother : all_smoothers) expect_definite({problem.A, grid, deep(smoother)}, problem);
      }
    }
}

// A point that lines find no pivot for, or a coarse point placed on a dead one, must not make M unsymmetric.
TEST(GridMGReference, IsSymmetricWithManyGaps) {
  for (unsigned seed = 1; seed <= 100; seed++) {
    const Grid3D grid = on({7, 3, 5}, seed % 8);
    const Problem3D problem = random_couplings(grid, 1e4, 0, 0.5, seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Smoother smoother : all_smoothers) expect_symmetric({problem.A, grid, deep(smoother)}, grid.size());
  }
}

double sum_across(const WeightedGrid &A, int q) {
  double sum = 0;
  for (int d = 0; d < 3; d++)
    if (d != q)
      for (double w : A.weight[d]) sum += w;
  return sum;
}

TEST(GridMGReference, KeepsConstants) {
  for (const Size &n : {Size{8, 8, 8}, {5, 4, 3}, {7, 9, 6}})
    for (int periodic = 0; periodic < 8; periodic++) {
      const Problem3D problem = random_couplings(on(n, periodic), 1e6, 0);
      const GridMG M(problem.A, problem.grid, deep());
      for (const GridMG::Level &level : M.levels()) {
        WeightedGrid A = level.A;
        for (const Interpolation &step : level.steps) {
          for (double value : step.prolong(Vector(step.coarse.size(), 1.0))) EXPECT_NEAR(value, 1, 1e-14);
          const WeightedGrid coarse = coarse_matrix(A, step);
          EXPECT_EQ(coarse.excess, Vector(step.coarse.size(), 0.0));
          EXPECT_NEAR(sum_across(coarse, step.q), sum_across(A, step.q), 1e-9 * sum_across(A, step.q));
          A = coarse;
        }
      }
    }
}

TEST(GridMGReference, CoarseMatrixOfConstantCoefficientsIsADiscretization) {
  const std::array<double, 3> a{1, 5, 0.2};
  for (const Size &n : {Size{8, 8, 8}, {9, 7, 10}})
    for (const Sides &sides : {all_dirichlet, all_neumann, all_periodic})
      for (int q = 0; q < 3; q++) {
        const Problem3D problem = plain(n, sides, a);
        const WeightedGrid A = weighted(problem.A, problem.grid, Vector(problem.A.size(), 1.0), false);
        const WeightedGrid coarse = coarse_matrix(A, Interpolation(A, q));
        const Grid3D &grid = coarse.grid;
        for (int p = 0; p < grid.size(); p++) {
          const Size at = grid.at(p);
          const auto interior = [&](int d) { return at[d] > 0 && at[d] < grid.n[d] - 2; };
          if (!interior(0) || !interior(1) || !interior(2)) continue;
          for (int d = 0; d < 3; d++) EXPECT_NEAR(coarse.after(d, p), d == q ? a[d] / 2 : a[d] * 2, 1e-14);
          EXPECT_NEAR(coarse.excess[p], 0, 1e-15);
        }
      }
}

// P^T A P, which on a line is the Schur complement.
std::vector<Vector> galerkin(const Matrix &A, const Interpolation &step) {
  std::vector<Vector> rows;
  for (int p = 0; p < step.coarse.size(); p++) {
    Vector unit(step.coarse.size(), 0.0);
    unit[p] = 1;
    rows.push_back(step.restrict_to_coarse(A.multiply(step.prolong(unit))));
  }
  return rows;
}

TEST(GridMGReference, CoarseMatrixOfALineIsItsSchurComplement) {
  for (int n : {3, 4, 5, 8, 11})
    for (int q = 0; q < 3; q++)
      for (int periodic : {0, 7})
        for (double missing : {0.0, 0.2}) {
          Size size{1, 1, 1};
          size[q] = n;
          const Problem3D problem = random_couplings(on(size, periodic), 100, 1, missing);
          const WeightedGrid A = weighted(problem.A, problem.grid, Vector(n, 1.0), false);
          const Interpolation step(A, q);
          const WeightedGrid coarse = coarse_matrix(A, step);
          Matrix expected(step.coarse.size());
          for (int p = 0; p < expected.size(); p++) {
            expected.add(p, p, coarse.excess[p]);
            const int next = step.coarse.neighbour(p, q, 1);
            if (next < 0) continue;
            for (const auto &[i, j] : {std::pair{p, next}, {next, p}}) {
              expected.add(i, i, coarse.after(q, p));
              expected.add(i, j, -coarse.after(q, p));
            }
          }
          const std::vector<Vector> schur = galerkin(problem.A, step), is = dense_of(expected);
          for (std::size_t i = 0; i < is.size(); i++) EXPECT_LT(difference(is[i], schur[i]), 1e-14);
        }
}

TEST(GridMGReference, SmallGridsHaveTheInverse) { // of null vectors a multiple
  for (int periodic = 0; periodic < 8; periodic++) {
    const Grid3D grid = on({7, 5, 6}, periodic);
    int number = 0;
    for (Problem3D problem : matrices(grid)) {
      SCOPED_TRACE(description(grid, number++));
      const GridMG M(problem.A, grid);
      EXPECT_TRUE(M.levels().empty());
      for (const Vector &w : problem.null_space)
        if (std::count(w.begin(), w.end(), 0.0) + 1 < grid.size()) { // else a row of zeros
          Vector expected = w;
          for (double &value : expected) value *= M.null_inverse();
          EXPECT_LT(difference(M.apply(w), expected), 1e-10 * norm(w));
        }
      for (int p = 0; p < grid.size(); p++) // M knows no columns of identity rows
        for (auto &[r, a] : problem.A.row[p])
          if (problem.A.at(r, p) == 0) a = 0;
      for (int p = 0; p < grid.size(); p++) // a row of zeros is one of the identity to M
        if (identity_rows_of(problem.A)[p] && problem.A.at(p, p) == 0) problem.A.row[p][p] = 1;
      const Vector x = random_vector(grid.size(), 4), Ax = problem.A.multiply(x), y = M.apply(Ax);
      EXPECT_LT(difference(problem.A.multiply(y), Ax), 1e-11 * norm(Ax));
      EXPECT_LT(difference(M.apply(problem.A.multiply(y)), y), 1e-10 * norm(y));
    }
  }
}

TEST(GridMGReference, LinesSolveAGridOfOneLine) {
  for (const Size &n : {Size{40, 1, 1}, {1, 41, 1}, {1, 1, 42}}) {
    const Problem3D problem = random_couplings(on(n), 1e4, 1);
    const Vector x = random_vector(problem.A.size());
    const GridMG M(problem.A, problem.grid, deep(Smoother::lines));
    EXPECT_LT(difference(M.apply(problem.A.multiply(x)), x), 1e-9 * norm(x));
  }
}

TEST(GridMGReference, DeadPointsAreSolvedByThemselves) {
  Problem3D problem = identity_rows(
      plain({9, 8, 7}, all_neumann), [](int p) { return p % 5 < 2; }, true);
  for (int p = 0; p < problem.A.size(); p++)
    if (p % 5 < 2) problem.A.row[p][p] = p % 5 == 0 ? 4 : 0;
  for (const Smoother smoother : all_smoothers) {
    const GridMG M(problem.A, problem.grid, deep(smoother));
    Vector r = random_vector(problem.A.size());
    const Vector z = M.apply(r);
    for (int p = 0; p < problem.A.size(); p++)
      if (p % 5 < 2) {
        EXPECT_EQ(z[p], p % 5 == 0 ? r[p] / 4 : r[p]);
        r[p] = 0;
      }
    const Vector others = M.apply(r);
    for (int p = 0; p < problem.A.size(); p++) {
      if (p % 5 < 2) continue;
      EXPECT_NEAR(others[p], z[p], 1e-13);
    }
  }
}

TEST(GridMGReference, TheNearNullSpaceVectorUndoesAScaling) {
  const Problem3D problem = random_couplings(on({9, 8, 5}, 2), 100, 0);
  Vector D = random_vector(problem.A.size(), 5);
  for (double &value : D) value = std::pow(10, value);
  Matrix scaled = problem.A;
  GridMGOptions options = deep();
  for (int p = 0; p < scaled.size(); p++) {
    for (auto &[r, a] : scaled.row[p]) a *= D[p] * D[r];
    options.v.push_back(1 / D[p]);
  }
  options.v_is_null = true;
  Vector r = problem.b;
  for (std::size_t p = 0; p < D.size(); p++) r[p] *= D[p];
  Vector z = GridMG(scaled, problem.grid, options).apply(r);
  for (std::size_t p = 0; p < D.size(); p++) z[p] *= D[p];
  EXPECT_LT(difference(z, GridMG(problem.A, problem.grid, deep()).apply(problem.b)), 1e-10 * norm(z));
}

TEST(GridMGReference, PositiveCouplingsMoveToBothDiagonals) {
  Problem3D problem = plain({6, 5, 4}, all_dirichlet);
  problem.A.row[0][1] = problem.A.row[1][0] = 0.5;
  const WeightedGrid A = weighted(problem.A, problem.grid, Vector(120, 1.0), false);
  EXPECT_EQ(A.after(0, 0), 0);
  EXPECT_EQ(A.diagonal(0), 6.5);
  EXPECT_EQ(A.excess[1], 3.5);
}

TEST(GridMGReference, RefusesWhatIsNoSevenPointMatrix) {
  Problem3D problem = plain({6, 5, 4}, all_dirichlet);
  EXPECT_THROW(GridMG(problem.A, on({6, 5, 5})), std::invalid_argument);
  problem.A.add(0, 2, -1);
  problem.A.add(2, 0, -1);
  EXPECT_THROW(GridMG(problem.A, problem.grid), std::invalid_argument);
}

TEST(GridMGReference, SinglePrecisionIsClose) {
  for (const Smoother smoother : all_smoothers) {
    const Problem3D problem = random_couplings(on({16, 15, 14}, 1), 100, 1);
    const GridMG M(problem.A, problem.grid, deep(smoother));
    Vector r = problem.b;
    for (double &value : r) value *= 1e60;
    const Vector z = M.apply(r);
    const double error = difference(M.apply<float>(r), z) / norm(z);
    EXPECT_LT(error, 1e-5);
    EXPECT_GT(error, 1e-9);
  }
}

} // namespace
