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

// What a factorization in one pass does at each class's nodes.
struct FactorNodes {
  Range2 made[4];    // of a factor, or of the next grid's matrix
  Range2 counted[4]; // of these the own ones
  Range2 inner[4];   // and where all neighbours exist

  FactorNodes() = default;
  explicit FactorNodes(const Extent &x) {
    for (Class c : {r1, r2, b1, b2}) {
      made[c] = counted[c] = x.nodes_of(c);
      inner[c] = x.interior_of(c, c == r1 || c == r2 ? 1 : 2);
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

// The factorization of one grid's two levels. What happens at a class's nodes is added to counts[class].
template <class Backend> class Steps {
public:
  Steps(const Backend &on, const Extent &x, Lumping lumping) : on_(on), x_(x), lumping_(lumping) {}

  // Odd level: eliminate r1 and r2.
  template <class A, class F> void odd(const A &a, const F &f, NodeCounts counts[4]) const {
    run(red<r1, EliminateR1>(a, f, counts));
    run(red<r2, EliminateR2>(a, f, counts));
  }
  // Even level: eliminate b1, whose excess goes to `left`, a field that may be that of the matrix.
  template <class A, class F, class L> void even(const A &a, const F &f, const L &left, NodeCounts counts[4]) const {
    run(black(a, f, left, counts));
  }
  // The matrix of the next grid.
  template <class A, class F, class L, class Out>
  void coarse(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4]) const {
    run(next(a, f, left, out, counts));
  }

  // All that in one pass over memory, which for a 5-point matrix writes to `left` alone of it; false: nothing is done, since what is around
  // a ring has to be exchanged in between. S: NoSchur, or SchurOut for a 5-point matrix with a factor in double precision.
  template <class A, class F, class L, class Out, class S = NoSchur>
  bool all(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4], const S &schur = {}) const {
    if (x_.x.periodic || x_.y.periodic) return false;
    if constexpr (Backend::on_device)
      return OnePass<Backend>::factor(on_, FactorNodes(x_), a.get(Inner{}), a.get(Edge{}), f.get(Inner{}), out, rings(),
                                      lumping_, counts, schur);
    else if constexpr (std::is_same_v<S, NoSchur>)
      on_.in_step(red<r1, EliminateR1>(a, f, counts), red<r2, EliminateR2>(a, f, counts), black(a, f, left, counts),
                  next(a, f, left, out, counts));
    else
      on_.in_step(red<r1, EliminateR1>(a, f, counts), red<r2, EliminateR2>(a, f, counts), black(a, f, left, counts),
                  next(a, f, left, out, counts), schur_b1(a, f, schur.s), schur_b2(a, f, schur.s),
                  scale_b1(f, schur.s, schur.counts));
    return true;
  }

  // The loops that make S1 of a 5-point matrix, of whose red nodes f has the factor; then Eisenstat's form, for f's of b1.
  template <class A, class F> auto schur_b1(const A &a, const F &f, const SchurViews<Dense> &to) const {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping_);
      return FormB1<decltype(s.a), Dense>{s, to};
    };
    return loop(b1, 2, at(Inner{}), at(Edge{}), nullptr, 0, 1);
  }
  template <class A, class F> auto schur_b2(const A &a, const F &f, const SchurViews<Dense> &to) const {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping_);
      return FormB2<decltype(s.a), Dense>{s, to};
    };
    return loop(b2, 2, at(Inner{}), at(Edge{}), nullptr, 1, 0);
  }
  template <class F> auto scale_b1(const F &f, const SchurViews<Dense> &s, NodeCounts *counts) const {
    const Range2 nodes = x_.nodes_of(b1);
    const ScaleB1 scale{f.get(Inner{}), s};
    return NodeLoop<decltype(scale), decltype(scale)>{nodes, nodes, scale, scale, counts, 0, 1};
  }

  // The loop over r1 or r2: Op is EliminateR1 or EliminateR2.
  template <Class c, template <class, class> class Op, class A, class F>
  auto red(const A &a, const F &f, NodeCounts counts[4]) const {
    const auto at = [&](auto w) { return eliminate<Op>(a.get(w), f.get(w)); };
    return loop(c, 1, at(Inner{}), at(Edge{}), counts + c, 0, 0);
  }
  // Any loop over the nodes of a class; reach: how far its neighbours are.
  template <class F, class G>
  NodeLoop<F, G> loop(Class c, index_t reach, const F &f, const G &g, NodeCounts *counts, int down, int up) const {
    return {x_.nodes_of(c), x_.interior_of(c, reach), f, g, counts, down, up};
  }

  // Where it is asked for: whether red nodes, or those of both levels, are plain ones with reason. The factor is there.
  template <class A, class F> void test(const A &a, const F &f, bool both, NodeCounts counts[4]) const {
    if (!lumping_.test) return;
    const auto test_r1 = [&](auto w) { return TestR1<decltype(a.get(w))>{a.get(w), lumping_.limits.tau}; };
    on_.count_each(x_.nodes_of(r1), x_.interior_of(r1, 1), test_r1(Inner{}), test_r1(Edge{}), counts + r1);
    if (!both) return;
    const auto test_b2 = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping_);
      return TestAtB2<decltype(s.a), std::decay_t<decltype(s.f.dinv[r1])>>{s, rings()};
    };
    on_.count_each(x_.nodes_of(b2), x_.interior_of(b2, 3), test_b2(Inner{}), test_b2(Edge{}), counts + b1);
  }

  template <class A, class F> static auto schur(const A &a, const F &f, Lumping lumping) {
    return Schur<A, std::decay_t<decltype(f.dinv[r1])>>{a, f, lumping};
  }

private:
  template <class F, class G> void run(const NodeLoop<F, G> &loop) const {
    on_.count_each(loop.box, loop.inner, loop.f, loop.g, loop.counts);
  }
  template <class A, class F, class L> auto black(const A &a, const F &f, const L &left, NodeCounts counts[4]) const {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping_);
      const auto to = left.get(w)[b1];
      using Views = std::decay_t<decltype(s.f.dinv[r1])>;
      return EliminateB1<decltype(s.a), Views, std::decay_t<decltype(to)>>{s, rings(), to};
    };
    return loop(b1, 2, at(Inner{}), at(Edge{}), counts + b1, 0, 1);
  }
  template <class A, class F, class L, class Out>
  auto next(const A &a, const F &f, const L &left, const Out &out, NodeCounts counts[4]) const {
    const auto at = [&](auto w) {
      const auto s = schur(a.get(w), f.get(w), lumping_);
      const auto from = left.get(w)[b1];
      using Views = std::decay_t<decltype(s.f.dinv[r1])>;
      return CoarseStencil<decltype(s.a), Views, std::decay_t<decltype(from)>, Out>{s, rings(), from, out};
    };
    return loop(b2, 2, at(Inner{}), at(Edge{}), counts + b2, 1, 0);
  }
  template <template <class, class> class Op, class A, class V>
  auto eliminate(const A &a, const FactorViews<V> &f) const {
    return Op<A, V>{a, f, lumping_};
  }
  Rings rings() const {
    const auto ring_of = [](const Side &s, index_t n) { return s.periodic && s.n == n; };
    return {ring_of(x_.x, 2), ring_of(x_.y, 2), ring_of(x_.x, 3), ring_of(x_.y, 3)};
  }

  const Backend &on_;
  const Extent &x_;
  Lumping lumping_;
};

} // namespace petscrrb::rrb
