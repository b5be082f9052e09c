// E of a user's vectors inverted by LAPACK: by Cholesky, by eigenvectors where that finds null directions.
#include "ksp/deflation/core/user_inverse.hpp"
#include "grid/text.hpp"

#include <petscblaslapack.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace petscrrb::deflation {
namespace {

// Smaller eigenvalues of E, as a part of the largest, and pivots, as a part of their diagonal, are null directions.
constexpr PetscReal nothing = 1e-12;

// Why e cannot be the E of a symmetric matrix. Makes e symmetric.
std::string why_refused(std::vector<PetscScalar> &e, std::size_t n) {
  PetscReal largest = 0, skew = 0;
  bool finite = true;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      PetscScalar &a = e[j * n + i], &b = e[i * n + j];
      finite = finite && std::isfinite(a) && std::isfinite(b);
      largest = std::max(largest, std::abs(a));
      skew = std::max(skew, std::abs(a - b));
      a = b = 0.5 * (a + b);
    }
  if (!finite) return "E = Z^T A Z is not finite";
  if (skew > 1e-8 * largest) return "it is not symmetric, as E = Z^T A Z shows, and deflation needs a symmetric one";
  return "";
}

// Columns of Z that depend on one another, and a singular A, are no errors.
void pseudo_invert(std::vector<PetscScalar> &e, PetscBLASInt n, PetscReal floor, UserInverse &made) {
  PetscBLASInt most = 34 * n, info;
  std::vector<PetscReal> value(n);
  std::vector<PetscScalar> work(most), inverse(e.size(), 0.0);
  LAPACKsyev_("V", "U", &n, e.data(), &n, value.data(), work.data(), &most, &info);
  if (info) throw std::runtime_error("Error in LAPACK's xSYEV: info " + text(index_t(info)));
  const PetscReal least = std::max(nothing * value[n - 1], floor);
  if (value[0] < -least) {
    made.why = "E = Z^T A Z is not positive definite: it has the eigenvalue " + text(value[0]);
    made.result = Result::failed;
    return;
  }
  for (PetscInt k = 0; k < n; ++k) {
    if (value[k] <= least) {
      ++made.null_directions;
      continue;
    }
    const PetscScalar *v = e.data() + std::size_t(k) * n;
    for (PetscInt j = 0; j < n; ++j)
      for (PetscInt i = 0; i < n; ++i) inverse[std::size_t(j) * n + i] += v[i] * v[j] / value[k];
  }
  e = inverse;
}

} // namespace

UserInverse invert_user(std::vector<PetscScalar> &e, int size, PetscReal floor, Inverse wanted) {
  UserInverse made;
  PetscBLASInt n = PetscBLASInt(size), info;
  made.why = why_refused(e, std::size_t(n));
  if (!made.why.empty()) {
    made.result = Result::refused;
    return made;
  }
  std::vector<PetscScalar> factor = e;
  LAPACKpotrf_("U", &n, factor.data(), &n, &info);
  bool regular = !info;
  for (PetscInt i = 0; i < n && regular; ++i) {
    const PetscScalar pivot = factor[std::size_t(i) * n + i];
    regular = pivot * pivot > std::max(nothing * e[std::size_t(i) * n + i], floor);
  }
  if (!regular) {
    pseudo_invert(e, n, floor, made);
    return made;
  }
  made.type = wanted;
  if (wanted == Inverse::cholesky) return made;
  LAPACKpotri_("U", &n, factor.data(), &n, &info);
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i <= j; ++i)
      e[std::size_t(i) * n + j] = e[std::size_t(j) * n + i] = factor[std::size_t(j) * n + i];
  return made;
}

} // namespace petscrrb::deflation
