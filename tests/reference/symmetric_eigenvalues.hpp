// All eigenvalues of small dense symmetric matrices by Jacobi's rotations, and those of pairs by a Cholesky
// factorization.
#pragma once

#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace reference {

// In ascending order.
inline Vector symmetric_eigenvalues(std::vector<Vector> A) {
  const std::size_t n = A.size();
  const auto rotate = [&](std::size_t p, std::size_t q) {
    if (A[p][q] == 0) return;
    const double angle = std::atan2(2 * A[p][q], A[q][q] - A[p][p]) / 2, c = std::cos(angle), s = std::sin(angle);
    for (std::size_t k = 0; k < n; k++) {
      const double a = A[k][p], b = A[k][q];
      A[k][p] = c * a - s * b;
      A[k][q] = s * a + c * b;
    }
    for (std::size_t k = 0; k < n; k++) {
      const double a = A[p][k], b = A[q][k];
      A[p][k] = c * a - s * b;
      A[q][k] = s * a + c * b;
    }
  };
  for (int sweep = 0; sweep < 50; sweep++) {
    double off = 0, all = 0;
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = 0; q < n; q++) (p == q ? all : off) += A[p][q] * A[p][q];
    if (off <= 1e-26 * all) break;
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = p + 1; q < n; q++) rotate(p, q);
  }
  Vector values;
  for (std::size_t p = 0; p < n; p++) values.push_back(A[p][p]);
  std::sort(values.begin(), values.end());
  return values;
}

// Of M^-1 A with M positive definite: those of L^-1 A L^-T, M = L L^T.
inline Vector eigenvalues_of_pair(std::vector<Vector> A, std::vector<Vector> M) {
  const std::size_t n = A.size();
  for (std::size_t j = 0; j < n; j++) {
    for (std::size_t k = 0; k < j; k++)
      for (std::size_t i = j; i < n; i++) M[i][j] -= M[i][k] * M[j][k];
    if (!(M[j][j] > 0)) throw std::invalid_argument("the matrix is not positive definite");
    const double root = std::sqrt(M[j][j]);
    for (std::size_t i = j; i < n; i++) M[i][j] /= root;
  }
  const auto solve = [&](Vector &x) {
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t k = 0; k < i; k++) x[i] -= M[i][k] * x[k];
      x[i] /= M[i][i];
    }
  };
  for (Vector &row : A) solve(row); // A L^-T
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < i; j++) std::swap(A[i][j], A[j][i]);
  for (Vector &row : A) solve(row);
  return symmetric_eigenvalues(A);
}

} // namespace reference
