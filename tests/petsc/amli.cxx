// The AMLI cycle through PETSc: its iteration counts, when it is left for V, and what says so.
#include "support.hpp"
#include "unit/reference_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

std::string levels(int l) { return "-pc_rrb_levels " + std::to_string(l) + " "; }
const std::string amli = "-pc_rrb_cycle amli ", unpreconditioned = "-ksp_norm_type unpreconditioned ";

struct Known {
  int n, levels, iterations, unpreconditioned;
};

std::ostream &operator<<(std::ostream &o, const Known &k) { return o << "n=" << k.n << " l=" << k.levels; }

class Amli : public testing::TestWithParam<Known> {};

TEST_P(Amli, IterationsOnPoisson) {
  const Known known = GetParam();
  const Problem problem = reference::poisson(known.n);
  for (const char *storage : {"", "-pc_rrb_storage naive ", "-pc_rrb_coarse inverse "}) {
    const std::string options = levels(known.levels) + amli + storage;
    EXPECT_EQ(solve(problem, options).iterations, known.iterations) << storage;
    EXPECT_EQ(solve(problem, options + unpreconditioned).iterations, known.unpreconditioned) << storage;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, Amli,
                         testing::Values(Known{255, 6, 8, 10}, Known{255, 10, 10, 13}, Known{255, 12, 9, 12},
                                         Known{511, 8, 8, 12}, Known{511, 12, 9, 12}),
                         [](const auto &info) {
                           return "n" + std::to_string(info.param.n) + "_l" + std::to_string(info.param.levels);
                         });

std::string cycle_of(PC pc) {
  const std::string text = view(pc), name = "cycle: ";
  const std::size_t at = text.find(name) + name.size();
  return text.substr(at, text.find('\n', at) - at);
}

std::string cycle_of(const Problem &problem, const std::string &options) {
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, grid_option(problem) + options);
  ok(PCSetUp(pc));
  return cycle_of(pc);
}

TEST(Cycle, IsShown) {
  const Problem poisson = reference::poisson(127);
  EXPECT_EQ(cycle_of(poisson, levels(8)), "v");
  EXPECT_EQ(cycle_of(poisson, levels(8) + amli).find("amli at grid 32 x 32, lambda_max 2."), 0);
  EXPECT_EQ(cycle_of(poisson, levels(5) + amli), "v (too few levels for amli)");
  EXPECT_EQ(cycle_of(reference::random_faces({500, 1}, 10), levels(8) + amli),
            "v (amli would not help at grid 125 x 1: lambda_max 1)");
}

// Nobody has asked for a cycle. The halves of the application are V's then.
TEST(Cycle, IsAmliFromEightLevelsOn) {
  const Problem poisson = reference::poisson(63);
  const Matrix A = matrix_of(poisson);
  const Vector x = vector_of(poisson.b), y = like(x), z = like(x);
  for (const PetscInt l : {7, 8}) {
    Preconditioner pc;
    PCRRBCycle cycle;
    ok(PCCreate(PETSC_COMM_SELF, pc.put()));
    ok(PCSetOperators(pc, A, A));
    ok(PCSetType(pc, PCRRB));
    ok(PCRRBSetLevels(pc, l));
    ok(PCRRBSetPrecision(pc, PC_RRB_PRECISION_DOUBLE));
    ok(PCSetUp(pc));
    ok(PCRRBGetCycle(pc, &cycle));
    EXPECT_EQ(cycle, l < 8 ? PC_RRB_CYCLE_V : PC_RRB_CYCLE_AMLI);
    EXPECT_EQ(cycle_of(pc).find("amli"), l < 8 ? std::string::npos : 0) << cycle_of(pc);
    ok(PCRRBSetCoarse(pc, PC_RRB_COARSE_CHOLESKY));
    ok(PCApplySymmetricLeft(pc, x, y));
    ok(PCApplySymmetricRight(pc, y, z));
    EXPECT_LT(largest_difference(values_of(z), applied(pc_of(A, levels(int(l)) + "-pc_rrb_cycle v"), poisson.b)),
              1e-12);
  }
}

// Where the largest eigenvalue is too large M is V's, to the bit.
TEST(Cycle, FallsBackToV) {
  for (const Problem &problem : {reference::anisotropic(255, 255, 100, 1), reference::random_faces({255, 250}, 1e6)})
    for (const char *storage : {"", "-pc_rrb_storage naive "}) {
      const Matrix A = matrix_of(problem);
      const Preconditioner v = pc_of(A, levels(6) + storage), other = pc_of(A, levels(6) + amli + storage);
      EXPECT_EQ(applied(other, problem.b), applied(v, problem.b));
      EXPECT_EQ(cycle_of(other).find("v (amli would not help at grid 64 x "), 0) << cycle_of(other);
    }
}

// At every refresh anew: values decide.
TEST(Cycle, FollowsTheValues) {
  const Problem smooth = reference::anisotropic(150, 150, 1, 1), strong = reference::anisotropic(150, 150, 1, 1000);
  const Matrix A = matrix_of(smooth);
  const Preconditioner pc = pc_of(A, levels(8) + amli);
  for (const Problem *problem : {&smooth, &strong, &smooth}) {
    set_values(A, problem->A);
    ok(PCSetUp(pc));
    EXPECT_EQ(cycle_of(pc).find(problem == &strong ? "v (" : "amli at grid 38 x 38"), 0) << cycle_of(pc);
  }
}

// M^-1 v of a polynomial with p(1) = 1: the spectrum still begins at 1.
TEST(Cycle, KeepsTheSmallestEigenvalue) {
  const Problem problem = reference::random_faces({200, 190}, 10);
  const Matrix A = matrix_of(problem);
  const Solver ksp = ksp_of(A, papers + levels(10) + amli + "-ksp_rtol 1e-12");
  PetscReal largest, smallest;
  ok(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  EXPECT_GT(solve(ksp, problem.b).reason, 0);
  ok(KSPComputeExtremeSingularValues(ksp, &largest, &smallest));
  EXPECT_NEAR(smallest, 1, 1e-3);
  EXPECT_LT(largest, 5); // of the V-cycle: 7
}

TEST(Cycle, OfAnInnerSolverIsTheSame) {
  const Problem problem = reference::random_nine_points({90, 81}, 0.1);
  const Matrix A = matrix_of(problem);
  const reference::Vector z = applied(pc_of(A, levels(6) + amli), problem.b);
  EXPECT_LT(largest_difference(applied(pc_of(A, levels(6) + amli + "-pc_rrb_coarse ksp"), problem.b), z), 1e-10);
  EXPECT_LT(largest_difference(applied(pc_of(A, levels(6) + amli + "-pc_rrb_coarse inverse"), problem.b), z), 1e-10);
}

TEST(Cycle, HasNoHalves) {
  const Problem problem = reference::poisson(30);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, amli);
  const Vector x = vector_of(problem.b), y = like(x);
  ok(PCSetUp(pc));
  for (const auto half : {PCApplySymmetricLeft, PCApplySymmetricRight}) {
    EXPECT_TRUE(refused(half(pc, x, y)));
    EXPECT_EQ(raised.code, PETSC_ERR_SUP);
    EXPECT_NE(raised.message.find("-pc_rrb_cycle v"), std::string::npos) << raised.message;
  }
  ok(PCRRBSetCycle(pc, PC_RRB_CYCLE_V));
  ok(PCSetUp(pc));
}

} // namespace
