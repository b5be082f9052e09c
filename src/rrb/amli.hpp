// AMLI's step at one coarse grid (docs/numerics.md): in place of the V-cycle B from there on, p(B S) B with a polynomial
// p of degree 1 and S the grid's matrix. The order of its calls is in cycle.hpp.
#pragma once

#include "backend/partial_sum.hpp"
#include "backend/scalars.hpp"
#include "rrb/lanczos.hpp"
#include "rrb/steps.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::rrb {

// S x at node (a, b) of the grid, from excess and weights: no diagonal, so that nothing cancels in a singular S.
template <class M, class X> struct GridProduct {
  M s;
  X x;

  PETSCRRB_HD double operator()(index_t a, index_t b) const {
    const double c = x(a, b);
    return s.X(a, b) * c + (s.E(a, b) * (c - x(a + 1, b)) + s.E(a - 1, b) * (c - x(a - 1, b))) +
           (s.N(a, b) * (c - x(a, b + 1)) + s.N(a, b - 1) * (c - x(a, b - 1))) +
           (s.NE(a, b) * (c - x(a + 1, b + 1)) + s.NE(a - 1, b - 1) * (c - x(a - 1, b - 1))) +
           (s.NW(a, b) * (c - x(a - 1, b + 1)) + s.NW(a + 1, b - 1) * (c - x(a + 1, b - 1)));
  }
};

template <class Product, class Y> struct StoreProduct {
  Product product;
  Y y;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { y.at(a, b) = product(a, b); }
};

// The right-hand side of the second V-cycle: c0 r - c1 S B r.
template <class Product, class R, class Y> struct SecondRightHandSide {
  Product product; // of B r
  R r;
  Y y;
  const double *c0, *c1;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { y.at(a, b) = *c0 * r(a, b) - *c1 * product(a, b); }
};

template <class From, class To> struct CopyNode {
  From from;
  To to;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { to.at(a, b) = from(a, b); }
};

template <class From, class To> struct CopyStencil {
  From from;
  To to;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    to.X.at(a, b) = from.X(a, b);
    to.E.at(a, b) = from.E(a, b);
    to.N.at(a, b) = from.N(a, b);
    to.NE.at(a, b) = from.NE(a, b);
    to.NW.at(a, b) = from.NW(a, b);
  }
};

// x = +-d^-1/2 by a hash of the node, d the diagonal: every part of the matrix gets the same share of energy, however
// far its coefficients jump. 0 at nodes without couplings, where B is exact.
template <class M, class X> struct StartVector {
  M s;
  X x;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    const double weights = s.E(a, b) + s.E(a - 1, b) + s.N(a, b) + s.N(a, b - 1) + s.NE(a, b) + s.NE(a - 1, b - 1) +
                           s.NW(a, b) + s.NW(a + 1, b - 1);
    const double d = weights > 0.0 ? s.X(a, b) + weights : 0.0, size = d > 0.0 ? 1.0 / std::sqrt(d) : 0.0;
    unsigned hash = unsigned(a) * 2654435761u ^ unsigned(b) * 2246822519u;
    hash = (hash ^ hash >> 15) * 3266489917u;
    x.at(a, b) = (hash >> 16 & 1u) ? size : -size;
  }
};

// The vectors of conjugate gradients; alpha and beta are quotients of sums, 0 where there is nothing left to divide by.
PETSCRRB_HD inline double quotient(double a, double b) { return b > 0.0 ? a / b : 0.0; }

template <class U, class V> struct TimesNode {
  U u;
  V v;

  PETSCRRB_HD double operator()(index_t a, index_t b) const { return u(a, b) * v(a, b); }
};

// p = z + beta p
template <class Z, class V> struct NextDirection {
  Z z;
  V p;
  const double *rho, *rho_before;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    p.at(a, b) = z(a, b) + quotient(*rho, *rho_before) * p(a, b);
  }
};

// r -= alpha q
template <class V> struct NextResidual {
  V q, r;
  const double *rho, *curvature;

  PETSCRRB_HD void operator()(index_t a, index_t b) const { r.at(a, b) -= quotient(*rho, *curvature) * q(a, b); }
};

// What came of AMLI at the last refresh.
struct AmliReport {
  index_t nx = 0, ny = 0; // the grid of its step; 0: there is none
  double lambda_max = 0;  // what the polynomial is made for
  bool used = false;
};

constexpr int estimate_steps = 8;

// The grid's matrix before its elimination, which overwrites it and lumps what crosses odd seams, and a few vectors.
// V: the hierarchy's own vector on this grid, (a, b) its nodes.
template <class Backend> class Amli {
public:
  static constexpr int steps = estimate_steps;

  explicit Amli(const Extent &x)
      : x_(x), box_{x.x.lo, x.x.hi, x.y.lo, x.y.hi}, n_(x.nodes()), memory_(9 * n_),
        scalars_(2 + 2 * steps, x.y.hi - x.y.lo) {}

  template <class M> void keep_matrix(const Backend &on, const M &from) {
    const auto to = matrix(Inner{});
    everywhere(on, CopyStencil<M, std::decay_t<decltype(to)>>{from, to});
  }

  // The polynomial: keep r; the caller applies B in place; then what B is applied to for the result.
  template <class V> void keep_right_hand_side(const Backend &on, const V &x) { copy(on, x, view(r, Inner{})); }
  template <class V> void second_right_hand_side(const Backend &on, const V &x) {
    const auto kept = view(r, Inner{});
    copy(on, x, view(z, Inner{}));
    nodes(on, [&](auto w) {
      const auto s_z = product(w, z);
      return SecondRightHandSide<decltype(s_z), decltype(kept), V>{s_z, kept, x, scalars_.at(0), scalars_.at(1)};
    });
  }

  // The product of the right-hand side that was kept and the solution x.
  template <class V> void add_energy(const Backend &on, const V &x, PartialSum<Backend> &energy) const {
    const auto kept = view(r, Inner{});
    energy.add(on, box_, TimesNode<decltype(kept), V>{kept, x});
  }
  index_t energy_parts() const { return PartialSum<Backend>::parts(box_); }

  // Conjugate gradients for S x = r = S x_0, of which only the Lanczos matrix is wanted. The right-hand side is
  // consistent by construction where S is singular.
  void start_estimate(const Backend &on) {
    const auto x0 = view(p, Inner{});
    nodes(on, [&](auto w) { return StartVector<decltype(matrix(w)), decltype(x0)>{matrix(w), x0}; });
    multiply(on, p, r);
  }
  template <class V> void put_residual(const Backend &on, const V &x) { copy(on, view(r, Inner{}), x); }
  template <class V> void step(const Backend &on, int j, const V &b_r) {
    const auto at = [&](Slot s) { return view(s, Inner{}); };
    using W = decltype(at(r));
    scalars_.sum(on, rho(j), box_, TimesNode<W, V>{at(r), b_r});
    if (j == 0)
      copy(on, b_r, at(p));
    else
      everywhere(on, NextDirection<V, W>{b_r, at(p), scalars_.at(rho(j)), scalars_.at(rho(j - 1))});
    multiply(on, p, q);
    scalars_.sum(on, curvature(j), box_, TimesNode<W, W>{at(p), at(q)});
    everywhere(on, NextResidual<W>{at(q), at(r), scalars_.at(rho(j)), scalars_.at(curvature(j))});
  }
  // Sets p(t) = (1 + lambda_max - t) / lambda_max. Up to a factor 1 - t p(t) is the Chebyshev polynomial of degree 2 on
  // [1, lambda_max]; the factor is such that p(1) = 1, so that what RRB treats exactly stays exact.
  void finish_estimate(const Backend &on) {
    const double *s = scalars_.read(on);
    lambda_max_ = safe_bound(largest_eigenvalue(s + rho(0), s + curvature(0), steps));
    scalars_.write(on, 0, (1.0 + lambda_max_) / lambda_max_);
    scalars_.write(on, 1, 1.0 / lambda_max_);
  }

  // Above, the polynomial gains little and may lose its sign; below, B is exact or nearly so.
  AmliReport report() const {
    return {x_.x.hi - x_.x.lo, x_.y.hi - x_.y.lo, lambda_max_, lambda_max_ >= exact_below && lambda_max_ <= largest};
  }
  std::size_t bytes() const { return memory_.bytes() + scalars_.bytes(); }

private:
  static constexpr double exact_below = 1.05, largest = 20.0;

  // An estimate by few steps is too small, by some 5 % mostly. The polynomial is positive up to 1 + lambda_max, and must
  // be so even where the estimate is 20 % too small, which is what the theory of random start vectors warns of.
  static double safe_bound(double estimate) {
    const double above = estimate - 1.0;
    return 1.0 + std::max(1.05 * above, 1.25 * above - 1.0);
  }

  enum Slot { // arrays of the grid; the first five are the matrix
    r = 5,
    z,
    p,
    q
  };
  static std::size_t rho(int j) { return 2 + j; }
  static std::size_t curvature(int j) { return 2 + steps + j; }

  Strided<1> view(int slot, Inner) const {
    const index_t pitch = x_.x.hi - x_.x.lo;
    return {memory_.data() + slot * n_ - (x_.y.lo * pitch + x_.x.lo), pitch, 1};
  }
  Guarded<double> view(int slot, Edge) const {
    const Strided<1> v = view(slot, Inner{});
    return {{v.p, v.row, 1}, box_, x_.x.periodic ? x_.x.n : 0, x_.y.periodic ? x_.y.n : 0};
  }
  template <class Where> auto matrix(Where w) const {
    return StencilOut<decltype(view(0, w))>{view(0, w), view(1, w), view(2, w), view(3, w), view(4, w)};
  }
  template <class Where> auto product(Where w, Slot x) const {
    return GridProduct<decltype(matrix(w)), decltype(view(x, w))>{matrix(w), view(x, w)};
  }

  // op(Inner{}) where all neighbours exist, op(Edge{}) on the rim
  template <class Op> void nodes(const Backend &on, const Op &op) const {
    on.for_each(box_, {box_.h0 + 1, box_.h1 - 1, box_.k0 + 1, box_.k1 - 1}, op(Inner{}), op(Edge{}));
  }
  template <class F> void everywhere(const Backend &on, const F &f) const { on.for_each(box_, box_, f, f); }
  template <class From, class To> void copy(const Backend &on, const From &from, const To &to) const {
    everywhere(on, CopyNode<From, To>{from, to});
  }
  void multiply(const Backend &on, Slot x, Slot y) const {
    const auto to = view(y, Inner{});
    nodes(on, [&](auto w) { return StoreProduct<decltype(product(w, x)), decltype(to)>{product(w, x), to}; });
  }

  Extent x_;
  Range2 box_;
  index_t n_;
  typename Backend::template Array<double> memory_;
  Scalars<Backend> scalars_; // the polynomial's two coefficients, then the sums of the estimate
  double lambda_max_ = 1.0;
};

} // namespace petscrrb::rrb
