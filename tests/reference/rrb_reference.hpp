// RRB written from docs/numerics.md alone: the matrix is a graph, and colours come from the nodes' coordinates.
// Slow and obvious on purpose; it shares nothing with the library.
#pragma once

#include "last_block.hpp"
#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

struct Grid {
  int  nx = 0, ny = 0;
  bool periodic_x = false, periodic_y = false;
};

enum class LumpNodes { red, both };

struct Options {
  int       levels = -1; // -1: the fewest that leave at most 1024 unknowns; more than exist means all
  double    omega = 1;
  LumpNodes lump_nodes = LumpNodes::red;
  Vector    v;              // near-null-space vector, empty: 1
  int       x0 = 0, y0 = 0; // global coordinates of the box's first point, which decide red and black
};

struct Pivot {
  int    level, node; // level l+1 is the last block
  double value;
};

class RRB {
public:
  RRB(const Matrix &A, const Grid &grid, const Options &options) : grid_(grid), options_(options)
  {
    if (A.size() != grid.nx * grid.ny) throw std::invalid_argument("matrix size is not nx * ny");
    if (grid_.nx <= 2) grid_.periodic_x = false;
    if (grid_.ny <= 2) grid_.periodic_y = false;
    if ((grid_.periodic_x && options.x0) || (grid_.periodic_y && options.y0))
      throw std::invalid_argument("a ring starts at coordinate 0");
    choose_levels();
    choose_vector(A);
    take_matrix(A);
    check_stencil();
    move_positive_couplings();
    factored_ = factor(options.omega);
    if (!factored_) {
      redone_ = true;
      factored_ = factor(0);
    }
  }

  Vector apply(const Vector &r) const
  {
    if (!factored_) throw std::logic_error("the factorization failed");
    Vector z = r, last(remaining_.size());
    for (const Red &red : reds_) // in the order of elimination
      for (const auto &[black, a] : red.coupling) z[black] -= a * red.inverse_pivot * z[red.node];
    for (std::size_t i = 0; i < remaining_.size(); i++) last[i] = z[remaining_[i]];
    last_block_.solve(last);
    for (std::size_t i = 0; i < remaining_.size(); i++) z[remaining_[i]] = last[i];
    for (auto red = reds_.rbegin(); red != reds_.rend(); ++red) {
      for (const auto &[black, a] : red->coupling) z[red->node] -= a * z[black];
      z[red->node] *= red->inverse_pivot;
    }
    return z;
  }

  // M = sum over the red nodes of d u u^T, with u = 1 at the node and a/d at its neighbours, plus the last block.
  std::vector<Vector> dense_M() const
  {
    const int           n = grid_.nx * grid_.ny;
    std::vector<Vector> M(n, Vector(n, 0.0));
    for (const Red &red : reds_) {
      M[red.node][red.node] += red.pivot;
      for (const auto &[p, a] : red.coupling) {
        M[p][red.node] += a;
        M[red.node][p] += a;
        for (const auto &[q, b] : red.coupling) M[p][q] += a * b * red.inverse_pivot;
      }
    }
    for (int p : remaining_)
      for (const auto &[q, a] : graph_[p]) M[p][q] += a;
    return M;
  }

  std::vector<Vector> dense_inverse() const
  {
    const int           n = grid_.nx * grid_.ny;
    std::vector<Vector> columns(n);
    for (int p = 0; p < n; p++) {
      Vector unit(n, 0.0);
      unit[p] = 1;
      columns[p] = apply(unit);
    }
    return columns; // M^-1 is symmetric up to rounding: columns[p][q] is entry (q, p)
  }

  bool   ok() const { return factored_; }
  bool   redone() const { return redone_; } // with omega = 0
  int    levels() const { return levels_; }
  Pivot  failure() const { return failure_; }
  double c0(int node) const { return c0_[node]; }

  const std::vector<int>   &red_nodes(int level) const { return red_nodes_[level]; }
  const std::vector<int>   &remaining() const { return remaining_; }
  const std::vector<Pivot> &unlumped() const { return unlumped_; }
  const std::vector<Pivot> &null_directions() const { return null_directions_; }
  const Graph              &prepared_matrix() const { return prepared_; }

private:
  struct Red {
    int                                 node;
    double                              pivot, inverse_pivot;
    std::vector<std::pair<int, double>> coupling; // to black nodes
  };
  using Relation = std::function<bool(int, int)>; // between the two ends of a coupling

  Grid    grid_;
  Options options_;
  int     levels_ = 0;
  Vector  v_, c0_;
  Graph   prepared_, graph_; // graph_ holds what is not yet eliminated

  std::vector<Red>              reds_;
  std::vector<std::vector<int>> red_nodes_; // of level k at index k
  std::vector<int>              remaining_;
  LastBlock                     last_block_;
  std::vector<Pivot>            unlumped_, null_directions_;
  Pivot                         failure_{0, -1, 0.0};
  bool                          factored_ = false, redone_ = false;

  int x(int p) const { return p % grid_.nx + options_.x0; }
  int y(int p) const { return p / grid_.nx + options_.y0; }

  // Points are 2^g apart on grid g, which serves levels 2g+1 and 2g+2.
  static int spacing(int level) { return 1 << ((level - 1) / 2); }

  bool is_red(int p, int level) const
  {
    const int a = x(p) / spacing(level), b = y(p) / spacing(level);
    return level % 2 == 1 ? (a + b) % 2 == 1 : b % 2 == 1;
  }

  // The set that level k splits.
  bool is_current(int p, int level) const
  {
    const int s = spacing(level);
    if (x(p) % s != 0 || y(p) % s != 0) return false;
    return level % 2 == 1 || (x(p) / s + y(p) / s) % 2 == 0;
  }

  int count_current(int level) const
  {
    int count = 0;
    for (int p = 0; p < grid_.nx * grid_.ny; p++) count += is_current(p, level);
    return count;
  }

  void choose_levels()
  {
    int most = 1;
    while ((1 << (most / 2)) < std::max(grid_.nx, grid_.ny)) most += 2;
    levels_ = std::min(options_.levels, most);
    if (options_.levels < 0)
      for (levels_ = 0; levels_ < most && count_current(levels_ + 1) > 1024;) levels_++;
  }

  static bool is_identity_row(const Matrix &A, int p)
  {
    for (const auto &[q, a] : A.row[p])
      if (q != p && a != 0) return false;
    return true;
  }

  // A vector that is zero or not finite at a row that couples says nothing about that row: then 1 everywhere.
  void choose_vector(const Matrix &A)
  {
    v_ = options_.v;
    bool usable = !v_.empty();
    for (int p = 0; usable && p < A.size(); p++)
      usable = is_identity_row(A, p) || (std::isfinite(v_[p]) && v_[p] != 0);
    if (!usable) v_.assign(A.size(), 1.0);
  }

  void take_matrix(const Matrix &A)
  {
    double largest = 0;
    for (int p = 0; p < A.size(); p++)
      if (!is_identity_row(A, p)) largest = std::max(largest, std::abs(A.at(p, p)));
    prepared_.assign(A.size(), {});
    for (int p = 0; p < A.size(); p++) {
      prepared_[p][p] = A.at(p, p);
      if (is_identity_row(A, p)) {
        if (A.at(p, p) == 0) prepared_[p][p] = 1;
        continue;
      }
      for (const auto &entry : A.row[p]) {
        const int    q = entry.first;
        const double a = entry.second, b = A.at(q, p);
        if (!std::isfinite(a)) throw std::invalid_argument("an entry is not finite");
        if (q == p || is_identity_row(A, q)) continue;
        if (std::abs(a - b) > 1e-10 * largest) throw std::invalid_argument("the matrix is not symmetric");
        if (a + b == 0) continue;
        prepared_[p][q] = prepared_[q][p] = (a + b) / 2;
      }
    }
  }

  // Distance on a side of n points, the shorter way where the side is a ring.
  static int distance(int from, int to, int n, bool ring)
  {
    const int along = std::abs(from - to);
    return ring ? std::min(along, n - along) : along;
  }

  void check_stencil() const
  {
    for (int p = 0; p < grid_.nx * grid_.ny; p++)
      for (const auto &entry : prepared_[p]) {
        const int q = entry.first;
        if (distance(x(p), x(q), grid_.nx, grid_.periodic_x) > 1 || distance(y(p), y(q), grid_.ny, grid_.periodic_y) > 1)
          throw std::invalid_argument("a coupling reaches past the nine points");
      }
  }

  // "Positive" after the change of variables that makes v constant, which is the same thing for a positive v.
  void move_positive_couplings()
  {
    Graph &a = prepared_;
    for (int p = 0; p < static_cast<int>(a.size()); p++)
      for (auto entry = a[p].upper_bound(p); entry != a[p].end();) {
        const auto [q, value] = *entry;
        if (value * v_[p] * v_[q] > 0) {
          a[p][p] += value * v_[q] / v_[p];
          a[q][q] += value * v_[p] / v_[q];
          a[q].erase(p);
          entry = a[p].erase(entry);
        } else {
          ++entry;
        }
      }
    for (int p = 0; p < static_cast<int>(a.size()); p++) c0_.push_back(a[p][p]);
  }

  // Drops the couplings between two different nodes that `dropped` names, and lumps them at both ends.
  void lump(const std::vector<int> &nodes, int level, double omega, const Relation &dropped)
  {
    std::vector<std::pair<int, double>> lumped;
    for (int p : nodes) {
      double delta = 0;
      bool   any = false;
      for (const auto &[q, a] : graph_[p])
        if (q != p && dropped(p, q)) {
          delta += omega * a * v_[q] / v_[p];
          any = true;
        }
      const double c = graph_[p][p];
      if (any && c + delta < 0.01 * c)
        unlumped_.push_back({level, p, c + delta});
      else if (any)
        lumped.push_back({p, c + delta});
    }
    for (int p : nodes)
      for (auto entry = graph_[p].begin(); entry != graph_[p].end();)
        entry = entry->first != p && dropped(p, entry->first) ? graph_[p].erase(entry) : std::next(entry);
    for (const auto &[p, value] : lumped) graph_[p][p] = value;
  }

  // On a ring of an odd number of points the first and the last one have the same colour. What couples them, except
  // two black nodes on the same line, is lumped before the grid's odd level.
  void lump_seams(const std::vector<int> &nodes, int level, double omega)
  {
    const int s = spacing(level), mx = (grid_.nx + s - 1) / s, my = (grid_.ny + s - 1) / s;
    auto      lost = [&](int p, int q, bool corner) { return corner || (is_red(p, level) && is_red(q, level)); };
    if (grid_.periodic_x && mx % 2 == 1 && mx > 1)
      lump(nodes, level, omega, [&](int p, int q) {
        return std::abs(x(p) - x(q)) == (mx - 1) * s && lost(p, q, y(p) != y(q));
      });
    if (grid_.periodic_y && my % 2 == 1 && my > 1)
      lump(nodes, level, omega, [&](int p, int q) {
        return std::abs(y(p) - y(q)) == (my - 1) * s && lost(p, q, x(p) != x(q));
      });
  }

  // Two black nodes on the same line, the first and the last of an odd ring.
  bool kept_across_seam(int p, int q, int level) const
  {
    const int s = spacing(level), mx = (grid_.nx + s - 1) / s, my = (grid_.ny + s - 1) / s;
    return (grid_.periodic_x && mx % 2 == 1 && std::abs(x(p) - x(q)) == (mx - 1) * s && y(p) == y(q)) ||
           (grid_.periodic_y && my % 2 == 1 && std::abs(y(p) - y(q)) == (my - 1) * s && x(p) == x(q));
  }

  void lump_level(const std::vector<int> &nodes, int level, double omega)
  {
    lump(nodes, level, omega, [&](int p, int q) {
      if (is_red(p, level) != is_red(q, level)) return false;
      if (is_red(p, level)) return true;
      const bool corner = x(p) != x(q) && y(p) != y(q);
      return options_.lump_nodes == LumpNodes::both && corner == (level % 2 == 1) && !kept_across_seam(p, q, level);
    });
  }

  bool eliminate(int p, int level)
  {
    const double d = graph_[p][p];
    const bool   null = std::abs(d) <= 1e-12 * c0_[p];
    if (null) null_directions_.push_back({level, p, d});
    if (!null && !(d > 0 && std::isfinite(d))) {
      failure_ = {level, p, d};
      return false;
    }
    Red red{p, null ? 0.0 : d, null ? 0.0 : 1 / d, {}};
    for (const auto &[q, a] : graph_[p]) {
      if (q == p) continue;
      graph_[q].erase(p);
      if (!null) red.coupling.push_back({q, a});
    }
    for (const auto &[q, a] : red.coupling)
      for (const auto &[r, b] : red.coupling) graph_[q][r] -= a * b / d;
    graph_[p].clear();
    reds_.push_back(red);
    return true;
  }

  bool factor(double omega)
  {
    graph_ = prepared_;
    reds_.clear();
    unlumped_.clear();
    null_directions_.clear();
    red_nodes_.assign(levels_ + 1, {});
    remaining_.resize(grid_.nx * grid_.ny);
    for (int p = 0; p < grid_.nx * grid_.ny; p++) remaining_[p] = p;
    for (int level = 1; level <= levels_; level++) {
      if (level % 2 == 1) lump_seams(remaining_, level, omega);
      lump_level(remaining_, level, omega);
      std::vector<int> black;
      for (int p : remaining_) (is_red(p, level) ? red_nodes_[level] : black).push_back(p);
      for (int p : red_nodes_[level])
        if (!eliminate(p, level)) return false;
      remaining_ = black;
    }
    return factor_last_block();
  }

  bool factor_last_block()
  {
    const int        n = static_cast<int>(remaining_.size());
    std::vector<int> index(graph_.size(), -1);
    Graph            S(n);
    Vector           scale(n);
    for (int i = 0; i < n; i++) index[remaining_[i]] = i;
    for (int i = 0; i < n; i++) {
      scale[i] = c0_[remaining_[i]];
      for (const auto &[q, a] : graph_[remaining_[i]]) S[i][index[q]] = a;
    }
    const int failed = last_block_.factor(S, scale);
    for (int i : last_block_.null_nodes()) null_directions_.push_back({levels_ + 1, remaining_[i], 0.0});
    if (failed >= 0) failure_ = {levels_ + 1, remaining_[failed], last_block_.failed_pivot()};
    return failed < 0;
  }
};

} // namespace reference
