// The order of work on one grid, for either storage: factor it, sweep down, sweep up.
#pragma once

#include "pc/rrb/core/first_schur.hpp"
#include "pc/rrb/core/plain_test.hpp"
#include "pc/rrb/core/sweep.hpp"

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

// What a factorization does at each class's nodes.
struct FactorNodes {
  Range2 made[4];    // of a factor, or of the next grid's matrix
  Range2 counted[4]; // of these the own ones
  Range2 inner[4];   // and where all neighbours exist

  // of a whole grid
  explicit FactorNodes(const Extent &x) {
    for (Class c : {r1, r2, b1, b2}) {
      made[c] = counted[c] = x.nodes_of(c);
      inner[c] = x.interior_of(c, c == r1 || c == r2 ? 1 : 2);
    }
  }
  // of a rank's box, and of so much around it as level 2 has there
  FactorNodes(const Extent &own, index_t around) {
    for (Class c : {r1, r2, b1, b2}) {
      counted[c] = own.nodes_of(c);
      made[c] = inner[c] = widened(own, c == b2 ? 0 : c == b1 ? around : around + 1).nodes_of(c);
    }
  }
  // Of all classes.
  Range2 all() const {
    Range2 n = made[r1];
    for (const Range2 &m : made)
      n = {std::min(n.h0, m.h0), std::max(n.h1, m.h1), std::min(n.k0, m.k0), std::max(n.k1, m.k1)};
    return n;
  }
};

// A device's factorization of both levels in one pass (one_pass.cuh): factor() says whether there is one.
template <class Backend> struct OnePass {
  template <class... Arguments> static bool factor(const Arguments &...) { return false; }
};

// f at all nodes of `box` that are not in `inner`, which is a part of it.
template <class Backend, class F> void for_each_around(const Backend &on, Range2 box, Range2 inner, const F &f) {
  if (!inner.size()) return on.for_each(box, f);
  on.for_each({box.h0, box.h1, box.k0, inner.k0}, f);
  on.for_each({box.h0, inner.h0, inner.k0, inner.k1}, f);
  on.for_each({inner.h1, box.h1, inner.k0, inner.k1}, f);
  on.for_each({box.h0, box.h1, inner.k1, box.k1}, f);
}

// The factorization of one grid's two levels. What happens at a class's own nodes is added to counts[class]. InBox: of a rank's box, in arrays
// that have what is around it; nodes there are other ranks', computed once more.
template <class Backend, bool InBox = false> class Steps {
public:
  Steps(const Backend &on, const Extent &x, Lumping lumping) : on_(on), x_(x), lumping_(lumping), nodes_(x) {}
  Steps(const Backend &on, const Extent &own, Lumping lumping, index_t around)
      : on_(on), x_(own), lumping_(lumping), nodes_(own, around) {}

  // Odd level: eliminate r1 and r2.
  template <class A, class F> void odd(const A &a, const F &f, NodeCounts counts[4]) const {
    run(r1, red<r1>(a, f, counts));
    run(r2, red<r2>(a, f, counts));
  }
  // Even level: eliminate b1, whose excess goes to `left`, a field that may be that of the matrix.
  template <class A, class F, class L> void even(const A &a, const F &f, const L &left, NodeCounts counts[4]) const {
    run(b1, black(a, f, left, counts));
  }
  // The matrix of the next grid.
  template <class A, class F, class L, class Out>
  void coarse(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4]) const {
    count(next(a, f, left, out, counts));
  }

  // All that in one pass over memory, which for a 5-point matrix writes to `left` alone of it; false: nothing is done, since what is around
  // a ring has to be exchanged in between. S: NoSchur, or SchurOut for a 5-point matrix with a factor in double precision.
  template <class A, class F, class L, class Out, class S = NoSchur>
  bool all(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4], const S &schur = {}) const {
    if (!InBox && (x_.x.periodic || x_.y.periodic)) return false;
    if constexpr (Backend::on_device || InBox)
      return OnePass<Backend>::factor(on_, nodes_, a.get(Inner{}), a.get(Edge{}), f.get(Inner{}), out, rings(),
                                      lumping_, counts, schur);
    else if constexpr (std::is_same_v<S, NoSchur>)
      on_.in_step(red<r1>(a, f, counts), red<r2>(a, f, counts), black(a, f, left, counts),
                  next(a, f, left, out, counts));
    else
      on_.in_step(red<r1>(a, f, counts), red<r2>(a, f, counts), black(a, f, left, counts),
                  next(a, f, left, out, counts), schur_b1(a, f, schur.s), schur_b2(a, f, schur.s),
                  scale_b1(f, schur.s, schur.counts));
    return true;
  }

  // The loops that make S1 of a 5-point matrix, of whose red nodes f has the factor; then Eisenstat's form, for f's of b1.
  template <class A, class F> auto schur_b1(const A &a, const F &f, const SchurViews<Dense> &to) const {
    return loop(
        b1, 2,
        [&](auto w) {
          return FormB1{Schur{a.get(w), f.get(w), lumping_}, to};
        },
        nullptr, 0, 1);
  }
  template <class A, class F> auto schur_b2(const A &a, const F &f, const SchurViews<Dense> &to) const {
    return loop(
        b2, 2,
        [&](auto w) {
          return FormB2{Schur{a.get(w), f.get(w), lumping_}, to};
        },
        nullptr, 1, 0);
  }
  template <class F> auto scale_b1(const F &f, const SchurViews<Dense> &s, NodeCounts *counts) const {
    const Range2 nodes = x_.nodes_of(b1);
    const ScaleB1 scale{f.get(Inner{}), s};
    return NodeLoop<decltype(scale), decltype(scale)>{nodes, nodes, scale, scale, counts, 0, 1};
  }
  // The loop over r1 or r2.
  template <Class c, class A, class F> auto red(const A &a, const F &f, NodeCounts counts[4]) const {
    return loop(
        c, 1, [&](auto w) { return eliminate<c>(a.get(w), f.get(w)); }, counts + c, 0, 0);
  }

  // Where it is asked for: whether red nodes, or those of both levels, are plain ones with reason. The factor is there.
  template <class A, class F> void test(const A &a, const F &f, bool both, NodeCounts counts[4]) const {
    if (!lumping_.test) return;
    count(loop(
        r1, 1,
        [&](auto w) {
          return TestR1{a.get(w), lumping_.limits.tau};
        },
        counts + r1, 0, 0));
    const auto test_b2 = [&](auto w) { return TestAtB2{Schur{a.get(w), f.get(w), lumping_}, rings()}; };
    if (both) count(loop(b2, 3, test_b2, counts + b1, 0, 0));
  }

private:
  // Over the own nodes of a class; reach: how far its neighbours are. at(Inner / Edge): what is done there.
  template <class At> auto loop(Class c, index_t reach, const At &at, NodeCounts *counts, int down, int up) const {
    using F = decltype(at(Inner{}));
    using G = decltype(at(Edge{}));
    const Range2 own = x_.nodes_of(c);
    return NodeLoop<F, G>{own, InBox ? own : x_.interior_of(c, reach), at(Inner{}), at(Edge{}), counts, down, up};
  }
  template <class F, class G> void count(const NodeLoop<F, G> &loop) const {
    on_.count_each(loop.box, loop.inner, loop.f, loop.g, loop.counts);
  }
  template <class F, class G> void run(Class c, const NodeLoop<F, G> &loop) const {
    count(loop);
    if constexpr (InBox) for_each_around(on_, nodes_.made[c], loop.box, loop.f);
  }
  template <class A, class F, class L> auto black(const A &a, const F &f, const L &left, NodeCounts counts[4]) const {
    const auto at = [&](auto w) { return EliminateB1{Schur{a.get(w), f.get(w), lumping_}, rings(), left.get(w)[b1]}; };
    return loop(b1, 2, at, counts + b1, 0, 1);
  }
  template <class A, class F, class L, class Out>
  auto next(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4]) const {
    const auto at = [&](auto w) {
      return CoarseStencil{Schur{a.get(w), f.get(w), lumping_}, rings(), left.get(w)[b1], out};
    };
    return loop(b2, 2, at, counts + b2, 1, 0);
  }
  template <Class c, class A, class V> auto eliminate(const A &a, const FactorViews<V> &f) const {
    return EliminateRed<c, A, V>{a, f, lumping_};
  }
  Rings rings() const {
    const auto ring_of = [](const Side &s, index_t n) { return s.periodic && s.n == n; };
    return {ring_of(x_.x, 2), ring_of(x_.y, 2), ring_of(x_.x, 3), ring_of(x_.y, 3)};
  }

  const Backend &on_;
  const Extent &x_;
  Lumping lumping_;
  FactorNodes nodes_;
};

} // namespace petscrrb::rrb
