// The AMLI cycle written from docs/numerics.md alone, on top of a reference of RRB that keeps a grid's or level's matrix.
#pragma once

#include "cg_reference.hpp"
#include "rrb_reference.hpp"

namespace reference {

template <class Factor> class AMLI {
public:
  // M has a kept grid; lambda: the end of the polynomial's interval [1, lambda]; later: the step after this one, of the same M with a coarser
  // kept grid, which is in what this one repeats.
  AMLI(const Factor &M, double lambda, const AMLI *later = nullptr) : M_(M), lambda_(lambda), later_(later) {}

  // On the kept grid: p(B S) B r, p(t) = (1 + lambda - t) / lambda.
  Vector coarse(const Vector &r) const {
    const Vector B_r = repeated(r);
    const Vector B_S_B_r = repeated(M_.kept_matrix().multiply(B_r));
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
  // On the kept grid: B r.
  Vector repeated(const Vector &r) const {
    Vector z = r;
    if (!later_) {
      M_.cycle_on_kept(z);
      return z;
    }
    Vector kept(r.size(), 0.0); // nothing comes from finer grids
    for (int p : M_.kept_nodes()) kept[p] = r[p];
    kept = later_->apply(kept);
    for (int p : M_.kept_nodes()) z[p] = kept[p];
    return z;
  }

  const Factor &M_;
  double lambda_;
  const AMLI *later_;
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
