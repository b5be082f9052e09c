// Points of a grid in 3D, and a seven-point matrix on them by weights and excesses.
#pragma once

#include "matrix.hpp"

#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

namespace reference {

struct Grid3D {
  std::array<int, 3> n{1, 1, 1};
  std::array<bool, 3> periodic{};

  int size() const { return n[0] * n[1] * n[2]; }
  int index(const std::array<int, 3> &at) const { return (at[2] * n[1] + at[1]) * n[0] + at[0]; }
  std::array<int, 3> at(int p) const { return {p % n[0], p / n[0] % n[1], p / (n[0] * n[1])}; }

  // The point `step` after p in direction q, -1 past the end of a side that is not periodic.
  int neighbour(int p, int q, int step) const {
    const int stride = q == 0 ? 1 : q == 1 ? n[0] : n[0] * n[1], from = p / stride % n[q];
    int to = from + step;
    if (periodic[q]) to = (to + n[q]) % n[q];
    return to < 0 || to >= n[q] ? -1 : p + (to - from) * stride;
  }
};

// A ring of two points has one coupling in the matrix, like a line of two.
inline Grid3D without_short_rings(Grid3D grid) {
  for (int q = 0; q < 3; q++) grid.periodic[q] = grid.periodic[q] && grid.n[q] > 2;
  return grid;
}

// A matrix by its weights and excesses.
struct WeightedGrid {
  Grid3D grid;
  std::array<Vector, 3> weight; // of the coupling of each point with its next one in direction q
  Vector excess;

  explicit WeightedGrid(const Grid3D &g) : grid(g), excess(g.size(), 0.0) {
    for (Vector &w : weight) w.assign(g.size(), 0.0);
  }
  double after(int q, int p) const { return weight[q][p]; }
  double before(int q, int p) const {
    const int previous = grid.neighbour(p, q, -1);
    return previous < 0 ? 0 : weight[q][previous];
  }
  double strength(int q, int p) const { return before(q, p) + after(q, p); } // s_q
  bool dead(int p) const { return strength(0, p) == 0 && strength(1, p) == 0 && strength(2, p) == 0; }
  double diagonal(int p) const { return excess[p] + strength(0, p) + strength(1, p) + strength(2, p); }
};

inline std::vector<bool> identity_rows_of(const Matrix &A) {
  std::vector<bool> identity(A.size(), true);
  for (int p = 0; p < A.size(); p++)
    for (const auto &[r, a] : A.row[p]) identity[p] = identity[p] && (r == p || a == 0);
  return identity;
}

// 1 on identity rows, and everywhere if it is 0 or not finite on another row.
inline Vector usable_vector(const Matrix &A, Vector v) {
  const std::vector<bool> identity = identity_rows_of(A);
  bool usable = !v.empty();
  for (int p = 0; usable && p < A.size(); p++) usable = identity[p] || (std::isfinite(v[p]) && v[p] != 0);
  if (!usable) v.assign(A.size(), 1.0);
  for (int p = 0; p < A.size(); p++)
    if (identity[p]) v[p] = 1;
  return v;
}

// The weights and excesses of V A V. An excess that rounding explains is 0.
inline WeightedGrid weighted(const Matrix &A, const Grid3D &on, const Vector &v, bool v_is_null) {
  WeightedGrid out(without_short_rings(on));
  if (A.size() != out.grid.size()) throw std::invalid_argument("matrix size is not nx * ny * nz");
  const std::vector<bool> identity = identity_rows_of(A);
  for (int p = 0; p < A.size(); p++) {
    out.excess[p] =
        identity[p] && A.at(p, p) == 0 ? 1 : A.at(p, p) * v[p] * v[p]; // a row of zeros is one of the identity
    double magnitude = std::abs(out.excess[p]);
    std::set<int> neighbours{p};
    for (int q = 0; q < 3; q++)
      for (const int step : {1, -1}) {
        const int r = out.grid.neighbour(p, q, step);
        if (r < 0 || !neighbours.insert(r).second || identity[p] || identity[r]) continue;
        const double a = (A.at(p, r) + A.at(r, p)) / 2 * v[p] * v[r];
        out.excess[p] += a;
        magnitude += std::abs(a);
        if (a < 0) out.weight[q][step == 1 ? p : r] = -a;
      }
    for (const auto &[r, a] : A.row[p])
      if (a != 0 && neighbours.count(r) == 0) throw std::invalid_argument("a coupling reaches past the seven points");
    if (std::abs(out.excess[p]) <= (v_is_null ? 1e-10 : 1e-14) * magnitude) out.excess[p] = 0;
  }
  return out;
}

} // namespace reference
