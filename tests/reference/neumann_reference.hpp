// Truncated Neumann series and incomplete Poisson by the textbook: dense matrices, multiplied out.
#pragma once

#include "dense.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace reference {

// The matrix with its identity rows decoupled in their columns, too; a row of zeros has a diagonal of 1.
inline Dense decoupled(const Matrix &A) {
  Dense out = dense_of(A);
  for (std::size_t i = 0; i < out.size(); i++) {
    bool identity = true;
    for (std::size_t j = 0; j < out.size(); j++) identity = identity && (j == i || out[i][j] == 0);
    if (!identity) continue;
    for (std::size_t j = 0; j < out.size(); j++)
      if (j != i) out[j][i] = 0;
    if (out[i][i] == 0) out[i][i] = 1;
  }
  return out;
}

// L~, the strictly lower triangle of D^-1/2 A D^-1/2; and D.
struct ScaledTriangle {
  Dense L;
  Vector d;

  explicit ScaledTriangle(const Matrix &A) : L(decoupled(A)), d(A.size()) {
    for (std::size_t i = 0; i < d.size(); i++) d[i] = L[i][i];
    for (std::size_t i = 0; i < d.size(); i++)
      for (std::size_t j = 0; j < d.size(); j++) L[i][j] = j < i ? L[i][j] / std::sqrt(d[i] * d[j]) : 0;
  }
};

// S A S
inline Dense scaled_by(Dense A, const Vector &S) {
  for (std::size_t i = 0; i < A.size(); i++)
    for (std::size_t j = 0; j < A.size(); j++) A[i][j] *= S[i] * S[j];
  return A;
}

inline Vector root(const Vector &d, double power) {
  Vector s(d);
  for (double &value : s) value = std::pow(value, power);
  return s;
}

// M^-1 = omega (2 - omega) D^-1/2 K^T K D^-1/2, K the sum over j <= terms of (-omega L~)^j; 1/d in identity rows.
inline Dense neumann_inverse(const Matrix &A, int terms, double omega = 1) {
  ScaledTriangle t(A);
  for (Vector &row : t.L)
    for (double &value : row) value *= omega;
  const std::size_t n = t.d.size();
  Dense power(n, Vector(n, 0.0)), K(n, Vector(n, 0.0));
  for (std::size_t i = 0; i < n; i++) power[i][i] = K[i][i] = 1;
  for (int j = 1; j <= terms; j++) {
    power = product(t.L, power); // few entries on the left
    for (std::size_t i = 0; i < n; i++)
      for (std::size_t k = 0; k < n; k++) K[i][k] += (j % 2 ? -1 : 1) * power[i][k];
  }
  Vector s = root(t.d, -0.5);
  for (std::size_t i = 0; i < n; i++) {
    const auto coupled = [&](const auto &entry) { return entry.first != int(i) && entry.second != 0; };
    if (std::any_of(A.row[i].begin(), A.row[i].end(), coupled)) s[i] *= std::sqrt(omega * (2 - omega));
  }
  return scaled_by(product(transposed(K), K), s);
}

enum class Dropped {
  none,
  outside_pattern, // of A
  below_threshold  // but for the diagonal; before it is scaled back
};

// (I - L D^-1)(I - D^-1 L^T) of A, or of A~ and then scaled back.
inline Dense poisson_inverse(const Matrix &A, bool scaled, Dropped dropped = Dropped::none, double threshold = 0) {
  const ScaledTriangle t(A);
  const std::size_t n = t.d.size();
  Dense left(n, Vector(n, 0.0)); // I - L~, or I - L D^-1
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j <= i; j++)
      left[i][j] = i == j ? 1 : -t.L[i][j] * (scaled ? 1 : std::sqrt(t.d[i] / t.d[j]));
  Dense M = product(left, transposed(left));
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < n; j++) {
      const bool outside = A.row[i].find(int(j)) == A.row[i].end() && A.row[j].find(int(i)) == A.row[j].end();
      if (i == j) continue;
      if (dropped == Dropped::outside_pattern && outside) M[i][j] = 0;
      if (dropped == Dropped::below_threshold && std::abs(M[i][j]) < threshold) M[i][j] = 0;
    }
  return scaled ? scaled_by(M, root(t.d, -0.5)) : M;
}

} // namespace reference
