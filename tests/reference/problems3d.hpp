// Test matrices on grids in 3D, by functions and by name, each with a right-hand side.
#pragma once

#include "grid3d.hpp"
#include "problems.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace reference {

struct Problem3D {
  Grid3D grid;
  Matrix A;
  Vector b;
  Vector v;                       // near-null-space vector, empty: 1
  std::vector<Vector> null_space; // basis, b is orthogonal to it
};

enum class Side {
  dirichlet,
  neumann,
  periodic
};
using Sides = std::array<Side, 3>;
constexpr Sides all_dirichlet{Side::dirichlet, Side::dirichlet, Side::dirichlet};
constexpr Sides all_neumann{Side::neumann, Side::neumann, Side::neumann};
constexpr Sides all_periodic{Side::periodic, Side::periodic, Side::periodic};

// Every connected set of points whose rows sum to 0 adds the constant on it. Columns of identity rows do not count.
inline std::vector<Vector> null_space_of(const Matrix &A) {
  std::vector<Vector> out;
  std::vector<bool> found(A.size(), false);
  for (int first = 0; first < A.size(); first++) {
    std::vector<int> component;
    if (!found[first]) component.push_back(first);
    found[first] = true;
    bool null = true;
    for (std::size_t i = 0; i < component.size(); i++) {
      double sum = 0;
      for (const auto &[q, a] : A.row[component[i]]) {
        if (a == 0 || A.at(q, component[i]) == 0) continue;
        sum += a;
        if (found[q]) continue;
        found[q] = true;
        component.push_back(q);
      }
      null = null && std::abs(sum) <= 1e-14 * A.at(component[i], component[i]);
    }
    if (component.empty() || !null) continue;
    out.push_back(Vector(A.size(), 0.0));
    for (int p : component) out.back()[p] = 1;
  }
  return out;
}

// face(q, p): the coefficient between p and its next point in direction q. side(q, p): what a Dirichlet side in
// direction q adds to the diagonal of p.
using PointCoefficient = std::function<double(int, int)>;
inline Problem3D seven_points(const std::array<int, 3> &n, const Sides &sides, const PointCoefficient &face,
                              const PointCoefficient &side) {
  Grid3D grid{n, {}};
  for (int q = 0; q < 3; q++) grid.periodic[q] = sides[q] == Side::periodic;
  Problem3D out{grid, Matrix(grid.size()), {}, {}, {}};
  for (int p = 0; p < grid.size(); p++) {
    out.A.add(p, p, 0);
    for (int q = 0; q < 3; q++) {
      const int next = grid.neighbour(p, q, 1), i = grid.at(p)[q];
      if (sides[q] == Side::dirichlet && i == 0) out.A.add(p, p, side(q, p));
      if (sides[q] == Side::dirichlet && i == n[q] - 1) out.A.add(p, p, side(q, p));
      const double k = next < 0 || next == p ? 0 : face(q, p);
      if (k == 0) continue;
      out.A.add(p, p, k);
      out.A.add(next, next, k);
      out.A.add(p, next, -k);
      out.A.add(next, p, -k);
    }
  }
  return out;
}

inline Problem3D with_rhs(Problem3D problem) {
  problem.null_space = null_space_of(problem.A);
  set_random_rhs(problem);
  return problem;
}

// Plain differences; a Dirichlet value is one full step away.
inline Problem3D plain(const std::array<int, 3> &n, const Sides &sides, const std::array<double, 3> &a = {1, 1, 1}) {
  const auto coefficient = [=](int q, int) { return a[q]; };
  return with_rhs(seven_points(n, sides, coefficient, coefficient));
}

// Finite volumes with the coefficient K(q, cell) in direction q, harmonic means on the faces and Dirichlet values
// on the sides, half a cell away. Cells where K is 0 have identity rows.
using Widths = std::array<Vector, 3>;
inline Problem3D finite_volumes(const Widths &width, const Sides &sides, const PointCoefficient &K) {
  Grid3D grid;
  for (int q = 0; q < 3; q++) grid.n[q] = static_cast<int>(width[q].size());
  for (int q = 0; q < 3; q++) grid.periodic[q] = sides[q] == Side::periodic;
  const auto across = [=](int q, int p) { // the face's area
    const std::array<int, 3> at = grid.at(p);
    return width[(q + 1) % 3][at[(q + 1) % 3]] * width[(q + 2) % 3][at[(q + 2) % 3]];
  };
  const auto half = [=](int q, int p) { return width[q][grid.at(p)[q]] / (2 * K(q, p)); };
  Problem3D out = seven_points(
      grid.n, sides, [=](int q, int p) { return across(q, p) / (half(q, p) + half(q, grid.neighbour(p, q, 1))); },
      [=](int q, int p) { return across(q, p) / half(q, p); });
  for (int p = 0; p < grid.size(); p++)
    if (out.A.at(p, p) == 0) out.A.row[p] = {{p, 1.0}};
  return with_rhs(out);
}

inline Vector equal_widths(int n, double length = 1) { return Vector(n, length / n); }

// Fine at both ends by a tanh, the largest cell `ratio` times the smallest one.
inline Vector tanh_widths(int n, double ratio, double length = 1) {
  const auto widths = [=](double stretching) {
    Vector out;
    for (int i = 0; i < n; i++) {
      const auto edge = [=](int at) { return std::tanh(stretching * (2.0 * at / n - 1)) / std::tanh(stretching) / 2; };
      out.push_back(length * (edge(i + 1) - edge(i)));
    }
    return out;
  };
  double low = 1e-3, high = 15;
  for (int step = 0; step < 100; step++) {
    const double middle = (low + high) / 2;
    const Vector w = widths(middle);
    (w[n / 2] / w[0] < ratio ? low : high) = middle;
  }
  return widths(low);
}

inline std::array<double, 3> centre_of(const Grid3D &grid, int p) { // in the unit cube
  const std::array<int, 3> at = grid.at(p);
  return {(at[0] + 0.5) / grid.n[0], (at[1] + 0.5) / grid.n[1], (at[2] + 0.5) / grid.n[2]};
}

// Cells of the unit cube with one coefficient for all directions.
inline Problem3D cube(int n, const Sides &sides, const Vector &K) {
  return finite_volumes({equal_widths(n), equal_widths(n), equal_widths(n)}, sides, [=](int, int p) { return K[p]; });
}

inline Problem3D smooth_coefficients(int n) {
  const Grid3D grid{{n, n, n}, {}};
  const double turn = 2 * std::acos(-1.0);
  return finite_volumes({equal_widths(n), equal_widths(n), equal_widths(n)}, all_dirichlet, [=](int q, int p) {
    const std::array<double, 3> x = centre_of(grid, p);
    return std::pow(10, 1.5 * std::sin(turn * x[q]) * std::cos(turn * x[(q + 1) % 3]));
  });
}

inline Problem3D log_normal(int n, double sigma, std::uint32_t seed = 1) {
  Random random(seed);
  Vector K;
  for (int p = 0; p < n * n * n; p++) {
    const double radius = std::sqrt(-2 * std::log(random()));
    K.push_back(std::exp(sigma * radius * std::cos(2 * std::acos(-1.0) * random())));
  }
  return cube(n, all_dirichlet, K);
}

struct Sphere {
  std::array<double, 3> centre;
  double radius;
};

inline Vector with_spheres(const Grid3D &grid, const std::vector<Sphere> &spheres, double inside) {
  Vector K(grid.size(), 1.0);
  for (int p = 0; p < grid.size(); p++)
    for (const auto &[centre, radius] : spheres) {
      const std::array<double, 3> x = centre_of(grid, p);
      if (std::hypot(x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]) < radius) K[p] = inside;
    }
  return K;
}

// A sphere in each third of the cube.
inline Problem3D bubbles(int n, double inside, const Sides &sides, std::uint32_t seed = 1) {
  Random random(seed);
  std::vector<Sphere> spheres;
  for (int third = 0; third < 27; third++) {
    Sphere sphere{{third % 3 + 0.5, third / 3 % 3 + 0.5, third / 9 + 0.5}, 0};
    for (double &x : sphere.centre) x = (x + 0.2 * (random() - 0.5)) / 3;
    sphere.radius = (0.25 + 0.12 * random()) / 3;
    spheres.push_back(sphere);
  }
  return cube(n, sides, with_spheres({{n, n, n}, {}}, spheres, inside));
}

// The space between spheres.
inline Problem3D porous(int n, std::uint32_t seed = 1) {
  Random random(seed);
  std::vector<Sphere> spheres;
  for (int i = 0; i < 60; i++) {
    Sphere sphere{};
    for (double &x : sphere.centre) x = random();
    sphere.radius = 0.08 + 0.08 * random();
    spheres.push_back(sphere);
  }
  return cube(n, all_neumann, with_spheres({{n, n, n}, {}}, spheres, 0));
}

// As identity_rows() in 2D. `fixed` is called with a point's number.
inline Problem3D identity_rows(Problem3D problem, const std::function<bool(int)> &fixed, bool with_columns) {
  for (int p = 0; p < problem.A.size(); p++) {
    if (!fixed(p)) continue;
    if (!with_columns)
      for (const auto &[q, a] : problem.A.row[p])
        if (q != p) problem.A.row[q].erase(p);
    problem.A.row[p] = {{p, 1.0}};
  }
  problem = with_rhs(problem);
  for (int p = 0; p < problem.A.size(); p++)
    if (fixed(p)) problem.b[p] = 0;
  return problem;
}

inline Problem3D identity_rows_at_sides(int n) {
  const auto at_side = [=](int p) {
    const std::array<int, 3> at = Grid3D{{n, n, n}, {}}.at(p);
    return std::any_of(at.begin(), at.end(), [=](int i) { return i == 0 || i == n - 1; });
  };
  return identity_rows(plain({n, n, n}, all_dirichlet), at_side, true);
}

// Couplings between 1/contrast and 1, a share of them `missing`; `excess` at one point of five. Dead points, and more
// than one component, come with what is missing.
inline Problem3D random_couplings(const Grid3D &grid, double contrast, double excess, double missing = 0,
                                  std::uint32_t seed = 1) {
  Random random(seed);
  Vector added;
  std::array<Vector, 3> face;
  for (int p = 0; p < grid.size(); p++) {
    added.push_back(random() < 0.2 ? excess * random() : 0);
    for (Vector &k : face) {
      k.push_back(std::pow(contrast, -random()));
      if (random() < missing) k.back() = 0;
    }
  }
  Sides sides;
  for (int q = 0; q < 3; q++) sides[q] = grid.periodic[q] ? Side::periodic : Side::neumann;
  Problem3D out = seven_points(
      grid.n, sides, [=](int q, int p) { return face[q][p]; }, [](int, int) { return 0; });
  for (int p = 0; p < grid.size(); p++) out.A.add(p, p, added[p]);
  return with_rhs(out);
}

// The problems that iterations are counted on, about n^3 points each.
using NamedProblem = std::pair<std::string, std::function<Problem3D(int)>>;
inline std::vector<NamedProblem> problems3d() {
  std::vector<NamedProblem> out;
  const auto cube_of = [](int n) { return std::array<int, 3>{n, n, n}; };
  const auto add = [&](const std::string &name, const std::function<Problem3D(int)> &make) {
    out.push_back({name, make});
  };
  add("poisson", [=](int n) { return plain(cube_of(n), all_dirichlet); });
  add("neumann", [=](int n) { return plain(cube_of(n), all_neumann); });
  add("periodic", [=](int n) { return plain(cube_of(n), all_periodic); });
  add("smooth", smooth_coefficients);
  add("lognormal1", [](int n) { return log_normal(n, 1); });
  add("lognormal3", [](int n) { return log_normal(n, 3); });
  const std::pair<const char *, double> insides[] = {{"1e3", 1e3}, {"1e6", 1e6}, {"1e-3", 1e-3}, {"1e-6", 1e-6}};
  for (const auto &[name, inside] : insides) {
    add(std::string("bubbles ") + name, [k = inside](int n) { return bubbles(n, k, all_neumann); });
    add(std::string("bubbles dirichlet ") + name, [k = inside](int n) { return bubbles(n, k, all_dirichlet); });
  }
  const std::pair<const char *, std::array<double, 3>> ratios[] = {
      {"1,1,10", {1, 1, 10}}, {"1,1,100", {1, 1, 100}}, {"100,1,1", {100, 1, 1}}, {"1,100,100", {1, 100, 100}}};
  for (const auto &[name, a] : ratios)
    add(std::string("anisotropic ") + name, [=, a = a](int n) { return plain(cube_of(n), all_dirichlet, a); });
  for (int stretched = 1; stretched <= 3; stretched++)
    add("tanh" + std::to_string(stretched), [=](int n) {
      Widths width;
      for (int q = 0; q < 3; q++) width[q] = q < 3 - stretched ? equal_widths(n) : tanh_widths(n, 100);
      return finite_volumes(width, all_dirichlet, [](int, int) { return 1; });
    });
  add("channel", [](int n) {
    return finite_volumes({equal_widths(n, 4), equal_widths(n, 2), tanh_widths(n, 100)},
                          {Side::periodic, Side::periodic, Side::neumann}, [](int, int) { return 1; });
  });
  add("porous", [](int n) { return porous(n); });
  add("thin", [](int n) { return plain({4 * n, 4 * n, n / 8}, {Side::dirichlet, Side::dirichlet, Side::neumann}); });
  add("identity rows", identity_rows_at_sides);
  return out;
}

inline Problem3D problem3d(const std::string &name, int n) {
  for (const auto &[known, make] : problems3d())
    if (known == name) return make(n);
  throw std::invalid_argument("no problem of the name " + name);
}

} // namespace reference
