// Symmetric matrices within a band, factored as L D L^T where they lie.
#pragma once

#include "exec/range.hpp"

#include <cmath>
#include <cstddef>

namespace petscrrb::blockrelax {

constexpr double null_pivot = 1e-12; // of the diagonal entry: rounding

// Of a block that is positive definite, or singular but for rounding.
PETSCRRB_HD inline bool is_good_pivot(double d, double diagonal) { return d >= -null_pivot * diagonal; }

// Where a pivot is null, the diagonal entry takes its place. With 0 for its inverse M^-1 would be singular, and a Krylov method
// blind to a residual that no solution has; the residuals of a system that has one vanish in that direction anyway.
PETSCRRB_HD inline double inverse_of_pivot(double d, double diagonal) {
  return 1 / (d > null_pivot * diagonal ? d : diagonal);
}

// With eight partial sums, since one would wait for each addition.
inline double dot(const double *a, const double *b, int n) {
  double parts[8] = {};
  int k = 0;
  for (; k + 8 <= n; k += 8)
    for (int l = 0; l < 8; ++l) parts[l] += a[k + l] * b[k + l];
  double sum = 0;
  for (; k < n; ++k) sum += a[k] * b[k];
  for (double part : parts) sum += part;
  return sum;
}

// Row i holds columns i - width to i; in a factor, those of L, and 1 / d in place of its diagonal.
struct Band {
  int n, width;

  std::size_t size() const { return std::size_t(n) * (width + 1); }
  // column 0, which may lie before the row
  template <class T> T *row(T *a, int i) const { return a + std::ptrdiff_t(i) * (width + 1) + width - i; }
  int first(int i) const { return i > width ? i - width : 0; }

  // Returns the first row whose pivot is negative, or -1.
  int factor(double *a) const {
    for (int i = 0; i < n; ++i) {
      double *ai = row(a, i);
      const double diagonal = ai[i];
      for (int j = first(i); j < i; ++j) {
        const double *aj = row(a, j);
        ai[j] -= dot(ai + first(i), aj + first(i), j - first(i));
      }
      double d = diagonal;
      for (int j = first(i); j < i; ++j) {
        const double l = ai[j] * row(a, j)[j];
        d -= ai[j] * l;
        ai[j] = l;
      }
      if (!is_good_pivot(d, diagonal)) return i;
      ai[i] = inverse_of_pivot(d, diagonal);
    }
    return -1;
  }

  // x becomes A^-1 x.
  void solve(const double *a, double *x) const {
    for (int i = 0; i < n; ++i) {
      const double *ai = row(a, i);
      x[i] -= dot(ai + first(i), x + first(i), i - first(i));
    }
    for (int i = 0; i < n; ++i) x[i] *= row(a, i)[i];
    for (int i = n; i-- > 0;) {
      const double *ai = row(a, i), xi = x[i];
#pragma omp simd
      for (int k = first(i); k < i; ++k) x[k] -= ai[k] * xi;
    }
  }
};

} // namespace petscrrb::blockrelax
