// The matrix that is left after the last level, S_l, as CSR for the coarse solver, and where its unknowns stand.
#pragma once

#include "rrb/natural_tail.hpp"

#include <array>

namespace petscrrb::rrb {

template <class Int> struct LastBlock {
  std::vector<Int> ia, ja;    // sorted columns, symmetric pattern, diagonal present
  std::vector<double> a;      // values, of the last refresh
  std::vector<double> excess; // row sums, exact: zero in all rows of a component is a singular matrix
  std::vector<index_t> at;    // place of each unknown in the tail's vector

  Int size() const { return Int(at.size()); }
  std::size_t bytes() const {
    return (ia.size() + ja.size()) * sizeof(Int) + (a.size() + excess.size()) * sizeof(double) +
           at.size() * sizeof(index_t);
  }
};

// Forms it from the tail. Even number of levels: all nodes of the last grid, 9-point. Odd: its black nodes, 9-point
// on the skew grid.
template <class Backend, class Int> class LastBlockBuilder {
public:
  LastBlockBuilder(const NaturalTail<Backend> &tail, LastBlock<Int> &block) : tail_(tail), x_(tail.last()) {
    const index_t spacing = index_t(1) << tail.last_index(), pitch = tail.base().x.hi - tail.base().x.lo;
    number_.assign(x_.nodes(), -1);
    for (index_t b = x_.y.lo; b < x_.y.hi; ++b)
      for (index_t a = x_.x.lo; a < x_.x.hi; ++a) {
        if (skew() && (a + b) % 2) continue;
        number_[place(a, b)] = block.size();
        nodes_.push_back({a, b});
        block.at.push_back((b * spacing - tail.base().y.lo) * pitch + (a * spacing - tail.base().x.lo));
      }
    for (const auto &[a, b] : nodes_)
      for (const auto &to : offsets()) targets_.push_back(number(a + to[0], b + to[1]));
    make_pattern(block);
  }

  // kept_x, kept_y: couplings across odd rings of this grid (seam.hpp)
  template <class Matrix, class Factor>
  void fill(const Matrix &matrix, const Factor &factor, Lumping lumping, const std::vector<double> &kept_x,
            const std::vector<double> &kept_y, LastBlock<Int> &block) const {
    std::fill(block.a.begin(), block.a.end(), 0.0);
    const auto m = matrix.get(Edge{});
    const auto s = Steps<Backend>::schur(m, factor.get(Edge{}), lumping);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto [a, b] = nodes_[i];
      const Class c = class_of(a, b);
      const index_t h = half_down(a), k = half_down(b);
      double value[7];
      if (skew())
        skew_row(s, c, h, k, value);
      else
        straight_row(m, c, h, k, value);
      if (skew() && c == b2 && x_.x.odd_ring() && a == x_.x.n - 1) value[1] += kept_x[b];
      if (skew() && c == b2 && x_.y.odd_ring() && b == x_.y.n - 1) value[2] += kept_y[a];
      add(block, Int(i), value);
      block.excess[i] = value[0];
    }
  }

private:
  bool skew() const { return tail_.levels() % 2; }
  int slots() const { return skew() ? 7 : 5; }

  // the node itself, then each coupling once
  std::vector<std::array<int, 2>> offsets() const {
    if (skew()) return {{0, 0}, {2, 0}, {0, 2}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    return {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}};
  }
  static index_t around(index_t i, const Side &s) {
    if (!s.periodic || (i >= 0 && i < s.n)) return i;
    // two steps across an odd ring's seam, between black nodes, end one point further than on an even one
    if (s.odd_ring() && i == s.n + 1) return 0;
    return (i + s.n) % s.n;
  }
  Int number(index_t a, index_t b) const {
    a = around(a, x_.x);
    b = around(b, x_.y);
    const bool inside = a >= x_.x.lo && a < x_.x.hi && b >= x_.y.lo && b < x_.y.hi;
    return inside ? number_[place(a, b)] : Int(-1);
  }
  index_t place(index_t a, index_t b) const { return (b - x_.y.lo) * (x_.x.hi - x_.x.lo) + a - x_.x.lo; }

  template <class M> static void straight_row(const M &m, Class c, index_t h, index_t k, double *value) {
    value[0] = m.X[c](h, k);
    value[1] = m.E[c](h, k);
    value[2] = m.N[c](h, k);
    value[3] = m.NE[c](h, k);
    value[4] = m.NW[c](h, k);
  }
  // excess and weights
  template <class S> static void skew_row(const S &s, Class c, index_t h, index_t k, double *value) {
    unsigned flags = node_ok;
    std::fill_n(value, 7, 0.0);
    if (c == b2) {
      value[0] = s.excess_b2(h, k, flags);
      value[1] = s.east_b2(h, k);
      value[2] = s.north_b2(h, k);
      return;
    }
    double w[4];
    s.skew(h, k, w);
    value[0] = s.excess_b1(h, k, flags);
    value[1] = s.east_b1(h, k);
    value[2] = s.north_b1(h, k);
    value[3] = w[NE], value[4] = w[NW], value[5] = w[SE], value[6] = w[SW];
  }

  void make_pattern(LastBlock<Int> &block) {
    const Int n = block.size();
    std::vector<std::vector<Int>> row(n);
    for (Int i = 0; i < n; ++i) {
      row[i].push_back(i);
      for (int s = 1; s < slots(); ++s) {
        const Int j = targets_[std::size_t(i) * slots() + s];
        if (j < 0 || j == i) continue;
        row[i].push_back(j);
        row[j].push_back(i);
      }
    }
    block.ia.assign(1, 0);
    for (auto &r : row) {
      std::sort(r.begin(), r.end());
      r.erase(std::unique(r.begin(), r.end()), r.end());
      block.ja.insert(block.ja.end(), r.begin(), r.end());
      block.ia.push_back(Int(block.ja.size()));
    }
    block.a.assign(block.ja.size(), 0.0);
    block.excess.assign(n, 0.0);
  }

  void add(LastBlock<Int> &block, Int i, const double *value) const {
    const auto entry = [&](Int row, Int col) -> double & {
      const auto first = block.ja.begin() + block.ia[row], end = block.ja.begin() + block.ia[row + 1];
      return block.a[std::lower_bound(first, end, col) - block.ja.begin()];
    };
    entry(i, i) += value[0];
    for (int s = 1; s < slots(); ++s) {
      const Int j = targets_[std::size_t(i) * slots() + s];
      if (j < 0 || j == i || value[s] == 0.0) continue; // j == i: around a ring to itself
      entry(i, i) += value[s];
      entry(j, j) += value[s];
      entry(i, j) -= value[s];
      entry(j, i) -= value[s];
    }
  }

  const NaturalTail<Backend> &tail_;
  Extent x_;
  std::vector<Int> number_; // of each node of the grid; -1: eliminated
  std::vector<std::pair<index_t, index_t>> nodes_;
  std::vector<Int> targets_;
};

} // namespace petscrrb::rrb
