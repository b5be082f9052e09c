// Random last blocks for the device's coarse solver: couplings of a grid or of its black half, given as the weighted graph
// that RRB leaves.
#pragma once

#include "reference/last_block.hpp"
#include "dense/core/plan.hpp"

#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace coarse_test {

using petscrrb::dense::GridShape;
using reference::Vector;

struct Problem {
  GridShape shape;
  std::vector<int> x, y, ia{0}, ja;
  Vector a, excess;
  reference::Graph rows; // the same, as rows of nonzeros
  Vector diagonal;
  int components = 0, singular = 0; // singular: components without excess

  int size() const { return static_cast<int>(x.size()); }
  Vector multiply(const Vector &z) const {
    Vector r(size(), 0.0);
    for (int i = 0; i < size(); i++)
      for (const auto &[j, value] : rows[i]) r[i] += value * z[j];
    return r;
  }
};

struct Random {
  std::mt19937_64 engine{12345};

  double uniform(double low = 0, double high = 1) { return std::uniform_real_distribution<double>(low, high)(engine); }
  Vector vector(int n) {
    Vector v(n);
    for (double &value : v) value = uniform(-1, 1);
    return v;
  }
};

// Couplings (i, j), i != j, each once, with the unknowns at x, y.
inline std::vector<std::array<int, 2>> couplings(const GridShape &s, std::vector<int> &x, std::vector<int> &y) {
  std::vector<int> number(s.nx * s.ny, -1);
  for (int b = 0; b < s.ny; b++)
    for (int a = 0; a < s.nx; a++) {
      if (s.reach == 2 && (a + b) % 2) continue;
      number[b * s.nx + a] = static_cast<int>(x.size());
      x.push_back(a), y.push_back(b);
    }
  const auto around = [&](int i, int n, bool periodic) {
    if (i >= 0 && i < n) return i;
    if (!periodic) return -1;
    // on the black half of an odd ring two steps across the seam end one point further
    return s.reach == 2 && n % 2 && i == n + 1 ? 0 : (i + n) % n;
  };
  std::vector<std::array<int, 2>> list;
  for (std::size_t i = 0; i < x.size(); i++)
    for (const auto &[dx, dy] : {std::array{s.reach, 0}, {0, s.reach}, {1, 1}, {-1, 1}}) {
      const int a = around(x[i] + dx, s.nx, s.periodic_x), b = around(y[i] + dy, s.ny, s.periodic_y);
      const int j = a < 0 || b < 0 ? -1 : number[b * s.nx + a];
      if (j >= 0 && j != static_cast<int>(i)) list.push_back({static_cast<int>(i), j});
    }
  return list;
}

// The matrix of a graph: weight(i, j) of each coupling, excess(i) of each unknown. A zero weight stays in the pattern.
inline Problem make_problem(const GridShape &shape, const std::function<double(int, int)> &weight,
                            const std::function<double(int)> &excess) {
  Problem p;
  p.shape = shape;
  const auto list = couplings(shape, p.x, p.y);
  const int n = p.size();
  reference::Graph all(n);
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i];
    return i;
  };
  for (int i = 0; i < n; i++) {
    p.excess.push_back(excess(i));
    all[i][i] += p.excess[i];
  }
  for (const auto &[i, j] : list) {
    const double w = weight(i, j);
    all[i][i] += w, all[j][j] += w;
    all[i][j] -= w, all[j][i] -= w;
    if (w != 0) root[find(i)] = find(j);
  }
  p.rows.resize(n);
  for (int i = 0; i < n; i++) {
    for (const auto &[j, value] : all[i]) {
      p.ja.push_back(j), p.a.push_back(value);
      if (value != 0) p.rows[i][j] = value;
    }
    p.ia.push_back(static_cast<int>(p.ja.size()));
    p.diagonal.push_back(all[i][i]);
  }
  std::vector<char> has_excess(n, 0);
  for (int i = 0; i < n; i++) has_excess[find(i)] |= p.excess[i] != 0;
  for (int i = 0; i < n; i++) p.components += find(i) == i, p.singular += find(i) == i && !has_excess[i];
  return p;
}

inline Problem regular_problem(const GridShape &shape, Random &random) {
  return make_problem(
      shape, [&](int, int) { return random.uniform(0.5, 2); }, [&](int) { return random.uniform(0, 0.1); });
}

// S becomes V S V, v(i) the diagonal of V: row sums of either sign, and 1/v the null vector if 1 was.
inline Problem scaled(Problem p, const std::function<double(int)> &v) {
  for (int i = 0; i < p.size(); i++) {
    p.excess[i] = 0;
    for (int q = p.ia[i]; q < p.ia[i + 1]; q++) {
      p.a[q] *= v(i) * v(p.ja[q]);
      p.excess[i] += p.a[q];
      if (p.a[q] != 0) p.rows[i][p.ja[q]] = p.a[q];
    }
    p.diagonal[i] = p.rows[i].count(i) ? p.rows[i][i] : 0.0;
  }
  return p;
}

} // namespace coarse_test
