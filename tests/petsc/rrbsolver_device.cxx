// A solve by the RRB-solver on a device: what the host has to do with it. -backend cuda.
#include "rrbsolver_support.hpp"
#include "traffic.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

// The first of those that have no Schur complement to iterate on.
Problem nine_points() { return other_forms().front().problem; }

TEST(RRBSolverDevice, SolvesWithoutTheHost) {
  SKIP_ON_HOST();
  for (const Problem &problem : {reference::random_faces({130, 97}, 10), nine_points()})
    for (const std::string options : {"-pc_rrb_levels 6", "-pc_rrb_levels 8 -pc_rrb_cycle amli",
                                      "-pc_rrb_levels 6 -ksp_norm_type unpreconditioned"}) {
      const Matrix A = matrix_of(problem);
      const Solver ksp = ksp_of(A, rrb + options);
      Vec x, b;
      ok(MatCreateVecs(A, &x, &b));
      ok(VecSetRandom(b, nullptr));
      const Traffic first = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
      EXPECT_GT(first.cuda.allocations, 0) << "this does not count what the library allocates";
      const Traffic again = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
      PetscInt iterations;
      ok(KSPGetIterationNumber(ksp, &iterations));
      EXPECT_GT(iterations, 5) << options;
      EXPECT_EQ(again.petsc, 0) << options;
      EXPECT_EQ(again.cuda.bulk, 0) << options;
      EXPECT_LE(again.cuda.copies, 2) << options; // the first norm, and what came of the steps
      EXPECT_EQ(again.cuda.allocations + again.cuda.frees, 0) << options;
      EXPECT_EQ(again.cuda.device_waits, 0) << options;
      ok(VecDestroy(&x));
      ok(VecDestroy(&b));
    }
}

} // namespace
