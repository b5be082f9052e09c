// Multigrid on the host against the reference's, in both precisions, and what a refresh promises.
#include "deflation_support.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "reference/gridmg_reference.hpp"
#include "reference/problems3d.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace petscrrb;
using deflationtest::Rows;
using reference::Grid3D;
using reference::Vector;

namespace {

gridmg::Dealt on_one_rank(const Grid3D &g) {
  gridmg::Shape x;
  for (std::size_t q = 0; q < 3; ++q) x.n[q] = g.n[q], x.ring[q] = g.periodic[q] && g.n[q] > 2;
  return {nullptr, gridmg::Cuts::uncut(x)};
}

gridmg::Options library(const reference::GridMGOptions &o) {
  gridmg::Options out;
  out.coarsening = gridmg::Coarsening(o.coarsening);
  out.smoother = gridmg::Smoother(o.smoother);
  out.smooths = o.smooths;
  out.coarse_size = o.coarse_size;
  out.grids = o.most_grids;
  return out;
}

std::unique_ptr<gridmg::GridMG> made(const reference::Matrix &A, const Grid3D &g, const reference::GridMGOptions &o,
                                     bool single = false) {
  auto made = gridmg::make_gridmg(on_one_rank(g), 7, library(o), single);
  const gridmg::Findings found = made->refresh(Rows(A).csr());
  EXPECT_EQ(found.read.result(), ReadResult::ok);
  EXPECT_FALSE(found.failed);
  return made;
}

Vector applied(gridmg::GridMG &M, const Vector &r) {
  Vector z(r.size(), std::nan(""));
  M.apply(r.data(), z.data());
  return z;
}

void expect_near(const Vector &x, const Vector &y, double tolerance, const std::string &what) {
  double most = 0;
  for (double v : y) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * most) << what << ", at " << i;
}

std::string words(const Grid3D &g, const reference::GridMGOptions &o) {
  std::string text;
  for (int q = 0; q < 3; ++q) text += std::to_string(g.n[q]) + (g.periodic[q] ? "p " : " ");
  return text + "coarsening " + std::to_string(int(o.coarsening)) + " smoother " + std::to_string(int(o.smoother)) +
         " smooths " + std::to_string(o.smooths) + " size " + std::to_string(o.coarse_size);
}

void compare(const reference::Matrix &A, const Grid3D &g, const reference::GridMGOptions &o) {
  const reference::GridMG expected(A, g, o);
  const Vector r = reference::random_vector(A.size(), 5);
  auto M = made(A, g, o);
  ASSERT_NO_FATAL_FAILURE(expect_near(applied(*M, r), expected.apply(r), 1e-11, words(g, o)));
  auto single = made(A, g, o, true);
  ASSERT_NO_FATAL_FAILURE(expect_near(applied(*single, r), expected.apply(r), 2e-3, words(g, o) + ", single"));
  std::size_t smoothed = 0;
  for (const gridmg::GridReport &grid : M->report())
    if (grid.smooth) {
      ASSERT_LT(smoothed, expected.levels().size()) << words(g, o);
      EXPECT_EQ(grid.lines, expected.levels()[smoothed++].lines) << words(g, o);
    }
  EXPECT_EQ(smoothed, expected.levels().size()) << words(g, o);
}

// Grids of every parity, with and without rings, down to a point.
const std::vector<Grid3D> grids = {
    {{8, 8, 8}, {}},
    {{9, 7, 5}, {}},
    {{6, 5, 4}, {true, true, true}},
    {{5, 7, 3}, {true, true, true}},
    {{7, 4, 6}, {true, false, false}},
    {{4, 9, 5}, {false, true, false}},
    {{6, 6, 7}, {false, false, true}},
    {{17, 1, 1}, {}},
    {{1, 12, 1}, {false, true, false}},
    {{1, 1, 9}, {false, false, true}},
    {{2, 2, 2}, {}},
    {{1, 1, 1}, {}},
    {{3, 2, 11}, {}},
};

std::vector<reference::GridMGOptions> all_options() {
  std::vector<reference::GridMGOptions> all;
  for (const int size : {1, 12})
    for (const auto smoother :
         {reference::Smoother::by_matrix, reference::Smoother::points, reference::Smoother::lines})
      for (const auto coarsening :
           {reference::Coarsening::by_matrix, reference::Coarsening::full, reference::Coarsening::semi}) {
        reference::GridMGOptions o;
        o.coarse_size = size, o.smoother = smoother, o.coarsening = coarsening;
        o.smooths = size == 1 ? 1 : 2;
        all.push_back(o);
      }
  return all;
}

TEST(GridMG, IsTheReferenceOnEveryGrid) {
  for (const Grid3D &g : grids)
    for (const auto &o : all_options())
      for (const double contrast : {10.0, 1e4})
        ASSERT_NO_FATAL_FAILURE(compare(reference::random_couplings(g, contrast, 0.1).A, g, o));
}

// Masks, identity rows, several components, none of them regular or some.
TEST(GridMG, IsTheReferenceWithDeadPoints) {
  int turn = 0;
  for (const Grid3D &g : grids)
    for (const auto &o : all_options()) {
      const double missing = ++turn % 2 ? 0.3 : 0.6;
      ASSERT_NO_FATAL_FAILURE(compare(reference::random_couplings(g, 100, 0, missing).A, g, o));
      ASSERT_NO_FATAL_FAILURE(compare(
          reference::identity_rows(
              reference::random_couplings(g, 10, 0.01, 0.9 - missing), [](int p) { return p * 7 % 5 == 0; }, true)
              .A,
          g, o));
    }
}

TEST(GridMG, StopsAtTheMostGrids) {
  const Grid3D g{{9, 8, 7}, {}};
  for (const int grids : {1, 2, 3}) {
    reference::GridMGOptions o;
    o.coarse_size = 1, o.most_grids = grids;
    ASSERT_NO_FATAL_FAILURE(compare(reference::random_couplings(g, 10, 0.1).A, g, o));
  }
}

// To the bit, also where other directions are chosen, and back.
TEST(GridMG, RefreshIsARebuild) {
  const Grid3D g{{12, 10, 9}, {false, true, false}};
  reference::GridMGOptions o;
  o.coarse_size = 8;
  const reference::Matrix isotropic = reference::random_couplings(g, 2, 0.1).A;
  const reference::Matrix rough = reference::random_couplings(g, 1e6, 0, 0.2).A;
  for (const bool single : {false, true}) {
    auto M = made(isotropic, g, o, single);
    const Vector r = reference::random_vector(isotropic.size(), 3);
    double before = 0;
    for (const reference::Matrix *A :
         std::initializer_list<const reference::Matrix *>{&rough, &isotropic, &isotropic}) {
      before = M->bytes();
      M->refresh(Rows(*A).csr());
      EXPECT_EQ(applied(*M, r), applied(*made(*A, g, o, single), r));
    }
    EXPECT_EQ(M->bytes(), before); // nothing is new where the grids are the same
  }
}

TEST(GridMG, HasTheSameBitsForAnyNumberOfThreads) {
  const Grid3D g{{33, 30, 31}, {true, false, true}};
  reference::GridMGOptions o;
  o.coarse_size = 100;
  const reference::Matrix A = reference::random_couplings(g, 1e3, 0).A;
  const Vector r = reference::random_vector(A.size(), 3);
  const auto by = [&](int n) {
    const Threads threads(n);
    return applied(*made(A, g, o), r);
  };
  EXPECT_EQ(by(3), by(1));
}

// Single precision has few exponents, but those of the matrix do not matter.
TEST(GridMG, TakesMatricesOfAnySize) {
  const Grid3D g{{9, 8, 7}, {false, true, false}};
  const reference::Matrix A = reference::random_couplings(g, 100, 0.1).A;
  const Vector r = reference::random_vector(A.size(), 3);
  for (const auto &o : all_options())
    for (const bool single : {false, true}) {
      const Vector expected = applied(*made(A, g, o, single), r);
      auto M = made(A, g, o, single);
      for (const int exponent : {130, -130, 400, -400, 0}) {
        reference::Matrix scaled = A;
        for (auto &row : scaled.row)
          for (auto &entry : row) entry.second = std::ldexp(entry.second, exponent);
        M->refresh(Rows(scaled).csr());
        Vector z = applied(*M, r);
        for (double &value : z) value = std::ldexp(value, exponent);
        ASSERT_EQ(z, expected) << words(g, o) << ", single " << single << ", 2^" << exponent;
      }
    }
}

// A solver that gets numbers in their place may call that convergence.
TEST(GridMG, LeavesNoNumbersWhereThereWereNone) {
  const Grid3D grid{{5, 4, 6}, {false, false, true}}, line{{3, 1, 1}, {}};
  reference::Matrix by_rounding(3); // its last pivot is rounding
  for (int i = 0; i < 2; ++i) {
    const double k = i ? 1 : 1e-20;
    by_rounding.add(i, i, k), by_rounding.add(i + 1, i + 1, k);
    by_rounding.add(i, i + 1, -k), by_rounding.add(i + 1, i, -k);
  }
  by_rounding.add(0, 0, 1);
  const std::pair<Grid3D, reference::Matrix> all[] = {
      {grid, reference::random_couplings(grid, 100, 0, 0.6).A},
      {grid, reference::identity_rows(
                 reference::random_couplings(grid, 10, 0, 0.3), [](int p) { return p % 3 == 0; }, true)
                 .A},
      {line, by_rounding}};
  for (const auto &[g, A] : all)
    for (const auto &o : all_options())
      for (const int size : {o.coarse_size, 1000})
        for (const bool single : {false, true}) {
          reference::GridMGOptions options = o;
          options.coarse_size = size;
          auto M = made(A, g, options, single);
          for (int i = 0; i < A.size(); ++i)
            for (const double none : {std::nan(""), HUGE_VAL}) {
              Vector r = reference::random_vector(A.size(), 3);
              r[i] = none;
              const Vector z = applied(*M, r);
              ASSERT_TRUE(std::any_of(z.begin(), z.end(), [](double x) { return !std::isfinite(x); }))
                  << words(g, options) << ", single " << single << ", row " << i << ", " << none;
            }
        }
}

// What is around the grids, too, is as it was.
TEST(GridMG, ForgetsWhatWasNoNumber) {
  const std::array<bool, 3> plain{}, ring{true, false, true};
  for (const Grid3D &g : {Grid3D{{14, 6, 5}, plain}, Grid3D{{7, 12, 5}, plain}, Grid3D{{28, 12, 1}, plain},
                          Grid3D{{6, 9, 14}, ring}, Grid3D{{7, 5, 6}, ring}})
    for (const auto &o : all_options())
      for (const bool single : {false, true}) {
        const auto A = reference::random_couplings(g, 100, 0.1).A;
        auto M = made(A, g, o, single);
        const Vector r = reference::random_vector(A.size(), 3), z = applied(*M, r);
        (void)applied(*M, Vector(A.size(), std::nan("")));
        ASSERT_EQ(applied(*M, r), z) << words(g, o) << ", single " << single;
      }
}

TEST(GridMG, RefusesANegativeDiagonal) {
  const Grid3D g{{4, 4, 4}, {}};
  reference::Matrix A = reference::random_couplings(g, 2, 0.1).A;
  A.row[21][21] = -1;
  auto M = gridmg::make_gridmg(on_one_rank(g), 7, {}, true);
  EXPECT_EQ(M->refresh(Rows(A).csr()).read.bad_pivot, 21);
}

} // namespace
