// What the tests of the RRB-solver share.
#include "rrbsolver_support.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace petsctest {

using reference::Problem;

const char rrb[] = "-ksp_type rrb -ksp_norm_type natural -ksp_rtol 1e-6 ";
const char cg_and_rrb[] = "-ksp_type cg -ksp_norm_type natural -ksp_rtol 1e-6 -pc_type rrb ";

Recorded recorded(KSP ksp, const reference::Vector &b, const reference::Vector &x0) {
  const PetscReal *history;
  PetscInt length;
  ok(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
  Recorded out{solve(ksp, b, x0), {}};
  ok(KSPGetResidualHistory(ksp, &history, &length));
  out.history.assign(history, history + length);
  EXPECT_EQ(length, out.iterations + 1);
  return out;
}

Recorded recorded(const Problem &problem, const std::string &options, const reference::Vector &x0) {
  const Matrix A = matrix_of(problem);
  return recorded(ksp_of(A, grid_option(problem) + options), problem.b, x0);
}

void expect_few_kinds_read(Mat constant, const std::string &options, const std::string &cg, bool waits) {
  Matrix A;
  Vector shift;
  PetscInt n;
  ok(MatDuplicate(constant, MAT_COPY_VALUES, A.put()));
  ok(MatCreateVecs(A, shift.put(), nullptr));
  ok(VecSetRandom(shift, nullptr)); // between 0 and 1
  ok(MatGetSize(A, &n, nullptr));
  const reference::Vector b = reference::random_vector(int(n), 1);
  const Solver ksp = ksp_of(A, options);
  for (const auto &[varies, found] :
       {std::pair{false, true}, {true, false}, {false, !waits}, {false, true}, {false, true}}) {
    ok(MatCopy(constant, A, SAME_NONZERO_PATTERN));
    if (varies) ok(MatDiagonalSet(A, shift, ADD_VALUES));
    const Recorded result = recorded(ksp, b), expected = recorded(ksp_of(A, cg), b);
    EXPECT_EQ(view(ksp).find("of few kinds of rows") != std::string::npos, found) << view(ksp);
    EXPECT_EQ(result.reason, expected.reason);
    EXPECT_NEAR(result.iterations, expected.iterations, 1);
    EXPECT_LT(largest_difference(result.x, expected.x), 1e-7);
  }
}

std::vector<Named> five_points() {
  using namespace reference;
  const auto fixed = [](int i, int j) { return i == 0 || j == 16 || (i > 13 && i < 20 && j == 23); };
  reference::Vector D = random_vector(31 * 42, 7);
  for (double &value : D) value = std::pow(10.0, value);
  return {{"poisson", poisson(31)},
          {"random_faces", random_faces({45, 38}, 100)},
          {"jumps", random_jumps({40, 41}, 30, 3)},
          {"rings", periodic({36, 28, true, true}, 0.1)},
          {"ring_in_y", random_faces({27, 30, false, true}, 10)},
          {"rows_of_the_identity", identity_rows(random_faces({33, 35}, 10), fixed, false)},
          {"scaled", scaled(random_faces({31, 42}, 10), D)},
          {"one_line", random_faces({17, 1}, 10)},
          {"one_column", random_faces({1, 18}, 10)},
          {"one_point", random_faces({1, 1}, 10)},
          {"two_points", random_faces({2, 1}, 10)},
          {"two_by_two", random_faces({2, 2}, 10)},
          {"three_by_five", random_faces({3, 5}, 10)},
          {"eight_by_two", random_faces({8, 2}, 10)}};
}

std::vector<Named> other_forms() {
  using namespace reference;
  return {{"nine_points", random_nine_points({37, 40}, 0)},
          {"nine_points_of_both_signs", random_nine_points({30, 31}, 0.2, 0.1)},
          {"bilinear_elements", bilinear_elements(29, 33, 5, 1)},
          {"nine_points_on_rings", random_nine_points({24, 23, true, true}, 0)},
          {"three_by_three", random_nine_points({3, 3}, 0)},
          {"odd_ring_in_x", periodic({35, 30, true, false}, 0.1)},
          {"odd_ring_in_y", random_faces({20, 33, false, true}, 10)},
          {"odd_rings", periodic({25, 31, true, true}, 0.1)}};
}

std::ostream &operator<<(std::ostream &o, const Named &n) { return o << n.name; }

reference::Vector guess_with_red_rows(const Problem &problem) {
  const reference::FirstSchur schur(problem.A, problem.grid);
  return schur.extend(reference::random_vector(problem.A.size(), 9), problem.b);
}

reference::Vector guess_with_known_rows(const Problem &problem) {
  reference::Vector x0 = reference::random_vector(problem.A.size(), 9);
  for (int p = 0; p < problem.A.size(); ++p)
    if (problem.A.row[p].size() == 1) x0[p] = problem.b[p] / problem.A.at(p, p);
  return x0;
}

reference::CGResult solve_slowly(const Problem &problem, const reference::Options &options, reference::Norm norm,
                                 const reference::Vector &x0) {
  const reference::RRB M = factor(problem, options);
  return reference::schur_cg(
      problem.A, problem.grid, problem.b, x0.empty() ? reference::Vector(problem.b.size(), 0.0) : x0,
      [&](const reference::Vector &r) { return M.apply(r); }, norm);
}

void expect_near(const reference::Vector &history, const reference::Vector &expected, double relative) {
  // on odd rings M has a few eigenvalues far out (28 of odd_ring_in_y), which amplify rounding errors until they decide of the last
  // iterations: a tenth of them is as many as CountAboutAsKSPCG forgives
  const std::size_t forgiven = expected.size() > 10 ? 1 + expected.size() / 10 : 0;
  EXPECT_NEAR(double(history.size()), double(expected.size()), double(forgiven));
  for (std::size_t k = 0; k < std::min({history.size(), expected.size(), std::size_t(10)}); ++k)
    EXPECT_NEAR(history[k], expected[k], relative * expected[k] + 1e-13 * expected[0]) << "iteration " << k;
}

} // namespace petsctest
