// RRB with red nodes chosen by support, written from docs/numerics.md alone: the matrix is a graph on every level.
// Slow and obvious on purpose; it shares nothing with the library.
#pragma once

#include "graph_elimination.hpp"
#include "prepared.hpp"
#include "pseudo_inverse.hpp"
#include "red_by_support.hpp"
#include "sliding.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

struct SupportOptions {
  int last = 1024;        // most unknowns of the last block
  double eps = 0.1;       // of what slides; 0: only positive couplings
  Vector v;               // near-null-space vector, empty: 1
  bool v_is_null = false; // A v = 0, the application says
  bool graphs = false;    // keep that of every level, for graphs()
  Numbering numbering{0}; // of a matrix on no 2D grid: Grid{0, 0}
};

// All that depends on comparisons of numbers, so that a refresh can keep it.
struct SupportDecisions {
  struct Level {
    bool plain; // the red nodes are those of plain RRB
    std::vector<int> reds;
    std::vector<std::vector<Slide>> passes; // after the elimination
  };
  std::vector<Slide> positive;
  Couplings pattern; // of the graph that level 1 starts from
  std::vector<Level> levels;
};

// What kept decisions do that the present numbers do not justify.
struct Outdated {
  int couplings = 0; // that were positive and are not, or the other way round, or were 0: they are lumped
  int plain = 0;     // red nodes of plain grids that fail the test of plain grids
  int chosen = 0;    // nodes at which the choice would be another one, the ones before it as they are
  int slides = 0;    // along couplings that are too weak
  int all() const { return couplings + plain + chosen + slides; }
};

class SupportRRB {
public:
  SupportRRB(const Matrix &A, const Grid &grid, const SupportOptions &options)
      : SupportRRB(A, grid, options, SupportDecisions(), false) {}

  // A refresh: other numbers, the decisions of an earlier factorization.
  SupportRRB(const Matrix &A, const Grid &grid, const SupportOptions &options, const SupportDecisions &kept)
      : SupportRRB(A, grid, options, kept, true) {}

  Vector apply(const Vector &r) const {
    Vector z = r;
    down_to_kept(z);
    cycle_on_kept(z);
    up_from_kept(z);
    return z;
  }

  // The matrix of AMLI's level, with rows of zeros outside of it, and the three parts of apply(): above it, on it and
  // below, and above again. Without such a level all levels are on it.
  const Matrix &kept_matrix() const { return kept_; }
  const std::vector<int> &kept_nodes() const { return kept_nodes_; }
  bool has_amli_level() const { return !kept_nodes_.empty() && levels() >= 6; }

  void down_to_kept(Vector &z) const {
    if (!ok_) throw std::logic_error("the factorization failed");
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
    forward(0, kept_level_, z);
  }

  void cycle_on_kept(Vector &z) const {
    forward(kept_level_, levels(), z);
    Vector y;
    for (int p : graph_.nodes) y.push_back(z[p]);
    y = last_->apply(y);
    for (std::size_t i = 0; i < y.size(); i++) z[graph_.nodes[i]] = y[i];
    backward(kept_level_, levels(), z);
  }

  void up_from_kept(Vector &z) const {
    backward(0, kept_level_, z);
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
  }

  // M = sum over the red nodes of d u u^T, with u = 1 at the node and -w/d at its neighbours, and the last block.
  std::vector<Vector> dense_M() const {
    const int n = prepared_.size();
    std::vector<Vector> M(n, Vector(n, 0.0));
    for (const Eliminations &level : eliminated_)
      for (const Eliminated &node : level) {
        M[node.p][node.p] += node.pivot;
        for (const auto &[q, w] : node.weight) {
          M[q][node.p] -= w;
          M[node.p][q] -= w;
          for (const auto &[r, u] : node.weight) M[q][r] += w * u / node.pivot;
        }
      }
    const Matrix S = matrix_of(graph_);
    for (int p : graph_.nodes)
      for (const auto &[q, a] : S.row[p]) M[p][q] += a;
    for (int p = 0; p < n; p++)
      for (int q = 0; q < n; q++) M[p][q] /= prepared_.v[p] * prepared_.v[q];
    return M;
  }

  // Off 2D grids AMLI has a step at each factor of 8; lambda: of each, 0 where it is not taken. p(B S) B as c0 B r - c1 B S B r.
  Vector apply(const Vector &r, const std::vector<double> &lambda) const {
    Vector z = r;
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
    cycle(0, 0, lambda, z);
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
    return z;
  }
  // The largest eigenvalue of B S at step k, B the steps after it, by the power method.
  double largest_eigenvalue(std::size_t k, const std::vector<double> &lambda) const {
    const Step &step = steps_[k];
    Vector x(prepared_.v.size(), 0.0);
    for (int p : step.nodes) x[p] = std::sin(p + 1.0);
    double largest = 0;
    for (int turn = 0; turn < 300; turn++) {
      Vector z = step.S.multiply(x);
      cycle(step.level, k + 1, lambda, z);
      double xx = 0, xz = 0, zz = 0;
      for (int p : step.nodes) xx += x[p] * x[p], xz += x[p] * z[p], zz += z[p] * z[p];
      largest = xz / xx;
      for (int p : step.nodes) x[p] = z[p] / std::sqrt(zz);
    }
    return largest;
  }
  int steps() const { return static_cast<int>(steps_.size()); }
  std::size_t step_size(int k) const { return steps_[k].nodes.size(); }

  bool ok() const { return ok_; }
  bool redone() const { return redone_; } // without lumping to the diagonals
  int levels() const { return static_cast<int>(decisions_.levels.size()); }
  const SupportDecisions &decisions() const { return decisions_; }
  const std::vector<LevelGraph> &graphs() const { return graphs_; } // that each level starts from
  const std::vector<int> &sizes() const { return sizes_; }          // unknowns that each level starts from
  const std::vector<int> &last_block() const { return graph_.nodes; }
  const LevelGraph &last_graph() const { return graph_; }
  const Outdated &outdated() const { return outdated_; }

private:
  Grid grid_;
  SupportOptions options_;
  Prepared prepared_;
  SupportDecisions decisions_;
  bool frozen_;

  LevelGraph graph_; // of what is not yet eliminated; in the end the last block
  std::vector<LevelGraph> graphs_;
  std::vector<int> sizes_;
  std::vector<Eliminations> eliminated_; // of each level
  std::optional<PseudoInverse> last_;
  int kept_level_ = 0;
  Matrix kept_;
  std::vector<int> kept_nodes_;
  struct Step {
    int level;
    std::vector<int> nodes;
    Matrix S;
  };
  std::vector<Step> steps_; // off 2D grids
  Outdated outdated_;
  bool ok_ = false, redone_ = false;

  SupportRRB(const Matrix &A, const Grid &grid, const SupportOptions &options, const SupportDecisions &kept,
             bool frozen)
      : grid_(without_short_rings(grid)), options_(options), prepared_(A, grid_, options.v, options.v_is_null),
        decisions_(kept), frozen_(frozen) {
    ok_ = factor(1);
    if (!ok_) {
      redone_ = true;
      ok_ = factor(0);
    }
  }

  bool factor(double omega) {
    start();
    for (int level = 0; frozen_ ? level < levels() : choose_level(omega); level++) {
      if (options_.graphs) graphs_.push_back(graph_);
      sizes_.push_back(static_cast<int>(graph_.nodes.size()));
      keep_for_amli(level);
      keep_step(level);
      if (frozen_) count_outdated(decisions_.levels[level]);
      eliminated_.emplace_back();
      if (!eliminate(graph_, decisions_.levels[level].reds, omega, eliminated_.back())) return false;
      slide(decisions_.levels[level]);
    }
    return factor_last_block();
  }

  void start() {
    if (!frozen_) decisions_ = {};
    eliminated_.clear();
    graphs_.clear();
    sizes_.clear();
    kept_nodes_.clear();
    kept_level_ = 0;
    steps_.clear();
    outdated_ = {};
    graph_ = {{}, prepared_.weight, prepared_.excess};
    for (int p = 0; p < prepared_.size(); p++) {
      graph_.nodes.push_back(p);
      for (const auto &[q, w] : prepared_.positive[p]) graph_.weight[p][q] = w;
    }
    if (!frozen_) decisions_.positive = decide_slides(graph_, positive_couplings(graph_), 1);
    if (frozen_) outdated_.slides += count_weak(decisions_.positive, graph_.weight, 1);
    perform(decisions_.positive, graph_.weight);
    take_pattern();
  }

  // Positive couplings that are left go to the diagonals, and so does all that a kept pattern has no room for.
  void take_pattern() {
    const auto fits = [&](int p, int q) { return !frozen_ || decisions_.pattern[p].count(q); };
    Couplings pattern(graph_.weight.size());
    for (int p : graph_.nodes)
      for (const auto &[q, w] : graph_.weight[p]) {
        if (w > 0 && fits(p, q)) pattern[p].insert(q);
        if (frozen_ && p < q && (fits(p, q) ? w < 0 : w > 0)) outdated_.couplings++;
      }
    if (!frozen_) decisions_.pattern = pattern;
    for (int p : graph_.nodes) {
      std::map<int, double> taken;
      for (int q : decisions_.pattern[p]) taken[q] = pattern[p].count(q) ? graph_.weight[p][q] : 0.0;
      graph_.weight[p] = taken;
    }
  }

  // Returns false where the last block starts.
  bool choose_level(double omega) {
    const int unknowns = static_cast<int>(graph_.nodes.size()), level = levels() + 1;
    if (unknowns <= options_.last) return false;
    const bool plain =
        grid_.nx && (level == 1 || decisions_.levels.back().plain) && (level % 2 == 0 || grid_is_plain(level, omega));
    const std::vector<int> reds = plain ? plain_reds(graph_, level) : choose_in_sequence(graph_, numbering());
    if (!plain && static_cast<double>(reds.size()) < (grid_.nx ? 0.02 : 0.1) * unknowns) return false;
    decisions_.levels.push_back({plain, reds, {}});
    return true;
  }

  std::vector<int> plain_reds(const LevelGraph &graph, int level) const {
    std::vector<int> reds;
    for (int p : graph.nodes)
      if (plain_level(p % grid_.nx, p / grid_.nx) == level) reds.push_back(p);
    return reds;
  }

  // Whether both levels of the grid pass. Where the colours do not alternate around a ring it is not asked.
  bool grid_is_plain(int level, double omega) const {
    const int s = 1 << ((level - 1) / 2), mx = (grid_.nx + s - 1) / s, my = (grid_.ny + s - 1) / s;
    if ((grid_.periodic_x && mx % 2 == 1 && mx > 1) || (grid_.periodic_y && my % 2 == 1 && my > 1)) return false;
    if (count_failing(graph_, plain_reds(graph_, level), plain_limits) > 0) return false;
    LevelGraph next = graph_;
    Eliminations ignored;
    return eliminate(next, plain_reds(graph_, level), omega, ignored) &&
           count_failing(next, plain_reds(next, level + 1), plain_limits) == 0;
  }

  void count_outdated(const SupportDecisions::Level &level) {
    if (level.plain)
      outdated_.plain += count_failing(graph_, level.reds, plain_limits);
    else
      outdated_.chosen += count_changed(graph_, level.reds, numbering());
  }

  void slide(SupportDecisions::Level &level) {
    const std::size_t most_passes = grid_.nx ? 4 : 8;
    if (!frozen_ && (level.plain || options_.eps == 0)) return;
    for (std::size_t pass = 0; pass < (frozen_ ? level.passes.size() : most_passes); pass++) {
      if (!frozen_) level.passes.push_back(decide_slides(graph_, light_couplings(graph_), options_.eps));
      if (frozen_) outdated_.slides += count_weak(level.passes[pass], graph_.weight, options_.eps);
      const std::size_t before = couplings(graph_);
      perform(level.passes[pass], graph_.weight);
      if (level.passes[pass].empty() || (!grid_.nx && !frozen_ && 16 * level.passes[pass].size() <= before)) break;
    }
  }

  static std::size_t couplings(const LevelGraph &graph) { // from both ends
    std::size_t n = 0;
    for (int p : graph.nodes) n += graph.weight[p].size();
    return n;
  }

  // The first level after the first one with at most 1/16 of the unknowns, or a tenth more: grid 2 of odd sides has more.
  void keep_for_amli(int level) {
    if (level == 0 || !kept_nodes_.empty() || graph_.nodes.size() > 1.1 / 16 * prepared_.size()) return;
    kept_level_ = level;
    kept_nodes_ = graph_.nodes;
    kept_ = matrix_of(graph_);
  }

  void keep_step(int level) {
    const std::size_t before = steps_.empty() ? prepared_.v.size() : steps_.back().nodes.size();
    if (!grid_.nx && level > 0 && graph_.nodes.size() <= 1.1 / 8 * static_cast<double>(before))
      steps_.push_back({level, graph_.nodes, matrix_of(graph_)});
  }
  Numbering numbering() const { return grid_.nx ? Numbering(grid_.nx) : options_.numbering; }

  void cycle(int from, std::size_t k, const std::vector<double> &lambda, Vector &z) const {
    while (k < lambda.size() && lambda[k] == 0) k++;
    if (k == lambda.size()) {
      forward(from, levels(), z);
      Vector y;
      for (int p : graph_.nodes) y.push_back(z[p]);
      y = last_->apply(y);
      for (std::size_t i = 0; i < y.size(); i++) z[graph_.nodes[i]] = y[i];
      return backward(from, levels(), z);
    }
    const Step &step = steps_[k];
    forward(from, step.level, z);
    Vector x = z, y(z.size(), 0.0);
    cycle(step.level, k + 1, lambda, x);
    for (int p : step.nodes) y[p] = x[p];
    const Vector Sx = step.S.multiply(y);
    for (int p : step.nodes) y[p] = ((1 + lambda[k]) * z[p] - Sx[p]) / lambda[k];
    cycle(step.level, k + 1, lambda, y);
    for (int p : step.nodes) z[p] = y[p];
    backward(from, step.level, z);
  }

  bool factor_last_block() {
    while (!steps_.empty() &&
           (steps_.back().level >= levels() - 1 || steps_.back().nodes.size() < 4 * graph_.nodes.size()))
      steps_.pop_back();
    std::vector<int> number(prepared_.size(), -1);
    Graph weight(graph_.nodes.size());
    Vector excess;
    for (std::size_t i = 0; i < weight.size(); i++) number[graph_.nodes[i]] = static_cast<int>(i);
    for (int p : graph_.nodes) {
      excess.push_back(graph_.excess[p]);
      for (const auto &[q, w] : graph_.weight[p]) weight[number[p]][number[q]] = w;
    }
    last_.emplace(weight, excess);
    return last_->ok();
  }

  void forward(int from, int to, Vector &z) const {
    for (int level = from; level < to; level++) reference::forward(eliminated_[level], z);
  }

  void backward(int from, int to, Vector &z) const {
    for (int level = to; level-- > from;) reference::backward(eliminated_[level], z);
  }
};

} // namespace reference
