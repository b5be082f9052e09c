// The first Schur complement S1 = A_BB - A_BR D_R^-1 A_RB of a 5-point matrix on its black nodes, and what eliminates the
// red ones, in r1/r2/b1/b2 storage.
#pragma once

#include "pc/rrb/ranks/around.hpp"
#include "pc/rrb/core/dense_grid.hpp"
#include "ksp/rrb/core/iteration.hpp"

namespace petscrrb::rrbsolver {

// S1 by its diagonal and its weights, which are minus its other entries. Each pair of nodes once: skew[] couples b1 with
// its four b2, E and N a node with the one of its own class to the right and above.
template <class V> struct SchurViews {
  Quad<V> X, E, N;
  V skew[4];
};

// (S1 p) at a node of b1 or b2; P: a Quad of views.
template <class V, class P> struct SchurProduct {
  SchurViews<V> s;
  P p;

  PETSCRRB_HD double straight(Class c, index_t h, index_t k) const {
    const auto &x = p[c];
    const auto &e = s.E[c], &n = s.N[c];
    return s.X[c](h, k) * x(h, k) - (e(h, k) * x(h + 1, k) + e(h - 1, k) * x(h - 1, k)) -
           (n(h, k) * x(h, k + 1) + n(h, k - 1) * x(h, k - 1));
  }
  PETSCRRB_HD double at_b1(index_t h, index_t k) const {
    const auto &x = p[b2];
    return straight(b1, h, k) - (s.skew[SW](h, k) * x(h, k) + s.skew[SE](h, k) * x(h + 1, k)) -
           (s.skew[NW](h, k) * x(h, k + 1) + s.skew[NE](h, k) * x(h + 1, k + 1));
  }
  PETSCRRB_HD double at_b2(index_t h, index_t k) const {
    const auto &x = p[b1];
    return straight(b2, h, k) - (s.skew[SW](h, k) * x(h, k) + s.skew[SE](h - 1, k) * x(h - 1, k)) -
           (s.skew[NW](h, k - 1) * x(h, k - 1) + s.skew[NE](h - 1, k - 1) * x(h - 1, k - 1));
  }
};
template <class V, class P> SchurProduct(SchurViews<V>, P) -> SchurProduct<V, P>;

// S1 at the nodes of a black class, from the matrix's weights and excesses.
template <class A, class V, class W = V> struct FormB1 {
  Schur<A, V> from;
  SchurViews<W> to;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    double skew[4];
    from.skew(h, k, skew);
    const double e = from.east_b1(h, k), n = from.north_b1(h, k);
    to.X[b1].at(h, k) = from.excess_b1(h, k, flags) + (skew[0] + skew[1] + skew[2] + skew[3]) +
                        (e + from.east_b1(h - 1, k)) + (n + from.north_b1(h, k - 1));
    to.E[b1].at(h, k) = e;
    to.N[b1].at(h, k) = n;
    for (int i = 0; i < 4; ++i) to.skew[i].at(h, k) = skew[i];
  }
};
template <class A, class V> struct FormB2 {
  Schur<A, V> from;
  SchurViews<V> to;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    unsigned flags = node_ok;
    const double e = from.east_b2(h, k), n = from.north_b2(h, k);
    to.X[b2].at(h, k) = from.excess_b2(h, k, flags) + (weight(h, k, SW) + weight(h - 1, k, SE)) +
                        (weight(h, k - 1, NW) + weight(h - 1, k - 1, NE)) + (e + from.east_b2(h - 1, k)) +
                        (n + from.north_b2(h, k - 1));
    to.E[b2].at(h, k) = e;
    to.N[b2].at(h, k) = n;
  }

private:
  PETSCRRB_HD double weight(index_t h, index_t k, int i) const { return to.skew[i](h, k); }
};

// Eisenstat's form (docs/numerics.md): of b1's rows S1 scaled so that the pivots of level 2 are 1, less those. It needs a
// preconditioner that couples b1 with b2 as S1 does, with a positive pivot at every b1: a flag where it does not. F: its
// FactorViews.
template <class F, class V> struct ScaleB1 {
  F f;
  SchurViews<V> s;

  PETSCRRB_HD double root(index_t h, index_t k) const {
    const double dinv = f.dinv[b1](h, k);
    return dinv > 0.0 ? std::sqrt(dinv) : 1.0;
  }
  PETSCRRB_HD unsigned operator()(index_t h, index_t k) const {
    const double dinv = f.dinv[b1](h, k), here = root(h, k);
    bool same = dinv > 0.0;
    for (int i = 0; i < 4; ++i) {
      const double w = s.skew[i](h, k);
      same = same && std::fabs(w * dinv - f.w[i][b1](h, k)) <= 1e-12 * std::fabs(w * dinv);
      s.skew[i].at(h, k) = w * here;
    }
    s.X[b1].at(h, k) = s.X[b1](h, k) * (here * here) - 1.0;
    s.E[b1].at(h, k) *= here * root(h + 1, k);
    s.N[b1].at(h, k) *= here * root(h, k + 1);
    return same ? node_ok : node_failed;
  }
};
template <class F, class V> ScaleB1(F, SchurViews<V>) -> ScaleB1<F, V>;

// Back again.
template <class F, class V> struct UnscaleB1 {
  ScaleB1<F, V> scale;

  PETSCRRB_HD void operator()(index_t h, index_t k) const {
    const SchurViews<V> &s = scale.s;
    const double here = scale.root(h, k);
    for (int i = 0; i < 4; ++i) s.skew[i].at(h, k) /= here;
    s.X[b1].at(h, k) = (s.X[b1](h, k) + 1.0) / (here * here);
    s.E[b1].at(h, k) /= here * scale.root(h + 1, k);
    s.N[b1].at(h, k) /= here * scale.root(h, k + 1);
  }
};
template <class F, class V> UnscaleB1(ScaleB1<F, V>) -> UnscaleB1<F, V>;

// All of it in one pass over memory on a device (schur_form.cuh): red nodes, S1 and, if it is wanted, Eisenstat's form for a factor of the
// preconditioner.
template <class Backend> struct FormInOnePass;

template <class Backend> class SchurMatrix {
public:
  using Red = FactorFields<DenseField>;

  SchurMatrix(const Extent &x, const DenseLayout &layout) : x_(x), halo_(x), counts_(4) {
    memory_.resize(layout.size() * 20);
    double *p = memory_.data();
    const auto place = [&](Dense &a) {
      a = layout.view(p);
      p += layout.size();
    };
    for (Class c : {r1, r2}) {
      for (auto &w : red_.w) place(w.q.c[c]);
      place(red_.dinv.q.c[c]);
    }
    for (auto *q : {&s_.X, &s_.E, &s_.N})
      for (Class c : {b1, b2}) place(q->c[c]);
    for (Dense &a : s_.skew) place(a);
  }

  // Of the matrix by its weights and excesses (prepare.hpp), without corners, in natural order. factor: NULL, or the
  // preconditioner's: then b1's rows and the skew weights are those of Eisenstat's form.
  void refresh(const Backend &on, const PreparedStencil &a, const Red *factor) const {
    using Field = NaturalField<2>;
    const auto field = [&](double *p) { return Field{p, x_.x.lo, x_.y.lo, x_.x.hi - x_.x.lo, 1, x_}; };
    const StencilFields<Field, ZeroField> from{field(a.X), field(a.E), field(a.N), {}, {}};
    on.clear(counts_);
    const Steps<Backend> steps(on, x_, Lumping{});
    const auto form = [&](auto w) { return Steps<Backend>::schur(from.get(w), red_.get(w), Lumping{}); };
    const auto at_b1 = [&](auto w) { return form_as<FormB1>(form(w)); };
    const auto at_b2 = [&](auto w) { return form_as<FormB2>(form(w)); };
    const auto form_b1 = steps.loop(b1, 2, at_b1(Inner{}), at_b1(Edge{}), nullptr, 0, 1);
    const auto form_b2 = steps.loop(b2, 2, at_b2(Inner{}), at_b2(Edge{}), nullptr, 1, 0);
    if (!x_.x.periodic && !x_.y.periodic) {
      if constexpr (Backend::on_device) {
        const auto red = red_.get(Inner{});
        FormInOnePass<Backend>::form(on, x_, from.get(Inner{}), from.get(Edge{}), red, s_,
                                     factor ? factor->get(Inner{}) : red, factor != nullptr, counts_.data());
      } else {
        const auto of_r1 = steps.template red<r1, EliminateR1>(from, red_, counts_.data());
        const auto of_r2 = steps.template red<r2, EliminateR2>(from, red_, counts_.data());
        if (factor)
          on.in_step(of_r1, of_r2, form_b1, form_b2, scale_loop(*factor)); // b2 wants b1's weights as they are
        else
          on.in_step(of_r1, of_r2, form_b1, form_b2);
      }
      return;
    }
    steps.odd(from, red_, counts_.data());
    for (Class c : {r1, r2})
      exchange(on, {c, c, c, c, c}, {red_.w[0].q[c], red_.w[1].q[c], red_.w[2].q[c], red_.w[3].q[c], red_.dinv.q[c]});
    on.for_each(form_b1.box, form_b1.inner, form_b1.f, form_b1.g);
    exchange(on, {b1, b1, b1, b1}, {s_.skew[0], s_.skew[1], s_.skew[2], s_.skew[3]});
    on.for_each(form_b2.box, form_b2.inner, form_b2.f, form_b2.g);
    for (Class c : {b1, b2}) exchange(on, {c, c}, {s_.E[c], s_.N[c]});
    if (!factor) return;
    const auto scale = scale_loop(*factor);
    on.count_each(scale.box, scale.inner, scale.f, scale.g, scale.counts);
  }
  // The same from weights and excesses in classes, with four steps around the box: of what is around all that the product
  // at own nodes reads.
  void refresh(const Backend &on, const StencilOut<Split> &m) const {
    const StencilViews<Dense, Zero> from{m.X.q, m.E.q, m.N.q, {}, {}};
    using A = std::decay_t<decltype(from)>;
    const FactorViews<Dense> &f = red_.get(Inner{});
    on.clear(counts_);
    at_own_and_around(on, x_, r1, 3, EliminateR1<A, Dense>{from, f, {}}, counts_.data());
    at_own_and_around(on, x_, r2, 3, EliminateR2<A, Dense>{from, f, {}}, counts_.data());
    const Schur<A, Dense> s{from, f, {}};
    on.for_each(widened(x_, 2).nodes_of(b1), form_as<FormB1>(s));
    on.for_each(widened(x_, 2).nodes_of(b2), form_as<FormB2>(s));
  }
  // Waits for refresh().
  struct Found {
    bool positive;  // every red node's pivot, without which the matrix is not positive definite
    bool eisenstat; // with a factor: the form is possible
  };
  Found found(const Backend &on) const {
    const NodeCounts *n = on.read(counts_);
    return {!(n[r1].failed + n[r1].null + n[r2].failed + n[r2].null), !n[b1].failed};
  }

  // After refresh() with this factor, where found() says that Eisenstat's form is not possible: back from it.
  void unscale(const Backend &on, const Red &factor) const {
    on.for_each(x_.nodes_of(b1), UnscaleB1{ScaleB1{factor.get(Inner{}), s_}});
  }

  // X, E and N of b1 and b2, then skew, one array after the other
  const Dense &first_array() const { return s_.X[b1]; }
  // w and 1/d of r1, then of r2
  const Dense &first_red_array() const { return red_.w[0].q[r1]; }
  const Red &red() const { return red_; }
  const SchurViews<Dense> &views() const { return s_; }
  std::size_t bytes() const { return memory_.bytes(); }

private:
  auto scale_loop(const Red &factor) const {
    const Range2 nodes = x_.nodes_of(b1);
    const ScaleB1 scale{factor.get(Inner{}), s_};
    return NodeLoop<decltype(scale), decltype(scale)>{nodes, nodes, scale, scale, counts_.data() + b1, 0, 1};
  }
  template <template <class, class> class Form, class A, class V> auto form_as(const Schur<A, V> &from) const {
    return Form<A, V>{from, s_};
  }
  template <int N> void exchange(const Backend &on, const Class (&c)[N], const Dense (&a)[N]) const {
    halo_.exchange(on, c, a);
  }

  Extent x_;
  Halo<Backend> halo_;
  typename Backend::template Array<double> memory_;
  typename Backend::template Array<NodeCounts> counts_;
  Red red_; // w and 1/d of r1 and r2
  SchurViews<Dense> s_;
};

} // namespace petscrrb::rrbsolver
