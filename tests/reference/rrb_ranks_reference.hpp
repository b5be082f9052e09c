// RRB-l of a matrix that is dealt out to boxes of grid points, as docs/design_ranks.md decides it: each rank has maps of
// what it knows, own and copied, and reads nothing else. One process; slow and obvious on purpose.
#pragma once

#include "prepared.hpp"
#include "rrb_reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace reference::ranks {

// Rank j * columns + i has the points x[i] <= a < x[i+1], y[j] <= b < y[j+1] of the finest grid; there may be none.
struct Partition {
  std::vector<int> x, y;

  int columns() const { return static_cast<int>(x.size()) - 1; }
  int ranks() const { return columns() * (static_cast<int>(y.size()) - 1); }
  int owner(int a, int b) const { return part(y, b) * columns() + part(x, a); }

private:
  static int part(const std::vector<int> &cuts, int a) {
    return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end(), a) - cuts.begin()) - 1;
  }
};

struct Row {
  double excess = 0;
  std::map<int, double> weight;

  double weights() const {
    double sum = 0;
    for (const auto &entry : weight) sum += entry.second;
    return sum;
  }
};

using Rows = std::map<int, Row>;      // what one rank knows, by node
using Values = std::map<int, double>; // likewise
template <class T> using Each = std::vector<T>;

// What travels, all exchanges of a kind together.
struct Traffic {
  int rounds = 0, messages = 0, nodes = 0;

  // Copies what each rank needs and has not, from who owns it.
  template <class T, class Owner>
  void bring(Each<std::map<int, T>> &known, const Each<std::set<int>> &needed, const Owner &owner) {
    const Each<std::map<int, T>> before = known;
    std::set<std::pair<int, int>> pairs;
    for (std::size_t rank = 0; rank < known.size(); rank++)
      for (int p : needed[rank]) {
        const std::size_t from = owner(p);
        if (from == rank) continue;
        known[rank][p] = before[from].at(p);
        pairs.insert({static_cast<int>(from), static_cast<int>(rank)});
        nodes++;
      }
    rounds += known.size() > 1;
    messages += static_cast<int>(pairs.size());
  }
};

struct Findings {
  int unlumped = 0, null = 0, failed = 0; // each node by its owner

  void add(const Findings &o) { unlumped += o.unlumped, null += o.null, failed += o.failed; }
};

// The points 2^g apart and who has them. Steps lead around a ring of an even number of points; across the seam of an odd
// one nothing couples but two black nodes, which stay on the next grid.
class Points {
public:
  Points(const Grid &grid, int g, const Partition &parts) : grid_(grid), parts_(parts), spacing_(1 << g) {
    m_[0] = (grid.nx + spacing_ - 1) / spacing_, m_[1] = (grid.ny + spacing_ - 1) / spacing_;
    ring_[0] = grid.periodic_x && m_[0] > 1, ring_[1] = grid.periodic_y && m_[1] > 1;
  }

  int a(int p) const { return p % grid_.nx / spacing_; }
  int b(int p) const { return p / grid_.nx / spacing_; }
  bool exists(int p) const { return p % grid_.nx % spacing_ == 0 && p / grid_.nx % spacing_ == 0; }
  int owner(int p) const { return parts_.owner(p % grid_.nx, p / grid_.nx); }
  bool red(int p) const { return (a(p) + b(p)) % 2 == 1; }
  bool b1(int p) const { return a(p) % 2 == 1 && b(p) % 2 == 1; }
  bool b2(int p) const { return a(p) % 2 == 0 && b(p) % 2 == 0; }
  bool same_row(int p, int q) const { return b(p) == b(q); }
  bool same_column(int p, int q) const { return a(p) == a(q); }

  bool across_odd_seam(int side, int p, int q) const {
    const int distance = side == 0 ? a(p) - a(q) : b(p) - b(q);
    return ring_[side] && m_[side] % 2 == 1 && std::abs(distance) == m_[side] - 1;
  }

  void add(std::set<int> &to, int p, int da, int db) const {
    int i = a(p) + da, j = b(p) + db;
    if (ring_[0] && m_[0] % 2 == 0) i = (i + m_[0]) % m_[0];
    if (ring_[1] && m_[1] % 2 == 0) j = (j + m_[1]) % m_[1];
    if (i >= 0 && i < m_[0] && j >= 0 && j < m_[1]) to.insert(j * spacing_ * grid_.nx + i * spacing_);
  }
  void add_straight(std::set<int> &to, int p) const {
    add(to, p, 1, 0), add(to, p, -1, 0), add(to, p, 0, 1), add(to, p, 0, -1);
  }
  void add_skew(std::set<int> &to, int p) const {
    add(to, p, 1, 1), add(to, p, -1, 1), add(to, p, 1, -1), add(to, p, -1, -1);
  }

private:
  const Grid grid_;
  const Partition parts_;
  int spacing_, m_[2];
  bool ring_[2];
};

// One grid: its odd level and, unless that is the last, its even one. One exchange in the factorization and one in each
// direction of the application: what a neighbour would send in a second one is computed here, too.
class GridOfRanks {
public:
  struct Sets {
    std::set<int> own;
    std::set<int> b1;        // own ones and those around own nodes
    std::set<int> red;       // own ones and those around these b1 and around own b2
    std::set<int> solutions; // b2 around these b1 and around own red nodes; in the last grid all black nodes there
  };

  GridOfRanks(const Grid &grid, int g, const Partition &parts, bool even)
      : points_(grid, g, parts), even_(even), sets_(parts.ranks()), pivots_(parts.ranks()), kept_(parts.ranks()) {
    for (int p = 0; p < grid.nx * grid.ny; p++)
      if (points_.exists(p)) sets_[points_.owner(p)].own.insert(p);
    for (Sets &s : sets_) choose(s);
  }

  const Sets &sets(int rank) const { return sets_[rank]; }

  // known: own rows of each rank on this grid; then those of its nodes that are left
  Findings factor(Each<Rows> &known, double omega, LumpNodes nodes, Traffic &traffic) {
    Each<std::set<int>> needed(sets_.size());
    for (std::size_t rank = 0; rank < sets_.size(); rank++) {
      const Sets &s = sets_[rank];
      needed[rank] = s.own;
      needed[rank].insert(s.b1.begin(), s.b1.end());
      needed[rank].insert(s.red.begin(), s.red.end());
    }
    traffic.bring(known, needed, owner());
    Findings all;
    for (std::size_t rank = 0; rank < sets_.size(); rank++) all.add(factor_on(rank, known[rank], omega, nodes));
    return all;
  }

  // x: right-hand side at own nodes; then at those that are left. energy[rank] is increased by y^2 / d of own red ones.
  void down(Each<Values> &x, Each<double> &energy, Traffic &traffic) {
    Each<std::set<int>> needed(sets_.size());
    for (std::size_t rank = 0; rank < sets_.size(); rank++) {
      needed[rank] = sets_[rank].red;
      if (even_) needed[rank].insert(sets_[rank].b1.begin(), sets_[rank].b1.end());
    }
    traffic.bring(x, needed, owner());
    for (std::size_t rank = 0; rank < sets_.size(); rank++) {
      const Sets &s = sets_[rank];
      const auto mine = [&](int p) { return s.own.count(p) > 0; };
      Values &y = x[rank], left;
      for (int p : s.b1)
        if (even_ || mine(p)) pull_down(rank, p, y, 1);
      for (int p : s.own)
        if (points_.b2(p)) pull_down(rank, p, y, 1);
      if (even_)
        for (int p : s.own)
          if (points_.b2(p)) pull_down(rank, p, y, 2);
      for (int p : s.own)
        if (is_left(p))
          left[p] = y.at(p);
        else
          energy[rank] += y.at(p) * y.at(p) * pivots_[rank].at(p).inverse;
      kept_[rank] = y;
      x[rank] = left;
    }
  }

  // x: the solution at own nodes that are left; then at all own ones
  void up(Each<Values> &x, Traffic &traffic) {
    Each<std::set<int>> needed(sets_.size());
    for (std::size_t rank = 0; rank < sets_.size(); rank++) needed[rank] = sets_[rank].solutions;
    traffic.bring(x, needed, owner());
    for (std::size_t rank = 0; rank < sets_.size(); rank++) {
      const Sets &s = sets_[rank];
      Values &z = x[rank], own;
      if (even_)
        for (int p : s.b1) z[p] = solution(rank, p, z);
      for (int p : s.own)
        if (points_.red(p)) z[p] = solution(rank, p, z);
      for (int p : s.own) own[p] = z.at(p);
      z = own;
    }
  }

private:
  struct Pivot {
    double inverse;
    std::map<int, double> w; // weight / pivot, to nodes that are eliminated later
  };

  Points points_;
  bool even_;
  Each<Sets> sets_;
  Each<std::map<int, Pivot>> pivots_;
  Each<Values> kept_; // right-hand side of the eliminated nodes

  std::function<std::size_t(int)> owner() const {
    return [this](int p) { return static_cast<std::size_t>(points_.owner(p)); };
  }
  bool is_left(int p) const { return points_.b2(p) || (!even_ && points_.b1(p)); }

  void choose(Sets &s) const {
    std::set<int> around;
    for (int p : s.own) {
      around.insert(p);
      points_.add_straight(around, p);
      points_.add_skew(around, p);
      if (points_.red(p)) s.red.insert(p);
      if (points_.b2(p)) points_.add_straight(s.red, p);
    }
    for (int p : around)
      if (points_.b1(p)) s.b1.insert(p);
    for (int p : s.b1) points_.add_straight(s.red, p), points_.add_skew(s.solutions, p);
    for (int p : s.own)
      if (points_.red(p)) points_.add_straight(s.solutions, p);
    for (auto p = s.solutions.begin(); p != s.solutions.end();) p = is_left(*p) ? std::next(p) : s.solutions.erase(p);
  }

  // Drops couplings of a row; the other end's row is treated likewise wherever it is known.
  template <class Dropped> static bool lump(int p, Row &row, double omega, const Dropped &dropped) {
    double sum = 0;
    for (const auto &[q, w] : row.weight)
      if (dropped(p, q)) sum += w;
    const double c = row.excess + row.weights();
    const bool unlumped = sum != 0 && c - omega * sum < smallest_lumped * c;
    row.excess += unlumped ? sum : (1 - omega) * sum;
    for (auto entry = row.weight.begin(); entry != row.weight.end();)
      entry = dropped(p, entry->first) ? row.weight.erase(entry) : std::next(entry);
    return unlumped;
  }

  bool lost_over_seam(int side, int p, int q) const {
    const bool corner = !points_.same_row(p, q) && !points_.same_column(p, q);
    return points_.across_odd_seam(side, p, q) && (corner || (points_.red(p) && points_.red(q)));
  }
  bool kept_over_seam(int p, int q) const {
    return (points_.across_odd_seam(0, p, q) && points_.same_row(p, q)) ||
           (points_.across_odd_seam(1, p, q) && points_.same_column(p, q));
  }

  int lump_odd(int p, Row &row, double omega, LumpNodes nodes) const {
    int unlumped = 0;
    for (int side : {0, 1}) unlumped += lump(p, row, omega, [&](int i, int j) { return lost_over_seam(side, i, j); });
    return unlumped + lump(p, row, omega, [&](int i, int j) {
             if (points_.red(i) != points_.red(j)) return false;
             if (points_.red(i)) return true;
             return nodes == LumpNodes::both && !points_.same_row(i, j) && !points_.same_column(i, j);
           });
  }
  int lump_even(int p, Row &row, double omega, LumpNodes nodes) const {
    return lump(p, row, omega, [&](int i, int j) {
      if (points_.b1(i) != points_.b1(j)) return false;
      if (points_.b1(i)) return true;
      return nodes == LumpNodes::both && (points_.same_row(i, j) || points_.same_column(i, j)) && !kept_over_seam(i, j);
    });
  }

  Pivot pivot(const Row &row, Findings &f) const {
    const double sum = row.weights(), d = row.excess + sum, terms = std::abs(row.excess) + sum;
    const bool null = terms == 0, failed = !null && !(d > 1e-12 * terms && std::isfinite(d));
    f.null += null, f.failed += failed;
    Pivot out{null || failed ? 0.0 : 1 / d, {}};
    for (const auto &[q, w] : row.weight) out.w[q] = w * out.inverse;
    return out;
  }

  // The row of a black node once its red neighbours are gone.
  template <class IsRed> void pull(std::size_t rank, Row &row, int p, const Rows &reds, const IsRed &is_red) const {
    const Row before = row;
    for (const auto &[q, w] : before.weight) {
      if (!is_red(q)) continue;
      row.weight.erase(q);
      const double inverse = pivots_[rank].at(q).inverse;
      row.excess += w * inverse * reds.at(q).excess;
      for (const auto &[r, u] : reds.at(q).weight)
        if (r != p && inverse != 0) row.weight[r] += w * inverse * u;
    }
  }

  Findings factor_on(std::size_t rank, Rows &rows, double omega, LumpNodes nodes) {
    const Sets &s = sets_[rank];
    const auto red = [&](int p) { return points_.red(p); };
    const auto b1 = [&](int p) { return points_.b1(p); };
    Findings mine, others;
    const auto findings = [&](int p) -> Findings & { return s.own.count(p) ? mine : others; };
    pivots_[rank].clear();
    for (auto &[p, row] : rows) findings(p).unlumped += lump_odd(p, row, omega, nodes);
    for (int p : s.red) pivots_[rank][p] = pivot(rows.at(p), findings(p));
    Rows black, left;
    for (int p : s.b1) pull(rank, black[p] = rows.at(p), p, rows, red);
    for (int p : s.own)
      if (points_.b2(p)) pull(rank, black[p] = rows.at(p), p, rows, red);
    if (even_) {
      for (auto &[p, row] : black) findings(p).unlumped += lump_even(p, row, omega, nodes);
      for (int p : s.b1) pivots_[rank][p] = pivot(black.at(p), findings(p));
    }
    for (int p : s.own) {
      if (!is_left(p)) continue;
      left[p] = black.at(p);
      if (even_) pull(rank, left[p], p, black, b1);
    }
    rows = left;
    return mine;
  }

  // y_p += sum of w y_q over the neighbours q that level 1 or 2 of this grid eliminates
  void pull_down(std::size_t rank, int p, Values &y, int level) const {
    std::set<int> from;
    if (level == 1)
      points_.add_straight(from, p);
    else
      points_.add_skew(from, p);
    for (int q : from) {
      const auto &w = pivots_[rank].at(q).w;
      if (w.count(p)) y.at(p) += w.at(p) * y.at(q);
    }
  }
  double solution(std::size_t rank, int p, const Values &z) const {
    const Pivot &pivot = pivots_[rank].at(p);
    double sum = kept_[rank].at(p) * pivot.inverse;
    for (const auto &[q, w] : pivot.w) sum += w * z.at(q);
    return sum;
  }
};

// What is left after the last level, all of it on every rank: eliminated node by node, with the pseudo-inverse where it is
// singular.
class LastNodes {
public:
  Findings factor(Rows rows) {
    Findings f;
    list_.clear(), null_vectors_.clear();
    std::vector<int> null_nodes;
    while (!rows.empty()) {
      const int p = rows.begin()->first;
      const Row row = rows.begin()->second;
      rows.erase(rows.begin());
      const double sum = row.weights(), d = row.excess + sum;
      const bool null = std::abs(d) <= 1e-12 * (std::abs(row.excess) + sum);
      f.null += null, f.failed += !null && !(d > 0 && std::isfinite(d));
      if (null) null_nodes.push_back(p);
      const double inverse = null ? 0.0 : 1 / d;
      for (const auto &[q, w] : row.weight) {
        rows.at(q).weight.erase(p);
        rows.at(q).excess += w * inverse * row.excess;
        for (const auto &[r, u] : row.weight)
          if (r != q && !null) rows.at(q).weight[r] += w * inverse * u;
      }
      list_.push_back({p, inverse, row.weight});
    }
    for (int p : null_nodes) find_null_vector(p);
    return f;
  }

  void solve(Values &x) const {
    remove_null_vectors(x);
    for (const Node &n : list_)
      for (const auto &[q, w] : n.weight) x.at(q) += w * n.inverse * x.at(n.p);
    for (const Node &n : list_) x.at(n.p) *= n.inverse;
    substitute_back(x);
    remove_null_vectors(x);
  }

private:
  struct Node {
    int p;
    double inverse;
    std::map<int, double> weight;
  };
  std::vector<Node> list_;
  std::vector<Values> null_vectors_;

  void substitute_back(Values &x) const {
    for (auto n = list_.rbegin(); n != list_.rend(); ++n)
      for (const auto &[q, w] : n->weight) x.at(n->p) += w * n->inverse * x.at(q);
  }
  void find_null_vector(int p) {
    Values w;
    for (const Node &n : list_) w[n.p] = 0;
    w[p] = 1;
    substitute_back(w);
    remove_null_vectors(w);
    double square = 0;
    for (const auto &entry : w) square += entry.second * entry.second;
    for (auto &entry : w) entry.second /= std::sqrt(square);
    null_vectors_.push_back(w);
  }
  void remove_null_vectors(Values &x) const {
    for (const Values &w : null_vectors_) {
      double part = 0;
      for (const auto &[p, value] : w) part += value * x.at(p);
      for (const auto &[p, value] : w) x.at(p) -= part * value;
    }
  }
};

// The whole: grids 0 to distributed - 1 on the boxes; then one gather, and the same on all of it.
class RRB {
public:
  struct Log {
    Traffic factor, down, up, gather;
  };

  RRB(const Matrix &A, const Grid &grid, const Options &options, const Partition &parts, int distributed)
      : prepared_(A, without_short_rings(grid), options.v, options.v_is_null),
        parts_(parts), whole_{{0, grid.nx}, {0, grid.ny}}, nx_(grid.nx),
        distributed_(std::min(distributed, (options.levels + 1) / 2)) {
    for (int g = 0; 2 * g < options.levels; g++)
      grids_.emplace_back(without_short_rings(grid), g, parts_of(g), 2 * g + 2 <= options.levels);
    factor(options, options.omega);
    if (findings_.failed) {
      redone_ = true;
      factor(options, 0);
    }
  }

  // energy: r^T z, known on every rank when the last block is solved: each rank's share of it goes with the gather
  Vector apply(const Vector &r, double *energy = nullptr) {
    Each<Values> x(parts_of(0).ranks());
    Each<double> shares(x.size(), 0.0);
    for (std::size_t p = 0; p < r.size(); p++)
      x[owner(0, static_cast<int>(p))][static_cast<int>(p)] = r[p] * prepared_.v[p];
    for (int g = 0; g < grids(); g++) {
      regroup(g, x, shares);
      grids_[g].down(x, shares, log_.down);
    }
    regroup(grids(), x, shares);
    const Values y = x[0];
    last_.solve(x[0]);
    if (energy) {
      *energy = shares[0];
      for (const auto &[p, value] : y) *energy += value * x[0].at(p);
    }
    for (int g = grids() - 1; g >= 0; g--) {
      deal_out(g, x);
      grids_[g].up(x, log_.up);
    }
    deal_out(0, x);
    Vector z(r.size());
    for (const Values &part : x)
      for (const auto &[p, value] : part) z[p] = value * prepared_.v[p];
    return z;
  }

  bool ok() const { return findings_.failed == 0; }
  bool redone() const { return redone_; }
  const Findings &findings() const { return findings_; }
  const Log &log() const { return log_; }
  const GridOfRanks &grid(int g) const { return grids_[g]; }

private:
  Prepared prepared_;
  Partition parts_, whole_;
  int nx_, distributed_;
  std::vector<GridOfRanks> grids_;
  LastNodes last_;
  Findings findings_;
  bool redone_ = false;
  Log log_;

  int grids() const { return static_cast<int>(grids_.size()); }
  const Partition &parts_of(int g) const { return g < distributed_ ? parts_ : whole_; }
  int owner(int g, int p) const { return parts_of(g).owner(p % nx_, p / nx_); }

  void factor(const Options &options, double omega) {
    findings_ = {};
    Each<Rows> rows(parts_of(0).ranks());
    for (int p = 0; p < prepared_.size(); p++) rows[owner(0, p)][p] = {prepared_.excess[p], prepared_.weight[p]};
    Each<double> none(rows.size(), 0.0);
    for (int g = 0; g < grids(); g++) {
      regroup(g, rows, none);
      findings_.add(grids_[g].factor(rows, omega, options.lump_nodes, log_.factor));
    }
    regroup(grids(), rows, none);
    findings_.add(last_.factor(rows[0]));
  }

  // Before grid g: all of it to everyone, which is one rank here, once.
  template <class T> void regroup(int g, Each<std::map<int, T>> &known, Each<double> &shares) {
    if (known.size() == 1 || parts_of(g).ranks() > 1) return;
    std::map<int, T> all;
    double sum = 0;
    for (std::size_t rank = 0; rank < known.size(); rank++) {
      all.insert(known[rank].begin(), known[rank].end());
      sum += shares[rank];
      log_.gather.nodes += static_cast<int>(known[rank].size());
    }
    log_.gather.rounds++;
    known.assign(1, all);
    shares.assign(1, sum);
  }
  // After grid g + 1: everyone takes its own and what is around; no message.
  void deal_out(int g, Each<Values> &x) const {
    const int ranks = parts_of(g).ranks();
    if (static_cast<int>(x.size()) == ranks) return;
    const Values all = x[0];
    x.assign(ranks, {});
    for (const auto &[p, value] : all) x[owner(g, p)][p] = value;
  }
};

} // namespace reference::ranks
