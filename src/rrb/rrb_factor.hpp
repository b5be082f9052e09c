// The factorization of all levels: Rrb's constructor and refresh().
#pragma once

#include "rrb/rrb.hpp"

namespace petscrrb::rrb {

template <class Backend, class Int>
Rrb<Backend, Int>::Rrb(const Extent &extent, const Options &o)
    : extent_(NaturalTail<Backend>::folded(extent)), options_(o) {
  Extent x = extent_;
  for (int g = 0; g < o.storage_grids; ++g) {
    dense_.emplace_back(x, o.block, g == 0);
    x = NaturalTail<Backend>::folded(x.coarser());
  }
  tail_ = NaturalTail<Backend>(x, o.levels - 2 * o.storage_grids, o.storage_grids > 0);
  if (o.storage_grids) scratch_ = RowScratch(extent_.x);
  builder_ = std::make_unique<LastBlockBuilder<Backend, Int>>(tail_, block_);
  kept_x_.assign(extent_.y.n, 0.0);
  kept_y_.assign(extent_.x.n, 0.0);
  coarse_r_.resize(block_.size());
  coarse_z_.resize(block_.size());
}

template <class Backend, class Int> Outcome Rrb<Backend, Int>::refresh(Stencil &s, Lumping lumping) {
  Outcome o;
  lumping_ = lumping;
  v_ = s.v.empty() ? nullptr : s.v.data();
  const Extent &x = extent_;
  if (dense_.empty()) {
    tail_.load(s);
  } else {
    using Field = NaturalField<2>;
    const auto field = [&](std::vector<double> &a) { return Field{a.data(), x.x.lo, x.y.lo, x.x.hi - x.x.lo, 1, x}; };
    if (s.NE.empty())
      factor_dense(0, StencilFields<Field, ZeroField>{field(s.C), field(s.E), field(s.N), {}, {}}, o);
    else
      factor_dense(0, StencilFields<Field, Field>{field(s.C), field(s.E), field(s.N), field(s.NE), field(s.NW)}, o);
  }
  for (int g = 1; g < options_.storage_grids; ++g) factor_dense(g, dense_[g].matrix, o);
  for (int q = 0; q < tail_.grids(); ++q) factor_tail(q, tail_.matrix(q), o);
  const int q = tail_.last_index();
  builder_->fill(tail_.matrix(q), tail_.factor(q), lumping_, kept_x_, kept_y_, block_);
  return o;
}

template <class Backend, class Int>
template <class A>
void Rrb<Backend, Int>::factor_dense(int g, const A &a, Outcome &o) {
  DenseGrid<Backend> &d = dense_[g];
  lump_seams(a, d.extent, o);
  if (g > 0) d.exchange_matrix();
  NodeCounts n[4];
  Steps<Backend>::odd(d.extent, a, d.factor, lumping_, n);
  fail(r1, n[r1], 2 * g + 1, o);
  fail(r2, n[r2], 2 * g + 1, o);
  d.exchange_factor({r1, r2});
  Steps<Backend>::even(d.extent, a, d.factor, lumping_, n);
  fail(b1, n[b1], 2 * g + 2, o);
  d.exchange_factor({b1});
  if (g + 1 < options_.storage_grids) {
    DenseGrid<Backend> &next = dense_[g + 1];
    o.unlumped += Steps<Backend>::coarse(d.extent, a, d.factor, lumping_, next.matrix_out()).unlumped;
    take_over_seams(next.matrix, d.extent, next.extent);
  } else {
    o.unlumped += Steps<Backend>::coarse(d.extent, a, d.factor, lumping_, tail_.out_from_above()).unlumped;
    take_over_seams(tail_.matrix(0), d.extent, tail_.base());
  }
}

template <class Backend, class Int>
template <class A>
void Rrb<Backend, Int>::factor_tail(int q, const A &a, Outcome &o) {
  const Extent &x = tail_.grid(q);
  const auto f = tail_.factor(q);
  const int level = 2 * (options_.storage_grids + q) + 1;
  lump_seams(a, x, o);
  NodeCounts n[4];
  Steps<Backend>::odd(x, a, f, lumping_, n);
  fail(r1, n[r1], level, o);
  fail(r2, n[r2], level, o);
  if (!tail_.even(q)) return;
  Steps<Backend>::even(x, a, f, lumping_, n);
  fail(b1, n[b1], level + 1, o);
  o.unlumped += Steps<Backend>::coarse(x, a, f, lumping_, tail_.out(q)).unlumped;
  const Extent &next = q + 1 < tail_.grids() ? tail_.grid(q + 1) : tail_.last();
  take_over_seams(tail_.matrix(q + 1), x, next);
}

template <class Backend, class Int>
template <class A>
void Rrb<Backend, Int>::lump_seams(const A &a, const Extent &x, Outcome &o) {
  if (x.x.odd_ring()) o.unlumped += lump_seam_x(a, x, lumping_.omega, kept_x_);
  if (x.y.odd_ring()) o.unlumped += lump_seam_y(a, x, lumping_.omega, kept_y_);
}

// The next grid gets the couplings that crossed the odd rings above it, and folds rings of one point.
template <class Backend, class Int>
template <class A>
void Rrb<Backend, Int>::take_over_seams(const A &next, const Extent &above, const Extent &x) const {
  Extent ring = above.coarser();
  SeamAccess<A> g(next, x);
  if (above.x.odd_ring())
    for (index_t b = 0; b < x.y.n; ++b) g.at(g.views().E, x.x.n - 1, b) += kept_x_[2 * b];
  if (above.y.odd_ring())
    for (index_t a = 0; a < x.x.n; ++a) g.at(g.views().N, a, x.y.n - 1) += kept_y_[2 * a];
  if (ring.x.periodic && ring.x.n == 1) fold_x(next, ring);
  ring.x.periodic = x.x.periodic;
  if (ring.y.periodic && ring.y.n == 1) fold_y(next, ring);
}

template <class Backend, class Int>
void Rrb<Backend, Int>::fail(Class c, const NodeCounts &n, int level, Outcome &o) const {
  o.unlumped += n.unlumped;
  o.null += n.null;
  if (!n.failed || !o.ok) return;
  const index_t h = n.first_failed % (index_t(1) << 32), k = n.first_failed >> 32, s = index_t(1) << ((level - 1) / 2);
  o.ok = false;
  o.failed_level = level;
  o.failed_i = (2 * h + parity_x(c)) * s;
  o.failed_j = (2 * k + parity_y(c)) * s;
}

template <class Backend, class Int> std::size_t Rrb<Backend, Int>::bytes() const {
  std::size_t n =
      tail_.bytes() + scratch_.bytes() + block_.bytes() + (coarse_r_.size() + coarse_z_.size()) * sizeof(double);
  for (const auto &d : dense_) n += d.bytes();
  return n;
}

template <class Backend, class Int> std::vector<index_t> Rrb<Backend, Int>::unknowns_by_level() const {
  std::vector<index_t> n;
  Extent x = extent_;
  for (int k = 0; k <= options_.levels; ++k) {
    if (k > 0 && k % 2 == 0) x = x.coarser();
    n.push_back(k % 2 ? x.nodes_of(b1).size() + x.nodes_of(b2).size() : x.nodes());
  }
  return n;
}

} // namespace petscrrb::rrb
