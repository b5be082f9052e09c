// Subdomain deflation by the textbook, with dense matrices: Z, E, Q and P are formed, and CG multiplies by them.
#pragma once

#include "dense.hpp"
#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace reference {

inline Vector sum(const Vector &x, double factor, const Vector &y) {
  Vector z = x;
  for (std::size_t i = 0; i < x.size(); i++) z[i] += factor * y[i];
  return z;
}

// The pseudo-inverse of a symmetric positive semidefinite matrix, by Jacobi's rotations to its eigenvectors. Eigenvalues
// below 1e-11 of the largest, or of `scale`, are zero.
inline Dense pseudo_inverse(Dense A, double scale = 0) {
  const std::size_t n = A.size();
  Dense V = zeros(int(n), int(n));
  for (std::size_t i = 0; i < n; i++) V[i][i] = 1;
  for (int sweep = 0; sweep < 60; sweep++)
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = p + 1; q < n; q++) {
        if (std::abs(A[p][q]) <= 1e-300) continue;
        const double angle = 0.5 * std::atan2(2 * A[p][q], A[q][q] - A[p][p]), c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; k++) {
          const double x = A[k][p], y = A[k][q];
          A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; k++) {
          const double x = A[p][k], y = A[q][k];
          A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; k++) {
          const double x = V[k][p], y = V[k][q];
          V[k][p] = c * x - s * y, V[k][q] = s * x + c * y;
        }
      }
  double largest = scale;
  for (std::size_t k = 0; k < n; k++) largest = std::max(largest, A[k][k]);
  Dense inverse = zeros(int(n), int(n));
  for (std::size_t k = 0; k < n; k++) {
    if (A[k][k] <= 1e-11 * largest) continue;
    for (std::size_t i = 0; i < n; i++)
      for (std::size_t j = 0; j < n; j++) inverse[i][j] += V[i][k] * V[j][k] / A[k][k];
  }
  return inverse;
}

// --- subdomains ---

using Sizes = std::array<int, 3>;
using Labels = std::vector<int>; // -1: in no subdomain

inline bool is_identity_row(const Matrix &A, int i) {
  for (const auto &[j, value] : A.row[i])
    if (j != i && value != 0) return false;
  return true;
}

// Piece p of n points has those from floor(p n / parts) on.
inline int piece_of(int i, int n, int parts) {
  int piece = 0;
  for (int p = 0; p < std::min(parts, n); p++)
    if ((long long)p * n / std::min(parts, n) <= i) piece = p;
  return piece;
}

inline Labels without_identity_rows(const Matrix &A, Labels labels) {
  for (int i = 0; i < A.size(); i++)
    if (is_identity_row(A, i)) labels[i] = -1;
  return labels;
}

inline Labels block_labels(const Matrix &A, const Sizes &n, const Sizes &blocks) {
  Labels labels(A.size());
  for (int z = 0; z < n[2]; z++)
    for (int y = 0; y < n[1]; y++)
      for (int x = 0; x < n[0]; x++)
        labels[(z * n[1] + y) * n[0] + x] =
            (piece_of(z, n[2], blocks[2]) * std::min(blocks[1], n[1]) + piece_of(y, n[1], blocks[1])) *
                std::min(blocks[0], n[0]) +
            piece_of(x, n[0], blocks[0]);
  return without_identity_rows(A, labels);
}

inline Labels stripe_labels(const Matrix &A, const Sizes &n, int lines, int cuts) {
  const int pieces = std::min(cuts, n[0]), stripes = (n[1] + lines - 1) / lines;
  Labels labels(A.size());
  for (int z = 0; z < n[2]; z++)
    for (int y = 0; y < n[1]; y++)
      for (int x = 0; x < n[0]; x++)
        labels[(z * n[1] + y) * n[0] + x] = (z * stripes + y / lines) * pieces + piece_of(x, n[0], cuts);
  return without_identity_rows(A, labels);
}

// Connected components of what `together` joins, in the order of their first rows; of rows with one and the same `box`.
inline Labels phase_labels(const Matrix &A, const std::function<bool(int, int)> &together, const Labels &box) {
  Labels labels(A.size(), -2);
  for (int i = 0; i < A.size(); i++)
    if (is_identity_row(A, i)) labels[i] = -1;
  int count = 0;
  for (int seed = 0; seed < A.size(); seed++) {
    if (labels[seed] != -2) continue;
    std::vector<int> todo{seed};
    labels[seed] = count;
    while (!todo.empty()) {
      const int i = todo.back();
      todo.pop_back();
      for (const auto &[j, value] : A.row[i]) {
        if (value == 0 || labels[j] != -2 || box[i] != box[j] || !together(i, j)) continue;
        labels[j] = count;
        todo.push_back(j);
      }
    }
    count++;
  }
  return labels;
}

inline Dense columns_of(const Labels &labels) {
  const int count = 1 + *std::max_element(labels.begin(), labels.end());
  Dense Z = zeros(int(labels.size()), count);
  for (std::size_t i = 0; i < labels.size(); i++)
    if (labels[i] >= 0) Z[i][labels[i]] = 1;
  return Z;
}

// --- the projection ---

struct Deflation {
  Dense A, Z, AZ, E, inverse, Q, P, PT;

  Vector adef2(const Vector &r, const Vector &y) const { return sum(product(PT, y), 1, product(Q, r)); } // y = M^-1 r
};

// Identity rows couple with nothing, in neither direction.
inline Deflation deflation_of(const Matrix &matrix, const Dense &Z) {
  Deflation d;
  d.A = dense_of(matrix);
  d.Z = Z;
  for (int k = 0; k < matrix.size(); k++)
    if (is_identity_row(matrix, k))
      for (int i = 0; i < matrix.size(); i++)
        if (i != k) d.A[i][k] = 0;
  d.AZ = product(d.A, Z);
  d.E = product(transposed(Z), d.AZ);
  double scale = 0; // of what E's entries are sums of
  for (int i = 0; i < matrix.size(); i++) scale = std::max(scale, std::abs(d.A[i][i]));
  d.inverse = pseudo_inverse(d.E, scale);
  d.Q = product(product(Z, d.inverse), transposed(Z));
  d.P = product(d.A, d.Q);
  for (std::size_t i = 0; i < d.P.size(); i++)
    for (std::size_t j = 0; j < d.P.size(); j++) d.P[i][j] = (i == j) - d.P[i][j];
  d.PT = transposed(d.P);
  return d;
}

// --- CG on P A x^ = P b with the preconditioner M^-1: Algorithm 1 of Gupta, van Gijzen and Vuik ---

struct DeflatedSolve {
  Vector x;
  int iterations = 0;
};

// Stops where the norm of r, by `norm`, is at most rtol times that of b.
inline DeflatedSolve deflated_cg(const Deflation &d, const std::function<Vector(const Vector &)> &M, const Vector &b,
                                 Vector x, double rtol,
                                 const std::function<double(const Vector &r, const Vector &z)> &norm, int most = 2000) {
  DeflatedSolve out;
  Vector r = product(d.P, sum(b, -1, product(d.A, x))), z = M(r), p = z;
  const double target = rtol * norm(b, M(b));
  while (norm(r, z) > target && out.iterations < most) {
    const Vector w = product(d.P, product(d.A, p));
    const double rz = dot(r, z), alpha = rz / dot(p, w);
    x = sum(x, alpha, p);
    r = sum(r, -alpha, w);
    z = M(r);
    p = sum(z, dot(r, z) / rz, p);
    out.iterations++;
  }
  out.x = sum(product(d.Q, b), 1, product(d.PT, x));
  return out;
}

} // namespace reference
