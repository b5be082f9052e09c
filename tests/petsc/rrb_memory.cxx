// C++ memory that is not there, at any place: an error of all ranks, and the next solve works.
#include "no_memory.hpp"
#include "rrb_ranks_support.hpp"

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

const std::vector<std::string> uses{"-ksp_type rrb -pc_rrb_levels 4 -pc_rrb_gather_size 0",
                                    "-ksp_type cg -pc_type rrb -pc_rrb_levels 5 -pc_rrb_gather_size 100",
                                    "-ksp_type rrb -pc_rrb_storage naive -pc_rrb_coarse inverse",
                                    "-ksp_type cg -pc_type rrb -pc_rrb_coarse ksp",
                                    "-ksp_type rrb -pc_rrb_cycle amli -pc_rrb_levels 8 -pc_rrb_gather_size 60"};

PetscMPIInt largest(PetscMPIInt value) {
  (void)MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return value;
}

// The n-th allocation in a first solve fails on the last rank; returns whether there were so many.
bool solve_without(long n, const Distributed &d, const reference::Problem &problem, const std::string &options) {
  const Solver ksp = ksp_of(d.A, grid_option(problem) + options);
  const Vector b = vector_on(d, problem.b), x = like(b);
  to_fail = rank() == ranks() - 1 ? n + 1 : 0;
  const PetscErrorCode code = KSPSolve(ksp, b, x);
  const bool came = to_fail == 0;
  to_fail = 0;
  EXPECT_EQ(largest(int(code)), int(code)) << options << ", allocation " << n;
  EXPECT_EQ(-largest(-int(code)), int(code)) << options << ", allocation " << n;
  if (code) {
    EXPECT_EQ(code, PETSC_ERR_MEM) << options << ", allocation " << n << raised.message;
  }
  const Solve again = solve_on(ksp, d, problem.b);
  EXPECT_GT(again.reason, 0) << options << ", allocation " << n;
  return largest(rank() == ranks() - 1 && came);
}

TEST(RrbMemory, IsMissingAnywhere) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects");
  const reference::Problem problem = reference::random_faces({24, 31}, 10);
  const Distributed d = ranks() > 1 ? by_rows(problem.A, uneven_rows(problem.A.size()))
                                    : on_dmda(problem.A, {24, 31, 1, false, false, false, 5}, {1, 1, 1});
  for (const std::string &options : uses) {
    long n = 0;
    while (solve_without(n, d, problem, options)) n += 1 + n / 8;
    EXPECT_GT(n, 20) << "this does not count what the library allocates";
  }
}

TEST(RrbMemory, IsMissingForTheTypes) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects");
  Solver ksp;
  ok(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  to_fail = rank() == ranks() - 1 ? 1 : 0;
  EXPECT_EQ(KSPSetType(ksp, "rrb"), PETSC_ERR_MEM);
  to_fail = 0;
  ok(KSPSetType(ksp, "rrb"));
}

} // namespace
