// Conjugate gradients on all nodes, in natural order, for matrices whose red nodes couple: 9-point ones, an odd number of
// points around a periodic side. One pass over memory for each vector operation; the preconditioner as PCRRB applies it.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/sums.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "ksp/rrb/core/iteration.hpp"

namespace petscrrb::rrbsolver {

template <class V, class K> struct NaturalMatrix {
  V X, E, N;
  K NE, NW;
};

// q = A p; returns p q
template <class M, class P, class Q> struct StoreProductNode {
  GridProduct<M, P> product;
  Q q;

  PETSCRRB_HD double operator()(index_t a, index_t b) const { return product.x(a, b) * (q.at(a, b) = product(a, b)); }
};

// r -= alpha q; returns r^2
template <class V> struct SubtractNode {
  V r, q;
  const double *alpha;

  PETSCRRB_HD double operator()(index_t a, index_t b) const {
    const double value = r(a, b) - *alpha * q(a, b);
    r.at(a, b) = value;
    return value * value;
  }
};

// delta += alpha p, p = z + beta p
template <class V> struct NextDirectionNode {
  V z, p, delta;
  const double *alpha, *beta;

  PETSCRRB_HD void operator()(index_t a, index_t b) const {
    const double before = p(a, b);
    delta.at(a, b) += *alpha * before;
    p.at(a, b) = z(a, b) + *beta * before;
  }
};

struct NoDirection {
  double *s;

  PETSCRRB_HD void operator()(index_t, index_t) const { s[alpha] = s[beta] = 0.0; }
};

template <class Backend, class Core> class FullCG : NotCopied {
public:
  static constexpr bool scaled = false; // A itself, whatever V is in the preconditioner
  static constexpr bool may_overrun = false;

  FullCG(const Backend &on, Core &core)
      : on_(on), core_(core), x_(core.extent()), box_{x_.x.lo, x_.x.hi, x_.y.lo, x_.y.hi}, memory_(5 * x_.nodes()),
        scalars_(slots, x_.y.hi - x_.y.lo) {}

  // Of the matrix by its weights and excesses, whose arrays must stay where they are; a.v is not used.
  void refresh(const PreparedStencil &a) { matrix_ = a; }
  bool positive() const { return true; }

  template <class Solve, class Finish>
  auto start(const double *r0, Norm norm, const Solve &solve, const Finish &finish) {
    pending_ = false;
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
    on_.copy(at(r), r0, x_.nodes());
    for (Vector i : {p, delta}) on_.for_each({0, x_.nodes(), 0, 1}, SetZero{at(i)});
    if (norm == Norm::unpreconditioned) sum(squares_b1, Square{view(r, Inner{})});
    const auto error = precondition(norm, solve, finish);
    on_.for_each({0, 1, 0, 1}, NoDirection{scalars_.data()});
    return error;
  }
  template <class Solve, class Finish> auto step(Norm norm, const Solve &solve, const Finish &finish) {
    const auto p_ = view(p, Inner{}), q_ = view(q, Inner{}), r_ = view(r, Inner{}), delta_ = view(delta, Inner{});
    const double *a = scalars_.at(alpha), *b = scalars_.at(beta);
    pending_ = true;
    on_.for_each(box_, NextDirectionNode<Strided<1>>{view(z, Inner{}), p_, delta_, a, b});
    if (matrix_.NE)
      multiply([&](auto w, double *c) { return around(w, c); });
    else
      multiply([&](auto, double *) { return Zero{}; });
    on_.for_each({0, 1, 0, 1}, AfterProduct{scalars_.data()});
    sum(squares_b1, SubtractNode<Strided<1>>{r_, q_, a});
    return precondition(norm, solve, finish);
  }
  // z is of its own: nobody else writes there.
  template <class Solve> auto resume(const Solve &solve) { return decltype(solve(Part::whole))(0); }
  const Scalars<Backend> &scalars() const { return scalars_; }
  long version() const { return long(Cycle(core_).used()); } // of what a captured step has in it
  void steps_taken() { pending_ = true; }
  // The residual is 0: so is the correction.
  void settle() {
    on_.for_each({0, x_.nodes(), 0, 1}, SetZero{at(delta)});
    pending_ = false;
  }
  void drop_step() { pending_ = false; }
  void solution(const double *, double *x, bool add) const {
    const Correction<Strided<1>> value{view(delta, Inner{}), view(p, Inner{}), pending_ ? scalars_.at(alpha) : nullptr};
    on_.for_each(box_, AddCorrection<Correction<Strided<1>>, Strided<1>>{value, around(Inner{}, x), add});
  }
  std::size_t bytes() const { return memory_.bytes() + scalars_.bytes(); }

private:
  enum Vector {
    r,
    z,
    p,
    q,
    delta
  };

  double *at(Vector i) const { return memory_.data() + i * x_.nodes(); }
  // an array in natural order, by the coordinates of its nodes
  Strided<1> around(Inner, double *a) const {
    const index_t pitch = x_.x.hi - x_.x.lo;
    return {a - (x_.y.lo * pitch + x_.x.lo), pitch, 1};
  }
  Guarded<double> around(Edge, double *a) const {
    const Strided<1> v = around(Inner{}, a);
    return {{v.p, v.row, 1}, box_, x_.x.periodic ? x_.x.n : 0, x_.y.periodic ? x_.y.n : 0};
  }
  template <class Where> auto view(Vector i, Where w) const { return around(w, at(i)); }
  template <class F> void sum(Slot slot, const F &f) const { scalars_.sum(on_, slot, box_, f); }

  template <class Corner> void multiply(const Corner &corner) const {
    const auto q_ = view(q, Inner{});
    const auto at_ = [&](auto w) {
      const auto array = [&](double *c) { return around(w, c); };
      const NaturalMatrix<decltype(array(nullptr)), decltype(corner(w, nullptr))> m{
          array(matrix_.X), array(matrix_.E), array(matrix_.N), corner(w, matrix_.NE), corner(w, matrix_.NW)};
      return StoreProductNode<std::decay_t<decltype(m)>, decltype(view(p, w)), Strided<1>>{{m, view(p, w)}, q_};
    };
    scalars_.sum(on_, curvature_b1, box_, {box_.h0 + 1, box_.h1 - 1, box_.k0 + 1, box_.k1 - 1}, at_(Inner{}),
                 at_(Edge{}));
  }
  template <class Solve, class Finish> auto precondition(Norm norm, const Solve &solve, const Finish &finish) {
    const auto error = Cycle<Core>(core_).apply(at(r), at(z), Part::whole, solve);
    const auto z_ = view(z, Inner{});
    sum(energy_b1, TimesNode<Strided<1>, Strided<1>>{view(r, Inner{}), z_});
    if (norm == Norm::preconditioned) sum(squares_b1, Square{z_});
    if (!error) finish(Terms()); // one class of nodes, of all: the sum is there
    return error;
  }

  const Backend &on_;
  Core &core_;
  Extent x_;
  Range2 box_;
  PreparedStencil matrix_;
  typename Backend::template Array<double> memory_;
  Scalars<Backend> scalars_;
  bool pending_ = false; // alpha p is not yet added to delta
};

} // namespace petscrrb::rrbsolver
