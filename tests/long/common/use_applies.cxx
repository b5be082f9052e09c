// The steps of a random use that apply the preconditioner by itself.
#include "use_impl.hpp"

#include <algorithm>
#include <cmath>

namespace longtest {

void Use::apply() {
  PC pc;
  PCFailedReason failed;
  if (problem.columns != problem.size()) return;
  const bool columns = random.chance(0.3);
  std::string words;
  reference::Vector u = random_rhs(random, problem, words), v = random_rhs(random, problem, words);
  say(std::string("; PCApply") + (columns ? " and PCMatApply" : ""));
  ok(KSPSetUp(ksp));
  ok(KSPGetPC(ksp, &pc));
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &failed));
  int any = failed != PC_NOERROR; // of asm it is each rank's own
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (any) return;
  const Vector a = numbering.vector(u, P, true), b = numbering.vector(v, P, true);
  const Vector ya = numbering.vector({}, P, false), yb = numbering.vector({}, P, false);
  ok(VecSet(ya, NAN));
  ok(VecSet(yb, NAN));
  ok(PCApply(pc, a, ya));
  ok(PCApply(pc, b, yb));
  if (columns) apply_to_columns(pc, u, numbering.values(ya));
  const reference::Vector ma = numbering.values(ya), mb = numbering.values(yb);
  if (!has_to_converge || wish.plain || has_nan(u) || has_nan(v)) return;
  if (has_nan(ma) || has_nan(mb)) fault = "PCApply() leaves numbers that are not finite";
  const double one = reference::dot(u, mb), other = reference::dot(v, ma);
  double size = 0;
  for (std::size_t i = 0; i < u.size(); ++i) size += std::abs(u[i] * mb[i]) + std::abs(v[i] * ma[i]);
  if (std::abs(one - other) > 1e-6 * size && fault.empty()) fault = "the preconditioner is not symmetric";
}

// Each of them must be as it is alone.
void Use::apply_to_columns(PC pc, const reference::Vector &u, const reference::Vector &alone) {
  Matrix X, Y;
  const PetscInt n = problem.size();
  ok(MatCreateDense(PETSC_COMM_WORLD, numbering.rows(), PETSC_DECIDE, n, 2, nullptr, X.put()));
  for (PetscInt j = 0; j < 2; ++j) {
    const Vector from = numbering.vector(u, P, true);
    Vec to;
    ok(MatDenseGetColumnVecWrite(X, j, &to));
    ok(VecCopy(from, to));
    ok(MatDenseRestoreColumnVecWrite(X, j, &to));
  }
  ok(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  ok(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, Y.put()));
  ok(PCMatApply(pc, X, Y));
  if (!has_to_converge || has_nan(u)) return;
  for (PetscInt j = 0; j < 2; ++j) {
    Vec y;
    ok(MatDenseGetColumnVecRead(Y, j, &y));
    const reference::Vector column = numbering.values(y);
    ok(MatDenseRestoreColumnVecRead(Y, j, &y));
    double size = 0, most = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      size = std::max(size, std::abs(alone[i]));
      most = std::max(most, std::isfinite(column[i]) ? std::abs(column[i] - alone[i]) : INFINITY);
    }
    if (most > 1e-9 * size) fault = "PCMatApply() differs from PCApply()";
  }
}

void Use::apply_halves() {
  PC pc;
  if (problem.columns != problem.size()) return;
  std::string words;
  const reference::Vector u = random_rhs(random, problem, words);
  const int which = random.integer(0, 2);
  say(which == 0 ? "; PCApplyTranspose" : "; PCApplySymmetricLeft and Right");
  if (which && !halves) changed();
  ok(KSPSetUp(ksp));
  ok(KSPGetPC(ksp, &pc));
  ok(PCSetUp(pc));
  const Vector a = numbering.vector(u, P, true), y = numbering.vector({}, P, false), z = numbering.vector({}, P, false);
  if (which == 0) {
    PetscBool can;
    ok(PCApplyTransposeExists(pc, &can));
    if (can) ok(PCApplyTranspose(pc, a, y));
    return;
  }
  ok(PCApplySymmetricLeft(pc, a, y));
  ok(PCApplySymmetricRight(pc, y, z));
}

} // namespace longtest
