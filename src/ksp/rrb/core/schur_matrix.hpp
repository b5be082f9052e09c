// The RRB-solver's matrix: the first Schur complement S1 of a matrix, where no factorization has made it.
#pragma once

#include "pc/rrb/core/dense_grid.hpp"
#include "ksp/rrb/core/step.hpp"

namespace petscrrb::rrbsolver {

// A vector of all nodes in natural order; NULL: one that nobody reads.
template <class T> NaturalField<2, T> natural(const Extent &x, T *p) {
  if (!p) return {};
  return {p, x.x.lo, x.y.lo, x.x.hi - x.x.lo, 1, x};
}

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

  SchurMatrix(const Extent &x, const DenseLayout &layout)
      : x_(x), halo_(x), s_(make_schur(layout, memory_)), red_(make_factor(layout, red_memory_, {r1, r2})), counts_(4) {
  }

  // Of the matrix by its weights and excesses (prepare.hpp), without corners, in natural order. factor: NULL, or the
  // preconditioner's: then b1's rows and the skew weights are those of Eisenstat's form.
  void refresh(const Backend &on, const PreparedStencil &a, const Red *factor) const {
    const StencilFields<NaturalField<2>, ZeroField> from{natural(x_, a.X), natural(x_, a.E), natural(x_, a.N), {}, {}};
    on.clear(counts_);
    const Steps<Backend> steps(on, x_, Lumping{});
    const auto form_b1 = steps.schur_b1(from, red_, s_);
    const auto form_b2 = steps.schur_b2(from, red_, s_);
    const auto scale = [&] { return steps.scale_b1(*factor, s_, counts_.data() + b1); };
    if (!x_.x.periodic && !x_.y.periodic) {
      if constexpr (Backend::on_device) {
        const auto red = red_.get(Inner{});
        FormInOnePass<Backend>::form(on, x_, from.get(Inner{}), from.get(Edge{}), red, s_,
                                     factor ? factor->get(Inner{}) : red, factor != nullptr, counts_.data());
      } else {
        const auto of_r1 = steps.template red<r1>(from, red_, counts_.data());
        const auto of_r2 = steps.template red<r2>(from, red_, counts_.data());
        if (factor)
          on.in_step(of_r1, of_r2, form_b1, form_b2, scale()); // b2 wants b1's weights as they are
        else
          on.in_step(of_r1, of_r2, form_b1, form_b2);
      }
      return;
    }
    steps.odd(from, red_, counts_.data());
    for (Class c : {r1, r2})
      halo_.exchange(on, {c, c, c, c, c},
                     {red_.w[0].q[c], red_.w[1].q[c], red_.w[2].q[c], red_.w[3].q[c], red_.dinv.q[c]});
    on.for_each(form_b1.box, form_b1.inner, form_b1.f, form_b1.g);
    halo_.exchange(on, {b1, b1, b1, b1}, {s_.skew[0], s_.skew[1], s_.skew[2], s_.skew[3]});
    on.for_each(form_b2.box, form_b2.inner, form_b2.f, form_b2.g);
    for (Class c : {b1, b2}) halo_.exchange(on, {c, c}, {s_.E[c], s_.N[c]});
    if (!factor) return;
    const auto loop = scale();
    on.count_each(loop.box, loop.inner, loop.f, loop.g, loop.counts);
  }
  // The same from weights and excesses in classes, with four steps around the box: of what is around all that the product
  // at own nodes reads.
  void refresh(const Backend &on, const StencilOut<Split> &m) const {
    const StencilFields<DenseField, ZeroField> from{{m.X.q}, {m.E.q}, {m.N.q}, {}, {}};
    on.clear(counts_);
    Steps<Backend, true>(on, x_, Lumping{}, 2).odd(from, red_, counts_.data());
    const Schur s{from.get(Inner{}), red_.get(Inner{}), Lumping{}};
    on.for_each(widened(x_, 2).nodes_of(b1), FormB1{s, s_});
    on.for_each(widened(x_, 2).nodes_of(b2), FormB2{s, s_});
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

  FirstSchur first() const { return {s_, red_}; }
  std::size_t bytes() const { return memory_.bytes() + red_memory_.bytes(); }

private:
  Extent x_;
  Halo<Backend> halo_;
  typename Backend::template Array<double> memory_, red_memory_;
  SchurViews<Dense> s_;
  Red red_; // w and 1/d of r1 and r2
  typename Backend::template Array<NodeCounts> counts_;
};

} // namespace petscrrb::rrbsolver
