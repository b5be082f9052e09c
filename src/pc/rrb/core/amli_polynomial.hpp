// The polynomial of AMLI's step (docs/numerics.md), and the few numbers from which it is made.
#pragma once

#include "exec/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace petscrrb::rrb {

// Steps of an estimate: a few, and where these do not settle it all.
constexpr int few_estimate_steps = 5, estimate_steps = 8;

// 0 where there is nothing left to divide by.
PETSCRRB_HD inline double quotient(double a, double b) { return b > 0.0 ? a / b : 0.0; }

// Step j of conjugate gradients with one product, A z, and its sums in one place (Chronopoulos and Gear, 1989): q = A z + beta q is A p, and
// p itself is not wanted. In s: rho_j = (r_j, z_j) and curvature_j = (p_j, A p_j), of all steps; after those that may be the last one the host sees
// them in show.
struct EstimateStep {
  double *s, *show;
  int j;

  static constexpr int numbers = 2 + 2 * estimate_steps;
  PETSCRRB_HD static constexpr int rho(int j) { return 2 + j; }
  PETSCRRB_HD static constexpr int curvature(int j) { return 2 + estimate_steps + j; }
  PETSCRRB_HD double beta() const { return quotient(s[rho(j)], s[rho(j - 1)]); } // not of the first one
  PETSCRRB_HD double alpha() const { return quotient(s[rho(j)], s[curvature(j)]); }
  PETSCRRB_HD double next(double az, double q) const { return j ? az + beta() * q : az; } // of q
  // In the place of curvature_j there is (z_j, A z_j).
  PETSCRRB_HD void operator()(index_t, index_t) const {
    if (j) s[curvature(j)] -= beta() * beta() * s[curvature(j - 1)];
    if (j + 1 == few_estimate_steps || j + 1 == estimate_steps)
      for (int i = rho(0); i < numbers; ++i) show[i] = s[i];
  }
};

// The largest eigenvalue of the tridiagonal matrix that conjugate gradients build.
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

// p(t) = c0 - c1 t, of the Lanczos matrix that conjugate gradients have built.
template <class Backend> class AmliPolynomial {
public:
  // rows: of the largest box that is summed over
  explicit AmliPolynomial(index_t rows) : scalars_(EstimateStep::numbers, rows) {}

  const Scalars<Backend> &scalars() const { return scalars_; }
  const double *c0() const { return scalars_.at(0); }
  const double *c1() const { return scalars_.at(1); }

  // Step j, of the sums over the box of rz and zaz. add_up(i): the i-th number, of all ranks
  template <class F, class G, class AddUp>
  EstimateStep step(const Backend &on, int j, Range2 box, const F &rz, const G &zaz, const AddUp &add_up) const {
    const EstimateStep step{scalars_.data(), scalars_.show(), j};
    scalars_.sum_both(on, step.rho(j), step.curvature(j), box, rz, zaz);
    add_up(step.rho(j)), add_up(step.curvature(j));
    on.for_each({0, 1, 0, 1}, step);
    return step;
  }

  // Sets p(t) = (1 + lambda_max - t) / lambda_max. Up to a factor 1 - t p(t) is the Chebyshev polynomial of degree 2 on
  // [1, lambda_max]; the factor is such that p(1) = 1, so that what RRB treats exactly stays exact. Of so many steps; false, and nothing is
  // set, where that are few and more are wanted. agreed(bound): what all ranks take for it.
  template <class Agreed> bool finish(const Backend &on, int steps, const Agreed &agreed) {
    const double *s = scalars_.shown(on);
    const double theta = largest_eigenvalue(s + EstimateStep::rho(0), s + EstimateStep::curvature(0), steps);
    lambda_max_ = agreed(safe_bound(theta, steps));
    if (steps < estimate_steps && lambda_max_ > few_suffice) return false;
    scalars_.write(on, 0, (1.0 + lambda_max_) / lambda_max_, 1.0 / lambda_max_);
    return true;
  }

  bool finish(const Backend &on, int steps) {
    return finish(on, steps, [](double bound) { return bound; });
  }

  double lambda_max() const { return lambda_max_; }
  // Above, the polynomial gains little and may lose its sign; below, B is exact or nearly so.
  bool used() const { return lambda_max_ >= exact_below && lambda_max_ <= largest; }
  std::size_t bytes() const { return scalars_.bytes(); }

private:
  static constexpr double exact_below = 1.05, few_suffice = 4.0, largest = 20.0;

  // An estimate by all steps is too small, by some 5 % mostly. The polynomial is positive up to 1 + lambda_max, and must
  // be so even where the estimate is 20 % too small, which is what the theory of random start vectors warns of. By few it misses more, but
  // these suffice only where the polynomial is positive up to half as much again.
  static double safe_bound(double estimate, int steps) {
    const double above = estimate - 1.0;
    return 1.0 + (steps < estimate_steps ? 1.1 * above : std::max(1.05 * above, 1.25 * above - 1.0));
  }

  Scalars<Backend> scalars_; // c0, c1, and the sums of the estimate
  double lambda_max_ = 1.0;
};

} // namespace petscrrb::rrb
