// Matrices with spaces, as options and as dense references.
#include "deflation_support.hpp"

#include <cmath>

namespace petsctest {

namespace {

void add_spaces(std::vector<Deflated> &out, const std::string &name, const reference::Matrix &A,
                const reference::Sizes &n) {
  using namespace reference;
  const std::string grid =
      " -ksp_deflation_grid " + std::to_string(n[0]) + "," + std::to_string(n[1]) + "," + std::to_string(n[2]) + " ";
  const Labels block = block_labels(A, n, {3, 2, 2}), one(A.size(), 0);
  reference::Vector phi(A.size());
  for (int i = 0; i < A.size(); ++i) phi[i] = std::sin(0.7 * (i % n[0])) * std::cos(0.4 * (i / n[0])) - 0.1;
  const auto sign = [&](int i, int j) { return (phi[i] >= 0) == (phi[j] >= 0); };
  const auto jump = [&](int i, int j) {
    return std::max(A.at(i, i), A.at(j, j)) < 4 * std::min(A.at(i, i), A.at(j, j));
  };
  out.push_back({name + "_block", A, block, "-ksp_deflation block -ksp_deflation_blocks 3,2,2" + grid, {}});
  out.push_back({name + "_half_lines", A, stripe_labels(A, n, 1, 2), "-ksp_deflation stripe" + grid, {}});
  out.push_back({name + "_stripe",
                 A,
                 stripe_labels(A, n, 2, 1),
                 "-ksp_deflation stripe -ksp_deflation_stripe_lines 2 -ksp_deflation_stripe_cuts 1" + grid,
                 {}});
  out.push_back({name + "_levelset", A, phase_labels(A, sign, one), "-ksp_deflation levelset", phi});
  out.push_back({name + "_levelset_blocks", A, phase_labels(A, sign, block),
                 "-ksp_deflation levelset -ksp_deflation_blocks 3,2,2" + grid, phi});
  out.push_back({name + "_jump", A, phase_labels(A, jump, one), "-ksp_deflation levelset -ksp_deflation_jump 4", {}});
}

} // namespace

std::vector<Deflated> deflated_problems() {
  std::vector<Deflated> out;
  const auto hole = [](int i, int j) { return i > 2 && i < 5 && j > 1 && j < 6; };
  const reference::Problem random = reference::random_faces({10, 9}, 100);
  add_spaces(out, "random_faces", random.A, {10, 9, 1});
  add_spaces(out, "neumann", reference::neumann(9, 8).A, {9, 8, 1});
  add_spaces(out, "identity_rows", reference::identity_rows(random, hole, false).A, {10, 9, 1});
  add_spaces(out, "identity_columns", reference::identity_rows(random, hole, true).A, {10, 9, 1});
  add_spaces(out, "two_phase", reference::two_phase(12).A, {12, 12, 1});
  add_spaces(out, "seven_points", reference::random_seven_points(6, 5, 4, 100, 0.1), {6, 5, 4});
  add_spaces(out, "seven_points_singular", reference::random_seven_points(5, 4, 4, 10, 0), {5, 4, 4});
  return out;
}

Solver solver_of(Mat A, const Deflated &problem, const std::string &more, Vec phi) {
  Solver ksp("-ksp_type cg -pc_type jacobi " + problem.options + " " + more);
  ok(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), ksp.put()));
  ok(KSPSetOptionsPrefix(ksp, ksp.prefix()));
  ok(KSPSetOperators(ksp, A, A));
  if (phi) ok(KSPDeflationSetLevelSet(ksp, phi));
  ok(KSPSetFromOptions(ksp));
  return ksp;
}

reference::Vector jacobi(const reference::Matrix &A, const reference::Vector &r) {
  reference::Vector z(r);
  for (int i = 0; i < A.size(); ++i) z[i] /= A.at(i, i);
  return z;
}

reference::Vector random_guess(const reference::Matrix &A, unsigned seed) {
  reference::Vector x = reference::random_vector(A.size(), seed);
  for (int i = 0; i < A.size(); ++i)
    if (reference::is_identity_row(A, i)) x[i] = 0;
  return x;
}

PC inner_of(KSP ksp) {
  PC pc;
  ok(KSPDeflationGetPC(ksp, &pc));
  return pc;
}

} // namespace petsctest
