// The RRB-solver on one rank: conjugate gradients on the first Schur complement, preconditioned by the levels below it, for
// a correction of the solution (docs/numerics.md, "The RRB-solver, precisely").
#pragma once

#include "backend/scalars.hpp"
#include "rrb/cycle.hpp"
#include "rrbsolver/schur_nodes.hpp"

#include <cmath>

namespace petscrrb::rrbsolver {

// What the loops of an iteration work on: vectors on the black classes, scalars in the order of Slot.
template <class Backend> struct SchurVectors {
  const BlackLevel &level;
  const SchurMatrix<Backend> &s1;
  const Scalars<Backend> &scalars;
  Quad<Dense> p, q, delta, r;
  Dense r_odd;               // on a device b1 of r after odd steps; r_odd follows r in memory
  const double *v = nullptr; // of every node in natural order: all is that of V A V; NULL: V = I
};

// The loops over the finest grid that an iteration consists of, for each backend its own:
//   direction(on, x)              in the first step p = z, delta = 0; else delta += alpha p, p = z + beta p
//   product(on, x)                q = S1 p, the sums of p q, curvature and alpha
//   residual(on, x, start, norm)  r -= alpha q, unless at the start; level 2 of the forward sweep; the sums of r^2 / d at
//                                 b1 and, for the unpreconditioned norm, of r^2
//   r_b1(x)                       r on b1 as residual() left it
template <class Backend> class SchurLoops;

template <class Backend, class Core> class SchurCG {
public:
  static constexpr bool scaled = true;      // it is that of V A V
  static constexpr bool may_overrun = true; // on a device, steps after the end do nothing

  SchurCG(const Backend &on, Core &core)
      : on_(on), core_(core), level_(core.black_level()), halo_(level_.extent), s1_(level_.extent, level_.layout),
        scalars_(slots, level_.layout.rows), loops_(level_), x_{level_, s1_, scalars_, {}, {}, {}, {}, {}, nullptr} {
    memory_.resize(level_.layout.size() * (8 + Backend::on_device));
    double *p = memory_.data();
    for (auto *vector : {&x_.p, &x_.q, &x_.delta, &x_.r})
      for (Class c : {b1, b2}) {
        vector->c[c] = level_.layout.view(p);
        p += level_.layout.size();
      }
    if (Backend::on_device) x_.r_odd = level_.layout.view(p);
  }
  SchurCG(const SchurCG &) = delete;
  SchurCG &operator=(const SchurCG &) = delete;

  // Of V A V by its weights and excesses. a.v must stay where it is.
  void refresh(const PreparedStencil &a) {
    s1_.refresh(on_, a);
    x_.v = a.v;
  }
  bool positive() const { return s1_.red_positive(on_); } // as far as it is known beforehand; waits

  // From the residual r0 of all nodes, in natural order, which is kept by the caller. The norm is that of r0; the
  // preconditioned one is not taken. What follows waits for nothing, unless solve() does.
  template <class Solve> auto start(const double *r0, Norm norm, const Solve &solve) {
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
    eliminate_red(r0);
    loops_.residual(on_, x_, true, Norm::none);
    sum_initial(r0, norm);
    pending_ = false;
    return solve_below(Norm::none, true, solve);
  }
  // One iteration: p, q, r and what depends on r.
  template <class Solve> auto step(Norm norm, const Solve &solve) {
    pending_ = true;
    loops_.direction(on_, x_);
    loops_.product(on_, x_);
    loops_.residual(on_, x_, false, norm);
    return solve_below(norm, false, solve);
  }
  // The levels below have been used by somebody else since: their vectors once more.
  template <class Solve> auto resume(const Solve &solve) {
    loops_.residual(on_, x_, true, Norm::none);
    return Cycle<Core>(core_).apply_below(1, solve, Energy::yes);
  }
  const Scalars<Backend> &scalars() const { return scalars_; } // in the order of Slot
  // Without step(): by a graph that was captured from it.
  void steps_taken() { pending_ = true; }
  // The last step's alpha p is no part of the solution: the step broke down.
  void drop_step() { pending_ = false; }

  // x = delta, or x += delta, at all nodes in natural order. Of the iteration it changes nothing.
  void solution(const double *r0, double *x, bool add) const {
    const double *a = pending_ ? scalars_.at(alpha) : nullptr;
    for (Class c : {b1, b2}) on_.for_each(nodes(c), CopyTo{Correction<Dense>{x_.delta[c], x_.p[c], a}, x_.q[c]});
    halo_.exchange(on_, {b1, b2}, {x_.q[b1], x_.q[b2]});
    const auto to = natural(x).get(Inner{});
    const auto v = natural(x_.v).get(Inner{});
    const auto r = times_v(natural(r0).get(Inner{}), v);
    for (Class c : {b1, b2}) write(c, x_.q[c], v[c], to[c], add);
    const auto f = s1_.red().get(Inner{});
    using R = std::decay_t<decltype(r[r1])>;
    write(r1, RedCorrection<r1, R, std::decay_t<decltype(f)>>{f, r[r1], x_.q}, v[r1], to[r1], add);
    write(r2, RedCorrection<r2, R, std::decay_t<decltype(f)>>{f, r[r2], x_.q}, v[r2], to[r2], add);
  }
  std::size_t bytes() const { return memory_.bytes() + s1_.bytes() + scalars_.bytes() + loops_.bytes(); }

private:
  Range2 nodes(Class c) const { return level_.extent.nodes_of(c); }
  template <class T> NaturalField<2, T> natural(T *p) const {
    const Extent &x = level_.extent;
    return {p, x.x.lo, x.y.lo, x.x.hi - x.x.lo, 1, x};
  }
  // of every class of x: scaled by v, if there is one
  template <class X, class V> Quad<Times<X, V>> times_v(const Quad<X> &x, const Quad<V> &v) const {
    Quad<Times<X, V>> q;
    for (Class c : {r1, r2, b1, b2}) q.c[c] = {x[c], v[c], x_.v != nullptr};
    return q;
  }
  static std::size_t squares(Class c) { return squares_r1 + c; }
  template <class F> void sum(std::size_t slot, Class c, const F &f) const { scalars_.sum(on_, slot, nodes(c), f); }
  template <class D, class V, class X> void write(Class c, const D &delta, const V &v, const X &to, bool add) const {
    on_.for_each(nodes(c), AddCorrection<Times<D, V>, X>{{delta, v, x_.v != nullptr}, to, add});
  }

  // r on the black nodes
  void eliminate_red(const double *r0) {
    const auto r = [&](auto w) { return times_v(natural(r0).get(w), natural(x_.v).get(w)); };
    const auto at_b1 = [&](auto w) { return ForwardB1{s1_.red().get(w), r(w), x_.r[b1]}; };
    const auto at_b2 = [&](auto w) { return ForwardB2{s1_.red().get(w), r(w), x_.r[b1], x_.r[b2], false}; };
    on_.for_each(nodes(b1), level_.extent.interior_of(b1, 1), at_b1(Inner{}), at_b1(Edge{}));
    on_.for_each(nodes(b2), level_.extent.interior_of(b2, 1), at_b2(Inner{}), at_b2(Edge{}));
  }
  // The norm of r0, but for what solve_below() leaves of the natural one.
  void sum_initial(const double *r0, Norm norm) {
    const auto plain = natural(r0).get(Inner{});
    const auto r = times_v(plain, natural(x_.v).get(Inner{}));
    if (norm == Norm::natural)
      level_.with_factor([&](const auto &f) {
        sum(energy_r1, r1, WeightedSquare{r[r1], f.dinv.q[r1]});
        sum(energy_r2, r2, WeightedSquare{r[r2], f.dinv.q[r2]});
      });
    if (norm == Norm::unpreconditioned)
      for (Class c : {r1, r2, b1, b2}) sum(squares(c), c, Square{plain[c]});
  }
  template <class Solve> auto solve_below(Norm norm, bool start, const Solve &solve) {
    const auto error = Cycle<Core>(core_).apply_below(1, solve, Energy::yes);
    if (norm == Norm::preconditioned && !error) sum_preconditioned();
    on_.for_each({0, 1, 0, 1}, AfterCycle{scalars_.data(), core_.energy(), start});
    return error;
  }
  // The squares of z = M^-1 r at all nodes; z is put where q was.
  void sum_preconditioned() {
    const auto v = natural(x_.v).get(Inner{});
    level_.with_solution([&](const auto &z) { on_.for_each(nodes(b2), CopyTo{z, x_.q[b2]}); });
    halo_.exchange(on_, {b2}, {x_.q[b2]});
    level_.with_factor([&](const auto &factor) {
      const auto f = factor.get(Inner{});
      on_.for_each(nodes(b1), BackwardB1{f, loops_.r_b1(x_), x_.q[b2], x_.q[b1], Scaling::full});
      halo_.exchange(on_, {b1}, {x_.q[b1]});
      sum_squares(r1, RedCorrection<r1, Zero, std::decay_t<decltype(f)>>{f, {}, x_.q}, v[r1]);
      sum_squares(r2, RedCorrection<r2, Zero, std::decay_t<decltype(f)>>{f, {}, x_.q}, v[r2]);
    });
    for (Class c : {b1, b2}) sum_squares(c, x_.q[c], v[c]);
  }
  template <class Z, class V> void sum_squares(Class c, const Z &z, const V &v) {
    sum(squares(c), c, Square{Times<Z, V>{z, v, x_.v != nullptr}});
  }

  const Backend &on_;
  Core &core_;
  BlackLevel level_;
  Halo<Backend> halo_;
  SchurMatrix<Backend> s1_;
  Scalars<Backend> scalars_;
  SchurLoops<Backend> loops_;
  typename Backend::template Array<double> memory_;
  SchurVectors<Backend> x_;
  bool pending_ = false; // alpha p is not yet added to delta
};

} // namespace petscrrb::rrbsolver
