// Deflation against dense references: the preconditioner, and solves in both variants.
#include "deflation_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::dot;
using reference::product;
using reference::sum;
using Values = reference::Vector;

namespace {

class Space : public testing::TestWithParam<Shared<Deflated>> {
protected:
  Space() : A(matrix_of(GetParam()->A)) {
    if (!GetParam()->phi.empty()) phi = vector_of(GetParam()->phi);
    d = reference::deflation_of(GetParam()->A, reference::columns_of(GetParam()->labels));
  }
  Solver solver(const std::string &more) const {
    return solver_of(A, *GetParam(), more, GetParam()->phi.empty() ? Vec(nullptr) : Vec(phi));
  }
  Values M(const Values &r) const { return jacobi(GetParam()->A, r); }

  Matrix A;
  petsctest::Vector phi;
  reference::Deflation d;
};

// What identity rows say is eliminated first: where their columns are kept, A is symmetric only then.
TEST_P(Space, ThePreconditionerIsThatOfTheReference) {
  const Values x = reference::random_vector(GetParam()->A.size(), 7);
  Values known(x.size(), 0.0);
  for (int i = 0; i < GetParam()->A.size(); ++i)
    if (reference::is_identity_row(GetParam()->A, i)) known[i] = x[i] / GetParam()->A.at(i, i);
  const Values r = sum(x, -1, GetParam()->A.multiply(known)), expected = sum(d.adef2(r, M(r)), 1, known);
  for (const char *inverse : {"explicit", "cholesky"}) {
    const Solver ksp = solver(std::string("-ksp_deflation_inverse ") + inverse);
    ok(KSPSetUp(ksp));
    EXPECT_LT(largest_difference(applied(pc_of(ksp), x), expected), 1e-8) << inverse;
    EXPECT_LT(largest_difference(applied(inner_of(ksp), x), M(x)), 1e-14) << inverse;
  }
}

TEST_P(Space, ItsTransposeIsThatOfTheReference) { // M^-1 P + Q
  const Values r = reference::random_vector(GetParam()->A.size(), 7);
  const Solver ksp = solver("");
  ok(KSPSetUp(ksp));
  const petsctest::Vector x = vector_of(r), y = like(x);
  ok(PCApplyTranspose(pc_of(ksp), x, y));
  EXPECT_LT(largest_difference(values_of(y), sum(M(product(d.P, r)), 1, product(d.Q, r))), 1e-8);
}

TEST_P(Space, BothVariantsTakeTheIterationsOfTheReference) {
  const Values b = product(d.A, random_guess(GetParam()->A, 3)), x0 = random_guess(GetParam()->A, 4);
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

INSTANTIATE_TEST_SUITE_P(Deflation, Space, testing::ValuesIn(shared(deflated_problems())),
                         [](const auto &info) { return info.param->name; });

} // namespace
