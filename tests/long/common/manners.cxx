// What methods do of themselves, and where a system leaves them no way to know.
#include "manners.hpp"

#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace longtest {

bool is_gmres(KSP ksp) {
  PetscBool gmres;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &gmres, KSPGMRES, KSPFGMRES, KSPLGMRES, KSPDGMRES, KSPPGMRES, ""));
  return gmres;
}

bool is_multigrid(KSP ksp) {
  PC pc;
  PetscBool mg;
  ok(KSPDeflationGetPC(ksp, &pc));
  ok(PetscObjectTypeCompareAny((PetscObject)pc, &mg, PCMG, PCGAMG, ""));
  return mg;
}

bool is_deflated(KSP ksp) {
  PC pc, inside;
  ok(KSPGetPC(ksp, &pc));
  ok(KSPDeflationGetPC(ksp, &inside)); // of another KSP, too, that has its PC
  return pc != inside;
}

// Methods whose residual is no more than an estimate, or one of the normal equations.
bool estimates(KSP ksp) {
  PetscBool is;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &is, KSPTFQMR, KSPCGS, KSPCGNE, KSPSYMMLQ, KSPLSQR, KSPQCG, KSPBICG,
                               KSPBCGSL, KSPMINRES, ""));
  return is;
}

// Its preconditioner, or something inside of that, is in single precision: M (v + w) is M v + M w but for its rounding.
static bool is_single(const Claim &c) {
  const std::size_t n = c.b->size();
  reference::Vector v(n), w(n), both(n);
  Random random(2, n); // the same on all ranks
  for (std::size_t i = 0; i < n; ++i) v[i] = random.between(-1, 1), w[i] = random.between(-1, 1), both[i] = v[i] + w[i];
  PC pc;
  ok(KSPGetPC(c.ksp, &pc));
  const reference::Vector of_v = preconditioned(c, pc, v), of_w = preconditioned(c, pc, w),
                          of_both = preconditioned(c, pc, both);
  Longs differ(n), all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = of_both[i], differ[i] = all[i] - of_v[i] - of_w[i];
  return norm(differ) > 1e-10L * norm(all);
}

// Products by recurrences, whose rounding errors grow (Cools, Yetkin, Agullo, Giraud, Vanroose, SIAM J. Matrix Anal. Appl. 39, 2018).
static bool is_pipelined(KSP ksp) {
  PetscBool pipelined;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &pipelined, KSPPIPECG, KSPPIPECR, KSPPIPELCG, KSPPIPEPRCG, KSPPIPECG2,
                               KSPPIPECGRR, KSPPIPEFCG, KSPGROPPCG, ""));
  return pipelined;
}

// A preconditioner in single precision, or of another matrix, leaves them soon.
bool leaves_early(const Claim &c) { return is_pipelined(c.ksp) && (is_single(c) || !c.own_matrix); }

// What a recurrence may lose, of the numbers that it adds up. bcgs and cr add up what comes from the preconditioner, rounded as it
// is, and bcgs and gmres on the right what goes into it: it is linear but for rounding. In double precision the same solves end in
// true solutions.
Long lost(const Claim &c) {
  PetscBool adds_up;
  ok(PetscObjectTypeCompareAny((PetscObject)c.ksp, &adds_up, KSPBCGS, KSPCR, KSPGMRES, ""));
  if (adds_up && is_single(c)) return 1e2L * std::numeric_limits<float>::epsilon();
  return (is_pipelined(c.ksp) ? 1e9L : 1e5L) * std::numeric_limits<double>::epsilon();
}

// Its preconditioner is no linear operator.
bool varies(PC pc) {
  PetscBool varies;
  ok(PetscObjectTypeCompareAny((PetscObject)pc, &varies, PCKSP, PCREDUNDANT, PCBJACOBI, PCASM, ""));
  return varies;
}

// Whether KSPRICHARDSON may have left its iteration to the preconditioner.
bool may_be_own_loop(KSP ksp) {
  PC pc;
  PetscBool richardson, has_one;
  ok(KSPGetPC(ksp, &pc));
  ok(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &richardson));
  ok(PetscObjectTypeCompareAny((PetscObject)pc, &has_one, PCMG, PCGAMG, PCBLOCKRELAX, ""));
  return richardson && has_one;
}

bool by_first_residual(KSP ksp) {
  const char *prefix;
  PetscBool is = PETSC_FALSE;
  ok(KSPGetOptionsPrefix(ksp, &prefix));
  ok(PetscOptionsHasName(nullptr, prefix, "-ksp_converged_use_initial_residual_norm", &is));
  return is;
}

// The smallest and the largest absolute value of what is not 0 in the matrix.
static std::pair<double, double> range(const reference::Matrix &A) {
  double least = INFINITY, most = 0;
  for (const auto &row : A.row)
    for (const auto &[j, a] : row)
      if (a != 0) least = std::min(least, std::fabs(a)), most = std::max(most, std::fabs(a));
  return {least, most};
}

// The solution itself may; and bcgs and bcgsl add steps to x whose size their residual does not show. They are products of two that a matrix may
// make as large as its entries differ.
bool may_overflow(const Claim &c) {
  PetscBool bcgs;
  const auto [least, most] = range(c.problem->A);
  ok(PetscObjectTypeCompareAny((PetscObject)c.ksp, &bcgs, KSPBCGS, KSPBCGSL, ""));
  double size = 0;
  for (double b : *c.b) size = std::max(size, std::fabs(b));
  return std::log10(size) - std::log10(least) > 290 || (bcgs && std::log10(most) - std::log10(least) > 150);
}

// A coupling beside a diagonal entry that is more than 1e300 times as large: their quotient, which KSPRRB's own iteration has, is 0.
bool quotients_vanish(const Claim &c) {
  PetscBool rrb;
  const auto [least, most] = range(c.problem->A);
  ok(PetscObjectTypeCompare((PetscObject)c.ksp, KSPRRB, &rrb));
  return rrb && std::log10(most) - std::log10(least) > 300;
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

// The sum of b over each part of the matrix, at the part's first row, and 0 at its others.
static Longs sums(const Claim &c, const std::vector<int> &part) {
  Longs sum(part.size(), 0);
  for (std::size_t i = 0; i < part.size(); ++i) sum[part[i]] += (*c.b)[i];
  return sum;
}

static constexpr Long rounded_zero = 1e-12L;

// Where constants are attached, they are null vectors on each part of the matrix, whether somebody knows of the parts or not.
bool has_solution(const Claim &c) {
  if (c.problem->null_space.empty()) return true;
  const std::vector<int> part = parts(c.problem->A);
  Longs sum = sums(c, part), rows(part.size(), 0);
  for (const int first : part) ++rows[first];
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= std::sqrt(std::max(rows[i], Long(1)));
  return norm(sum) <= rounded_zero * norm(Longs(c.b->begin(), c.b->end()));
}

// Whether b is orthogonal to rows of zeros and to constants where the columns of a part add up to 0, whether somebody knows of that or not.
// GMRES and GCR divide A M v, where it is a rounding error, by its norm, and GMRES takes the end of its space for a solution; PETSc's
// multigrid shifts pivots.
bool is_in_range(const Claim &c) {
  const std::vector<int> part = parts(c.problem->A);
  const std::size_t rows = part.size();
  Longs column(rows, 0), largest(rows, 0); // the sums of columns, and what is added up
  std::vector<bool> zero(rows, true), singular(rows, true);
  each_entry(c, [&](std::size_t to, std::size_t from, Long a) {
    column[from] += a, largest[from] = std::max(largest[from], std::fabs(a));
    zero[to] = false;
  });
  for (std::size_t i = 0; i < rows; ++i)
    if (!(std::fabs(column[i]) <= rounded_zero * largest[i])) singular[part[i]] = false;
  const Longs sum = sums(c, part);
  const Long size = norm(Longs(c.b->begin(), c.b->end()));
  for (std::size_t i = 0; i < rows; ++i)
    if ((zero[i] && (*c.b)[i] != 0) || (singular[i] && std::fabs(sum[i]) > rounded_zero * size)) return false;
  return true;
}

// Known values whose columns are kept leave a matrix that is not symmetric to trust region methods, which start from zero, and where the
// preconditioner is PETSc's, which knows nothing of them.
bool is_not_symmetric_for(KSP ksp, const reference::Matrix &A) {
  PetscBool trust_region;
  ok(PetscObjectTypeCompareAny((PetscObject)ksp, &trust_region, KSPNASH, KSPSTCG, KSPGLTR, ""));
  if (!trust_region && !is_multigrid(ksp)) return false;
  for (int i = 0; i < A.size(); ++i)
    for (const auto &[j, a] : A.row[i])
      if (a != A.at(j, i)) return true;
  return false;
}

bool estimates_nothing(const Claim &c) { return is_multigrid(c.ksp) && range(c.problem->A).second > 1e45; }

// Where a null vector is not attached, PETSc's multigrid has a pivot that is a rounding error on its coarsest grid, and M r is anything.
bool divides_by_rounding(const Claim &c) {
  if (!is_multigrid(c.ksp)) return false;
  PC pc;
  ok(KSPGetPC(c.ksp, &pc));
  const reference::Vector z = preconditioned(c, pc, *c.b);
  return norm(Longs(z.begin(), z.end())) * range(c.problem->A).second > 1e12L * norm(Longs(c.b->begin(), c.b->end()));
}

} // namespace longtest
