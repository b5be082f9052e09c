// The iterations that PCMIC takes, singular systems, and PETSc's slots for a preconditioner.
#include "known_iterations.hpp"
#include "mic_support.hpp"

using namespace petsctest;
using reference::Problem;

namespace {

// From zero until the residual has shrunk by rtol.
int iterations(const Problem &problem, const std::string &options, const char *rtol = "1e-6") {
  const Matrix A = matrix_of(problem.A);
  const Solve done =
      solve(ksp_of(A, std::string("-ksp_type cg -ksp_norm_type unpreconditioned -pc_type mic -ksp_rtol ") + rtol + " " +
                          options),
            problem.b);
  EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << options;
  return done.iterations;
}

struct Known {
  const char *omega;
  int six, ten; // iterations to 1e-6 and to 1e-10
};

void expect_known(const Problem &problem, const std::vector<Known> &known) {
  for (const Known &k : known) {
    const std::string option = std::string("-pc_mic_omega ") + k.omega;
    EXPECT_NEAR(iterations(problem, option), k.six, 1) << option;
    EXPECT_NEAR(iterations(problem, option, "1e-10"), k.ten, 1) << option;
  }
}

TEST(MicCounts, OfPoissonInThreeDimensions) {
  expect_known(cube(20, 3, 0), {{"0", 22, 34}, {"0.95", 14, 23}, {"0.99", 16, 26}, {"1", 19, 30}});
}

TEST(MicCounts, OfADiffusionStepInThreeDimensions) {
  expect_known(cube(40, 3, 100), {{"0", 34, 55}, {"0.95", 19, 31}, {"0.99", 17, 28}, {"1", 20, 32}});
}

TEST(MicCounts, OfPoissonInTwoDimensions) {
  expect_known(cube(64, 2, 0), {{"0", 51, 77}, {"0.95", 30, 43}, {"0.99", 25, 37}, {"1", 27, 43}});
}

TEST(MicCounts, WithTheDefaultAreAmongTheBest) {
  for (const Problem &problem : {cube(12, 3, 0), cube(20, 3, 0), cube(40, 3, 100), cube(64, 2, 0), cube(150, 2, 0)}) {
    int best = 1000;
    for (const char *omega : {"0.9", "0.95", "0.98", "0.99", "0.995", "0.998", "0.999", "1"})
      best = std::min(best, iterations(problem, std::string("-pc_mic_omega ") + omega));
    EXPECT_LE(iterations(problem, ""), best + 1) << problem.A.size() << " unknowns";
  }
}

TEST(MicCounts, AreTheSameInSinglePrecision) {
  const Problem problem = cube(40, 3, 100);
  EXPECT_NEAR(iterations(problem, "-pc_mic_precision single", "1e-10"), iterations(problem, "", "1e-10"), 1);
}

TEST(MicCounts, GrowWithTheNumberOfBlocks) {
  const Problem problem = cube(64, 2, 0);
  int last = iterations(problem, "-pc_mic_omega 0");
  for (const char *lines : {"16", "4", "1"}) {
    const int now = iterations(problem, std::string("-pc_mic_omega 0 -pc_mic_block_lines ") + lines);
    EXPECT_GT(now, last) << lines;
    last = now;
  }
}

TEST(MicCounts, OfSSORAreThoseOfPETScs) {
  const Problem problem = cube(20, 3, 0);
  const Matrix A = matrix_of(problem.A, MATAIJ);
  for (const char *omega : {"1", "1.5"}) {
    const Solver sor = ksp_of(A, std::string("-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -pc_type sor "
                                             "-pc_sor_symmetric -pc_sor_omega ") +
                                     omega);
    const Vector b = vector_of(problem.b, PETSC_COMM_SELF, VECSTANDARD), x = like(b);
    PetscInt theirs;
    ok(KSPSolve(sor, b, x));
    ok(KSPGetIterationNumber(sor, &theirs));
    EXPECT_EQ(iterations(problem, std::string("-pc_mic_type ssor -pc_mic_omega ") + omega), theirs) << omega;
  }
}

// ---- singular systems ----

Problem three_dimensional_neumann(int n, bool periodic) {
  Problem out;
  out.A = reference::Matrix(n * n * n);
  const auto couple = [&](int p, int q) {
    out.A.add(p, p, 1), out.A.add(q, q, 1), out.A.add(p, q, -1), out.A.add(q, p, -1);
  };
  for (int p = 0; p < n * n * n; ++p)
    for (int d = 0, stride = 1; d < 3; ++d, stride *= n) {
      if (p / stride % n + 1 < n)
        couple(p, p + stride);
      else if (periodic)
        couple(p, p - (n - 1) * stride);
    }
  out.null_space.push_back(reference::Vector(std::size_t(n * n * n), 1.0));
  reference::set_random_rhs(out);
  return out;
}

TEST(MicSingular, SystemsAreSolved) {
  for (const Problem &problem :
       {reference::neumann(31, 30), reference::two_ponds(30, 31), reference::periodic({32, 31, true, true}, 0),
        three_dimensional_neumann(11, false), three_dimensional_neumann(10, true)})
    for (const char *options : {"", "-pc_mic_omega 1", "-pc_mic_omega 0", "-pc_mic_precision single -pc_mic_omega 1",
                                "-pc_mic_type ssor -pc_mic_omega 1.5"}) {
      const Matrix A = matrix_of(problem);
      const Solver ksp =
          ksp_of(A, std::string("-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -pc_type mic ") + options);
      const Solve done = solve(ksp, problem.b);
      EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << options;
      EXPECT_LT(relative_residual(problem, done.x), 1e-7) << options;
    }
}

// M is positive definite all the same, so that no norm is blind to what is left of the residual.
TEST(MicSingular, SystemsWithoutASolutionAreNotCalledSolved) {
  for (const Problem &problem :
       {reference::neumann(31, 30), reference::two_ponds(30, 31), three_dimensional_neumann(11, false)})
    for (const std::string norm : {"natural", "preconditioned", "unpreconditioned"})
      for (const std::string more : {"", " -pc_mic_precision single"}) {
        reference::Vector b = problem.b;
        for (double &value : b) value += 1e-2;
        const Matrix A = matrix_of(problem.A);
        const std::string options = "-ksp_type cg -pc_type mic -pc_mic_omega 1 -ksp_norm_type " + norm + more;
        EXPECT_LT(solve(ksp_of(A, options), b).reason, 0) << options;
      }
}

// One for each piece that hangs together, at omega 1 only.
TEST(MicSingular, HasNullDirectionsAtOmegaOne) {
  const auto null_directions = [](const Problem &problem, const std::string &options) {
    const Matrix A = matrix_of(problem);
    const Preconditioner pc = mic_of(A, options);
    ok(PCSetUp(pc));
    const std::string text = view(pc), words = "null directions: ";
    const std::size_t at = text.find(words);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + words.size()));
  };
  EXPECT_EQ(null_directions(reference::neumann(31, 30), "-pc_mic_omega 1"), 1);
  EXPECT_EQ(null_directions(reference::two_ponds(30, 31), "-pc_mic_omega 1"), 2);
  EXPECT_EQ(null_directions(three_dimensional_neumann(11, false), "-pc_mic_omega 1"), 1);
  EXPECT_EQ(null_directions(three_dimensional_neumann(11, false), "-pc_mic_omega 1 -pc_mic_precision single"), 1);
  EXPECT_EQ(null_directions(reference::neumann(31, 30), "-pc_mic_omega 0.99"), 0);
  EXPECT_EQ(null_directions(reference::poisson(30), "-pc_mic_omega 1"), 0);
}

// ---- in PETSc's slots ----

void expect_solved(const Problem &problem, const std::string &options, int iterations) {
  const Matrix A = matrix_of(problem.A);
  const Solve done = solve(ksp_of(A, options), problem.b);
  EXPECT_GT(done.reason, 0) << options;
  expect_iterations(done.iterations, iterations, options);
  EXPECT_LT(relative_residual(problem, done.x), 1e-5) << options;
}

TEST(MicSlots, OnEitherSide) {
  const Problem problem = cube(16, 3, 0);
  for (const char *side : {"left", "right", "symmetric"})
    expect_solved(problem, std::string("-ksp_type gmres -ksp_rtol 1e-8 -pc_type mic -ksp_pc_side ") + side, 17);
}

TEST(MicSlots, InsideOthers) {
  const Problem problem = cube(16, 3, 0);
  expect_solved(problem, "-ksp_type cg -ksp_rtol 1e-8 -pc_type bjacobi -sub_pc_type mic", 17);
  expect_solved(problem,
                "-ksp_type cg -ksp_rtol 1e-8 -pc_type ksp -ksp_ksp_type chebyshev -ksp_ksp_max_it 4 "
                "-ksp_ksp_norm_type none -ksp_pc_type mic",
                8);
  expect_solved(problem, "-ksp_type cg -ksp_rtol 1e-8 -pc_type mic -ksp_deflation block -ksp_deflation_blocks 2,2,2",
                16);
}

TEST(MicSlots, SolvesForSeveralRightHandSidesAtOnce) {
  const Problem problem = cube(16, 2, 0);
  const Matrix A = matrix_of(problem.A);
  const Solver ksp = ksp_of(A, "-ksp_type preonly -pc_type mic");
  const PetscInt n = problem.A.size(), columns = 3;
  const reference::Vector b = reference::random_vector(int(n * columns), 3);
  const Matrix B = dense_of(n, columns, b), X = dense_of(n, columns);
  ok(KSPMatSolve(ksp, B, X));
  const reference::Vector x = values_of_dense(X);
  for (PetscInt j = 0; j < columns; ++j) {
    const reference::Vector one(b.begin() + j * n, b.begin() + (j + 1) * n);
    EXPECT_EQ(reference::Vector(x.begin() + j * n, x.begin() + (j + 1) * n), applied(pc_of(ksp), one));
  }
}

} // namespace
