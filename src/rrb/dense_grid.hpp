// One grid in r1/r2/b1/b2 storage: its layout, its factor (two levels), its matrix and its vectors.
#pragma once

#include "rrb/seam.hpp"

#include <array>

namespace petscrrb::rrb {

// Where a class's array lies in memory. All four share the layout: equal (h, k), equal place. `block` is the papers'
// compute block dcb: rows begin and end at multiples of it, with a border of at least one node all around, so that
// no sweep over these arrays tests for an edge. The global offset of the box decides which node is which class.
struct DenseLayout {
  index_t h0 = 0, k0 = 0, columns = 0, rows = 0, pitch = 0, border = 0;

  DenseLayout() = default;
  DenseLayout(const Extent &x, index_t block) {
    if (x.empty()) return;
    h0 = half_down(x.x.lo);
    k0 = half_down(x.y.lo);
    columns = half_down(x.x.hi - 1) + 1 - h0;
    rows = half_down(x.y.hi - 1) + 1 - k0;
    border = std::max<index_t>(block, 8); // a cache line
    pitch = border + (columns + border) / border * border;
  }
  index_t size() const { return rows ? pitch * (rows + 2) : 0; }
  Dense view(double *p) const { return {p + pitch + border - (k0 * pitch + h0), pitch}; }
};

// Brings the border of arrays up to date: around a ring on one rank. start() and finish() are separate so that a
// halo between ranks can travel while the interior is swept.
class Halo {
public:
  explicit Halo(const Extent &x = {}) : x_(x) {}

  void start(Class c, const Dense &a) const {
    const Range2 r = x_.nodes_of(c);
    if (x_.x.wraps())
      for (index_t k = r.k0; k < r.k1; ++k) {
        a.at(r.h0 - 1, k) = a(r.h1 - 1, k);
        a.at(r.h1, k) = a(r.h0, k);
      }
    if (x_.y.wraps())
      for (index_t h = r.h0 - 1; h <= r.h1; ++h) {
        a.at(h, r.k0 - 1) = a(h, r.k1 - 1);
        a.at(h, r.k1) = a(h, r.k0);
      }
  }
  void finish(Class, const Dense &) const {}
  void exchange(Class c, const Dense &a) const {
    start(c, a);
    finish(c, a);
  }

private:
  Extent x_;
};

// The arrays of the next grid, indexed by this grid's b2.
struct Split {
  Quad<Dense> q;

  PETSCRRB_HD double &at(index_t h, index_t k) const { return q[class_of(h, k)].at(half_down(h), half_down(k)); }
  PETSCRRB_HD double operator()(index_t h, index_t k) const { return q[class_of(h, k)](half_down(h), half_down(k)); }
};

template <class Backend> class DenseGrid {
public:
  using Matrix = StencilFields<DenseField, DenseField>;

  // first: the finest grid, whose matrix and vectors stay in natural order
  DenseGrid(const Extent &x, index_t block, bool first) : extent(x), halo(x), layout_(x, block) {
    memory_.resize(layout_.size() * (first ? 15 + 1 : 15 + 4 + 20));
    double *p = memory_.data();
    const auto next = [&](DenseField &f, std::initializer_list<Class> classes) {
      for (Class c : classes) {
        f.q.c[c] = layout_.view(p);
        p += layout_.size();
      }
    };
    for (DenseField &w : factor.w) next(w, {r1, r2, b1});
    next(factor.dinv, {r1, r2, b1});
    if (first) {
      next(x_, {b1});
      return;
    }
    for (DenseField *f : {&x_, &matrix.X, &matrix.E, &matrix.N, &matrix.NE, &matrix.NW}) next(*f, {r1, r2, b1, b2});
  }

  StencilOut<Split> matrix_out() const {
    return {{matrix.X.q}, {matrix.E.q}, {matrix.N.q}, {matrix.NE.q}, {matrix.NW.q}};
  }
  const Quad<Dense> &vector() const { return x_.q; }
  std::size_t bytes() const { return memory_.bytes(); }

  void exchange_matrix() const {
    for (const DenseField *f : {&matrix.X, &matrix.E, &matrix.N, &matrix.NE, &matrix.NW})
      for (Class c : {r1, r2, b1, b2}) halo.exchange(c, f->q[c]);
  }
  // what an elimination has written of these classes
  void exchange_factor(std::initializer_list<Class> classes) const {
    for (Class c : classes) {
      if (matrix.X.q[c].p) halo.exchange(c, matrix.X.q[c]);
      for (const DenseField &w : factor.w) halo.exchange(c, w.q[c]);
      halo.exchange(c, factor.dinv.q[c]);
    }
  }

  Extent extent;
  Halo halo;
  FactorFields<DenseField> factor;
  Matrix matrix;

private:
  DenseLayout layout_;
  typename Backend::template Array<double> memory_;
  DenseField x_; // the right-hand side, then the solution; on the finest grid only b1 between the sweeps
};

} // namespace petscrrb::rrb
