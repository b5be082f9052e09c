// Dense matrices by the textbook: Gaussian elimination with row exchanges.
#pragma once

#include "matrix.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

using Dense = std::vector<Vector>; // rows

inline Dense zeros(int rows, int columns) { return Dense(rows, Vector(columns, 0.0)); }

inline Dense product(const Dense &A, const Dense &B) {
  Dense C = zeros(int(A.size()), B.empty() ? 0 : int(B[0].size()));
  for (std::size_t i = 0; i < A.size(); i++)
    for (std::size_t k = 0; k < B.size(); k++) {
      const double a = A[i][k], *b = B[k].data();
      if (a == 0) continue; // most of a sparse one
      double *c = C[i].data();
      for (std::size_t j = 0; j < B[k].size(); j++) c[j] += a * b[j];
    }
  return C;
}

inline Dense transposed(const Dense &A) {
  Dense T = zeros(A.empty() ? 0 : int(A[0].size()), int(A.size()));
  for (std::size_t i = 0; i < A.size(); i++)
    for (std::size_t j = 0; j < A[i].size(); j++) T[j][i] = A[i][j];
  return T;
}

inline Vector product(const Dense &A, const Vector &x) {
  Vector y(A.size(), 0.0);
  for (std::size_t i = 0; i < A.size(); i++) y[i] = dot(A[i], x);
  return y;
}

inline Dense dense_of(const Matrix &A) {
  Dense dense = zeros(A.size(), A.size());
  for (int i = 0; i < A.size(); i++)
    for (const auto &[j, value] : A.row[i]) dense[i][j] += value;
  return dense;
}

inline Vector dense_solve(Dense A, Vector b) {
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
