// Exact (pseudo-)inverse of RRB's last block: LDL^T within the envelope, null vectors
// projected out on both sides.
#pragma once

#include "matrix.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace reference {

class LastBlock {
public:
  // S is symmetric, numbered 0..n-1. A pivot p with |p| <= 1e-12 scale[i] is a null direction. Returns the index of the
  // first pivot that is negative or not finite, -1 where there is none.
  int factor(const Graph &S, const Vector &scale) {
    allocate(S);
    for (int i = 0; i < size(); i++) {
      double pivot = eliminate_row(i);
      if (std::abs(pivot) <= 1e-12 * scale[i]) {
        inverse_pivot_[i] = 0;
        null_nodes_.push_back(i);
      } else if (pivot > 0 && std::isfinite(pivot)) {
        inverse_pivot_[i] = 1 / pivot;
      } else {
        failed_pivot_ = pivot;
        return i;
      }
    }
    find_null_vectors();
    return -1;
  }

  double null_inverse = 0; // of null vectors v of length 1: null_inverse v v^T is added

  void solve(Vector &x) const {
    const Vector parts = remove_null_vectors(x);
    for (int i = 0; i < size(); i++)
      for (int j = first_[i]; j < i; j++) x[i] -= L(i, j) * x[j];
    for (int i = 0; i < size(); i++) x[i] *= inverse_pivot_[i];
    solve_transposed(x);
    remove_null_vectors(x);
    for (std::size_t k = 0; k < parts.size(); k++)
      for (int i = 0; i < size(); i++) x[i] += null_inverse * parts[k] * null_vectors_[k][i];
  }

  int size() const { return static_cast<int>(first_.size()); }
  double failed_pivot() const { return failed_pivot_; }
  const std::vector<int> &null_nodes() const { return null_nodes_; }

private:
  std::vector<int> first_;  // first column of each row's envelope
  std::vector<Vector> row_; // row_[i][j - first_[i]] = L(i, j)
  Vector inverse_pivot_;
  std::vector<int> null_nodes_;
  std::vector<Vector> null_vectors_; // orthonormal
  double failed_pivot_ = 0;

  double L(int i, int j) const { return j < first_[i] ? 0.0 : row_[i][j - first_[i]]; }
  double &L(int i, int j) { return row_[i][j - first_[i]]; }

  void allocate(const Graph &S) {
    const int n = static_cast<int>(S.size());
    const double kept = null_inverse;
    *this = LastBlock();
    null_inverse = kept;
    first_.resize(n);
    row_.resize(n);
    inverse_pivot_.resize(n);
    for (int i = 0; i < n; i++) {
      first_[i] = i;
      for (const auto &entry : S[i])
        if (entry.first < first_[i]) first_[i] = entry.first;
      row_[i].assign(i - first_[i] + 1, 0.0);
      for (const auto &[j, value] : S[i])
        if (j <= i) L(i, j) = value;
    }
  }

  // Turns row i of S into row i of L and returns its pivot.
  double eliminate_row(int i) {
    for (int j = first_[i]; j < i; j++)
      for (int k = std::max(first_[i], first_[j]); k < j; k++) L(i, j) -= L(i, k) * L(j, k);
    // here L(i, j) still carries the factor d_j
    double pivot = L(i, i);
    for (int j = first_[i]; j < i; j++) {
      const double scaled = L(i, j) * inverse_pivot_[j];
      pivot -= scaled * L(i, j);
      L(i, j) = scaled;
    }
    L(i, i) = 1;
    return pivot;
  }

  void solve_transposed(Vector &x) const {
    for (int i = size() - 1; i >= 0; i--)
      for (int j = first_[i]; j < i; j++) x[j] -= L(i, j) * x[i];
  }

  // S = L D L^T with d_j = 0 has the null vector L^-T e_j.
  void find_null_vectors() {
    for (int node : null_nodes_) {
      Vector w(size(), 0.0);
      w[node] = 1;
      solve_transposed(w);
      remove_null_vectors(w);
      const double norm = std::sqrt(dot(w, w));
      for (double &value : w) value /= norm;
      null_vectors_.push_back(w);
    }
  }

  // Returns what x had of each.
  Vector remove_null_vectors(Vector &x) const {
    Vector parts;
    for (const Vector &w : null_vectors_) {
      parts.push_back(dot(w, x));
      for (int i = 0; i < size(); i++) x[i] -= parts.back() * w[i];
    }
    return parts;
  }
};

} // namespace reference
