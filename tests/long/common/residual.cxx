// The true residual in higher precision, and a solver's norms of it.
#include "residual.hpp"

#include "manners.hpp"

#include <algorithm>
#include <cmath>

namespace longtest {

// Constants, which KSP takes out of what the preconditioner gives, and out of b where the matrix is known to be symmetric.
static void project(const Problem &p, Longs &v) {
  if (p.null_space.empty() || v.empty()) return;
  Long sum = 0;
  for (Long value : v) sum += value;
  for (Long &value : v) value -= sum / v.size();
}

Residual residual(const Claim &c, const reference::Vector *x, bool projected) {
  Residual out;
  Long mean = 0; // KSP takes the constant out of b in double precision, where a large number makes small ones wrong
  if (!c.problem->null_space.empty())
    for (double b : *c.b) mean += std::fabs(Long(b)) / c.b->size();
  for (double b : *c.b) out.r.push_back(b), out.rounded.push_back(std::fabs(Long(b)) + mean);
  if (!x) {
    if (projected) project(*c.problem, out.r);
    return out;
  }
  each_entry(c, [&](std::size_t to, std::size_t from, Long a) {
    out.r[to] -= a * (*x)[from];
    out.rounded[to] += std::fabs(a * (*x)[from]);
  });
  if (projected) project(*c.problem, out.r);
  return out;
}

Long norm(const Longs &v) {
  Long sum = 0;
  for (Long value : v) sum += value * value;
  return std::sqrt(sum);
}

reference::Vector preconditioned(const Claim &c, PC pc, const reference::Vector &v) {
  Mat P;
  ok(PCGetOperators(pc, nullptr, &P));
  const Vector in = c.numbering->vector(v, P, true), out = c.numbering->vector({}, P, false);
  ok(c.transposed ? PCApplyTranspose(pc, in, out) : PCApply(pc, in, out));
  return c.numbering->values(out);
}

static Longs product(const Claim &c, const Longs &x) {
  Longs y(x.size(), 0);
  each_entry(c, [&](std::size_t to, std::size_t from, Long a) { y[to] += a * x[from]; });
  return y;
}

Norm::Norm(const Claim &c, bool own_loop) : c_(c) {
  PCSide side;
  ok(KSPGetNormType(c.ksp, &type_));
  ok(KSPGetPCSide(c.ksp, &side));
  ok(KSPGetPC(c.ksp, &pc_));
  if (side == PC_RIGHT && type_ == KSP_NORM_PRECONDITIONED) type_ = KSP_NORM_UNPRECONDITIONED;
  if (own_loop) type_ = KSP_NORM_UNPRECONDITIONED;
  // of GMRES they may make a residual that is none
  if (varies(pc_) && (type_ != KSP_NORM_UNPRECONDITIONED || is_gmres(c.ksp))) type_ = KSP_NORM_NONE;
  PetscBool conjugate_residuals;
  ok(PetscObjectTypeCompareAny((PetscObject)c.ksp, &conjugate_residuals, KSPCR, KSPPIPECR, ""));
  by_products_ = conjugate_residuals;
  known_ = type_ == KSP_NORM_UNPRECONDITIONED || (type_ != KSP_NORM_NONE && side == PC_LEFT);
}

Long Norm::operator()(const Longs &v, bool absolute, Long largest) const {
  if (type_ == KSP_NORM_UNPRECONDITIONED || v.empty()) return norm(v);
  Long size = 0; // PETSc's vectors are of doubles
  for (Long value : v) size = std::max(size, std::fabs(value));
  if (!(size > 0) || !std::isfinite(size)) return size;
  size /= largest;
  reference::Vector scaled(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) scaled[i] = double(v[i] / size);
  const reference::Vector made = preconditioned(c_, pc_, scaled);
  Longs z(made.begin(), made.end());
  project(*c_.problem, z);
  if (type_ == KSP_NORM_PRECONDITIONED) return size * norm(z);
  const Longs other = by_products_ ? product(c_, z) : Longs(scaled.begin(), scaled.end());
  Long square = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const Long term = z[i] * other[i];
    square += absolute ? std::fabs(term) : term;
  }
  return size * std::sqrt(std::fabs(square));
}

Long Norm::of_rhs(const Longs &v) const {
  Norm plain(*this);
  plain.by_products_ = false;
  ok(KSPDeflationGetPC(c_.ksp, &plain.pc_)); // of another KSP, too, that has its PC
  return plain(v);
}

} // namespace longtest
