// What the tests of relaxation by blocks share: matrices on patches, and the same blocks for library and reference.
#pragma once

#include "pc/blockrelax/core/blockrelax.hpp"
#include "../reference/blockrelax_reference.hpp"
#include "small_matrix.hpp"
#include "threads.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace blockrelax_support {

using petscrrb::blockrelax::BlockRelax;
using petscrrb::blockrelax::Options;
using petscrrb::blockrelax::Order;
using petscrrb::blockrelax::Patch;
using Vector = std::vector<double>;

inline Shape solid(int nx, int ny, int nz, int points = 7) { return {nx, ny, nz, false, false, false, points}; }
inline Shape around(Shape s, bool px, bool py, bool pz) {
  s.px = px, s.py = py, s.pz = pz;
  return s;
}
inline int dimensions(const Shape &s) { return s.points == 7 || s.points == 27 ? 3 : 2; }

inline Vector random_values(int n, double least, double most, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(least, most);
  Vector x(static_cast<std::size_t>(n));
  for (double &v : x) v = value(random);
  return x;
}

// A domain, cut at some of its lines, planes and so on into patches that are numbered one after the other.
struct Domain {
  Shape s;
  std::vector<Patch> patches;
  std::vector<int> row; // of each point in natural order

  Domain(const Shape &shape, const std::vector<int> (&cuts)[3]) : s(shape), row(shape.size()) {
    std::vector<int> sides[3];
    const int n[3] = {s.nx, s.ny, s.nz};
    for (int d = 0; d < 3; ++d) {
      sides[d] = {0};
      sides[d].insert(sides[d].end(), cuts[d].begin(), cuts[d].end());
      sides[d].push_back(n[d]);
    }
    for (std::size_t k = 1; k < sides[2].size(); ++k)
      for (std::size_t j = 1; j < sides[1].size(); ++j)
        for (std::size_t i = 1; i < sides[0].size(); ++i)
          add({sides[0][i - 1], sides[1][j - 1], sides[2][k - 1]}, {sides[0][i], sides[1][j], sides[2][k]});
  }
  Domain(const Shape &shape) : Domain(shape, {{}, {}, {}}) {} // implicit: one patch
  petscrrb::blockrelax::Domain patches_and_points() const { return {patches, s.points, {s.px, s.py, s.pz}}; }

private:
  void add(const std::array<int, 3> &low, const std::array<int, 3> &high) {
    Patch p{{high[0] - low[0], high[1] - low[1], high[2] - low[2]}, next};
    for (int k = low[2]; k < high[2]; ++k)
      for (int j = low[1]; j < high[1]; ++j)
        for (int i = low[0]; i < high[0]; ++i) row[s.row(i, j, k)] = next++;
    patches.push_back(p);
  }
  int next = 0;
};

// What couples the points (i, j, k) and (i + di, j + dj, k + dk).
using Coupling = std::function<double(int p, int q, int di, int dj, int dk)>;

// Symmetric, of rows of the domain.
inline SmallMatrix coupled(const Domain &domain, const Coupling &coupling) {
  const Shape &s = domain.s;
  SmallMatrix A(s.size());
  const int most = s.points == 9 ? 2 : s.points == 27 ? 3 : 1, high = dimensions(s) == 3;
  for (int p = 0; p < s.size(); ++p)
    for (int dk = 0; dk <= high; ++dk)
      for (int dj = -1; dj <= 1; ++dj)
        for (int di = -1; di <= 1; ++di) {
          if (dk == 0 && (dj < 0 || (dj == 0 && di <= 0))) continue; // each pair once
          if (std::abs(di) + std::abs(dj) + dk > most) continue;
          const int q = neighbour(s, p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny, di, dj, dk);
          if (q >= 0) A.set_both(domain.row[p], domain.row[q], coupling(p, q, di, dj, dk));
        }
  return A;
}

// The same everywhere, zero outside.
inline SmallMatrix constant(const Domain &domain) {
  const double along[3] = {-1, -1.5, -0.75}, corner = -0.125;
  SmallMatrix A = coupled(domain, [&](int, int, int di, int dj, int dk) {
    return std::abs(di) + std::abs(dj) + dk > 1 ? corner : along[di ? 0 : dj ? 1 : 2];
  });
  const double sum[] = {5, 5.5, 6.5, 9}; // of the couplings of a row: 5, 9, 7 and 27 points
  const int points = domain.s.points;
  for (int p = 0; p < A.size(); ++p) A.set(p, p, sum[points == 5 ? 0 : points == 9 ? 1 : points == 7 ? 2 : 3] + 0.01);
  return A;
}

// 7 points: 6 and -1.
inline SmallMatrix laplacian(const Domain &domain) {
  SmallMatrix A = coupled(domain, [](int, int, int, int, int) { return -1; });
  for (int p = 0; p < A.size(); ++p) A.set(p, p, 6);
  return A;
}

// So many times the sum of a row's couplings, and a bit for rows without.
inline void set_diagonals(SmallMatrix &A, double dominance) {
  for (int p = 0; p < A.size(); ++p) {
    double sum = 0;
    for (const auto &[q, a] : A.entries()[p])
      if (q != p) sum += std::fabs(a);
    A.set(p, p, dominance * sum + (sum > 0 ? 0 : 0.5));
  }
}

// An M-matrix with random couplings.
inline SmallMatrix random_couplings(const Domain &domain, double dominance = 1.02, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-2, -0.05);
  SmallMatrix A = coupled(domain, [&](int, int, int, int, int) { return value(random); });
  set_diagonals(A, dominance);
  return A;
}

// Some rows are identity rows, with and without a column.
inline SmallMatrix masked(const Domain &domain) {
  SmallMatrix A = random_couplings(domain, 1.05, 3);
  for (int p = 0; p < A.size(); p += 1 + p % 7) A.make_identity(p, p % 2, p % 3 ? 1 : 2.5);
  return A;
}

inline reference::Matrix reference_of(const SmallMatrix &A) {
  reference::Matrix out(A.size());
  for (int p = 0; p < A.size(); ++p)
    for (const auto &[q, a] : A.entries()[p]) out.add(p, q, a);
  return out;
}

// Red and black blocks, or one colour for each triple of those along the sides. Around a periodic side with an odd
// number of blocks the last has a third.
inline int colour_of(const reference::RelaxedBlock &block, const Shape &s, int colours) {
  const bool periodic[3] = {s.px, s.py, s.pz};
  int along[3];
  for (int d = 0; d < 3; ++d) {
    const bool last = periodic[d] && block.of[d] % 2 && block.of[d] > 1 && block.at[d] == block.of[d] - 1;
    along[d] = last ? 2 : block.at[d] % 2;
  }
  return colours < 4 ? (along[0] + along[1] + along[2]) % colours : along[0] + 3 * along[1] + 9 * along[2];
}
// Of one patch.
inline int fewest_colours(const Shape &s, const std::array<int, 3> &block) {
  const int n[3] = {s.nx, s.ny, s.nz};
  const bool periodic[3] = {s.px, s.py, s.pz};
  int most = 2, all = 1;
  for (int d = 0; d < dimensions(s); ++d) {
    const int blocks = (n[d] - 1) / block[d] + 1, side = periodic[d] && blocks > 1 && blocks % 2 ? 3 : 2;
    most = std::max(most, side);
    all *= side;
  }
  return s.points == 9 || s.points == 27 ? all : most;
}

inline reference::BlockRelaxation relaxation(const Domain &domain, const SmallMatrix &A, const Options &o) {
  std::vector<reference::RelaxedPatch> patches;
  for (const Patch &p : domain.patches)
    patches.push_back({{int(p.n[0]), int(p.n[1]), int(p.n[2])}, static_cast<int>(p.first)});
  auto blocks = reference::blocks_of(patches, {o.block[0], o.block[1], o.block[2]});
  for (auto &block : blocks) block.colour = colour_of(block, domain.s, o.colours);
  return {reference_of(A), blocks};
}

inline Vector relaxed(const reference::BlockRelaxation &reference, const Options &o, const Vector &b, const Vector &x) {
  if (o.order == Order::jacobi) return reference.jacobi(b, x, o.omega);
  return o.symmetric ? reference.symmetric(b, x, o.omega) : reference.coloured(b, x, o.omega);
}

inline std::unique_ptr<BlockRelax> make(const Domain &domain, const Options &o) {
  return petscrrb::blockrelax::make_blockrelax(domain.patches_and_points(), o);
}

inline Vector swept(BlockRelax &relax, const Vector &b, Vector x, int sweeps) {
  relax.sweep(b.data(), x.data(), sweeps, false);
  return x;
}
inline Vector swept_from_zero(BlockRelax &relax, const Vector &b, int sweeps) {
  Vector x(b.size(), std::nan(""));
  relax.sweep(b.data(), x.data(), sweeps, true);
  return x;
}

inline Options jacobi(int bx, int by, int bz, double omega = 0.8) {
  Options o;
  o.order = Order::jacobi;
  o.block[0] = bx, o.block[1] = by, o.block[2] = bz;
  o.omega = omega;
  o.colours = 2; // of the reference, which does not use them
  return o;
}
inline Options coloured(int bx, int by, int bz, int colours = 2) {
  Options o = jacobi(bx, by, bz, 1);
  o.order = Order::coloured;
  o.colours = colours;
  return o;
}
inline Options symmetric(int bx, int by, int bz) {
  Options o = coloured(bx, by, bz);
  o.symmetric = true;
  return o;
}
inline Options chaotic(int bx, int by, int bz) {
  Options o = jacobi(bx, by, bz, 1);
  o.order = Order::chaotic;
  return o;
}

inline std::string words(const Domain &domain, const Options &o) {
  const Shape &s = domain.s;
  const char *order[] = {"jacobi", "chaotic", "coloured"}, *inverse[] = {"", ", tensor", ", dense"};
  const auto three = [](int x, int y, int z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
  };
  return three(s.nx, s.ny, s.nz) + ", " + std::to_string(s.points) + " points, " +
         std::to_string(domain.patches.size()) + " patches, blocks " + three(o.block[0], o.block[1], o.block[2]) +
         ", " + order[int(o.order)] + " " + std::to_string(o.omega) + ", " + std::to_string(o.colours) + " colours" +
         (o.symmetric ? ", symmetric" : "") + inverse[int(o.inverse)];
}

inline double largest(const Vector &x) {
  double most = 0;
  for (double v : x) most = std::max(most, std::fabs(v));
  return most;
}
inline double residual(const reference::Matrix &A, const Vector &b, const Vector &x) {
  Vector r = A.multiply(x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return std::sqrt(reference::dot(r, r));
}

// The paper's sizes.
const std::vector<std::array<int, 3>> block_sizes{{2, 2, 2}, {4, 2, 2}, {4, 4, 2}, {4, 4, 4},
                                                  {8, 4, 4}, {8, 8, 4}, {8, 8, 8}};

} // namespace blockrelax_support
