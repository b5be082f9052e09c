// Matrices that plain RRB converges slowly on: stretched grids, tensors that change direction, channels, and the
// right-hand side of ones, so that counts of iterations depend on no random numbers.
#pragma once

#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace reference {

// Finite volumes for -(kx u_x)_x - (ky u_y)_y on cells of hx[i] by hy[j]: the flux between two cells passes half of each
// in series. Dirichlet sides, a whole cell away.
inline Problem finite_volumes(const Vector &hx, const Vector &hy, const Coefficient &kx, const Coefficient &ky) {
  const int nx = static_cast<int>(hx.size()), ny = static_cast<int>(hy.size());
  const auto in_series = [](double length, double k, double next_length, double next_k) {
    return 2 / (length / k + next_length / next_k);
  };
  // the face of a side is between a cell and itself
  const auto at = [](int i, int n) { return std::clamp(i, 0, n - 1); };
  Problem out = five_points(
      {nx, ny},
      [&](int i, int j) {
        const int west = at(i - 1, nx), east = at(i, nx);
        return hy[j] * in_series(hx[west], kx(west, j), hx[east], kx(east, j));
      },
      [&](int i, int j) {
        const int south = at(j - 1, ny), north = at(j, ny);
        return hx[i] * in_series(hy[south], ky(i, south), hy[north], ky(i, north));
      });
  out.b.assign(hx.size() * hy.size(), 1.0);
  return out;
}

inline Problem finite_volumes(int nx, int ny, const Coefficient &kx, const Coefficient &ky) {
  return finite_volumes(Vector(nx, 1.0), Vector(ny, 1.0), kx, ky);
}

// Sizes of cells that grow geometrically from both walls to the middle, from `smallest` on, `ratio` times as large there.
inline Vector geometric_cells(int n, double ratio, double smallest = 1) {
  Vector h;
  for (int i = 0; i < n; i++)
    h.push_back(smallest * std::pow(ratio, static_cast<double>(std::min(i, n - 1 - i)) / std::max(1, (n - 1) / 2)));
  return h;
}

// Clustered at both walls by a hyperbolic tangent, of mean size 1.
inline Vector tanh_cells(int n, double beta) {
  const auto wall_to_wall = [=](int i) { return std::tanh(beta * (2.0 * i / n - 1)) / std::tanh(beta); };
  Vector h;
  for (int i = 0; i < n; i++) h.push_back((wall_to_wall(i + 1) - wall_to_wall(i)) * n / 2);
  return h;
}

// `ratio` along x in one half of the squares of `block` x `block` cells, along y in the other.
inline Problem checkerboard(int nx, int ny, double ratio, int block = 32) {
  const auto along_x = [=](int i, int j) { return (i / block + j / block) % 2 == 1; };
  return finite_volumes(
      nx, ny, [=](int i, int j) { return along_x(i, j) ? ratio : 1; },
      [=](int i, int j) { return along_x(i, j) ? 1 : ratio; });
}

// Rows j = first, first + period, ... conduct 1e4 times as well.
inline Problem channels(int nx, int ny, int first, int period) {
  const auto k = [=](int, int j) { return j % period == first ? 1e4 : 1; };
  return finite_volumes(nx, ny, k, k);
}

// Every cell another conductivity, the logarithm within sigma of 0 at both sides.
inline Problem rough_cells(int nx, int ny, double sigma, std::uint32_t seed = 1) {
  Vector cells = random_vector(nx * ny, seed);
  const auto k = [&](int i, int j) { return std::exp(2 * sigma * cells[j * nx + i]); };
  return finite_volumes(nx, ny, k, k);
}

inline Problem with_ones(Problem problem) {
  problem.b.assign(problem.A.size(), 1.0);
  return problem;
}

inline std::vector<std::pair<std::string, Problem>> hard_problems(int n) {
  const Vector even(n, 1.0), tanh3 = tanh_cells(n, 3), wall1000 = geometric_cells(n, 1000);
  return {{"poisson", with_ones(poisson(n))},
          {"anisotropy 10 in x", with_ones(anisotropic(n, n, 10, 1))},
          {"anisotropy 100 in x", with_ones(anisotropic(n, n, 100, 1))},
          {"anisotropy 1000 in x", with_ones(anisotropic(n, n, 1000, 1))},
          {"anisotropy 10000 in x", with_ones(anisotropic(n, n, 10000, 1))},
          {"anisotropy 1000 in y", with_ones(anisotropic(n, n, 1, 1000))},
          {"stretched in y to 30", finite_volumes(even, geometric_cells(n, 30, 1.0 / 30), one, one)},
          {"stretched in y to 1000", finite_volumes(even, geometric_cells(n, 1000, 1e-3), one, one)},
          {"stretched in x and y to 30", finite_volumes(geometric_cells(n, 30), geometric_cells(n, 30), one, one)},
          {"stretched in x and y to 1000", finite_volumes(wall1000, wall1000, one, one)},
          {"tanh in x and y", finite_volumes(tanh3, tanh3, one, one)},
          {"checkerboard", checkerboard(n, n, 100)},
          {"channels at 1 mod 4", channels(n, n, 1, 4)},
          {"channels at 2 mod 4", channels(n, n, 2, 4)},
          {"channels at 1 mod 2", channels(n, n, 1, 2)},
          {"elements 10 in x", with_ones(bilinear_elements(n, n, 10, 1))},
          {"elements 100 in x", with_ones(bilinear_elements(n, n, 100, 1))}};
}

} // namespace reference
