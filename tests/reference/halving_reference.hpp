// RRB that halves a direction before red nodes are plain, written from docs/numerics.md alone ("Halving"). Slow and obvious on purpose; it
// shares nothing with the library.
#pragma once

#include "prepared.hpp"
#include "rrb_reference.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reference {

class HalvedRRB {
public:
  // halvings: "xxy" halves x twice and then y; levels: of RRB on what is left; kept: after so many halvings kept_matrix() is what is left
  HalvedRRB(const Matrix &A, const Grid &grid, const std::string &halvings, int levels, const Vector &v = {},
            int kept = 0)
      : grid_(grid), prepared_(A, grid, v, false), weight_(prepared_.weight), excess_(prepared_.excess) {
    for (std::size_t k = 0; k < halvings.size(); k++) {
      if (int(k) == kept) keep();
      halve(halvings[k] == 'x');
    }
    if (int(halvings.size()) == kept) keep();
    std::map<int, int> number;
    for (int p = 0; p < A.size(); p++)
      if (is_current(p)) number.emplace(p, int(number.size()));
    Matrix S(int(number.size()));
    for (const auto &[p, i] : number) {
      S.add(i, i, excess_[p]);
      for (const auto &[q, w] : weight_[p]) S.add(i, i, w), S.add(i, number.at(q), -w);
      rest_.push_back(p);
    }
    Grid left = grid;
    left.nx = (grid.nx + dx_ - 1) / dx_, left.ny = (grid.ny + dy_ - 1) / dy_;
    Options options;
    options.levels = levels;
    inside_ = std::make_unique<RRB>(S, left, options);
  }

  Vector apply(const Vector &r) const {
    Vector z = r;
    down_to_kept(z);
    cycle_on_kept(z);
    up_from_kept(z);
    return z;
  }

  // The matrix of AMLI's grid, with rows of zeros outside of it, and the three parts of apply(): above it, on it and below, and above again.
  const Matrix &kept_matrix() const { return kept_; }
  const std::vector<int> &kept_nodes() const { return kept_nodes_; }
  void down_to_kept(Vector &z) const {
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
    forward(0, above_, z);
  }
  void cycle_on_kept(Vector &z) const {
    Vector y;
    forward(above_, reds_.size(), z);
    for (const int p : rest_) y.push_back(z[p]);
    y = inside_->apply(y);
    for (std::size_t i = 0; i < y.size(); i++) z[rest_[i]] = y[i];
    backward(above_, reds_.size(), z);
  }
  void up_from_kept(Vector &z) const {
    backward(0, above_, z);
    for (std::size_t p = 0; p < z.size(); p++) z[p] *= prepared_.v[p];
  }

private:
  struct Red {
    int p;
    double pivot;
    std::map<int, double> weight;
  };

  void forward(std::size_t from, std::size_t to, Vector &z) const {
    for (std::size_t k = from; k < to; k++)
      for (const auto &[q, w] : reds_[k].weight) z[q] += w / reds_[k].pivot * z[reds_[k].p];
  }
  void backward(std::size_t from, std::size_t to, Vector &z) const {
    for (std::size_t k = to; k-- > from;) {
      z[reds_[k].p] /= reds_[k].pivot;
      for (const auto &[q, w] : reds_[k].weight) z[reds_[k].p] += w / reds_[k].pivot * z[q];
    }
  }
  void keep() {
    above_ = reds_.size();
    kept_ = Matrix(int(weight_.size()));
    for (int p = 0; p < int(weight_.size()); p++) {
      if (!is_current(p)) continue;
      kept_nodes_.push_back(p);
      kept_.add(p, p, excess_[p]);
      for (const auto &[q, w] : weight_[p]) kept_.add(p, p, w), kept_.add(p, q, -w);
    }
  }

  int x(int p) const { return p % grid_.nx; }
  int y(int p) const { return p / grid_.nx; }
  bool is_current(int p) const { return x(p) % dx_ == 0 && y(p) % dy_ == 0; }
  void add(int p, int q, double w) { weight_[p][q] += w, weight_[q][p] += w; }

  void halve(bool in_x) {
    const int step = in_x ? dx_ : dy_, n = in_x ? grid_.nx : grid_.ny;
    const auto along = [&](int p) { return in_x ? x(p) : y(p); };
    const auto across = [&](int p) { return in_x ? y(p) : x(p); };
    const auto is_red = [&](int p) { return is_current(p) && along(p) / step % 2 == 1; };
    // where it stands before p, and after it on the last line of a ring
    const auto is_before = [&](int q, int p) { return along(q) == along(p) - step; };
    const int size = int(weight_.size());
    struct Moved {
      int p, q;
      double w;
    };
    std::vector<Moved> moved;
    for (int p = 0; p < size; p++) {
      if (!is_red(p)) continue;
      for (const auto &[q, w] : weight_[p])
        if (p < q && is_red(q)) moved.push_back({p, q, w});
    }
    std::map<int, double> share; // of what a red point has along, before it
    for (int p = 0; p < size; p++) {
      if (!is_red(p)) continue;
      double before = 0, all = 0;
      for (const auto &[q, w] : weight_[p])
        if (across(q) == across(p)) all += w, before += is_before(q, p) ? w : 0;
      share[p] = all > 0 ? before / all : 0.5;
    }
    std::vector<Moved> added;
    for (const auto &[p, q, w] : moved) {
      const double before = 0.5 * w * (share[p] + share[q]), after = w - before;
      const auto point = [&](int a, int c) { return in_x ? c * grid_.nx + a : a * grid_.nx + c; };
      const int a = along(p) - step, b = along(p) + step < n ? along(p) + step : 0;
      added.push_back({point(a, across(p)), point(a, across(q)), before});
      if (after != 0) added.push_back({point(b, across(p)), point(b, across(q)), after});
      weight_[p].erase(q), weight_[q].erase(p);
    }
    for (const auto &[p, q, w] : added) add(p, q, w);
    for (int p = 0; p < size; p++) {
      if (!is_red(p)) continue;
      Red red{p, excess_[p], {}};
      for (const auto &[q, w] : weight_[p]) red.weight[q] = w, red.pivot += w;
      for (const auto &[q, w] : red.weight) {
        excess_[q] += w / red.pivot * excess_[p];
        weight_[q].erase(p);
        for (const auto &[r, u] : red.weight)
          if (r != q) weight_[q][r] += w * u / red.pivot;
      }
      weight_[p].clear();
      reds_.push_back(red);
    }
    (in_x ? dx_ : dy_) *= 2;
  }

  Grid grid_;
  Prepared prepared_;
  Graph weight_;
  Vector excess_;
  int dx_ = 1, dy_ = 1; // from one point that is left to the next
  std::vector<Red> reds_;
  std::size_t above_ = 0; // of the kept matrix' grid
  Matrix kept_;
  std::vector<int> kept_nodes_;
  std::vector<int> rest_;
  std::unique_ptr<RRB> inside_;
};

} // namespace reference
