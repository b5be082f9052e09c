// The pseudo-inverse of a matrix by weights and excesses; or null vectors v of length 1 get null_inverse v v^T.
#pragma once

#include "grid3d.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace reference {

// Dense elimination by weights and excesses, which only adds, so that the last point of a component without excess has
// a pivot of exactly 0; there the constant is removed before and after.
class PseudoInverse {
public:
  explicit PseudoInverse(const WeightedGrid &A, double null_inverse = 0) : PseudoInverse(A.grid.size()) {
    null_inverse_ = null_inverse;
    for (int p = 0; p < n_; p++)
      for (int q = 0; q < 3; q++)
        if (A.after(q, p) != 0) {
          const int next = A.grid.neighbour(p, q, 1);
          weight_[p][next] += A.after(q, p);
          weight_[next][p] += A.after(q, p);
        }
    find_null_components(A.excess);
    eliminate(A.excess);
  }

  // Of points 0..n-1, with the weights of their couplings in both directions.
  PseudoInverse(const Graph &weight, const Vector &excess) : PseudoInverse(static_cast<int>(excess.size())) {
    for (int p = 0; p < n_; p++)
      for (const auto &[q, w] : weight[p]) weight_[p][q] = w;
    find_null_components(excess);
    eliminate(excess);
  }

  // False where a pivot is lost, which only negative excesses can do.
  bool ok() const { return ok_; }

  Vector apply(Vector x) const {
    const Vector means = remove_constants(x);
    for (int p = 0; p < n_; p++)
      if (pivot_[p] > 0)
        for (int r : later_[p]) x[r] += weight_[p][r] / pivot_[p] * x[p];
    for (int p = n_; p-- > 0;) {
      for (int r : later_[p]) x[p] += weight_[p][r] * x[r];
      x[p] = pivot_[p] > 0 ? x[p] / pivot_[p] : 0;
    }
    remove_constants(x);
    for (std::size_t k = 0; k < means.size(); k++)
      for (int p : null_components_[k]) x[p] += null_inverse_ * means[k];
    return x;
  }

private:
  int n_;
  std::vector<Vector> weight_;
  std::vector<std::vector<int>> later_; // the points after p that couple with it when it is eliminated
  Vector pivot_;
  std::vector<std::vector<int>> null_components_;
  double null_inverse_ = 0;
  bool ok_ = true;

  explicit PseudoInverse(int n) : n_(n), weight_(n, Vector(n, 0.0)), later_(n), pivot_(n, 0.0) {}

  void find_null_components(const Vector &excess) {
    std::vector<bool> found(n_, false);
    for (int first = 0; first < n_; first++) {
      std::vector<int> component;
      if (!found[first]) component.push_back(first);
      found[first] = true;
      bool null = true;
      for (std::size_t i = 0; i < component.size(); i++) {
        null = null && excess[component[i]] == 0;
        for (int r = 0; r < n_; r++) {
          if (found[r] || weight_[component[i]][r] == 0) continue;
          found[r] = true;
          component.push_back(r);
        }
      }
      if (null && !component.empty()) null_components_.push_back(component);
    }
  }

  void eliminate(Vector excess) {
    for (int p = 0; p < n_; p++) {
      pivot_[p] = excess[p];
      for (int r = p + 1; r < n_; r++) {
        if (weight_[p][r] == 0) continue;
        later_[p].push_back(r);
        pivot_[p] += weight_[p][r];
      }
      const double terms = pivot_[p] - excess[p] + std::abs(excess[p]); // what the pivot is the sum of
      ok_ = ok_ && (terms == 0 || pivot_[p] > 1e-12 * terms);
      if (!(pivot_[p] > 0)) continue;
      for (int r : later_[p]) {
        excess[r] += weight_[p][r] / pivot_[p] * excess[p];
        for (int s : later_[p])
          if (s != r) weight_[r][s] += weight_[p][r] * weight_[p][s] / pivot_[p];
      }
    }
  }

  // Returns the mean of x on each.
  Vector remove_constants(Vector &x) const {
    Vector means;
    for (const std::vector<int> &component : null_components_) {
      double sum = 0;
      for (int p : component) sum += x[p];
      means.push_back(sum / static_cast<double>(component.size()));
      for (int p : component) x[p] -= means.back();
    }
    return means;
  }
};

} // namespace reference
