// RRB written from docs/numerics.md alone: the matrix is a graph, and colours come from the nodes' coordinates.
// Slow and obvious on purpose; it shares nothing with the library.
#pragma once

#include "matrix.hpp"
#include "prepared.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

enum class LumpNodes {
  red,
  both
};

struct Options {
  int levels = -1; // -1: the fewest that leave at most 1024 unknowns; more than exist means all
  double omega = 1;
  LumpNodes lump_nodes = LumpNodes::red;
  Vector v;                // near-null-space vector, empty: 1
  bool v_is_null = false;  // A v = 0, the application says
  double null_inverse = 0; // 1/d of a null direction, and what null vectors of the last block get
  int kept_grid = -1;      // whose matrix is kept, see RRB::kept_matrix()
  int x0 = 0, y0 = 0;      // global coordinates of the box's first point, which decide red and black
};

struct Pivot {
  int level, node; // level l+1 is the last block
  double value;
};

class RRB {
public:
  RRB(const Matrix &A, const Grid &grid, const Options &options)
      : grid_(without_short_rings(grid)), options_(options), prepared_(A, grid_, options.v, options.v_is_null) {
    if ((grid_.periodic_x && options.x0) || (grid_.periodic_y && options.y0))
      throw std::invalid_argument("a ring starts at coordinate 0");
    choose_levels();
    factored_ = factor(options.omega);
    if (!factored_) {
      redone_ = true;
      factored_ = factor(0);
    }
  }

  Vector apply(const Vector &r) const {
    if (!factored_) throw std::logic_error("the factorization failed");
    Vector z = r;
    down_to_kept(z);
    cycle_on_kept(z);
    up_from_kept(z);
    return z;
  }

  // The matrix S of grid `kept_grid`, with rows of zeros outside of it, and the three parts of apply(): above it, on it and
  // below, which makes B x of x there, and above again.
  const Matrix &kept_matrix() const { return kept_; }
  const std::vector<int> &kept_nodes() const { return kept_nodes_; }
  void down_to_kept(Vector &z) const { forward(above_, z); }
  void cycle_on_kept(Vector &z) const {
    forward(reds_, z);
    const Vector parts = remove_null_vectors(z);
    forward(last_, z);
    backward(last_, z);
    remove_null_vectors(z);
    for (std::size_t k = 0; k < parts.size(); k++)
      for (std::size_t p = 0; p < z.size(); p++) z[p] += options_.null_inverse * parts[k] * null_vectors_[k][p];
    backward(reds_, z);
  }
  void up_from_kept(Vector &z) const { backward(above_, z); }

  // M = sum over the eliminated nodes of d u u^T, with u = 1 at the node and a/d at its neighbours.
  std::vector<Vector> dense_M() const {
    const int n = prepared_.size();
    std::vector<Vector> M(n, Vector(n, 0.0));
    for (const auto *list : {&above_, &reds_, &last_})
      for (const Eliminated &node : *list) {
        M[node.p][node.p] += node.pivot;
        for (const auto &[q, a] : node.coupling) {
          M[q][node.p] += a;
          M[node.p][q] += a;
          for (const auto &[r, b] : node.coupling) M[q][r] += a * b * node.inverse_pivot;
        }
      }
    return M;
  }

  // Row p is column p of M^-1, which is symmetric.
  std::vector<Vector> dense_inverse() const {
    std::vector<Vector> inverse;
    for (int p = 0; p < prepared_.size(); p++) {
      Vector unit(prepared_.size(), 0.0);
      unit[p] = 1;
      inverse.push_back(apply(unit));
    }
    return inverse;
  }

  bool ok() const { return factored_; }
  bool redone() const { return redone_; } // with omega = 0
  int levels() const { return levels_; }
  Pivot failure() const { return failure_; } // the first time, where it was redone with success

  const std::vector<int> &red_nodes(int level) const { return red_nodes_[level]; }
  const std::vector<int> &last_block() const { return remaining_; }
  const std::vector<Pivot> &unlumped() const { return unlumped_; }
  const std::vector<Pivot> &null_directions() const { return null_directions_; }

private:
  struct Eliminated {
    int p;
    double pivot, inverse_pivot;
    std::vector<std::pair<int, double>> coupling; // to nodes eliminated later
  };
  using Eliminations = std::vector<Eliminated>;
  using Relation = std::function<bool(int, int)>; // between the two ends of a coupling

  Grid grid_;
  Options options_;
  Prepared prepared_;
  int levels_ = 0;
  Graph weight_;  // of what is not yet eliminated; see Prepared
  Vector excess_; // likewise

  Eliminations above_, reds_, last_; // red nodes above the kept grid and the others; the last block
  Matrix kept_;
  std::vector<int> kept_nodes_;
  std::vector<Vector> null_vectors_;        // of the last block, orthonormal
  std::vector<std::vector<int>> red_nodes_; // of level k at index k
  std::vector<int> remaining_;
  std::vector<Pivot> unlumped_, null_directions_;
  Pivot failure_{0, -1, 0.0};
  bool factored_ = false, redone_ = false;

  int x(int p) const { return p % grid_.nx + options_.x0; }
  int y(int p) const { return p / grid_.nx + options_.y0; }

  // Points are 2^g apart on grid g, which serves levels 2g+1 and 2g+2.
  static int spacing(int level) { return 1 << ((level - 1) / 2); }

  bool is_red(int p, int level) const {
    const int a = x(p) / spacing(level), b = y(p) / spacing(level);
    return level % 2 == 1 ? (a + b) % 2 == 1 : b % 2 == 1;
  }

  // Whether p is in the set that level k splits.
  bool is_current(int p, int level) const {
    const int s = spacing(level);
    if (x(p) % s != 0 || y(p) % s != 0) return false;
    return level % 2 == 1 || (x(p) / s + y(p) / s) % 2 == 0;
  }

  void choose_levels() {
    int most = 1;
    while ((1 << (most / 2)) < std::max(grid_.nx, grid_.ny)) most += 2;
    const auto left = [&](int level) {
      int count = 0;
      for (int p = 0; p < prepared_.size(); p++) count += is_current(p, level + 1);
      return count;
    };
    levels_ = options_.levels < 0 ? 0 : std::min(options_.levels, most);
    if (options_.levels < 0)
      while (levels_ < most && left(levels_) > 1024) levels_++;
  }

  double diagonal(int p) const {
    double sum = excess_[p];
    for (const auto &entry : weight_[p]) sum += entry.second;
    return sum;
  }

  // Drops the couplings that `dropped` names and lumps them at both ends. The whole of a dropped coupling leaves the
  // diagonal when omega = 1, so that the excess stays as it is; what is not lumped becomes excess.
  void lump(int level, double omega, const Relation &dropped) {
    Vector added(remaining_.size(), 0.0);
    for (std::size_t i = 0; i < remaining_.size(); i++) {
      const int p = remaining_[i];
      double sum = 0;
      for (const auto &[q, w] : weight_[p])
        if (dropped(p, q)) sum += w;
      const double c = diagonal(p);
      const bool unlumped = sum != 0 && c - omega * sum < smallest_lumped * c;
      if (unlumped) unlumped_.push_back({level, p, c - omega * sum});
      added[i] = unlumped ? sum : (1 - omega) * sum;
    }
    for (std::size_t i = 0; i < remaining_.size(); i++) {
      const int p = remaining_[i];
      excess_[p] += added[i];
      for (auto entry = weight_[p].begin(); entry != weight_[p].end();)
        entry = dropped(p, entry->first) ? weight_[p].erase(entry) : std::next(entry);
    }
  }

  // On a ring of an odd number of points the first and the last one have the same colour. What couples them, except
  // two black nodes on the same line, is lumped before the grid's odd level.
  void lump_seams(int level, double omega) {
    const int s = spacing(level), mx = (grid_.nx + s - 1) / s, my = (grid_.ny + s - 1) / s;
    const auto lost = [&](int p, int q, bool corner) { return corner || (is_red(p, level) && is_red(q, level)); };
    if (grid_.periodic_x && mx % 2 == 1 && mx > 1)
      lump(level, omega,
           [&](int p, int q) { return std::abs(x(p) - x(q)) == (mx - 1) * s && lost(p, q, y(p) != y(q)); });
    if (grid_.periodic_y && my % 2 == 1 && my > 1)
      lump(level, omega,
           [&](int p, int q) { return std::abs(y(p) - y(q)) == (my - 1) * s && lost(p, q, x(p) != x(q)); });
  }

  // Two black nodes on the same line, the first and the last of an odd ring. On a ring of three points they are also
  // two points apart; what couples them stays, all of it.
  bool kept_across_seam(int p, int q, int level) const {
    const int s = spacing(level), mx = (grid_.nx + s - 1) / s, my = (grid_.ny + s - 1) / s;
    return (grid_.periodic_x && mx % 2 == 1 && std::abs(x(p) - x(q)) == (mx - 1) * s && y(p) == y(q)) ||
           (grid_.periodic_y && my % 2 == 1 && std::abs(y(p) - y(q)) == (my - 1) * s && x(p) == x(q));
  }

  // Couplings between two red nodes; with LumpNodes::both also those between two black nodes in the same directions.
  void lump_level(int level, double omega) {
    lump(level, omega, [&](int p, int q) {
      if (is_red(p, level) != is_red(q, level)) return false;
      if (is_red(p, level)) return true;
      const bool corner = x(p) != x(q) && y(p) != y(q);
      return options_.lump_nodes == LumpNodes::both && corner == (level % 2 == 1) && !kept_across_seam(p, q, level);
    });
  }

  // In terms of weights and excesses elimination only adds, so that an M-matrix loses no digit and a null direction
  // has a pivot of exactly 0, however far the coefficients jump.
  bool eliminate(int p, int level, Eliminations &list) {
    const double d = diagonal(p), v = prepared_.v[p];
    const double terms = d - excess_[p] + std::abs(excess_[p]); // what d is the sum of
    const bool null = terms == 0;
    if (null) null_directions_.push_back({level, p, d / (v * v)});
    if (!null && !(d > 1e-12 * terms && std::isfinite(d))) {
      failure_ = {level, p, d / (v * v)};
      return false;
    }
    const double of_null = level <= levels_ ? options_.null_inverse * v * v : 0.0;
    Eliminated node{p, null ? 0.0 : d / (v * v), null ? of_null : v * v / d, {}};
    for (const auto &[q, w] : weight_[p]) {
      weight_[q].erase(p);
      if (null) continue;
      node.coupling.push_back({q, -w / (v * prepared_.v[q])});
      excess_[q] += w / d * excess_[p];
      for (const auto &[r, u] : weight_[p])
        if (r != q) weight_[q][r] += w / d * u;
    }
    weight_[p].clear();
    list.push_back(node);
    return true;
  }

  // The matrix as it is now, of V^-1 (weights and excesses) V^-1.
  void keep() {
    const Vector &v = prepared_.v;
    above_.swap(reds_);
    kept_nodes_ = remaining_;
    kept_ = Matrix(prepared_.size());
    for (int p : remaining_) {
      kept_.add(p, p, diagonal(p) / (v[p] * v[p]));
      for (const auto &[q, w] : weight_[p]) kept_.add(p, q, -w / (v[p] * v[q]));
    }
  }

  bool factor(double omega) {
    weight_ = prepared_.weight;
    excess_ = prepared_.excess;
    above_.clear();
    reds_.clear();
    last_.clear();
    unlumped_.clear();
    null_directions_.clear();
    null_vectors_.clear();
    red_nodes_.assign(levels_ + 1, {});
    remaining_.resize(prepared_.size());
    for (int p = 0; p < prepared_.size(); p++) remaining_[p] = p;
    for (int level = 1; level <= levels_; level++) {
      if (level == 2 * options_.kept_grid + 1) keep();
      if (level % 2 == 1) lump_seams(level, omega);
      lump_level(level, omega);
      std::vector<int> black;
      for (int p : remaining_) (is_red(p, level) ? red_nodes_[level] : black).push_back(p);
      for (int p : red_nodes_[level])
        if (!eliminate(p, level, reds_)) return false;
      remaining_ = black;
    }
    for (int p : remaining_) // the last block: with all its fill
      if (!eliminate(p, levels_ + 1, last_)) return false;
    find_null_vectors();
    return true;
  }

  static void forward(const Eliminations &list, Vector &z) {
    for (const Eliminated &node : list)
      for (const auto &[q, a] : node.coupling) z[q] -= a * node.inverse_pivot * z[node.p];
  }

  static void backward(const Eliminations &list, Vector &z) {
    for (auto node = list.rbegin(); node != list.rend(); ++node) {
      for (const auto &[q, a] : node->coupling) z[node->p] -= a * z[q];
      z[node->p] *= node->inverse_pivot;
    }
  }

  // The last block S = L D L^T has the null vector L^-T e_p where d_p = 0.
  void find_null_vectors() {
    for (const Pivot &null : null_directions_) {
      if (null.level <= levels_) continue;
      Vector w(prepared_.size(), 0.0);
      w[null.node] = 1;
      for (auto node = last_.rbegin(); node != last_.rend(); ++node)
        for (const auto &[q, a] : node->coupling) w[node->p] -= a * node->inverse_pivot * w[q];
      remove_null_vectors(w);
      const double norm = std::sqrt(dot(w, w));
      for (double &value : w) value /= norm;
      null_vectors_.push_back(w);
    }
  }

  // On both sides of a generalized inverse of the last block this makes the pseudo-inverse. The vectors are zero
  // outside it.
  Vector remove_null_vectors(Vector &z) const {
    Vector parts; // what z had of each
    for (const Vector &w : null_vectors_) {
      parts.push_back(dot(w, z));
      for (std::size_t p = 0; p < z.size(); p++) z[p] -= parts.back() * w[p];
    }
    return parts;
  }
};

} // namespace reference
