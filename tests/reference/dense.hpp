// Dense matrices by the textbook: Gaussian elimination with row exchanges.
#pragma once

#include "matrix.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

inline std::vector<Vector> dense_of(const Matrix &A) {
  std::vector<Vector> dense(A.size(), Vector(A.size(), 0.0));
  for (int i = 0; i < A.size(); i++)
    for (const auto &[j, value] : A.row[i]) dense[i][j] += value;
  return dense;
}

inline Vector dense_solve(std::vector<Vector> A, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; k++) {
    std::size_t largest = k;
    for (std::size_t i = k; i < n; i++)
      if (std::abs(A[i][k]) > std::abs(A[largest][k])) largest = i;
    if (A[largest][k] == 0) throw std::invalid_argument("the matrix is singular");
    std::swap(A[k], A[largest]);
    std::swap(b[k], b[largest]);
    for (std::size_t i = k + 1; i < n; i++) {
      const double factor = A[i][k] / A[k][k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; j++) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

inline Vector dense_solve(const Matrix &A, const Vector &b) { return dense_solve(dense_of(A), b); }

} // namespace reference
