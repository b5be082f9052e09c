// Whether what a solver says of its solution is true.
#include "manners.hpp"
#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace longtest {

static std::string said(const char *what, Long is, Long most) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %.3Lg where at most %.3Lg fits", what, is, most);
  return text;
}

static Longs signs(const Longs &v) { // any signs, the same on all ranks
  Longs out(v);
  Random random(1, v.size());
  for (Long &value : out)
    if (random.chance(0.5)) value = -value;
  return out;
}

// Convergence cannot be told from numbers that are none.
static std::string judge_numbers(const Claim &c) {
  PC pc;
  PCFailedReason
      failed; // where the preconditioner is on the right, KSP does not look whether it fails when the solution is made
  ok(KSPGetPC(c.ksp, &pc));
  ok(PCGetFailedReason(pc, &failed));
  const bool forgiven = may_overflow(c) || failed;
  for (double x : c.x)
    if (!std::isfinite(x) && !forgiven) return "the solution has a number that is not finite";
  for (double b : *c.b)
    if (!std::isfinite(b)) return "the right-hand side has a number that is not finite";
  return "";
}

// The diagonal of an identity row; 0 of others.
static double of_identity(const reference::Matrix &A, std::size_t i) {
  double diagonal = 0;
  for (const auto &[j, a] : A.row[i])
    if (std::size_t(j) == i)
      diagonal = a;
    else if (a != 0)
      return 0;
  return diagonal;
}

// The guess with the values that identity rows say.
static reference::Vector with_known_values(const Claim &c) {
  reference::Vector x(c.guess ? *c.guess : reference::Vector());
  x.resize(c.problem->A.row.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const double diagonal = of_identity(c.problem->A, i); diagonal != 0) x[i] = (*c.b)[i] / diagonal;
  return x;
}

// Whether the norm is compared with that of the residual of the guess: also where b is 0 in all rows but those of known values, which a
// kept preconditioner is masked for.
static bool from_guess(const Claim &c) {
  PC pc;
  PetscBool kept;
  ok(KSPGetPC(c.ksp, &pc));
  ok(PCGetReusePreconditioner(pc, &kept));
  bool zero = kept;
  for (std::size_t i = 0; i < c.b->size(); ++i) zero &= (*c.b)[i] == 0 || of_identity(c.problem->A, i) != 0;
  return zero || by_first_residual(c.ksp);
}

// Whether M makes the same of v where that is scaled: else its numbers underflow, or are rounding errors, and what it makes of anything
// is chance.
static bool is_linear(const Norm &measure, const Longs &v) {
  Long least = measure(v), most = least;
  for (const Long largest : {1e-30L, 1e30L}) {
    const Long is = measure(v, false, largest);
    least = std::min(least, is), most = std::max(most, is);
  }
  return most <= 2 * least;
}

// iterates: what they had to be rounded, as in Residual
static std::string compare(const Claim &c, bool projected, const Longs &iterates = {}, bool own_loop = false) {
  const Norm measure(c, own_loop);
  PetscReal rtol, atol;
  ok(KSPGetTolerances(c.ksp, &rtol, &atol, nullptr, nullptr));
  Residual last = residual(c, &c.x, projected);
  const Residual first = residual(c, c.guess && !c.guess->empty() ? c.guess : nullptr, projected);
  const Residual rhs = residual(c, nullptr, false); // as KSPConvergedDefault() takes it
  for (Long value : last.r)
    if (!std::isfinite(value)) return "converged, but the residual is not finite";
  const Long eps = std::numeric_limits<double>::epsilon(), tiny = 1e-150L; // whose square is 0
  Long reference = std::max({measure(rhs.r), measure(first.r), measure.of_rhs(rhs.r)});
  if (from_guess(c)) {
    const reference::Vector known = with_known_values(c);
    reference = std::max(reference, measure(residual(c, &known, projected).r));
  }
  if (norm(rhs.r) > 1e150L) return "";      // doubles cannot have its square
  if (!std::isfinite(reference)) return ""; // M overflows for b already: there is nothing to compare with
  // a recurrence's residual leaves the true one by rounding errors of all iterates
  for (std::size_t i = 0; i < last.rounded.size(); ++i) last.rounded[i] += first.rounded[i];
  for (std::size_t i = 0; i < iterates.size(); ++i) last.rounded[i] = std::max(last.rounded[i], iterates[i]);
  const auto forgiven = [](Long size) {
    return std::isnan(size) ? 0 : size;
  }; // nothing where M has no numbers for them
  Long rounding = forgiven(lost(c) * std::max(measure(signs(last.rounded)), measure(last.rounded)));
  if (measure.type() == KSP_NORM_NATURAL) rounding += forgiven(std::sqrt(1e3L * eps) * measure(signs(last.r), true));
  const Long fits = 100 * std::max(Long(rtol) * reference, Long(atol)) + rounding + tiny;
  const Long is = measure(last.r);
  if (!(is <= fits) && is_linear(measure, last.r) && is_linear(measure, rhs.r))
    return said("converged, but the true residual in the norm of the test is", is, fits);
  return "";
}

// The largest that has to be rounded of all iterates of a solve: a recurrence leaves the true residual by their rounding errors.
struct Iterates {
  Claim of;
  Longs rounded;
};
static PetscErrorCode look_at_iterate(KSP ksp, PetscInt, PetscReal, void *context) {
  auto &all = *static_cast<Iterates *>(context);
  Vec x;
  if (PetscErrorCode error = KSPBuildSolution(ksp, nullptr, &x)) return error;
  const reference::Vector values = all.of.numbering->values(x);
  const Longs rounded = residual(all.of, &values, false).rounded;
  all.rounded.resize(rounded.size(), 0);
  for (std::size_t i = 0; i < rounded.size(); ++i) all.rounded[i] = std::max(all.rounded[i], rounded[i]);
  return 0;
}

// Whether the recurrence leaves the true residual as well with a dense matrix in the place of the preconditioner, and with PETSc's CG in
// that of KSPRRB, or has iterates by which it may: where M is far from A^-1, as one of another matrix is, or where KSPGCR divides what is
// left of A p beside those before by its norm, rounding errors and all.
static bool drifts_by_itself(const Claim &c) {
  PC pc;
  Mat A;
  KSPType type;
  KSPNormType norm;
  PCSide side;
  PetscReal rtol, atol;
  PetscInt most;
  PetscBool rrb, gcr;
  ok(KSPGetType(c.ksp, &type));
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPRRB, &rrb));
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPGCR, &gcr));
  ok(KSPGetPC(c.ksp, &pc));
  ok(KSPGetPCSide(c.ksp, &side));
  ok(KSPGetNormType(c.ksp, &norm));
  ok(KSPGetOperators(c.ksp, &A, nullptr));
  ok(KSPGetTolerances(c.ksp, &rtol, &atol, nullptr, &most));
  Matrix M;
  Solver dense;
  ok(PCComputeOperator(pc, MATDENSE, M.put()));
  Mat P; // of whose null spaces KSP knows, too
  MatNullSpace null;
  ok(PCGetOperators(pc, nullptr, &P));
  ok(MatGetNullSpace(P, &null));
  if (null) ok(MatSetNullSpace(M, null));
  ok(MatGetTransposeNullSpace(P, &null));
  if (null) ok(MatSetTransposeNullSpace(M, null));
  ok(KSPCreate(PetscObjectComm((PetscObject)c.ksp), dense.put()));
  ok(KSPSetOperators(dense, A, M));
  ok(KSPSetType(dense, rrb ? KSPCG : type));
  ok(KSPSetPCSide(dense, side));
  ok(KSPSetNormType(dense, norm));
  if (gcr) {
    PetscInt restart;
    ok(KSPGCRGetRestart(c.ksp, &restart));
    ok(KSPGCRSetRestart(dense, restart));
  }
  ok(KSPSetTolerances(dense, rtol, atol, PETSC_DEFAULT, most));
  ok(KSPGetPC(dense, &pc));
  ok(PCSetType(pc, PCMAT));
  const bool guess = c.guess && !c.guess->empty();
  const Vector b = c.numbering->vector(*c.b, A, true),
               x = c.numbering->vector(guess ? *c.guess : reference::Vector(), A, false);
  ok(KSPSetInitialGuessNonzero(dense, guess ? PETSC_TRUE : PETSC_FALSE));
  Iterates iterates{c, {}};
  ok(KSPMonitorSet(dense, look_at_iterate, &iterates, nullptr));
  ok(c.transposed ? KSPSolveTranspose(dense, b, x) : KSPSolve(dense, b, x));
  KSPConvergedReason reason;
  ok(KSPGetConvergedReason(dense, &reason));
  if (compare(c, false, iterates.rounded).empty()) return true;
  Claim other = c;
  other.ksp = dense;
  other.x = c.numbering->values(x);
  return reason > 0 && !compare(other, false).empty();
}

// KSP takes the null space of the matrix that the preconditioner is made of out of b, whether it is one of A or not.
static bool solves_projected(const Claim &c) {
  Mat A, P;
  MatNullSpace null;
  ok(KSPGetOperators(c.ksp, &A, &P));
  if (A == P) return false;
  ok(MatGetNullSpace(P, &null));
  if (!null) ok(MatGetTransposeNullSpace(P, &null));
  if (!null) return false;
  reference::Vector b = *c.b;
  Long mean = 0;
  for (const double value : b) mean += Long(value) / b.size();
  for (double &value : b) value = double(value - mean);
  Claim other = c;
  other.b = &b;
  return compare(other, false).empty();
}

// KSPCG takes z . r = 0 for the end. Where M r is far smaller than what deflation adds, as with -pc_type none and a matrix of 1e-30, z is
// rounding errors of that, and they have no share of r; and where it is a method that ends by its absolute tolerance, z is 0.
static bool ends_by_rounding(const Claim &c) {
  PC pc;
  ok(KSPGetPC(c.ksp, &pc));
  if ((!is_deflated(c.ksp) && !varies(pc)) || c.transposed) return false;
  const Residual last = residual(c, &c.x, false);
  const Long size = norm(last.r);
  if (!(size > 0)) return false;
  reference::Vector r(last.r.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = double(last.r[i] / size);
  const reference::Vector z = preconditioned(c, pc, r);
  Long product = 0, square = 0;
  for (std::size_t i = 0; i < r.size(); ++i) product += Long(z[i]) * r[i], square += Long(z[i]) * z[i];
  return std::fabs(product) <= 1e-12L * std::sqrt(square);
}

std::string judge(const Claim &c) {
  KSPConvergedReason reason;
  ok(KSPGetConvergedReason(c.ksp, &reason));
  const bool by_residual =
      reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_ATOL || reason == KSP_CONVERGED_HAPPY_BREAKDOWN;
  if (!by_residual || c.problem->columns != c.problem->size()) return "";
  const std::string numbers = judge_numbers(c);
  if (!numbers.empty()) return "converged, but " + numbers;
  const auto finite = [](double x) { return std::isfinite(x); };
  if (c.guess && !std::all_of(c.guess->begin(), c.guess->end(), finite)) return ""; // nobody has looked at it
  if (!std::all_of(c.x.begin(), c.x.end(), finite)) return "";
  if (!Norm(c).known() || estimates(c.ksp) || leaves_early(c)) return "";
  if (is_deflated(c.ksp) && by_first_residual(c.ksp)) return ""; // which is that of a guess nobody tells
  PetscBool rrb, gcr;
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPRRB, &rrb));
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPGCR, &gcr));
  if ((is_gmres(c.ksp) || gcr || is_multigrid(c.ksp)) && !is_in_range(c)) return "";
  if (!rrb && !has_solution(c)) return ""; // what is taken out of z need not be what a preconditioner makes of it
  const std::string is = compare(c, false);
  if (is.empty() || estimates_nothing(c) || divides_by_rounding(c) || quotients_vanish(c) || solves_projected(c))
    return "";
  if (is_not_symmetric_for(c.ksp, c.problem->A)) return "";
  if (reason == KSP_CONVERGED_ATOL && ends_by_rounding(c)) return "";
  if (may_be_own_loop(c.ksp) && compare(c, false, {}, true).empty()) return "";
  // of a singular system KSP may have solved the part that has a solution
  const bool fits = !c.problem->null_space.empty() && compare(c, true).empty();
  return fits || drifts_by_itself(c) ? "" : is;
}

} // namespace longtest
