// The RRB-solver where the matrix, the right-hand side and the solution are not all in one memory, or move between solves.
#include "rrbsolver_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

const std::vector<std::string> forms{"", "-pc_rrb_storage naive", "-pc_rrb_coarse ksp"};

struct Places : testing::Test {
  Problem problem = reference::random_faces({41, 38}, 10);
  Matrix A = matrix_of(problem);

  Solver solver(const std::string &options) { return ksp_of(A, rrb + options + " -ksp_rtol 1e-9 "); }
  void expect_solves(KSP ksp, Vec b, Vec x, const std::string &what) {
    ok(KSPSolve(ksp, b, x));
    EXPECT_LT(relative_residual(problem, values_of(x)), 1e-6) << what;
  }
};

TEST_F(Places, OfTheRightHandSide) {
  const Vector here = vector_of(problem.b), host = vector_of(problem.b, PETSC_COMM_SELF, VECSEQ), x = like(here);
  for (const std::string &form : forms)
    for (const bool guess : {false, true}) {
      const Solver ksp = solver(form);
      ok(KSPSetInitialGuessNonzero(ksp, PetscBool(guess)));
      for (const Vector *b : {&host, &here, &host}) {
        ok(VecSet(x, 0.1));
        expect_solves(ksp, *b, x, form);
      }
    }
}

// A product of a matrix on the device leaves what the host has of a vector as it was.
TEST_F(Places, OfTheSolution) {
  const auto build = [](KSP ksp, PetscInt, PetscReal, void *v) {
    return KSPBuildSolution(ksp, static_cast<Vec>(v), nullptr);
  };
  const Matrix P = matrix_of(reference::random_faces({problem.grid.nx, problem.grid.ny}, 3));
  const Vector b = vector_of(problem.b, PETSC_COMM_SELF, VECSEQ), x = like(b), built = like(b);
  for (const std::string &form : forms)
    for (const Mat other : {Mat(A), Mat(P)})
      for (const bool guess : {false, true}) {
        const Solver ksp = ksp_of(A, rrb + form + " -ksp_rtol 1e-9 ", other);
        const std::string what = form + (other == A ? "" : ", another Pmat") + (guess ? ", a guess" : "");
        ok(KSPMonitorSet(ksp, build, (Vec)built, nullptr));
        ok(KSPSetInitialGuessNonzero(ksp, PetscBool(guess)));
        ok(VecSet(x, 0.1));
        expect_solves(ksp, b, x, what);
        EXPECT_LT(largest_difference(values_of(built), values_of(x)), 1e-12) << what;
      }
}

TEST_F(Places, OfAMatrixThatMoves) {
  const Vector b = vector_of(problem.b), x = like(b);
  for (const std::string &form : forms) {
    const Solver ksp = solver(form);
    expect_solves(ksp, b, x, form);
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    for (const PetscBool on_host : {PETSC_TRUE, PETSC_FALSE}) {
      ok(MatBindToCPU(A, on_host));
      expect_solves(ksp, b, x, form);
      set_values(A, problem.A);
      expect_solves(ksp, b, x, form);
    }
  }
}

TEST_F(Places, OfAMatrixThatMovesWithItsPreconditioner) {
  const Vector b = vector_of(problem.b), x = like(b);
  for (const std::string &form : forms) {
    const Solver ksp = solver(form);
    for (const PetscBool on_host : {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE}) {
      ok(MatBindToCPU(A, on_host));
      set_values(A, problem.A);
      expect_solves(ksp, b, x, form);
    }
  }
}

} // namespace
