// What the RRB-solver does once a solve on the host: from the residual of all nodes to that of the black ones, and from the
// correction of the black nodes to that of all.
#pragma once

#include "exec/host/sums.hpp"
#include "ksp/rrb/core/schur_cg.hpp"

namespace petscrrb::rrbsolver {

class SchurEnds {
public:
  SchurEnds(const Host &on, const SchurVectors<Host> &x) : on_(on), x_(x), extent_(x.level.extent) {}

  void eliminate_red(const double *r0, Norm norm) const {
    const auto r = [&](auto w) { return times_v(natural(extent_, r0).get(w), natural(extent_, x_.v).get(w)); };
    if (x_.level.around)
      to_black(x_.r0, x_.r0);
    else
      to_black(r(Inner{}), r(Edge{}));
    if (norm == Norm::natural)
      x_.level.with_factor([&](const auto &f) {
        for (Class c : {r1, r2}) sum(c == r1 ? energy_r1 : energy_r2, c, WeightedSquare{r(Inner{})[c], f.dinv.q[c]});
      });
    if (norm == Norm::unpreconditioned)
      for (Class c : {r1, r2, b1, b2}) sum(squares_of(c), c, Square{natural(extent_, r0).get(Inner{})[c]});
  }

  void correct(const double *a, const double *r0, double *x, bool add) const {
    const Extent around = x_.level.around ? widened(extent_, 1) : extent_;
    for (Class c : {b1, b2})
      on_.for_each(around.nodes_of(c), CopyNode{Correction<Dense>{x_.delta[c], x_.p[c], a}, x_.q[c]});
    if (!x_.level.around) Halo<Host>(extent_).exchange(on_, {b1, b2}, {x_.q[b1], x_.q[b2]});
    const auto to = natural(extent_, x).get(Inner{});
    const auto v = natural(extent_, x_.v).get(Inner{});
    const auto r = times_v(natural(extent_, r0).get(Inner{}), v);
    const auto f = x_.s1.red.get(Inner{});
    using F = std::decay_t<decltype(f)>;
    using R = std::decay_t<decltype(r[r1])>;
    for (Class c : {b1, b2}) write(c, x_.q[c], v[c], to[c], add);
    write(r1, RedCorrection<r1, R, F>{f, r[r1], x_.q}, v[r1], to[r1], add);
    write(r2, RedCorrection<r2, R, F>{f, r[r2], x_.q}, v[r2], to[r2], add);
  }

private:
  // r on the black nodes; inner: of the residual where all neighbours are there
  template <class R, class S> void to_black(const R &inner, const S &edge) const {
    const auto f = x_.s1.red.get(Inner{});
    const auto at_b1 = [&](const auto &r) { return ForwardB1{f, r, x_.r[b1]}; };
    const auto at_b2 = [&](const auto &r) { return ForwardB2{f, r, x_.r[b1], x_.r[b2], false}; };
    on_.for_each(nodes(b1), extent_.interior_of(b1, 1), at_b1(inner), at_b1(edge));
    on_.for_each(nodes(b2), extent_.interior_of(b2, 1), at_b2(inner), at_b2(edge));
  }
  Range2 nodes(Class c) const { return extent_.nodes_of(c); }
  template <class F> void sum(std::size_t slot, Class c, const F &f) const { x_.scalars.sum(on_, slot, nodes(c), f); }
  // of every class of x: scaled by v, if there is one
  template <class X, class V> Quad<Times<X, V>> times_v(const Quad<X> &x, const Quad<V> &v) const {
    Quad<Times<X, V>> q;
    for (Class c : {r1, r2, b1, b2}) q.c[c] = {x[c], v[c], x_.v != nullptr};
    return q;
  }
  template <class D, class V, class X> void write(Class c, const D &delta, const V &v, const X &to, bool add) const {
    on_.for_each(nodes(c), AddCorrection<Times<D, V>, X>{{delta, v, x_.v != nullptr}, to, add});
  }

  const Host &on_;
  const SchurVectors<Host> &x_;
  const Extent &extent_;
};

} // namespace petscrrb::rrbsolver
