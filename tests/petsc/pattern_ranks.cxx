// Couplings that go and come again where PETSc counts no new nonzeros: PETSc 3.18 after MatZeroRows() of a MATMPIAIJ.
// mpiexec -n 3 build/tests/petsc --gtest_filter='PatternRanks*'; on one rank, too.
#include "ranks_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

// The last row loses its couplings, all of them on its rank or all of them to another one.
void last_row_alone(int width, int lines, const std::string &options) {
  const reference::Problem problem = reference::random_faces({width, lines * ranks()}, 10);
  const int n = problem.A.size();
  const PetscInt last = n - 1;
  const reference::Vector r = reference::random_vector(n, 3);
  const Distributed d = by_rows(problem.A, std::vector<int>(std::size_t(ranks()), width * lines));
  const std::string grid = " -ksp_deflation_grid " + std::to_string(width) + "," + std::to_string(lines * ranks()),
                    words = "-ksp_type preonly " + options + (options.find("-ksp_") < options.size() ? grid : "");
  const Solver ksp = ksp_of(d.A, words), other = ksp_of(d.A, words);
  (void)solve_on(ksp, d, r);
  ok(MatSetOption(d.A, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
  ok(MatZeroRows(d.A, rank() ? 0 : 1, &last, 1, nullptr, nullptr));
  (void)solve_on(ksp, d, r);
  set_new_values(d, problem.A);
  EXPECT_EQ(solve_on(ksp, d, r).x, solve_on(other, d, r).x);
}

TEST(PatternRanks, CouplingsGoAndComeAgain) {
  const std::vector<std::string> all{"-pc_type rrb -pc_rrb_levels 3 -pc_rrb_gather_size 0",
                                     "-pc_type rrb -pc_rrb_levels 3 -pc_rrb_gather_size 1000",
                                     "-pc_type neumann",
                                     "-pc_type neumann -pc_neumann_type poisson -pc_neumann_drop pattern",
                                     "-pc_type mic",
                                     "-pc_type gridmg",
                                     "-pc_type blockrelax",
                                     "-pc_type none -ksp_deflation block"};
  for (const std::string &options : all) {
    SCOPED_TRACE(options);
    last_row_alone(12, 6, options);
    last_row_alone(1, 1, options);
  }
}

} // namespace
