// Deflation against dense references: the preconditioner, solves in both variants, and the iterations that are known.
#include "deflation_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::dot;
using reference::product;
using reference::sum;
using Values = reference::Vector;

namespace {

class Space : public testing::TestWithParam<Deflated> {
protected:
  Space() : A(matrix_of(GetParam().A)) {
    if (!GetParam().phi.empty()) phi = vector_of(GetParam().phi);
    d = reference::deflation_of(GetParam().A, reference::columns_of(GetParam().labels));
  }
  Solver solver(const std::string &more) const {
    return solver_of(A, GetParam(), more, GetParam().phi.empty() ? Vec(nullptr) : Vec(phi));
  }
  Values M(const Values &r) const { return jacobi(GetParam().A, r); }

  Matrix A;
  petsctest::Vector phi;
  reference::Deflation d;
};

// What identity rows say is eliminated first: where their columns are kept, A is symmetric only then.
TEST_P(Space, ThePreconditionerIsThatOfTheReference) {
  const Values x = reference::random_vector(GetParam().A.size(), 7);
  Values known(x.size(), 0.0);
  for (int i = 0; i < GetParam().A.size(); ++i)
    if (reference::is_identity_row(GetParam().A, i)) known[i] = x[i] / GetParam().A.at(i, i);
  const Values r = sum(x, -1, GetParam().A.multiply(known)), expected = sum(d.adef2(r, M(r)), 1, known);
  for (const char *inverse : {"explicit", "cholesky"}) {
    const Solver ksp = solver(std::string("-ksp_deflation_inverse ") + inverse);
    ok(KSPSetUp(ksp));
    EXPECT_LT(largest_difference(applied(pc_of(ksp), x), expected), 1e-8) << inverse;
    EXPECT_LT(largest_difference(applied(inner_of(ksp), x), M(x)), 1e-14) << inverse;
  }
}

TEST_P(Space, ItsTransposeIsThatOfTheReference) { // M^-1 P + Q
  const Values r = reference::random_vector(GetParam().A.size(), 7);
  const Solver ksp = solver("");
  ok(KSPSetUp(ksp));
  const petsctest::Vector x = vector_of(r), y = like(x);
  ok(PCApplyTranspose(pc_of(ksp), x, y));
  EXPECT_LT(largest_difference(values_of(y), sum(M(product(d.P, r)), 1, product(d.Q, r))), 1e-8);
}

TEST_P(Space, BothVariantsTakeTheIterationsOfTheReference) {
  const Values b = product(d.A, random_guess(GetParam().A, 3)), x0 = random_guess(GetParam().A, 4);
  const auto norm = [](const Values &r, const Values &) { return std::sqrt(dot(r, r)); };
  const auto wanted = deflated_cg(
      d, [&](const Values &r) { return M(r); }, b, x0, 1e-8, norm);
  for (const char *variant : {"adef2", "def1"}) {
    const Solver ksp =
        solver(std::string("-ksp_norm_type unpreconditioned -ksp_rtol 1e-8 -ksp_deflation_variant ") + variant);
    const Solve found = solve(ksp, b, x0);
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL) << variant;
    EXPECT_NEAR(found.iterations, wanted.iterations, 1) << variant;
    const Values r = sum(b, -1, product(d.A, found.x));
    EXPECT_LT(std::sqrt(dot(r, r) / dot(b, b)), 1.1e-8) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(Deflation, Space, testing::ValuesIn(deflated_problems()),
                         [](const auto &info) { return info.param.name; });

// --- the two-phase problem: iterations that are known ---

struct Known {
  int n;
  const char *name, *space;
  int iterations;
};

std::ostream &operator<<(std::ostream &o, const Known &k) { return o << k.name << " n=" << k.n; }

class TwoPhase : public testing::TestWithParam<Known> {};

// From random starts, uniform in (0, 1). These move a count by up to a sixth, so those from several starts are to be around
// the one that is known.
void expect_known(KSP ksp, const reference::Problem &problem, int known, const std::string &what) {
  int least = 1000, most = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Values x0 = reference::random_vector(problem.A.size(), seed);
    for (double &value : x0) value += 0.5;
    const Solve found = solve(ksp, problem.b, x0);
    EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL) << what;
    EXPECT_NEAR(found.iterations, known, 2 + 0.2 * known) << what;
    least = std::min(least, found.iterations), most = std::max(most, found.iterations);
  }
  EXPECT_LE(least, known + 4) << what;
  EXPECT_GE(most, known - 3) << what;
}

// ||D^-1/2 r|| <= 1e-6 ||D^-1/2 b||, as the paper's scaled system has it.
TEST_P(TwoPhase, TakesTheIterationsThatAreKnown) {
  const reference::Problem problem = reference::two_phase(GetParam().n);
  const Matrix A = matrix_of(problem);
  const std::string options = "-ksp_type cg -pc_type jacobi -ksp_norm_type natural -ksp_rtol 1e-6 ";
  if (!*GetParam().space) {
    expect_known(ksp_of(A, options), problem, GetParam().iterations, "without deflation");
    return;
  }
  for (const char *variant : {"adef2", "def1"})
    expect_known(ksp_of(A, options + GetParam().space + " -ksp_deflation_variant " + variant), problem,
                 GetParam().iterations, variant);
}

INSTANTIATE_TEST_SUITE_P(
    Jacobi, TwoPhase,
    testing::Values(Known{32, "none", "", 114}, Known{32, "half_rows", "-ksp_deflation stripe", 58},
                    Known{32, "rows", "-ksp_deflation stripe -ksp_deflation_stripe_cuts 1", 83},
                    Known{32, "squares", "-ksp_deflation block -ksp_deflation_blocks 8,8", 26},
                    Known{64, "none", "", 196}, Known{64, "half_rows", "-ksp_deflation stripe", 103},
                    Known{64, "rows", "-ksp_deflation stripe -ksp_deflation_stripe_cuts 1", 124},
                    Known{64, "squares", "-ksp_deflation block -ksp_deflation_blocks 8,8", 41}),
    [](const auto &info) { return std::string(info.param.name) + "_" + std::to_string(info.param.n); });

// Incomplete Cholesky in blocks of so many rows, on r itself.
struct BlockIC {
  int n, rows, iterations[4];
};

std::ostream &operator<<(std::ostream &o, const BlockIC &k) { return o << "n=" << k.n << " rows=" << k.rows; }

class TwoPhaseBlockIC : public testing::TestWithParam<BlockIC> {};

TEST_P(TwoPhaseBlockIC, TakesTheIterationsThatAreKnown) {
  SKIP_ON_DEVICE("the blocks are factored on the host");
  const BlockIC &known = GetParam();
  const reference::Problem problem = reference::two_phase(known.n);
  const Matrix A = matrix_of(problem);
  const char *spaces[] = {"", "-ksp_deflation stripe", "-ksp_deflation stripe -ksp_deflation_stripe_cuts 1",
                          "-ksp_deflation block -ksp_deflation_blocks 8,8"};
  const std::string blocks = " -pc_bjacobi_blocks " + std::to_string(known.n / known.rows);
  for (int k = 0; k < 4; ++k)
    expect_known(
        ksp_of(A, "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-6 -pc_type bjacobi -sub_pc_type icc " +
                      (spaces[k] + blocks)),
        problem, known.iterations[k], spaces[k]);
}

INSTANTIATE_TEST_SUITE_P(Rows, TwoPhaseBlockIC,
                         testing::Values(BlockIC{32, 2, {60, 31, 43, 17}}, BlockIC{32, 8, {44, 23, 30, 14}},
                                         BlockIC{64, 2, {99, 53, 63, 25}}, BlockIC{64, 8, {75, 34, 41, 20}}),
                         [](const auto &info) {
                           return std::to_string(info.param.rows) + "n_" + std::to_string(info.param.n);
                         });

} // namespace
