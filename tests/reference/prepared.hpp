// The matrix that RRB factors: identity rows decoupled, symmetric, positive couplings moved to the diagonal.
#pragma once

#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace reference {

struct Grid {
  int nx = 0, ny = 0; // 0: none
  bool periodic_x = false, periodic_y = false;
};

inline Grid without_short_rings(Grid grid) {
  grid.periodic_x = grid.periodic_x && grid.nx > 2;
  grid.periodic_y = grid.periodic_y && grid.ny > 2;
  return grid;
}

// A lumped pivot below this part of the unlumped one stays unlumped.
constexpr double smallest_lumped = 1e-10;

// It is held as V A V, V = diag(v), by the couplings' weights w_ij = -v_i a_ij v_j > 0 and, in place of the diagonal,
// by each row's excess e_i = v_i (A v)_i: the diagonal is e_i + sum_j w_ij.
struct Prepared {
  Vector v;
  Graph weight;
  Vector excess;
  Graph positive; // the couplings that moved to the diagonals, by their w_ij < 0

  Prepared(const Matrix &A, const Grid &grid, const Vector &vector, bool v_is_null) : v(vector) {
    if (grid.nx && A.size() != grid.nx * grid.ny) throw std::invalid_argument("matrix size is not nx * ny");
    for (int p = 0; p < A.size(); p++) identity_.push_back(is_identity_row(A, p));
    choose_vector(A);
    check_values(A);
    weight.resize(A.size());
    positive.resize(A.size());
    for (int p = 0; p < A.size(); p++) take_row(A, grid, p, v_is_null ? 1e-10 : 1e-14);
  }

  int size() const { return static_cast<int>(v.size()); }
  // What takes the place of 1/d where d is 0: 1 over the mean weight of a point, or up to twice that, a power of 2.
  double null_inverse() const {
    double sum = 0;
    for (const auto &row : weight)
      for (const auto &entry : row) sum += entry.second / 2;
    return sum > 0 ? std::exp2(-std::floor(std::log2(sum / size()))) : 1;
  }

private:
  std::vector<bool> identity_;

  static bool is_identity_row(const Matrix &A, int p) {
    for (const auto &[q, a] : A.row[p])
      if (q != p && a != 0) return false;
    return true;
  }

  // A vector that is zero or not finite at a row that couples says nothing about that row: then 1 everywhere.
  void choose_vector(const Matrix &A) {
    bool usable = !v.empty();
    for (int p = 0; usable && p < A.size(); p++) usable = identity_[p] || (std::isfinite(v[p]) && v[p] != 0);
    if (!usable) v.assign(A.size(), 1.0);
    for (int p = 0; p < A.size(); p++)
      if (identity_[p]) v[p] = 1;
  }

  void check_values(const Matrix &A) const {
    for (const auto &row : A.row)
      for (const auto &entry : row)
        if (!std::isfinite(entry.second)) throw std::invalid_argument("an entry is not finite");
    for (int p = 0; p < A.size(); p++)
      for (const auto &[q, a] : A.row[p]) {
        if (identity_[p] || identity_[q]) continue;
        const double back = A.at(q, p), apart = std::abs(a - back), mean = std::abs(a + back) / 2;
        const double smaller = std::min(std::abs(A.at(p, p)), std::abs(A.at(q, q)));
        if (apart > 1e-10 * std::max(mean, smaller)) throw std::invalid_argument("the matrix is not symmetric");
      }
  }

  // Distance on a side of n points, the shorter way where the side is a ring.
  static int distance(int from, int to, int n, bool ring) {
    const int along = std::abs(from - to);
    return ring ? std::min(along, n - along) : along;
  }

  // A positive coupling moves to the two diagonals, which leaves the excess as it is. An excess that rounding explains
  // is 0, so that a singular matrix stays singular.
  void take_row(const Matrix &A, const Grid &grid, int p, double rounding) {
    double magnitude = std::abs(A.at(p, p)) * v[p] * v[p];
    excess.push_back(A.at(p, p) * v[p] * v[p]);
    if (identity_[p] && A.at(p, p) == 0) excess[p] = 1;
    if (!identity_[p])
      for (const auto &entry : A.row[p]) {
        const int q = entry.first;
        const double a = (entry.second + A.at(q, p)) / 2 * v[p] * v[q];
        if (q == p || identity_[q] || a == 0) continue;
        if (grid.nx && (distance(p % grid.nx, q % grid.nx, grid.nx, grid.periodic_x) > 1 ||
                        distance(p / grid.nx, q / grid.nx, grid.ny, grid.periodic_y) > 1))
          throw std::invalid_argument("a coupling reaches past the nine points");
        excess[p] += a;
        magnitude += std::abs(a);
        (a < 0 ? weight : positive)[p][q] = -a;
      }
    if (std::abs(excess[p]) <= rounding * magnitude) excess[p] = 0;
  }
};

} // namespace reference
