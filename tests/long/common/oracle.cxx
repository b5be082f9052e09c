// Whether what a solver says of its solution is true.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace longtest {

namespace {

using Long = long double; // its exponents hold what doubles overflow to
using Longs = std::vector<Long>;

struct Residual {
  Longs r;       // b - A x
  Longs rounded; // the numbers whose rounding errors r may have
};

// Constants, which KSP takes out of what the preconditioner gives, and out of b where the matrix is known to be symmetric.
void project(const Problem &p, Longs &v) {
  if (p.null_space.empty() || v.empty()) return;
  Long sum = 0;
  for (Long value : v) sum += value;
  for (Long &value : v) value -= sum / v.size();
}

Residual residual(const Claim &c, const reference::Vector *x, bool projected) {
  Residual out;
  const auto &rows = c.problem->A.row;
  const int n = int(rows.size());
  Long mean = 0; // KSP takes the constant out of b in double precision, where a large number makes small ones wrong
  if (!c.problem->null_space.empty())
    for (double b : *c.b) mean += std::fabs(Long(b)) / c.b->size();
  for (double b : *c.b) out.r.push_back(b), out.rounded.push_back(std::fabs(Long(b)) + mean);
  if (!x) {
    if (projected) project(*c.problem, out.r);
    return out;
  }
  for (int i = 0; i < n; ++i)
    for (const auto &[j, a] : rows[i]) {
      const int to = c.transposed ? j : i, from = c.transposed ? i : j;
      if (a == 0) continue;
      out.r[to] -= Long(a) * (*x)[from];
      out.rounded[to] += std::fabs(Long(a) * (*x)[from]);
    }
  if (projected) project(*c.problem, out.r);
  return out;
}

Long norm(const Longs &v) {
  Long sum = 0;
  for (Long value : v) sum += value * value;
  return std::sqrt(sum);
}

bool is_gmres(KSP ksp) {
  PetscBool gmres;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &gmres, KSPGMRES, KSPFGMRES, KSPLGMRES, KSPDGMRES, KSPPGMRES, ""));
  return gmres;
}

// A solver's norms of vectors, with its preconditioner.
class Norm {
public:
  // own_loop: that of a preconditioner's own Richardson iteration, which looks at the residual itself
  explicit Norm(const Claim &c, bool own_loop = false) : c_(c) {
    PCSide side;
    ok(KSPGetNormType(c.ksp, &type_));
    ok(KSPGetPCSide(c.ksp, &side));
    ok(KSPGetPC(c.ksp, &pc_));
    if (side == PC_RIGHT && type_ == KSP_NORM_PRECONDITIONED) type_ = KSP_NORM_UNPRECONDITIONED;
    PetscBool varies;
    if (own_loop) type_ = KSP_NORM_UNPRECONDITIONED;
    ok(PetscObjectTypeCompareAny((PetscObject)pc_, &varies, PCKSP, PCREDUNDANT, PCBJACOBI, PCASM, ""));
    // inner methods that are not linear: of GMRES they may make a residual that is none
    if (varies && (type_ != KSP_NORM_UNPRECONDITIONED || is_gmres(c.ksp))) type_ = KSP_NORM_NONE;
    known_ = type_ == KSP_NORM_UNPRECONDITIONED || (type_ != KSP_NORM_NONE && side == PC_LEFT);
  }
  bool known() const { return known_; }
  KSPNormType type() const { return type_; }

  // of a natural norm's square `absolute` takes the sum without cancellation; the preconditioner gets v with a largest number of `largest`
  Long operator()(const Longs &v, bool absolute = false, Long largest = 1) const {
    if (type_ == KSP_NORM_UNPRECONDITIONED || v.empty()) return norm(v);
    Long size = 0; // PETSc's vectors are of doubles
    for (Long value : v) size = std::max(size, std::fabs(value));
    if (!(size > 0) || !std::isfinite(size)) return size;
    size /= largest;
    reference::Vector scaled(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) scaled[i] = double(v[i] / size);
    Mat P;
    ok(PCGetOperators(pc_, nullptr, &P));
    const Vector in = c_.numbering->vector(scaled, P, true), out = c_.numbering->vector({}, P, false);
    if (c_.transposed)
      ok(PCApplyTranspose(pc_, in, out));
    else
      ok(PCApply(pc_, in, out));
    const reference::Vector z = c_.numbering->values(out);
    Longs preconditioned(z.begin(), z.end());
    project(*c_.problem, preconditioned);
    if (type_ == KSP_NORM_PRECONDITIONED) return size * norm(preconditioned);
    Long product = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const Long term = preconditioned[i] * scaled[i];
      product += absolute ? std::fabs(term) : term;
    }
    return size * std::sqrt(std::fabs(product));
  }

  // With the preconditioner inside of a deflation, where there is one: it makes the norm of b that tolerances refer to.
  Long inner(const Longs &v) const {
    Norm inside(*this);
    ok(KSPDeflationGetPC(c_.ksp, &inside.pc_)); // of another KSP, too, that has its PC
    return inside.pc_ == pc_ ? 0 : inside(v);
  }

private:
  const Claim &c_;
  KSPNormType type_;
  PC pc_;
  bool known_;
};

std::string said(const char *what, Long is, Long most) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %.3Lg where at most %.3Lg fits", what, is, most);
  return text;
}

Longs signs(const Longs &v) { // any signs, the same on all ranks
  Longs out(v);
  Random random(1, v.size());
  for (Long &value : out)
    if (random.chance(0.5)) value = -value;
  return out;
}

// The solution itself may; and bcgs and bcgsl add steps to x whose size their residual does not show. They are products of two that a matrix may
// make as large as its entries differ.
bool may_overflow(const Claim &c) {
  PetscBool bcgs;
  double least = INFINITY, most = 0;
  ok(PetscObjectTypeCompareAny((PetscObject)c.ksp, &bcgs, KSPBCGS, KSPBCGSL, ""));
  for (const auto &row : c.problem->A.row)
    for (const auto &[j, a] : row)
      if (a != 0) least = std::min(least, std::fabs(a)), most = std::max(most, std::fabs(a));
  double size = 0;
  for (double b : *c.b) size = std::max(size, std::fabs(b));
  return std::log10(size) - std::log10(least) > 290 || (bcgs && std::log10(most) - std::log10(least) > 150);
}

// Convergence cannot be told from numbers that are none.
std::string judge_numbers(const Claim &c) {
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

} // namespace

// Methods whose residual is no more than an estimate, or one of the normal equations.
static bool estimates(KSP ksp) {
  PetscBool is;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &is, KSPTFQMR, KSPCGS, KSPCGNE, KSPSYMMLQ, KSPLSQR, KSPQCG, KSPBICG,
                               KSPBCGSL, KSPMINRES, ""));
  return is;
}

// Its preconditioner, or that inside of its deflation, is in single precision.
static bool is_single(KSP ksp) {
  PC pc;
  PetscBool gridmg;
  PCGridMGPrecision precision = PC_GRIDMG_PRECISION_DOUBLE;
  ok(KSPDeflationGetPC(ksp, &pc));
  ok(PetscObjectTypeCompare((PetscObject)pc, PCGRIDMG, &gridmg));
  if (gridmg) ok(PCGridMGGetPrecision(pc, &precision));
  return precision != PC_GRIDMG_PRECISION_DOUBLE;
}

// Products by recurrences, whose rounding errors grow (Cools, Yetkin, Agullo, Giraud, Vanroose, SIAM J. Matrix Anal. Appl. 39, 2018).
static bool is_pipelined(KSP ksp) {
  PetscBool pipelined;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &pipelined, KSPPIPECG, KSPPIPECR, KSPPIPELCG, KSPPIPEPRCG, KSPPIPECG2,
                               KSPPIPECGRR, KSPPIPEFCG, KSPGROPPCG, ""));
  return pipelined;
}

// A preconditioner in single precision leaves them soon.
static bool leaves_early(KSP ksp) { return is_pipelined(ksp) && is_single(ksp); }

// What a recurrence may lose, of the numbers that it adds up. bcgs and cr add up what comes from the preconditioner, rounded as it
// is, and bcgs and gmres on the right what goes into it: it is linear but for rounding. In double precision the same solves end in
// true solutions.
static Long lost(KSP ksp) {
  PetscBool adds_up;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &adds_up, KSPBCGS, KSPCR, KSPGMRES, ""));
  if (adds_up && is_single(ksp)) return 1e2L * std::numeric_limits<float>::epsilon();
  return (is_pipelined(ksp) ? 1e9L : 1e5L) * std::numeric_limits<double>::epsilon();
}

// The first row of each row's part of the matrix: rows that are connected.
static std::vector<int> parts(const reference::Matrix &A) {
  std::vector<int> part(std::size_t(A.size()));
  std::iota(part.begin(), part.end(), 0);
  const auto first = [&](int i) {
    while (part[i] != i) i = part[i] = part[part[i]];
    return i;
  };
  for (int i = 0; i < A.size(); ++i)
    for (const auto &[j, a] : A.row[i])
      if (a != 0) part[std::max(first(i), first(j))] = std::min(first(i), first(j));
  for (int i = 0; i < A.size(); ++i) part[i] = first(i);
  return part;
}

// Else GMRES divides A M v, a rounding error where M r has nothing but what a zero row is to equal, by its norm; and PETSc's multigrid
// shifts pivots.
static bool zero_rows_have_solution(const Claim &c) {
  for (std::size_t i = 0; i < c.b->size(); ++i) {
    const auto &row = c.problem->A.row[i];
    const bool zero = std::all_of(row.begin(), row.end(), [](const auto &entry) { return entry.second == 0; });
    if (zero && (*c.b)[i] != 0) return false;
  }
  return true;
}

// Where constants are attached, they are null vectors on each part of the matrix, whether somebody knows of the parts or not.
static bool has_solution(const Claim &c) {
  if (c.problem->null_space.empty()) return true;
  const Longs b(c.b->begin(), c.b->end());
  const std::vector<int> part = parts(c.problem->A);
  Longs sum(b.size(), 0), rows(b.size(), 0);
  for (std::size_t i = 0; i < b.size(); ++i) sum[part[i]] += b[i], ++rows[part[i]];
  for (std::size_t i = 0; i < b.size(); ++i) sum[i] /= std::sqrt(std::max(rows[i], Long(1)));
  return norm(sum) <= 1e-12L * norm(b);
}

// The guess with the values that identity rows say.
static reference::Vector with_known_values(const Claim &c) {
  const auto &rows = c.problem->A.row;
  reference::Vector x(c.guess ? *c.guess : reference::Vector());
  x.resize(rows.size(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double diagonal = 0;
    bool identity = true;
    for (const auto &[j, a] : rows[i])
      if (std::size_t(j) == i)
        diagonal = a;
      else if (a != 0)
        identity = false;
    if (identity && diagonal != 0) x[i] = (*c.b)[i] / diagonal;
  }
  return x;
}

static bool by_first_residual(KSP ksp) {
  const char *prefix;
  PetscBool is = PETSC_FALSE;
  ok(KSPGetOptionsPrefix(ksp, &prefix));
  ok(PetscOptionsHasName(nullptr, prefix, "-ksp_converged_use_initial_residual_norm", &is));
  return is;
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
  Long reference = std::max({measure(rhs.r), measure(first.r), measure.inner(rhs.r)});
  if (by_first_residual(c.ksp)) {
    const reference::Vector known = with_known_values(c);
    reference = std::max(reference, measure(residual(c, &known, projected).r));
  }
  if (norm(rhs.r) > 1e150L) return "";      // doubles cannot have its square
  if (!std::isfinite(reference)) return ""; // M overflows for b already: there is nothing to compare with
  // a recurrence's residual leaves the true one by rounding errors of all iterates
  for (std::size_t i = 0; i < last.rounded.size(); ++i) last.rounded[i] += first.rounded[i];
  for (std::size_t i = 0; i < iterates.size(); ++i) last.rounded[i] = std::max(last.rounded[i], iterates[i]);
  Long rounding = lost(c.ksp) * std::max(measure(signs(last.rounded)), measure(last.rounded));
  if (std::isnan(rounding)) rounding = 0; // M has no numbers for them: nothing is forgiven
  if (measure.type() == KSP_NORM_NATURAL) rounding += std::sqrt(1e3L * eps) * measure(signs(last.r), true);
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

// Whether KSPRICHARDSON may have left its iteration to the preconditioner.
static bool may_be_own_loop(KSP ksp) {
  PC pc;
  PetscBool richardson, has_one;
  ok(KSPGetPC(ksp, &pc));
  ok(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  ok(PetscObjectTypeCompareAny((PetscObject)pc, &has_one, PCMG, PCGAMG, PCBLOCKRELAX, ""));
  return richardson && has_one;
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
// rounding errors of that, and they have no share of r.
static bool ends_by_rounding(const Claim &c) {
  PC pc, inside;
  Mat P;
  ok(KSPGetPC(c.ksp, &pc));
  ok(KSPDeflationGetPC(c.ksp, &inside));
  if (pc == inside || c.transposed) return false;
  const Residual last = residual(c, &c.x, false);
  const Long size = norm(last.r);
  if (!(size > 0)) return false;
  reference::Vector r(last.r.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = double(last.r[i] / size);
  ok(PCGetOperators(pc, nullptr, &P));
  const Vector in = c.numbering->vector(r, P, true), out = c.numbering->vector({}, P, false);
  ok(PCApply(pc, in, out));
  const reference::Vector z = c.numbering->values(out);
  Long product = 0, square = 0;
  for (std::size_t i = 0; i < r.size(); ++i) product += Long(z[i]) * r[i], square += Long(z[i]) * z[i];
  return square > 0 && std::fabs(product) < 1e-12L * std::sqrt(square);
}

// Trust region methods start from zero, so that known values whose columns are kept leave them a matrix that is not symmetric.
static bool is_not_symmetric_for(KSP ksp, const reference::Matrix &A) {
  PetscBool trust_region;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &trust_region, KSPNASH, KSPSTCG, KSPGLTR, ""));
  if (!trust_region) return false;
  for (int i = 0; i < A.size(); ++i)
    for (const auto &[j, a] : A.row[i])
      if (a != A.at(j, i)) return true;
  return false;
}

static bool is_multigrid(KSP ksp) {
  PC pc;
  PetscBool mg;
  ok(KSPDeflationGetPC(ksp, &pc));
  ok(PetscObjectTypeCompareAny((PetscObject)pc, &mg, PCMG, PCGAMG, ""));
  return mg;
}

// A coupling beside a diagonal entry that is more than 1e300 times as large: their quotient, which KSPRRB's own iteration has, is 0.
static bool quotients_vanish(const Claim &c) {
  PetscBool rrb;
  double least = INFINITY, most = 0;
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPRRB, &rrb));
  for (const auto &row : c.problem->A.row)
    for (const auto &[j, a] : row)
      if (a != 0) least = std::min(least, std::fabs(a)), most = std::max(most, std::fabs(a));
  return rrb && std::log10(most) - std::log10(least) > 300;
}

bool estimates_nothing(const Claim &c) {
  double most = 0;
  for (const auto &row : c.problem->A.row)
    for (const auto &[j, a] : row) most = std::max(most, std::fabs(a));
  return is_multigrid(c.ksp) && most > 1e45;
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
  if (!Norm(c).known() || estimates(c.ksp) || leaves_early(c.ksp)) return "";
  PetscBool rrb;
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPRRB, &rrb));
  if ((is_gmres(c.ksp) || is_multigrid(c.ksp)) && !zero_rows_have_solution(c)) return "";
  if (!rrb && !has_solution(c)) return ""; // what is taken out of z need not be what a preconditioner makes of it
  const std::string is = compare(c, false);
  if (is.empty() || estimates_nothing(c) || quotients_vanish(c) || solves_projected(c)) return "";
  if (is_not_symmetric_for(c.ksp, c.problem->A)) return "";
  if (reason == KSP_CONVERGED_ATOL && ends_by_rounding(c)) return "";
  if (may_be_own_loop(c.ksp) && compare(c, false, {}, true).empty()) return "";
  // of a singular system KSP may have solved the part that has a solution
  const bool fits = !c.problem->null_space.empty() && compare(c, true).empty();
  return fits || drifts_by_itself(c) ? "" : is;
}

} // namespace longtest
