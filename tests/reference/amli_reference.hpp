// The AMLI cycle written from docs/numerics.md alone, on top of a reference of RRB that keeps a grid's or level's matrix.
#pragma once

#include "cg_reference.hpp"
#include "rrb_reference.hpp"

namespace reference {

template <class Factor> class AMLI {
public:
  // M has a kept grid; lambda: the end of the polynomial's interval [1, lambda]
  AMLI(const Factor &M, double lambda) : M_(M), lambda_(lambda) {}

  // On the kept grid: p(B S) B r, p(t) = (1 + lambda - t) / lambda.
  Vector coarse(const Vector &r) const {
    Vector B_r = r;
    M_.cycle_on_kept(B_r);
    Vector B_S_B_r = M_.kept_matrix().multiply(B_r);
    M_.cycle_on_kept(B_S_B_r);
    Vector z = r;
    for (int p : M_.kept_nodes()) z[p] = ((1 + lambda_) * B_r[p] - B_S_B_r[p]) / lambda_;
    return z;
  }

  Vector apply(const Vector &r) const {
    Vector z = r;
    M_.down_to_kept(z);
    z = coarse(z);
    M_.up_from_kept(z);
    return z;
  }

private:
  const Factor &M_;
  double lambda_;
};

// The largest eigenvalue of B S on the kept grid, as many steps of conjugate gradients see it. S x0 is a right-hand side
// that has a solution where S is singular, too.
template <class Factor> double largest_eigenvalue_on_kept(const Factor &M, const Vector &x0, int steps = 100) {
  const auto restricted = [&](const Vector &x) {
    Vector y(x.size(), 0.0);
    for (int p : M.kept_nodes()) y[p] = x[p];
    return y;
  };
  const auto B = [&](const Vector &r) {
    Vector z = r;
    M.cycle_on_kept(z);
    return restricted(z);
  };
  return cg(M.kept_matrix(), M.kept_matrix().multiply(restricted(x0)), B, Norm::natural, 1e-10, steps).largest;
}

} // namespace reference
