// Test matrices on a grid, of the kinds that applications bring: each function returns one, with a right-hand side.
#pragma once

#include "matrix.hpp"
#include "rrb_reference.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace reference {

struct Problem {
  Grid grid;
  Matrix A;
  Vector b;
  Vector v;                       // near-null-space vector, empty: 1
  std::vector<Vector> null_space; // basis, b is orthogonal to it
};

// Uniform in (0, 1), the same numbers on every platform (the standard distributions are not).
class Random {
public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  double operator()() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }

private:
  std::mt19937 engine_;
};

inline Vector random_vector(int n, std::uint32_t seed = 1) {
  Random random(seed);
  Vector x(n);
  for (double &value : x) value = random() - 0.5;
  return x;
}

// A random right-hand side, made orthogonal to the null space.
template <class AnyProblem> void set_random_rhs(AnyProblem &problem, std::uint32_t seed = 1) {
  problem.b = random_vector(problem.A.size(), seed);
  for (const Vector &w : problem.null_space) {
    const double part = dot(w, problem.b) / dot(w, w);
    for (std::size_t i = 0; i < w.size(); i++) problem.b[i] -= part * w[i];
  }
}

using Coefficient = std::function<double(int, int)>;
inline double one(int, int) { return 1; }

// Finite volumes, five points. across_x(i, j) is the coefficient of the face between (i-1, j) and (i, j), 0 <= i <= nx;
// i = 0 and i = nx are the sides: Dirichlet where the coefficient is not 0, one and the same face where the side is
// periodic. across_y likewise. `shift` is added to the diagonal.
inline Problem five_points(const Grid &grid, const Coefficient &across_x, const Coefficient &across_y,
                           double shift = 0) {
  Problem out{grid, Matrix(grid.nx * grid.ny), {}, {}, {}};
  const int nx = grid.nx, ny = grid.ny;
  const auto couple = [&](int p, int q, double k) { reference::couple(out.A, p, q, k); };
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++) {
      const int p = j * nx + i;
      out.A.add(p, p, shift);
      if (i > 0) couple(p, p - 1, across_x(i, j));
      if (j > 0) couple(p, p - nx, across_y(i, j));
      if (i == 0 && !grid.periodic_x) out.A.add(p, p, across_x(0, j));
      if (j == 0 && !grid.periodic_y) out.A.add(p, p, across_y(i, 0));
      if (i == nx - 1 && grid.periodic_x) couple(p, j * nx, across_x(0, j));
      if (j == ny - 1 && grid.periodic_y) couple(p, i, across_y(i, 0));
      if (i == nx - 1 && !grid.periodic_x) out.A.add(p, p, across_x(nx, j));
      if (j == ny - 1 && !grid.periodic_y) out.A.add(p, p, across_y(i, ny));
    }
  set_random_rhs(out);
  return out;
}

// The papers' problem: -Laplace u = f on the unit square, n x n interior points, u = x(x-1)y(y-1)exp(xy).
inline Problem poisson(int n) {
  Problem out = five_points({n, n}, one, one);
  const double h = 1.0 / (n + 1);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const double x = (i + 1) * h, y = (j + 1) * h, X = x * (x - 1), Y = y * (y - 1);
      const double u_xx = Y * (2 + 2 * y * (2 * x - 1) + y * y * X), u_yy = X * (2 + 2 * x * (2 * y - 1) + x * x * Y);
      out.b[j * n + i] = -h * h * (u_xx + u_yy) * std::exp(x * y);
    }
  return out;
}

inline Problem anisotropic(int nx, int ny, double kx, double ky) {
  return five_points(
      {nx, ny}, [=](int, int) { return kx; }, [=](int, int) { return ky; });
}

// Face coefficients between 1 and `contrast`, their logarithms uniform.
inline Problem random_faces(const Grid &grid, double contrast, std::uint32_t seed = 1) {
  auto random = std::make_shared<Random>(seed);
  auto face = [=](int, int) { return std::pow(contrast, (*random)()); };
  return five_points(grid, face, face);
}

// Cell coefficients, 1 or `jump` by a coin in blocks of `block` x `block` cells; harmonic means on the faces.
inline Problem random_jumps(const Grid &grid, double jump, int block, bool neumann = false, std::uint32_t seed = 1) {
  const int across = (grid.nx + block - 1) / block + 1;
  Vector cells;
  Random random(seed);
  for (int i = 0; i < across * ((grid.ny + block - 1) / block + 1); i++) cells.push_back(random() < 0.5 ? 1 : jump);
  const auto cell = [=](int i, int j) { return cells[j / block * across + i / block]; };
  const auto mean = [](double a, double b) { return 2 * a * b / (a + b); };
  const auto side = [=](double k) { return neumann ? 0 : k; };
  const int nx = grid.nx, ny = grid.ny;
  return five_points(
      grid,
      [=](int i, int j) {
        if (grid.periodic_x && i == 0) return mean(cell(0, j), cell(nx - 1, j));
        return i == 0 || i == nx ? side(cell(i ? nx - 1 : 0, j)) : mean(cell(i - 1, j), cell(i, j));
      },
      [=](int i, int j) {
        if (grid.periodic_y && j == 0) return mean(cell(i, 0), cell(i, ny - 1));
        return j == 0 || j == ny ? side(cell(i, j ? ny - 1 : 0)) : mean(cell(i, j - 1), cell(i, j));
      });
}

// Nine points, random couplings around periodic sides too. Every row sums to `shift` in absolute values, so it is
// positive definite; `positive` of the couplings have the wrong sign.
inline Problem random_nine_points(const Grid &grid, double positive, double shift = 0.01, std::uint32_t seed = 1) {
  Problem out{grid, Matrix(grid.nx * grid.ny), {}, {}, {}};
  Random random(seed);
  const int nx = grid.nx, ny = grid.ny, steps[4][2] = {{1, 0}, {-1, 1}, {0, 1}, {1, 1}};
  for (int p = 0; p < nx * ny; p++) {
    out.A.add(p, p, shift);
    for (const auto &step : steps) {
      int i = p % nx + step[0], j = p / nx + step[1];
      if (grid.periodic_x) i = (i + nx) % nx;
      if (grid.periodic_y) j = j % ny;
      if (i < 0 || i >= nx || j >= ny) continue;
      const double size = random(), a = random() < positive ? size : -size;
      const int q = j * nx + i;
      out.A.add(p, p, size);
      out.A.add(q, q, size);
      out.A.add(p, q, a);
      out.A.add(q, p, a);
    }
  }
  set_random_rhs(out);
  return out;
}

// Bilinear elements for -kx u_xx - ky u_yy on elements of hx by hy (only kx hy/hx and ky hx/hy matter), Dirichlet
// sides.
inline Problem bilinear_elements(int nx, int ny, double kx, double ky) {
  Problem out{{nx, ny}, Matrix(nx * ny), {}, {}, {}};
  const double along_x[4] = {2, -2, 1, -1}, along_y[4] = {2, 1, -2, -1}; // a corner with itself, in x, in y, diagonally
  for (int j = -1; j < ny; j++)
    for (int i = -1; i < nx; i++)
      for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++) {
          const int pi = i + from % 2, pj = j + from / 2, qi = i + to % 2, qj = j + to / 2;
          if (pi < 0 || pi >= nx || pj < 0 || pj >= ny || qi < 0 || qi >= nx || qj < 0 || qj >= ny) continue;
          out.A.add(pj * nx + pi, qj * nx + qi, (kx * along_x[from ^ to] + ky * along_y[from ^ to]) / 6);
        }
  set_random_rhs(out);
  return out;
}

using Mask = std::function<bool(int, int)>;

// Neumann on all sides: singular, with the constant as null vector.
inline Problem neumann(int nx, int ny) {
  auto inner_x = [=](int i, int) { return i > 0 && i < nx ? 1.0 : 0.0; };
  auto inner_y = [=](int, int j) { return j > 0 && j < ny ? 1.0 : 0.0; };
  Problem out = five_points({nx, ny}, inner_x, inner_y);
  out.null_space.push_back(Vector(nx * ny, 1.0));
  set_random_rhs(out);
  return out;
}

inline Problem periodic(const Grid &grid, double shift) {
  const bool sides = !grid.periodic_x || !grid.periodic_y; // Dirichlet sides remain
  Problem out = five_points(grid, one, one, shift);
  if (!sides && shift == 0) out.null_space.push_back(Vector(grid.nx * grid.ny, 1.0));
  set_random_rhs(out);
  return out;
}

// Flow without walls' friction (Neumann) in the wet cells; dry cells have identity rows. Every pond, that is every
// connected set of wet cells, adds the constant on it to the null space when shift is 0.
inline Problem wet_cells(int nx, int ny, const Mask &wet, double shift = 0) {
  auto face_x = [=](int i, int j) { return i > 0 && i < nx && wet(i - 1, j) && wet(i, j) ? 1.0 : 0.0; };
  auto face_y = [=](int i, int j) { return j > 0 && j < ny && wet(i, j - 1) && wet(i, j) ? 1.0 : 0.0; };
  Problem out = five_points({nx, ny}, face_x, face_y, shift);
  std::vector<int> pond(nx * ny, -1);
  for (int p = 0; p < nx * ny; p++) {
    if (!wet(p % nx, p / nx)) {
      out.A.row[p] = {{p, 1.0}};
      continue;
    }
    if (pond[p] >= 0 || shift != 0) continue;
    std::vector<int> front{p};
    Vector constant(nx * ny, 0.0);
    while (!front.empty()) {
      const int q = front.back();
      front.pop_back();
      if (pond[q] >= 0) continue;
      pond[q] = p;
      constant[q] = 1;
      for (const auto &[r, a] : out.A.row[q])
        if (a != 0 && r != q) front.push_back(r);
    }
    // a lone wet cell has a zero row, which counts as an identity row in M; its unknown stays in the null space of A
    out.null_space.push_back(constant);
  }
  set_random_rhs(out);
  return out;
}

inline Problem two_ponds(int nx, int ny) {
  return wet_cells(nx, ny, [=](int i, int) { return i != nx / 3; });
}

inline Problem isolated_cells(int nx, int ny) {
  return wet_cells(nx, ny, [](int i, int j) { return i > 8 || j > 8 || (i % 3 == 1 && j % 3 == 1); });
}

// A wet square with a canal one cell wide that leaves it: along the line j = row, or as a staircase.
inline Problem straight_canal(int nx, int ny, int row, double shift = 0) {
  return wet_cells(
      nx, ny, [=](int i, int j) { return i < nx / 4 || j == row; }, shift);
}

inline Problem diagonal_canal(int n, double shift = 0) {
  return wet_cells(
      n, n, [=](int i, int j) { return (i < n / 4 && j < n / 4) || i == j || i == j + 1; }, shift);
}

// D A D with diagonal D: its near-null-space vector is D^-1 v.
inline Problem scaled(Problem problem, const Vector &D) {
  if (problem.v.empty()) problem.v.assign(D.size(), 1.0);
  for (int p = 0; p < problem.A.size(); p++) {
    for (auto &[q, a] : problem.A.row[p]) a *= D[p] * D[q];
    problem.v[p] /= D[p];
  }
  for (Vector &w : problem.null_space)
    for (std::size_t p = 0; p < w.size(); p++) w[p] /= D[p];
  set_random_rhs(problem);
  return problem;
}

// Dirichlet conditions as rows of the identity on the nodes that `fixed` names; with_columns says that the neighbours
// keep their couplings to them, which makes the matrix nonsymmetric there; CG bears it because the fixed values are 0.
inline Problem identity_rows(Problem problem, const Mask &fixed, bool with_columns) {
  const int nx = problem.grid.nx;
  for (int p = 0; p < problem.A.size(); p++) {
    if (!fixed(p % nx, p / nx)) continue;
    if (!with_columns)
      for (const auto &[q, a] : problem.A.row[p])
        if (q != p) problem.A.row[q].erase(p);
    problem.A.row[p] = {{p, 1.0}};
    problem.b[p] = 0;
  }
  return problem;
}

} // namespace reference
