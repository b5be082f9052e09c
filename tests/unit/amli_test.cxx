// AMLI against the reference's: every kind of matrix in every storage, and what its estimate and its operator must keep.
#include "reference/amli_reference.hpp"
#include "reference_support.hpp"
#include "rrb_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>

using reference::Vector;
using support::Choice;
using support::RealRRB;

namespace {

// For each grid at which AMLI can be, with these levels.
template <class Test> void for_each_case(const Test &test) {
  for (const auto &[name, problem] : reference::zoo_and_rings())
    for (const int levels : {3, 4, 5, 8})
      for (int grid = 1; 2 * grid < levels; ++grid) {
        if (levels > petscrrb::rrb::max_levels(problem.grid.nx, problem.grid.ny)) continue;
        SCOPED_TRACE(name + ", levels " + std::to_string(levels) + ", grid " + std::to_string(grid));
        reference::Options options = reference::with_levels(levels);
        options.kept_grid = grid;
        const reference::RRB slow = factor(problem, options);
        Choice choice;
        choice.levels = levels;
        choice.amli_grid = grid;
        test(problem, slow, choice);
      }
}

double difference(const Vector &x, const Vector &y) {
  double d = 0, m = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    d = std::max(d, std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY);
    m = std::max(m, std::abs(y[i]));
  }
  return m > 0 ? d / m : d;
}

// The right-hand sides of singular matrices are consistent.
TEST(Amli, MatchesTheReferenceInEveryStorage) {
  int used = 0;
  for_each_case([&](const reference::Problem &problem, const reference::RRB &slow, Choice choice) {
    for (int dense = 0; 2 * dense <= choice.levels; ++dense) {
      choice.storage_grids = dense;
      RealRRB fast(support::converted(problem), choice);
      const auto report = fast.core().amli();
      const Vector expected =
          report.used ? reference::AMLI(slow, report.lambda_max).apply(problem.b) : slow.apply(problem.b);
      EXPECT_LT(difference(fast.apply(problem.b), expected), 1e-9)
          << dense << " dense, lambda_max " << report.lambda_max;
      used += report.used;
    }
  });
  EXPECT_GT(used, 500);
}

// The polynomial is positive up to 1 + lambda_max, and best where that is no larger than needed.
TEST(Amli, TheEstimateIsSafeAndNotFarOff) {
  int used = 0;
  for_each_case([&](const reference::Problem &problem, const reference::RRB &slow, const Choice &choice) {
    RealRRB fast(support::converted(problem), choice);
    const double lambda = fast.core().amli().lambda_max;
    if (!fast.core().amli().used) return; // there is no estimate to compare; how often there is one is asserted below
    ++used;
    const double exact = largest_eigenvalue_on_kept(slow, reference::random_vector(problem.A.size(), 5));
    EXPECT_LT(exact, 0.9 + lambda);
    EXPECT_GT(exact, 0.8 * lambda);
  });
  EXPECT_GT(used, 100);
}

// What B lacks on a tiny ring of constant coefficients may be one coupling, between nodes that look alike.
TEST(Amli, TheEstimateIsSafeOnTinyRings) {
  int used = 0;
  for (int nx = 3; nx <= 13; ++nx)
    for (int ny = 3; ny <= 13; ++ny)
      for (const bool both : {false, true}) {
        SCOPED_TRACE(std::to_string(nx) + " (ring) x " + std::to_string(ny) + (both ? " (ring)" : ""));
        Choice choice;
        choice.levels = 6;
        choice.amli_grid = 2;
        if (choice.levels > petscrrb::rrb::max_levels(nx, ny)) continue;
        const reference::Problem problem = reference::periodic({nx, ny, true, both}, both ? 0.01 : 0.0);
        reference::Options options = reference::with_levels(choice.levels);
        options.kept_grid = choice.amli_grid;
        RealRRB fast(support::converted(problem), choice);
        const auto report = fast.core().amli();
        if (report.lambda_max > 20) continue; // not used, and for no fault of the estimate's
        ++used;
        const reference::RRB slow = factor(problem, options);
        EXPECT_LT(largest_eigenvalue_on_kept(slow, reference::random_vector(problem.A.size(), 5)),
                  0.9 + std::max(report.lambda_max, 1.1));
      }
  EXPECT_GT(used, 100);
}

// Each step repeats the later ones.
TEST(Amli, InSeveralStepsMatchesTheReferenceInEveryStorage) {
  int all_used = 0;
  for (const auto &[name, problem] : reference::zoo_and_rings())
    for (const auto &[levels, first, apart] : {std::array{6, 1, 1}, {7, 1, 2}, {8, 1, 1}, {8, 1, 2}, {8, 2, 1}}) {
      if (levels > petscrrb::rrb::max_levels(problem.grid.nx, problem.grid.ny)) continue;
      SCOPED_TRACE(name + ", levels " + std::to_string(levels) + ", from grid " + std::to_string(first) + ", each " +
                   std::to_string(apart));
      std::deque<reference::RRB> slow;
      for (int g = first; 2 * g < levels; g += apart) {
        reference::Options options = reference::with_levels(levels);
        options.kept_grid = g;
        slow.push_back(factor(problem, options));
      }
      for (int dense = 0; 2 * dense <= levels; ++dense) {
        Choice choice;
        choice.levels = levels, choice.storage_grids = dense;
        choice.amli_grid = first, choice.amli_apart = apart;
        RealRRB fast(support::converted(problem), choice);
        ASSERT_EQ(fast.core().steps(), int(slow.size()));
        std::deque<reference::AMLI<reference::RRB>> steps;
        for (int k = fast.core().steps() - 1; k >= 0; --k) {
          EXPECT_EQ(fast.core().step(k).grid(), first + k * apart);
          const auto report = fast.core().step(k).amli();
          if (report.used) steps.emplace_back(slow[k], report.lambda_max, steps.empty() ? nullptr : &steps.back());
        }
        const Vector expected = steps.empty() ? slow[0].apply(problem.b) : steps.back().apply(problem.b);
        EXPECT_LT(difference(fast.apply(problem.b), expected), 1e-9) << dense << " dense";
        all_used += steps.size() == slow.size();
        RealRRB again(support::converted(problem), choice);
        again.apply(problem.b);
        again.refresh();
        EXPECT_EQ(fast.apply(problem.b), again.apply(problem.b));
      }
    }
  EXPECT_GT(all_used, 300);
}

TEST(Amli, RefreshIsBitwiseARebuild) {
  for_each_case([&](const reference::Problem &problem, const reference::RRB &, Choice choice) {
    choice.storage_grids = choice.levels / 4;
    RealRRB once(support::converted(problem), choice), again(support::converted(problem), choice);
    again.apply(problem.b);
    again.refresh();
    EXPECT_EQ(once.core().amli().lambda_max, again.core().amli().lambda_max);
    EXPECT_EQ(once.apply(problem.b), again.apply(problem.b));
  });
}

TEST(Amli, IsTheVCycleWhereBIsExact) {
  for (const auto &[nx, ny] : {std::pair{40, 1}, {1, 33}}) {
    Choice choice;
    choice.levels = 6;
    choice.amli_grid = 2;
    const reference::Problem problem = reference::random_faces({nx, ny}, 100);
    RealRRB fast(support::converted(problem), choice);
    EXPECT_FALSE(fast.core().amli().used);
    EXPECT_NEAR(fast.core().amli().lambda_max, 1, 1e-8);
  }
}

TEST(Amli, ItsGridsFollowFromTheLevels) {
  const int expected[] = {0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  for (int levels = 1; levels < 22; ++levels) EXPECT_EQ(petscrrb::rrb::default_amli_grid(levels), expected[levels]);
}

} // namespace
