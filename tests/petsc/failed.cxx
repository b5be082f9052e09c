// A preconditioner that could not be made applies infinity, which a KSP notices for right-hand sides of any size.
#include "support.hpp"

#include <cmath>

using namespace petsctest;

namespace {

class Failed : public testing::TestWithParam<const char *> {};

// PETSC_INFINITY is a finite number: its product with small ones is, too.
TEST_P(Failed, AppliesInfinity) {
  reference::Problem problem = reference::poisson(8);
  for (auto &row : problem.A.row)
    for (auto &entry : row) entry.second = -entry.second;
  const Matrix A = matrix_of(problem);
  reference::Vector small = problem.b;
  for (double &b : small) b *= 1e-200;
  const Solver ksp = ksp_of(A, std::string("-ksp_type cg -pc_type ") + GetParam());
  EXPECT_EQ(solve(ksp, problem.b).reason, KSP_DIVERGED_PC_FAILED);
  EXPECT_EQ(solve(ksp, small).reason, KSP_DIVERGED_PC_FAILED);
  for (const double y : applied(pc_of(ksp), small)) EXPECT_TRUE(std::isinf(y)) << y;
}

INSTANTIATE_TEST_SUITE_P(Types, Failed,
                         testing::Values("rrb", "mic", "neumann", "blockrelax", "gridmg",
                                         "jacobi -ksp_deflation block"),
                         [](const auto &info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find(' '));
                         });

} // namespace
