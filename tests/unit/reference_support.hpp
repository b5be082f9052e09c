// What the tests of the reference share: short ways to factor and solve, and a small matrix of each kind.
#pragma once

#include "reference/cg_reference.hpp"
#include "reference/problems.hpp"
#include "reference/rrb_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace reference {

inline Options with_levels(int levels, double omega = 1, LumpNodes nodes = LumpNodes::red) {
  Options options;
  options.levels = levels;
  options.omega = omega;
  options.lump_nodes = nodes;
  return options;
}

inline RRB factor(const Problem &problem, Options options = {}) {
  options.v = problem.v;
  return RRB(problem.A, problem.grid, options);
}

inline CGResult solve(const Problem &problem, const RRB &M, double rtol = 1e-6, int most = 3000) {
  return cg(
      problem.A, problem.b, [&](const Vector &r) { return M.apply(r); }, Norm::natural, rtol, most);
}

inline int iterations(const Problem &problem, const Options &options = {}) {
  const RRB M = factor(problem, options);
  EXPECT_TRUE(M.ok());
  const CGResult result = solve(problem, M);
  return result.converged ? result.iterations : std::numeric_limits<int>::max();
}

inline double norm(const Vector &x) { return std::sqrt(dot(x, x)); }

inline double difference(const Vector &x, const Vector &y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(sum);
}

inline Vector times(const std::vector<Vector> &M, const Vector &x) {
  Vector y;
  for (const Vector &row : M) y.push_back(dot(row, x));
  return y;
}

// One of each kind, small enough for dense matrices and with odd, even and unequal sides.
inline std::vector<std::pair<std::string, Problem>> zoo() {
  Vector D = random_vector(13 * 10, 7);
  for (double &value : D) value = std::pow(10.0, value);
  return {{"poisson", poisson(9)},
          {"random faces", random_faces({13, 8}, 100)},
          {"jumps", random_jumps({12, 9}, 1e6, 3)},
          {"anisotropic", anisotropic(8, 11, 1000, 1)},
          {"nine points", random_nine_points({11, 12}, 0)},
          {"positive couplings", random_nine_points({10, 9}, 0.4)},
          {"bilinear", bilinear_elements(9, 9, 5, 1)},
          {"periodic in x, 5", random_nine_points({5, 9, true, false}, 0)},
          {"periodic in y, 11", random_nine_points({7, 11, false, true}, 0)},
          {"periodic, 8 x 6", random_nine_points({8, 6, true, true}, 0)},
          {"periodic, 9 x 3", random_nine_points({9, 3, true, true}, 0)},
          {"neumann", neumann(9, 7)},
          {"two ponds", two_ponds(10, 8)},
          {"isolated cells", isolated_cells(12, 12)},
          {"straight canal", straight_canal(12, 12, 5)},
          {"diagonal canal", diagonal_canal(12, 1e-3)},
          {"scaled", scaled(random_faces({13, 10}, 10), D)},
          {"one line", random_faces({17, 1}, 10)},
          {"one column", random_faces({1, 17}, 10)},
          {"two by two", random_nine_points({2, 2}, 0)}};
}

// Rings of every remainder, tiny ones, and more than the zoo's sizes.
inline std::vector<std::pair<std::string, Problem>> zoo_and_rings() {
  auto all = zoo();
  unsigned seed = 0;
  for (const auto &[nx, ny] : {std::pair{3, 3}, {5, 2}, {16, 16}, {17, 16}, {23, 29}, {33, 18}, {40, 37}})
    for (const bool ring_x : {false, true})
      for (const bool ring_y : {false, true})
        all.push_back({std::to_string(nx) + " x " + std::to_string(ny) + (ring_x ? " ring in x" : "") +
                           (ring_y ? " ring in y" : ""),
                       random_nine_points({nx, ny, ring_x, ring_y}, 0, 0.01, ++seed)});
  const auto dry = [](int i, int j) { return (i * 7 + j * 3) % 5 == 0 || (i > 8 && j > 12); };
  all.push_back({"masked", identity_rows(random_nine_points({30, 27}, 0), dry, true)});
  return all;
}

} // namespace reference
