// What PCNEUMANN applies, against dense matrices; and the iterations that it takes.
#include "neumann_support.hpp"

#include <cmath>

using namespace petsctest;
using namespace neumann_support;
using reference::Problem;

namespace {

struct Choice {
  std::string options;
  std::function<reference::Dense(const reference::Matrix &)> inverse;
};

std::vector<Choice> choices() {
  using namespace reference;
  std::vector<Choice> all;
  for (int k : {0, 1, 2, 3, 4, 7, 11})
    all.push_back(
        {"-pc_neumann_terms " + std::to_string(k), [=](const reference::Matrix &A) { return neumann_inverse(A, k); }});
  for (double omega : {0.7, 1.5})
    all.push_back({"-pc_neumann_terms 2 -pc_neumann_omega " + std::to_string(omega),
                   [=](const reference::Matrix &A) { return neumann_inverse(A, 2, omega); }});
  const auto poisson = [&](const char *options, bool scaled, Dropped dropped, double threshold) {
    all.push_back({std::string("-pc_neumann_type poisson ") + options,
                   [=](const reference::Matrix &A) { return poisson_inverse(A, scaled, dropped, threshold); }});
  };
  poisson("", true, Dropped::none, 0);
  poisson("-pc_neumann_scale 0", false, Dropped::none, 0);
  poisson("-pc_neumann_drop pattern", true, Dropped::outside_pattern, 0);
  poisson("-pc_neumann_drop pattern -pc_neumann_scale 0", false, Dropped::outside_pattern, 0);
  poisson("-pc_neumann_drop threshold", true, Dropped::below_threshold, 0.1);
  poisson("-pc_neumann_drop threshold -pc_neumann_drop_threshold 0.02 -pc_neumann_scale 0", false,
          Dropped::below_threshold, 0.02);
  return all;
}

bool drops(const Choice &c) { return c.options.find("drop") != std::string::npos; }

std::string sizes(const Shape &s) {
  return " -pc_neumann_grid " + std::to_string(s.nx) + "," + std::to_string(s.ny) +
         (s.points == 7 ? "," + std::to_string(s.nz) : "");
}

void expect_inverse(PC pc, const reference::Dense &inverse, const std::string &what) {
  const reference::Vector r = random_values(inverse.size());
  EXPECT_LT(largest_difference(applied(pc, r), reference::product(inverse, r)), 1e-12) << what;
}

TEST(Neumann, IsTheDenseReferenceOnAGrid) {
  for (const Shape &s : shapes)
    for (const Choice &c : choices()) {
      const reference::Matrix A = reference_of(uneven(s));
      const Matrix P = matrix_of(A);
      const reference::Dense inverse = c.inverse(A);
      const Preconditioner pc = neumann_of(P, c.options + sizes(s));
      expect_inverse(pc, inverse, words(s) + ", " + c.options);
      EXPECT_EQ(view(pc).find("from the option") == std::string::npos, drops(c));
      expect_inverse(neumann_of(P, c.options), inverse, words(s) + ", no sizes, " + c.options); // found, or none
    }
}

// Another numbering of the unknowns: the triangle is that of the numbering.
TEST(Neumann, IsTheDenseReferenceWithoutAGrid) {
  for (const Shape &s : {Shape{9, 7}, Shape{6, 7, 1, true, true, false, 9}, Shape{4, 3, 5, false, false, false, 7}})
    for (const Choice &c : choices()) {
      const reference::Matrix A = reference_of(uneven(s));
      const int n = A.size();
      reference::Matrix B(n);
      for (int p = 0; p < n; ++p)
        for (const auto &[q, a] : A.row[p]) B.add(p * 23 % n, q * 23 % n, a); // n has no factor 23
      const Matrix P = matrix_of(B);
      const Preconditioner pc = neumann_of(P, c.options);
      expect_inverse(pc, c.inverse(B), words(s) + ", " + c.options);
      EXPECT_EQ(view(pc).find("no grid") == std::string::npos, drops(c));
    }
}

TEST(Neumann, DecouplesIdentityRowsAndMasks) {
  for (const Shape &s : shapes)
    for (const Choice &c : choices())
      for (bool column_too : {true, false}) {
        SmallMatrix A = uneven(s);
        for (int p = 0; p < s.size(); p += 4) A.make_identity(p, column_too, p % 3 ? 0.5 : 2);
        const reference::Matrix B = reference_of(A);
        const reference::Dense inverse = c.inverse(B);
        const Matrix P = matrix_of(B);
        expect_inverse(neumann_of(P, c.options + sizes(s)), inverse, words(s) + ", " + c.options);
        expect_inverse(neumann_of(P, c.options), inverse, words(s) + ", no sizes, " + c.options);
      }
}

// A DMDA stores zeros at the corners; they are no couplings.
TEST(Neumann, TakesTheGridOfADMDA) {
  Array da;
  Matrix A;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 4, 5, 6,
                  1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, A.put()));
  const reference::Matrix values = reference_of(uneven({4, 5, 6, false, true, false, 7}));
  set_values(A, values);
  for (const Choice &c : choices()) {
    const Preconditioner pc = neumann_of(A, c.options);
    expect_inverse(pc, c.inverse(values), c.options);
    if (drops(c)) continue;
    EXPECT_NE(view(pc).find("grid: 4 x 5 x 6, 7-point, from the Mat's DMDA\n"), std::string::npos) << view(pc);
    EXPECT_NE(view(pc).find("periodic in y\n"), std::string::npos) << view(pc);
  }
}

TEST(Neumann, TakesOtherTypesOfMatrices) {
  const reference::Matrix A = reference_of(uneven({9, 7}));
  const reference::Dense inverse = reference::neumann_inverse(A, 2);
  for (MatType type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATSEQSBAIJ}) {
    const Matrix P = matrix_of(A, type);
    expect_inverse(neumann_of(P), inverse, type);
  }
  Matrix two; // unknowns a point: no grid, and none is needed
  Array da;
  ok(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 4, 5, 1, 1, 2, 1, nullptr,
                  nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, two.put()));
  ok(MatShift(two, 3));
  reference::Dense third(40, reference::Vector(40, 0));
  for (int i = 0; i < 40; ++i) third[i][i] = 1.0 / 3;
  expect_inverse(neumann_of(two), third, "two unknowns a point");
}

TEST(Neumann, IsSymmetricAndPositive) {
  for (const Shape &s : {Shape{17, 9}, Shape{6, 5, 1, true, true, false, 9}, Shape{5, 4, 3, false, false, true, 7}})
    for (const char *options : {"-pc_neumann_terms 1", "-pc_neumann_terms 2", "-pc_neumann_terms 9",
                                "-pc_neumann_type poisson", "-pc_neumann_type poisson -pc_neumann_scale 0"}) {
      SmallMatrix A = random_matrix(s);
      for (int p = 0; p < s.size(); ++p) A.set(p, p, 2); // far from dominant: the norm of L~ is above 1
      const Matrix P = matrix_of(reference_of(A));
      const Preconditioner pc = neumann_of(P, options);
      const reference::Vector x = reference::random_vector(s.size(), 1), y = reference::random_vector(s.size(), 2);
      const reference::Vector Mx = applied(pc, x), My = applied(pc, y);
      EXPECT_NEAR(reference::dot(Mx, y), reference::dot(x, My),
                  1e-12 * std::sqrt(reference::dot(Mx, Mx) * reference::dot(y, y)));
      EXPECT_GT(reference::dot(Mx, x), 0) << options;
      const Vector r = vector_of(x), z = like(r);
      ok(PCApplyTranspose(pc, r, z));
      EXPECT_EQ(values_of(z), Mx);
    }
}

TEST(Neumann, AppliesToSeveralColumns) {
  const Shape s{17, 9};
  const Matrix P = matrix_of(reference_of(uneven(s)));
  const Preconditioner pc = neumann_of(P);
  const PetscInt n = s.size(), lda = n + 3;
  reference::Vector columns(std::size_t(3 * lda), 7.0), expected(columns);
  for (int j = 0; j < 3; ++j) {
    const reference::Vector x = reference::random_vector(int(n), unsigned(j)), z = applied(pc, x);
    std::copy(x.begin(), x.end(), columns.begin() + j * lda);
    std::copy(z.begin(), z.end(), expected.begin() + j * lda);
  }
  const Matrix X = dense_of(n, 3, columns, lda), Y = dense_of(n, 3, reference::Vector(columns.size(), 7.0), lda);
  ok(PCMatApply(pc, X, Y));
  EXPECT_EQ(values_of_dense(Y, lda), expected);
}

// (2 - omega) (I - D'^-1 L^T) D'^-1 (I - L D'^-1), D' = D / omega, as it is written
TEST(Neumann, WithOneTermIsTheApproximateInverseOfSSOR) {
  const double omega = 1.3;
  const reference::Matrix A = reference_of(uneven({4, 3, 5, false, false, false, 7}));
  const Matrix P = matrix_of(A);
  const reference::Vector r = random_values(std::size_t(A.size()));
  reference::Vector y(r), z;
  for (int i = 0; i < A.size(); ++i)
    for (const auto &[j, a] : A.row[i])
      if (j < i) y[i] -= omega / A.at(j, j) * a * r[j];
  for (int i = 0; i < A.size(); ++i) y[i] *= omega / A.at(i, i);
  z = y;
  for (int i = 0; i < A.size(); ++i) {
    for (const auto &[j, a] : A.row[i])
      if (j > i) z[i] -= omega / A.at(i, i) * a * y[j];
    z[i] *= 2 - omega;
  }
  EXPECT_LT(largest_difference(applied(neumann_of(P, "-pc_neumann_terms 1 -pc_neumann_omega 1.3"), r), z), 1e-13);
}

// ---- iterations ----

// From a random start x0, of the system that is not scaled.
int iterations(const Problem &problem, const reference::Vector &x0, const std::string &options) {
  const Matrix A = matrix_of(problem.A);
  const std::string all =
      "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -ksp_max_it 3000 -pc_type neumann " + options;
  const Solve done = solve(ksp_of(A, all), problem.b, x0);
  EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << options;
  return done.iterations;
}

TEST(Neumann, UnscaledPoissonIsWorseThanJacobi) {
  const Problem problem = reference::two_phase(32);
  EXPECT_GT(iterations(problem, reference::random_vector(32 * 32, 3), "-pc_neumann_type poisson -pc_neumann_scale 0"),
            1.5 * 114); // twice to three times; the random start moves it
}

// In the natural norm, which is that of both systems.
TEST(Neumann, TakesTheIterationsOfTheScaledSystem) {
  const Problem problem = reference::two_phase(48), scaled = diagonally_scaled(problem);
  const reference::Vector zero(problem.b.size(), 0.0);
  for (const char *options : {"-pc_neumann_terms 1", "-pc_neumann_terms 2", "-pc_neumann_type poisson",
                              "-pc_neumann_type poisson -pc_neumann_drop pattern"}) {
    const std::string all =
        std::string("-ksp_type cg -ksp_norm_type natural -ksp_rtol 1e-6 -pc_type neumann ") + options;
    const Matrix A = matrix_of(problem.A), B = matrix_of(scaled.A);
    EXPECT_NEAR(solve(ksp_of(A, all), problem.b).iterations, solve(ksp_of(B, all), scaled.b).iterations, 1) << options;
  }
}

// ---- in PETSc's slots ----

// The coarse levels are on no grid.
TEST(Neumann, SmoothsInGAMG) {
  const Problem problem = reference::poisson(63);
  const Matrix A = matrix_of(problem.A);
  const Solver ksp =
      ksp_of(A, "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -pc_type gamg -mg_levels_pc_type "
                "neumann -mg_levels_ksp_type chebyshev -mg_levels_pc_neumann_terms 1");
  const Solve done = solve(ksp, problem.b);
  EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(done.iterations, 15);
  EXPECT_NE(view(ksp).find("no grid: products with sparse triangles"), std::string::npos);
}

TEST(Neumann, SolvesSingularSystems) {
  for (const Problem &problem :
       {reference::neumann(31, 30), reference::two_ponds(30, 31), reference::periodic({32, 31, true, true}, 0)}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -pc_type neumann");
    const Solve done = solve(ksp, problem.b);
    EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL);
    EXPECT_LT(relative_residual(problem, done.x), 1e-7);
  }
}

} // namespace
