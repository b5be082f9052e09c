// The largest eigenvalue of the tridiagonal matrix that conjugate gradients build.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace petscrrb::rrb {

// From rho_j = (r_j, z_j) and curvature_j = (p_j, A p_j) of at most `most` steps: fewer where the residual has vanished.
// Infinite where the matrix or the preconditioner is not positive.
inline double largest_eigenvalue(const double *rho, const double *curvature, int most) {
  constexpr int limit = 64;
  constexpr double vanished = 1e-24;                    // of the first rho
  double diagonal[limit], off2[limit] = {}, high = 0.0; // off2[j] couples j - 1 and j, squared
  int n = 0;
  for (; n < std::min(most, limit); ++n) {
    if (std::abs(rho[n]) <= vanished * std::abs(rho[0])) break;
    if (!(rho[n] > 0.0 && curvature[n] > 0.0)) return std::numeric_limits<double>::infinity();
    diagonal[n] = curvature[n] / rho[n];
    if (n == 0) continue;
    const double beta = rho[n] / rho[n - 1], inverse_alpha = curvature[n - 1] / rho[n - 1];
    diagonal[n] += beta * inverse_alpha;
    off2[n] = beta * inverse_alpha * inverse_alpha;
  }
  if (n == 0) return 1.0; // nothing couples
  for (int j = 0; j < n; ++j)
    high = std::max(high, diagonal[j] + std::sqrt(off2[j]) + (j + 1 < n ? std::sqrt(off2[j + 1]) : 0.0));
  if (!std::isfinite(high)) return std::numeric_limits<double>::infinity();
  const auto above_all = [&](double t) { // t I - T is positive definite
    double pivot = 1.0;
    for (int j = 0; j < n; ++j) {
      pivot = t - diagonal[j] - off2[j] / pivot;
      if (!(pivot > 0.0)) return false;
    }
    return true;
  };
  double low = 0.0;
  for (int halvings = 0; halvings < 60; ++halvings) {
    const double middle = 0.5 * (low + high);
    (above_all(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace petscrrb::rrb
