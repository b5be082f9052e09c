// Modified incomplete Cholesky with zero fill, and SSOR, by the textbook: sums over the rows of a sparse matrix.
#pragma once

#include "matrix.hpp"

#include <cmath>

namespace reference {

// M = (D + L) D^-1 (D + L^T), over 2 - omega where it is SSOR, of a symmetric matrix.
class Factorization {
public:
  Vector d;
  int null_rows = 0, raised = 0, bad = -1; // bad: the first row whose pivot is not positive

  // d_i = a_ii - sum over j < i of (a_ij/d_j)(a_ij + omega * sum over the other k > j of a_jk)
  static Factorization mic(const Matrix &A, double omega, double shift = 0) {
    Factorization f(A);
    for (int i = 0; i < A.size(); i++) {
      double d = A.at(i, i);
      for (const auto &[j, a] : A.row[i])
        if (j < i && f.d[j] != 0) d -= a / f.d[j] * (a + omega * f.sum_above(j, i));
      const double size = std::abs(A.at(i, i));
      if (std::abs(d) <= 1e-12 * size)
        d = size, f.null_rows++;
      else if (shift > 0 && d < shift * size)
        d = shift * size, f.raised++;
      else if (d < 0) {
        if (f.bad < 0) f.bad = i;
        d = 0;
      }
      f.d[i] = d;
    }
    return f;
  }
  // D = diag(A) / omega, M over 2 - omega; an identity row has its diagonal
  static Factorization ssor(const Matrix &A, double omega, const std::vector<bool> &identity) {
    Factorization f(A);
    for (int i = 0; i < A.size(); i++) {
      f.d[i] = A.at(i, i) / (identity[i] ? 1 : omega);
      f.s[i] = identity[i] ? 1 : 2 - omega;
    }
    return f;
  }

  Vector solve(const Vector &r) const {
    Vector u = below(r);
    for (int i = 0; i < A.size(); i++) u[i] *= inverse(i);
    return above(u);
  }
  // C^-1 r and C^-T r, M = C C^T
  Vector left(const Vector &r) const {
    Vector u = below(r);
    for (int i = 0; i < A.size(); i++) u[i] *= std::sqrt(inverse(i));
    return u;
  }
  Vector right(Vector r) const {
    for (int i = 0; i < A.size(); i++) r[i] *= std::sqrt(inverse(i));
    return above(r);
  }
  Vector multiply(const Vector &z) const {
    Vector y(z), x(z.size());
    for (int i = 0; i < A.size(); i++) {
      y[i] = d[i] * z[i];
      for (const auto &[j, a] : A.row[i])
        if (j > i) y[i] += a * z[j];
      y[i] /= d[i];
    }
    for (int i = 0; i < A.size(); i++) {
      x[i] = d[i] * y[i];
      for (const auto &[j, a] : A.row[i])
        if (j < i) x[i] += a * y[j];
    }
    return x;
  }

private:
  explicit Factorization(const Matrix &matrix) : d(matrix.size()), A(matrix), s(matrix.size(), 1.0) {}

  double inverse(int i) const { return d[i] == 0 ? 0 : s[i] / d[i]; }
  double sum_above(int j, int but) const {
    double sum = 0;
    for (const auto &[k, a] : A.row[j])
      if (k > j && k != but) sum += a;
    return sum;
  }
  // D y with (D + L) y = r
  Vector below(Vector u) const {
    for (int i = 0; i < A.size(); i++)
      for (const auto &[j, a] : A.row[i])
        if (j < i && d[j] != 0) u[i] -= a / d[j] * u[j];
    return u;
  }
  Vector above(Vector z) const {
    for (int i = A.size(); i-- > 0;)
      for (const auto &[k, a] : A.row[i])
        if (k > i && d[i] != 0) z[i] -= a / d[i] * z[k];
    return z;
  }

  const Matrix A;
  Vector s;
};

} // namespace reference
