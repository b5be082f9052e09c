// The multigrid of docs/numerics_gridmg.md, point by point. Slow and obvious on purpose; it shares nothing with the library.
#pragma once

#include "gridmg_coarsening.hpp"
#include "pseudo_inverse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace reference {

// Which directions to coarsen, and to smooth in.
enum class Coarsening {
  by_matrix,
  full,
  semi
};
enum class Smoother {
  by_matrix,
  points,
  lines
};

inline std::vector<int> coarsened_directions(const WeightedGrid &A, Coarsening coarsening) {
  double mean[3] = {0, 0, 0};
  for (int p = 0; p < A.grid.size(); p++) {
    const double largest = std::max({A.strength(0, p), A.strength(1, p), A.strength(2, p)});
    for (int q = 0; q < 3; q++)
      if (largest > 0) mean[q] += A.strength(q, p) / largest; // all three have the same number of points
  }
  std::vector<int> possible, chosen;
  for (int q = 0; q < 3; q++)
    if (A.grid.n[q] > 2) possible.push_back(q);
  if (coarsening == Coarsening::full || possible.empty()) return possible;
  const int strongest =
      *std::max_element(possible.begin(), possible.end(), [&](int q, int r) { return mean[q] < mean[r]; });
  if (coarsening == Coarsening::semi) return {strongest};
  for (int q : possible)
    if (mean[q] >= mean[strongest] / 4) chosen.push_back(q);
  return chosen;
}

// The directions of lines, in the order of the smoothing before restriction; none: points.
inline std::vector<int> line_directions(const WeightedGrid &A, Smoother smoother) {
  std::vector<int> lines;
  std::array<int, 3> strong{};
  int alive = 0;
  for (int p = 0; p < A.grid.size(); p++) {
    double smallest = std::numeric_limits<double>::infinity();
    for (int q = 0; q < 3; q++)
      if (A.strength(q, p) != 0) smallest = std::min(smallest, A.strength(q, p));
    for (int q = 0; q < 3; q++) strong[q] += A.strength(q, p) > 4 * smallest;
    alive += !A.dead(p);
  }
  for (int q = 0; q < 3; q++)
    if (smoother == Smoother::lines ? A.grid.n[q] > 1 : strong[q] > 0.05 * alive) lines.push_back(q);
  if (smoother == Smoother::points) lines.clear();
  if (smoother == Smoother::by_matrix)
    std::stable_sort(lines.begin(), lines.end(), [&](int q, int r) { return strong[q] > strong[r]; });
  return lines;
}

struct GridMGOptions {
  Coarsening coarsening = Coarsening::by_matrix;
  Smoother smoother = Smoother::by_matrix;
  int smooths = 1, coarse_size = 512;
  int most_grids = std::numeric_limits<int>::max(); // the coarsest one and those with smoothing
  Vector v;                                         // near-null-space vector, empty: 1
  double v_times = 1;                               // what the library's v is of this one
  bool v_is_null = false;                           // the null space that is attached to the matrix
};

class GridMG {
public:
  struct Level {
    WeightedGrid A;
    std::vector<int> lines;
    std::vector<Interpolation> steps; // to the next grid, one for each direction that is coarsened
  };

  GridMG(const Matrix &A, const Grid3D &grid, const GridMGOptions &options = {})
      : options_(options), v_(usable_vector(A, options.v)), coarsest_(weighted(A, grid, v_, options.v_is_null)) {
    double largest = 0; // its diagonal entries, of rows that are no identity rows, with A's v as the library has it
    for (int p = 0; p < A.size(); p++)
      if (coarsest_.diagonal(p) > coarsest_.excess[p])
        largest = std::max(largest, options.v_times * options.v_times * coarsest_.diagonal(p));
    null_inverse_ = largest > 0 ? std::exp2(-std::floor(std::log2(largest))) : 1;
    null_inverse_ *= options.v_times * options.v_times;
    while (static_cast<int>(levels_.size()) + 1 < options.most_grids && coarsest_.grid.size() > options.coarse_size) {
      const std::vector<int> directions = coarsened_directions(coarsest_, options.coarsening);
      if (directions.empty()) break;
      levels_.push_back({coarsest_, line_directions(coarsest_, options.smoother), {}});
      for (int q : directions) {
        if (coarsest_.grid.size() <= options.coarse_size) break;
        const Interpolation step(coarsest_, q);
        coarsest_ = coarse_matrix(coarsest_, step);
        levels_.back().steps.push_back(step);
      }
    }
    solver_.emplace(coarsest_, null_inverse_);
  }

  const std::vector<Level> &levels() const { return levels_; }
  const WeightedGrid &coarsest() const { return coarsest_; }
  double null_inverse() const { return null_inverse_; } // of null vectors of the coarsest grid

  // z = M^-1 r. With Real = float the cycle is in single precision, from r over its largest absolute value.
  template <class Real = double> Vector apply(const Vector &r) const {
    Vector z(r);
    double largest = 0;
    for (std::size_t p = 0; p < r.size(); p++) largest = std::max(largest, std::abs(v_[p] * r[p]));
    if (largest == 0 || std::is_same<Real, double>::value) largest = 1;
    for (std::size_t p = 0; p < r.size(); p++) z[p] = v_[p] * r[p] / largest;
    const std::vector<Real> x = cycle(0, std::vector<Real>(z.begin(), z.end()));
    for (std::size_t p = 0; p < r.size(); p++) z[p] = v_[p] * x[p] * largest;
    return z;
  }

private:
  // Half of the points, or of the lines in direction q.
  struct HalfSweep {
    int q; // -1: points
    int parity;
  };

  GridMGOptions options_;
  Vector v_;
  WeightedGrid coarsest_;
  std::vector<Level> levels_;
  std::optional<PseudoInverse> solver_;
  double null_inverse_;

  template <class Real> std::vector<Real> cycle(std::size_t l, const std::vector<Real> &r) const {
    if (l == levels_.size()) {
      const Vector x = solver_->apply(Vector(r.begin(), r.end()));
      return std::vector<Real>(x.begin(), x.end());
    }
    const Level &level = levels_[l];
    std::vector<HalfSweep> sweeps = sequence(level.lines);
    std::vector<Real> x(r.size(), 0);
    for (const HalfSweep &half : sweeps) smooth(level.A, half, r, x);
    std::vector<Real> coarse = residual(level.A, r, x);
    for (const Interpolation &step : level.steps) coarse = step.restrict_to_coarse(coarse);
    coarse = cycle(l + 1, coarse);
    for (auto step = level.steps.rbegin(); step != level.steps.rend(); ++step) coarse = step->prolong(coarse);
    for (std::size_t p = 0; p < x.size(); p++) x[p] += coarse[p];
    std::reverse(sweeps.begin(), sweeps.end());
    for (const HalfSweep &half : sweeps) smooth(level.A, half, r, x);
    return x;
  }

  std::vector<HalfSweep> sequence(const std::vector<int> &lines) const {
    std::vector<HalfSweep> sweeps;
    for (int nu = 0; nu < options_.smooths; nu++) {
      for (int q : lines)
        for (int parity : {0, 1}) sweeps.push_back({q, parity});
      if (lines.empty()) sweeps.insert(sweeps.end(), {{-1, 0}, {-1, 1}});
    }
    return sweeps;
  }

  template <class Real>
  static std::vector<Real> residual(const WeightedGrid &A, std::vector<Real> r, const std::vector<Real> &x) {
    for (int p = 0; p < A.grid.size(); p++) {
      r[p] -= static_cast<Real>(A.excess[p]) * x[p];
      for (int q = 0; q < 3; q++) {
        const int next = A.grid.neighbour(p, q, 1);
        if (next < 0) continue;
        const Real flow = static_cast<Real>(A.after(q, p)) * (x[p] - x[next]);
        r[p] -= flow;
        r[next] += flow;
      }
    }
    return r;
  }

  template <class Real>
  static void smooth(const WeightedGrid &A, HalfSweep half, const std::vector<Real> &r, std::vector<Real> &x) {
    const std::vector<Real> old = x;
    for (int p = 0; p < A.grid.size(); p++) {
      const std::array<int, 3> at = A.grid.at(p);
      if ((at[0] + at[1] + at[2]) % 2 != half.parity) continue;
      if (half.q < 0) {
        const Real d = static_cast<Real>(A.diagonal(p));
        x[p] = d > 0 ? (r[p] + around(A, p, 0, old) + around(A, p, 1, old) + around(A, p, 2, old)) / d : 0;
      } else if (at[half.q] == 0)
        solve_line(A, half.q, p, r, old, x);
    }
  }

  // What p reads of its two neighbours in direction q.
  template <class Real> static Real around(const WeightedGrid &A, int p, int q, const std::vector<Real> &old) {
    const int previous = A.grid.neighbour(p, q, -1), next = A.grid.neighbour(p, q, 1);
    Real sum = 0;
    if (previous >= 0) sum += static_cast<Real>(A.before(q, p)) * old[previous];
    if (next >= 0) sum += static_cast<Real>(A.after(q, p)) * old[next];
    return sum;
  }

  // The line in direction q that begins at `first`, opened where it is a ring.
  template <class Real>
  static void solve_line(const WeightedGrid &A, int q, int first, const std::vector<Real> &r,
                         const std::vector<Real> &old, std::vector<Real> &x) {
    const int n = A.grid.n[q];
    std::vector<int> at{first};
    while (static_cast<int>(at.size()) < n) at.push_back(A.grid.neighbour(at.back(), q, 1));
    const Real ring = static_cast<Real>(A.before(q, first)); // 0 where the line is no ring
    std::vector<Real> b(n), w(n, 0), rest(n), pivot(n);
    for (int i = 0; i < n; i++) {
      b[i] = r[at[i]];
      rest[i] = static_cast<Real>(A.excess[at[i]]);
      if (i + 1 < n) w[i] = static_cast<Real>(A.after(q, at[i]));
      for (int d = 0; d < 3; d++) {
        if (d == q) continue;
        b[i] += around(A, at[i], d, old);
        rest[i] += static_cast<Real>(A.strength(d, at[i]));
      }
    }
    for (const auto &[end, other] : {std::pair{0, n - 1}, {n - 1, 0}}) {
      if (n == 1) break;
      b[end] += ring * old[at[other]];
      rest[end] += ring;
    }
    for (int i = 0; i < n; i++) {
      pivot[i] = rest[i] + w[i];
      if (i + 1 == n || !(pivot[i] > 0)) continue;
      b[i + 1] += w[i] / pivot[i] * b[i];
      rest[i + 1] += w[i] * rest[i] / pivot[i];
    }
    for (int i = n; i-- > 0;) {
      if (!(pivot[i] > 0)) continue; // a correction of 0; a value of 0 would make M unsymmetric
      x[at[i]] = (i + 1 < n ? b[i] + w[i] * x[at[i + 1]] : b[i]) / pivot[i];
    }
  }
};

} // namespace reference
