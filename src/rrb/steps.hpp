// The order of work on one grid, for either storage: factor it, sweep down, sweep up.
#pragma once

#include "rrb/sweep.hpp"

namespace petscrrb::rrb {

// Fields of a grid's matrix; a field names an array, get() gives its views in the interior or at the edge.
template <class M, class K> struct StencilFields {
  M X, E, N;
  K NE, NW;

  template <class Where> auto get(Where w) const {
    using V = std::decay_t<decltype(X.get(w)[r1])>;
    using KV = std::decay_t<decltype(NE.get(w)[r1])>;
    return StencilViews<V, KV>{X.get(w), E.get(w), N.get(w), NE.get(w), NW.get(w)};
  }
};

template <class M> struct FactorFields {
  M w[4], dinv;

  template <class Where> auto get(Where a) const {
    using V = std::decay_t<decltype(dinv.get(a)[r1])>;
    return FactorViews<V>{{w[0].get(a), w[1].get(a), w[2].get(a), w[3].get(a)}, dinv.get(a)};
  }
};

// Where a node of the next grid is written; V is indexed by (h, k) of this grid's b2.
template <class V> struct StencilOut { V X, E, N, NE, NW; };

template <class Backend> class Steps {
public:
  // Odd level: eliminate r1 and r2. rim: some array has no border, so that nodes at the edge must look.
  template <class A, class F>
  static NodeCounts odd(const Extent &x, const A &a, const F &f, Lumping lumping, NodeCounts by_class[4]) {
    const auto r1_at = [&](auto w) { return eliminate<EliminateR1>(a.get(w), f.get(w), lumping); };
    const auto r2_at = [&](auto w) { return eliminate<EliminateR2>(a.get(w), f.get(w), lumping); };
    by_class[r1] = Backend::count_each(x.nodes_of(r1), x.interior_of(r1, 1), r1_at(Inner{}), r1_at(Edge{}));
    by_class[r2] = Backend::count_each(x.nodes_of(r2), x.interior_of(r2, 1), r2_at(Inner{}), r2_at(Edge{}));
    NodeCounts n = by_class[r1];
    n.add(by_class[r2]);
    return n;
  }

  // Even level: eliminate b1.
  template <class A, class F>
  static NodeCounts even(const Extent &x, const A &a, const F &f, Lumping lumping, NodeCounts by_class[4]) {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping);
      return EliminateB1<decltype(s.a), std::decay_t<decltype(s.f.dinv[r1])>>{s, rings(x)};
    };
    return by_class[b1] = Backend::count_each(x.nodes_of(b1), x.interior_of(b1, 2), at(Inner{}), at(Edge{}));
  }

  // The matrix of the next grid.
  template <class A, class F, class Out>
  static NodeCounts coarse(const Extent &x, const A &a, const F &f, Lumping lumping, const Out &out) {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping);
      return CoarseStencil<decltype(s.a), std::decay_t<decltype(s.f.dinv[r1])>, Out>{s, rings(x), out};
    };
    return Backend::count_each(x.nodes_of(b2), x.interior_of(b2, 2), at(Inner{}), at(Edge{}));
  }

  template <class A, class F> static auto schur(const A &a, const F &f, Lumping lumping) {
    return Schur<A, std::decay_t<decltype(f.dinv[r1])>>{a, f, lumping};
  }

private:
  template <template <class, class> class Op, class A, class V>
  static auto eliminate(const A &a, const FactorViews<V> &f, Lumping lumping) {
    return Op<A, V>{a, f, lumping};
  }
  static Rings rings(const Extent &x) {
    const auto ring_of = [](const Side &s, index_t n) { return s.periodic && s.n == n; };
    return {ring_of(x.x, 2), ring_of(x.y, 2), ring_of(x.x, 3), ring_of(x.y, 3)};
  }
};

} // namespace petscrrb::rrb
