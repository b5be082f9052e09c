// The two-phase pressure problem of Gupta, van Gijzen and Vuik, and the like in other shapes.
#pragma once

#include "problems.hpp"

namespace reference {

inline double harmonic(double a, double b) { return 2 * a * b / (a + b); }

// n x n cells with the coefficient of their phase, harmonic means at faces. Dirichlet on the top side, where the wall adds
// the cell's own coefficient to the diagonal; Neumann on the others. b = A x with x(i) = cos(i).
inline Problem two_phase(int nx, int ny, const Coefficient &k) {
  const auto across_x = [=](int i, int j) { return i == 0 || i == nx ? 0.0 : harmonic(k(i - 1, j), k(i, j)); };
  const auto across_y = [=](int i, int j) {
    return j == 0 ? 0.0 : j == ny ? k(i, ny - 1) : harmonic(k(i, j - 1), k(i, j));
  };
  Problem out = five_points({nx, ny}, across_x, across_y);
  Vector x(out.A.size());
  for (int i = 0; i < out.A.size(); i++) x[i] = std::cos(i);
  out.b = out.A.multiply(x);
  return out;
}

// The lower half is 1000 times weaker.
inline Problem two_phase(int n) {
  return two_phase(n, n, [n](int, int j) { return j < n / 2 ? 1e-3 : 1.0; });
}

// Seven points in 3D with random face coefficients between 1 and `contrast`, in the natural order. A positive shift makes
// the matrix regular.
inline Matrix random_seven_points(int nx, int ny, int nz, double contrast, double shift, std::uint32_t seed = 1) {
  Matrix A(nx * ny * nz);
  Random random(seed);
  const int step[3] = {1, nx, nx * ny};
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        const int p = (z * ny + y) * nx + x;
        const bool has[3] = {x + 1 < nx, y + 1 < ny, z + 1 < nz};
        A.add(p, p, shift);
        for (int d = 0; d < 3; d++) {
          if (!has[d]) continue;
          const double k = std::pow(contrast, random());
          A.add(p, p, k);
          A.add(p + step[d], p + step[d], k);
          A.add(p, p + step[d], -k);
          A.add(p + step[d], p, -k);
        }
      }
  return A;
}

} // namespace reference
