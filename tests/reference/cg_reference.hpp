// Preconditioned conjugate gradients with PETSc's stopping test, and the extreme eigenvalues that its Lanczos matrix
// has.
#pragma once

#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace reference {

enum class Norm {
  natural,
  preconditioned,
  unpreconditioned
};

inline double norm_of(Norm norm, const Vector &r, const Vector &z) {
  return std::sqrt(norm == Norm::natural ? dot(r, z) : norm == Norm::preconditioned ? dot(z, z) : dot(r, r));
}

struct CGResult {
  int iterations = 0;
  bool converged = false;
  double smallest = 0, largest = 0; // eigenvalues of the Lanczos matrix
  Vector x, history;                // of the norm, from iteration 0 on
  double kappa() const { return largest / smallest; }
};

// Number of eigenvalues below t of the symmetric tridiagonal matrix with this diagonal and these off-diagonal entries.
inline int sturm_count(const Vector &diagonal, const Vector &off, double t) {
  int count = 0;
  double q = 1;
  for (std::size_t i = 0; i < diagonal.size(); i++) {
    q = diagonal[i] - t - (i ? off[i - 1] * off[i - 1] / q : 0.0);
    if (q == 0) q = 1e-300;
    count += q < 0;
  }
  return count;
}

inline double tridiagonal_eigenvalue(const Vector &diagonal, const Vector &off, int index) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < diagonal.size(); i++) {
    const double radius = (i ? std::abs(off[i - 1]) : 0.0) + (i < off.size() ? std::abs(off[i]) : 0.0);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int step = 0; step < 200; step++) {
    const double middle = (low + high) / 2;
    (sturm_count(diagonal, off, middle) > index ? high : low) = middle;
  }
  return (low + high) / 2;
}

// Solves A x = b from x = 0 until norm <= target. Iteration 0 has the norm `first`.
inline CGResult cg_to(const Matrix &A, const Vector &b, const std::function<Vector(const Vector &)> &precondition,
                      Norm norm, double first, double target, int most) {
  CGResult result;
  Vector r = b, z = precondition(r), p = z, diagonal, off;
  result.x.assign(b.size(), 0.0);
  double rho = dot(r, z), alpha = 0, beta = 0;
  const auto test = [&](double size) {
    result.history.push_back(size);
    return size <= target;
  };
  for (result.converged = test(first); !result.converged && result.iterations < most;) {
    const Vector q = A.multiply(p);
    const double old_alpha = alpha, curvature = dot(p, q);
    if (!(curvature > 0)) break;
    alpha = rho / curvature;
    diagonal.push_back(1 / alpha + (result.iterations ? beta / old_alpha : 0.0));
    for (std::size_t i = 0; i < r.size(); i++) {
      result.x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    z = precondition(r);
    beta = dot(r, z) / rho;
    rho *= beta;
    result.iterations++;
    if (!(rho >= 0)) break;
    result.converged = test(norm_of(norm, r, z));
    off.push_back(std::sqrt(beta) / alpha);
    for (std::size_t i = 0; i < p.size(); i++) p[i] = z[i] + beta * p[i];
  }
  if (!diagonal.empty()) {
    off.resize(diagonal.size() - 1);
    result.smallest = tridiagonal_eigenvalue(diagonal, off, 0);
    result.largest = tridiagonal_eigenvalue(diagonal, off, static_cast<int>(diagonal.size()) - 1);
  }
  return result;
}

// Until norm <= rtol * (norm of b).
inline CGResult cg(const Matrix &A, const Vector &b, const std::function<Vector(const Vector &)> &precondition,
                   Norm norm = Norm::natural, double rtol = 1e-6, int most = 10000) {
  const double first = norm_of(norm, b, precondition(b));
  return cg_to(A, b, precondition, norm, first, rtol * first, most);
}

} // namespace reference
