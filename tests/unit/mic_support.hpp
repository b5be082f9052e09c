// What the tests of incomplete factorizations share: matrices on grids of all shapes, and what their factors keep of
// them.
#pragma once

#include "pc/mic/core/mic.hpp"
#include "pc/mic/core/order.hpp"
#include "pc/mic/core/point.hpp"
#include "../reference/mic_reference.hpp"
#include "neumann_support.hpp"

#include <cmath>

namespace mic_support {

using neumann_support::lattice;
using neumann_support::random_values;
using neumann_support::words;
using petscrrb::mic::Options;
using petscrrb::mic::Type;

// A matrix as it is factored: identity rows decoupled both ways, nothing over seams and between blocks.
struct Kept {
  reference::Matrix A;
  std::vector<bool> identity;

  Kept(const SmallMatrix &from, const Shape &s, int block_lines = 0) : A(from.size()), identity(from.size(), true) {
    const auto &rows = from.entries();
    for (int p = 0; p < s.size(); ++p)
      for (const auto &[q, a] : rows[p])
        if (q != p && a != 0) identity[p] = false;
    for (int p = 0; p < s.size(); ++p) {
      A.add(p, p, identity[p] && from.at(p, p) == 0 ? 1 : from.at(p, p));
      for (const auto &[q, a] : rows[p])
        if (q != p && a != 0 && !identity[p] && !identity[q] && are_neighbours(s, p, q, block_lines))
          A.add(p, q, (a + from.at(q, p)) / 2);
    }
  }

private:
  static bool are_neighbours(const Shape &s, int p, int q, int block_lines) {
    const int x[3] = {p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny}, y[3] = {q % s.nx, q / s.nx % s.ny, q / s.nx / s.ny};
    const int last = s.points == 7 ? 2 : 1;
    int away = 0;
    for (int d = 0; d < 3; ++d) away += std::abs(x[d] - y[d]);
    return away == 1 && (block_lines == 0 || x[last] / block_lines == y[last] / block_lines);
  }
};

inline reference::Factorization factorization(const Kept &kept, const Options &o) {
  return o.type == Type::ssor ? reference::Factorization::ssor(kept.A, o.omega, kept.identity)
                              : reference::Factorization::mic(kept.A, o.omega, o.shift);
}

// Random couplings, of which some are positive and some missing; diagonals between a little more than what
// makes the row sums zero and ten times that.
inline SmallMatrix uneven(const Shape &s, unsigned seed = 1) {
  SmallMatrix A = random_matrix(s, seed);
  for (int p = 0; p < s.size(); ++p) {
    double sum = 0;
    for (int q : {p + 1, p + s.nx, p + s.nx * s.ny})
      if (q < s.size() && A.at(p, q) != 0 && (p + q) % 11 == 0) A.set_both(p, q, p % 2 ? 0 : 0.5);
    for (const auto &[q, a] : A.entries()[p])
      if (q != p) sum += std::fabs(a);
    A.set(p, p, (sum > 0 ? sum : 1) * (p % 5 ? 1.01 + 0.01 * (p % 7) : 10));
  }
  return A;
}

// Couplings of -1, row sums of `shift`, and more where a side is not insulated.
inline SmallMatrix laplacian(const Shape &s, double shift, bool insulated) {
  SmallMatrix A(s.size());
  const int sides = s.points == 7 ? 6 : 4;
  for (int p = 0; p < s.size(); ++p) {
    const int i = p % s.nx, j = p / s.nx % s.ny, k = p / s.nx / s.ny;
    int neighbours = 0;
    for (int d = 0; d < sides / 2; ++d)
      for (int step : {-1, 1}) {
        const int q = neighbour(s, i, j, k, d == 0 ? step : 0, d == 1 ? step : 0, d == 2 ? step : 0);
        if (q >= 0) A.set(p, q, -1), ++neighbours;
      }
    A.set(p, p, (insulated ? neighbours : sides) + shift);
  }
  return A;
}

// Random couplings; the row sums are zero.
inline SmallMatrix singular(const Shape &s) {
  SmallMatrix A = random_matrix(s);
  for (int p = 0; p < s.size(); ++p) {
    double sum = 0;
    for (const auto &[q, a] : A.entries()[p])
      if (q != p) sum += a;
    A.set(p, p, sum < 0 ? -sum : 1);
  }
  return A;
}

inline Shape solid(int nx, int ny, int nz) { return {nx, ny, nz, false, false, false, 7}; }

const std::vector<Shape> shapes{{1, 1},
                                {2, 1},
                                {1, 2},
                                {9, 1},
                                {1, 40},
                                {40, 1},
                                {3, 7},
                                {16, 2},
                                {20, 5},
                                {7, 8},
                                {8, 9},
                                {17, 8},
                                {31, 17},
                                {32, 32},
                                {33, 31},
                                {5, 60},
                                {9, 7, 1, true, false},
                                {17, 9, 1, true, true},
                                solid(1, 1, 30),
                                solid(1, 30, 1),
                                solid(30, 1, 1),
                                solid(20, 1, 9),
                                solid(3, 5, 7),
                                solid(2, 2, 2),
                                solid(4, 3, 20),
                                solid(8, 8, 8),
                                solid(9, 7, 15),
                                solid(16, 9, 5),
                                solid(17, 16, 3),
                                solid(33, 3, 9),
                                {17, 8, 4, true, true, true, 7},
                                {5, 4, 6, false, true, true, 7}};

} // namespace mic_support
