// The energy y^T B y that the sweeps up add, against the product of the right-hand side and the solution.
#include "reference_support.hpp"
#include "rrb_support.hpp"

#include "exec/host/sums.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

using petscrrb::rrb::Energy;
using reference::Vector;
using support::Choice;
using support::RealRRB;

namespace {

double sum_of_magnitudes(const Vector &x, const Vector &y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] * y[i]);
  return sum;
}

// A right-hand side of S, the matrix of a grid, in the range of S where it is singular: what comes out of a sweep down.
Vector right_hand_side(RealRRB &rrb, int g, const Vector &b) {
  rrb.core().down(0, g, b.data(), nullptr, petscrrb::rrb::Part::whole);
  return support::values(rrb.core().right_hand_side(g));
}

// Returns whether AMLI was in use.
bool expect_energy(const reference::Problem &problem, const Choice &choice) {
  RealRRB rrb(support::converted(problem), choice);
  if (!rrb.outcome().ok && choice.omega > 0) { // as PCRRB does
    Choice unlumped = choice;
    unlumped.omega = 0;
    return expect_energy(problem, unlumped);
  }
  EXPECT_TRUE(rrb.outcome().ok);
  for (int g = 1; g <= choice.storage_grids && (!choice.amli_grid || g <= choice.amli_grid); ++g) {
    SCOPED_TRACE("from grid " + std::to_string(g) + (rrb.core().amli().used ? ", AMLI" : ""));
    const Vector y = right_hand_side(rrb, g, problem.b), z = rrb.apply_below(g, y, Energy::yes);
    EXPECT_NEAR(petscrrb::sum_of(rrb.core().energy()), reference::dot(y, z), 1e-13 * sum_of_magnitudes(y, z));
    EXPECT_EQ(z, rrb.apply_below(g, y)) << "the solution must not depend on what else is wanted";
  }
  return rrb.core().amli().used;
}

TEST(Energy, IsTheProductOfRightHandSideAndSolution) {
  int amli = 0;
  for (const auto &[name, problem] : reference::zoo_and_rings())
    for (const int levels : {2, 3, 4, 5, 8})
      for (int dense = 1; 2 * dense <= levels; ++dense)
        for (int grid = 0; 2 * grid < levels; ++grid)
          for (const auto precision : support::precisions) {
            if (levels > petscrrb::rrb::max_levels(problem.grid.nx, problem.grid.ny)) continue;
            SCOPED_TRACE(name + ", levels " + std::to_string(levels) + ", dense " + std::to_string(dense) +
                         ", AMLI's grid " + std::to_string(grid) + support::word(precision));
            Choice choice;
            choice.levels = levels;
            choice.storage_grids = dense;
            choice.amli_grid = grid;
            choice.amli_apart = dense % 2;
            choice.precision = precision;
            amli += expect_energy(problem, choice);
          }
  EXPECT_GT(amli, 750);
}

TEST(Energy, AddsUpInTheSameOrderWhateverTheThreads) {
  const reference::Problem problem = reference::random_faces({403, 398}, 100);
  Choice choice;
  choice.levels = 12;
  for (const int dense : {1, 4}) {
    choice.storage_grids = dense;
    choice.amli_grid = dense == 4 ? 2 : 0;
    std::vector<double> energy;
    for (const int n : {1, 2, 3}) {
      const Threads threads(n);
      RealRRB rrb(support::converted(problem), choice);
      rrb.apply_below(1, right_hand_side(rrb, 1, problem.b), Energy::yes);
      energy.push_back(petscrrb::sum_of(rrb.core().energy()));
    }
    EXPECT_EQ(energy[0], energy[1]);
    EXPECT_EQ(energy[0], energy[2]);
  }
}

} // namespace
