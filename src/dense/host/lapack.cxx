// By Cholesky, and by eigenvectors where that finds null directions.
#include "dense/host/lapack.hpp"

#include <petscblaslapack.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace petscrrb::dense {

namespace {

// Smaller eigenvalues, as a part of the largest, and pivots, as a part of their diagonal, are null directions.
constexpr PetscReal nothing = 1e-12;

void pseudo_invert(std::vector<PetscScalar> &a, PetscBLASInt n, PetscReal floor, Inverted &made) {
  PetscBLASInt most = 34 * n, info;
  std::vector<PetscReal> value(n);
  std::vector<PetscScalar> work(most), inverse(a.size(), 0.0);
  LAPACKsyev_("V", "U", &n, a.data(), &n, value.data(), work.data(), &most, &info);
  if (info) throw std::runtime_error("Error in LAPACK's xSYEV: info " + std::to_string(info));
  const PetscReal least = std::max(nothing * value[n - 1], floor);
  if (value[0] < -least) {
    made.negative = value[0];
    return;
  }
  for (PetscInt k = 0; k < n; ++k) {
    if (value[k] <= least) {
      ++made.null_directions;
      continue;
    }
    const PetscScalar *v = a.data() + std::size_t(k) * n;
    for (PetscInt j = 0; j < n; ++j)
      for (PetscInt i = 0; i < n; ++i) inverse[std::size_t(j) * n + i] += v[i] * v[j] / value[k];
  }
  a = inverse;
}

} // namespace

Inverted invert(std::vector<PetscScalar> &a, PetscInt size, PetscReal floor, Inverse wanted) {
  Inverted made;
  PetscBLASInt n = PetscBLASInt(size), info;
  std::vector<PetscScalar> factor = a;
  LAPACKpotrf_("U", &n, factor.data(), &n, &info);
  bool regular = !info;
  for (PetscInt i = 0; i < n && regular; ++i) {
    const PetscScalar pivot = factor[std::size_t(i) * n + i];
    regular = pivot * pivot > std::max(nothing * a[std::size_t(i) * n + i], floor);
  }
  if (!regular) {
    pseudo_invert(a, n, floor, made);
    return made;
  }
  made.type = wanted;
  if (wanted == Inverse::cholesky) return made;
  LAPACKpotri_("U", &n, factor.data(), &n, &info);
  for (PetscInt j = 0; j < n; ++j)
    for (PetscInt i = 0; i <= j; ++i)
      a[std::size_t(i) * n + j] = a[std::size_t(j) * n + i] = factor[std::size_t(j) * n + i];
  return made;
}

} // namespace petscrrb::dense
