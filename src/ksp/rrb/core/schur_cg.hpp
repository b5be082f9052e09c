// The RRB-solver: conjugate gradients on the first Schur complement, preconditioned by the levels below it, for a correction
// of the solution (docs/numerics.md, "The RRB-solver, precisely").
#pragma once

#include "pc/rrb/ranks/black_ranks.hpp"
#include "pc/rrb/ranks/boxes.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "ksp/rrb/core/schur_nodes.hpp"

#include <cmath>
#include <memory>

namespace petscrrb::rrbsolver {

// What the loops of an iteration work on: vectors on the black classes, scalars in the order of Slot.
template <class Backend> struct SchurVectors {
  const BlackLevel &level;
  FirstSchur s1;
  const Scalars<Backend> &scalars;
  Quad<Dense> p, q, delta, r;
  Dense r_odd;               // on a device b1 of r after odd steps; r_odd follows r in memory
  const double *v = nullptr; // of every node in natural order: all is that of V A V; NULL: V = I
  Quad<Dense> r0 = {};       // on several ranks, at the start: V r0 of own nodes and the red ones around
  bool eisenstat = false;    // vectors and s1 are those of Eisenstat's form
};

// The loops over the finest grid that a solve consists of, for each backend its own:
//   eliminate_red(on, x, r0, norm)  r on the black nodes; the sums of the norm of r0, but for what follows of the natural one
//   direction(on, x)                in the first step p = z, delta = 0; else delta += alpha p, p = z + beta p
//   product(on, x)                  q = S1 p, and the sums of p q
//   product_added(on, x)            curvature and alpha; on several ranks with the sums of all
//   residual(on, x, start, norm)    r -= alpha q, unless at the start; level 2 of the forward sweep; the sums of r^2 / d at
//                                   b1 and, for the unpreconditioned norm, of r^2
//                                   in Eisenstat's form r on b2 is what level 2 of the forward sweep makes of it, always
//   correct(on, x, a, r0, to, add)  to = or += delta + a p at all nodes in natural order; a may be NULL
//   r_b1(x)                         r on b1 as residual() left it
// On several ranks sums are of own nodes, and p, delta and b1 of r are kept around, too:
//   product_sums(x)                  the sums of p q, for all ranks to add
//   residual_sums(x, norm, start)    what residual() has summed, and at the start eliminate_red(), likewise
template <class Backend> class SchurLoops;

template <class Backend> class SchurCG : public ConjugateGradients<Backend, RrbIteration> {
  using Base = ConjugateGradients<Backend, RrbIteration>;

public:
  // ranks: several; NULL: one
  SchurCG(const Backend &on, Factorization &core, BlackRanks *ranks = nullptr)
      : Base(on), core_(core), ranks_(ranks), level_(core.black_level()), halo_(level_.extent),
        loops_(level_), x_{level_, {}, Base::scalars_, {}, {}, {}, {}, {}} {
    Base::scalars_.reserve(level_.layout.rows);
    memory_.resize(level_.layout.size() * (8 + Backend::on_device));
    double *p = memory_.data();
    for (auto *vector : {&x_.p, &x_.q, &x_.delta, &x_.r})
      for (Class c : {b1, b2}) {
        vector->c[c] = level_.layout.view(p);
        p += level_.layout.size();
      }
    if (Backend::on_device) x_.r_odd = level_.layout.view(p);
    if (ranks_) make_own(); // where others do, so that none of them waits for one without memory
  }

  // Of V A V by its weights and excesses. a.v must stay where it is. made: S1 of it in Eisenstat's form, where there is that already.
  void refresh(const PreparedStencil &a, const FirstSchur *made) override {
    x_.v = a.v;
    lent_ = made != nullptr;
    // its loops neither go around a ring nor read what other ranks have; of a factor in single precision weights are not those of S1
    x_.eisenstat = lent_ || (!ranks_ && level_.in_double && !level_.extent.x.wraps() && !level_.extent.y.wraps());
    if (lent_) {
      x_.s1 = *made;
      return;
    }
    if (!own_) make_own();
    x_.s1 = own_->first();
    if (ranks_)
      own_->refresh(on_, ranks_->rows(a));
    else
      own_->refresh(on_, a, x_.eisenstat ? level_.in_double : nullptr);
  }
  // as far as is known beforehand
  bool refreshed() override {
    if (lent_) return true;
    const auto found = own_->found(on_);
    if (x_.eisenstat && !found.eisenstat) {
      own_->unscale(on_, *level_.in_double);
      x_.eisenstat = false;
    }
    return found.positive;
  }
  bool eisenstat() const override { return x_.eisenstat; }
  bool by_kinds() const override { return x_.s1.kind; }

  // From the residual r0 of all nodes, in natural order, which is kept by the caller. The norm is that of r0; the
  // preconditioned one is not taken. What follows waits for nothing, unless solve() does.
  template <class Solve, class Finish>
  auto start(const double *r0, Norm norm, const Solve &solve, const Finish &finish) {
    Base::begin(false);
    if (ranks_) x_.r0 = ranks_->residual(r0, x_.v);
    loops_.eliminate_red(on_, x_, r0, norm);
    if (ranks_) ranks_->exchange_b1(x_.r[b1], {});
    if (x_.eisenstat) {
      const auto f = level_.in_double->get(Inner{});
      on_.for_each(nodes(b2, 0), ForwardSkew{f, x_.r[b1], x_.r[b2], x_.r[b2]});
      on_.for_each(nodes(b1, 0), ScaleResidual{f, x_.r[b1]});
    }
    loops_.residual(on_, x_, true, Norm::none);
    add_up_below(norm, true);
    return solve_below(Norm::none, solve, finish);
  }
  // One iteration: p, q, r and what depends on r.
  template <class Solve, class Finish> auto step(Norm norm, const Solve &solve, const Finish &finish) {
    Base::begin(true);
    if (ranks_) ranks_->exchange_solution();
    loops_.direction(on_, x_);
    loops_.product(on_, x_);
    if (ranks_) ranks_->exchange_b1(x_.q[b1], loops_.product_sums(x_));
    loops_.product_added(on_, x_);
    loops_.residual(on_, x_, false, norm);
    add_up_below(norm, false);
    return solve_below(norm, solve, finish);
  }
  // on several ranks nothing: it has gone with other sums
  Sums pending(Norm norm, bool start) const { return ranks_ ? Sums() : loops_.residual_sums(x_, norm, start); }
  long version() const { return 8 * long(Cycle(core_).used()) + 4 * by_kinds() + 2 * lent_ + x_.eisenstat; }
  // The levels below have been used by somebody else since: their vectors once more.
  template <class Solve> auto resume(const Solve &solve) {
    loops_.residual(on_, x_, true, Norm::none);
    add_up_below(Norm::none, false);
    return Cycle(core_).apply_below(1, solve, Energy::yes);
  }
  // The residual on the black nodes is 0: so is the correction there.
  void settle() override {
    for (Class c : {b1, b2}) on_.for_each(nodes(c, level_.around), CopyNode{Zero{}, x_.delta[c]});
    Base::drop_step();
  }

  // at all nodes in natural order
  void solution(const double *r0, double *x, bool add) const override {
    const double *a = Base::pending_alpha();
    if (!x_.eisenstat) {
      loops_.correct(on_, x_, a, r0, x, add);
      return;
    }
    SchurVectors<Backend> whole = x_;
    whole.delta = x_.q;
    on_.for_each(nodes(b2, 0), CopyNode{Correction<Dense>{x_.delta[b2], x_.p[b2], a}, x_.q[b2]});
    const Correction<Dense> at_b1{x_.delta[b1], x_.p[b1], a};
    on_.for_each(nodes(b1, 0), BackwardB1{level_.in_double->get(Inner{}), at_b1, x_.q[b2], x_.q[b1], Scaling::root});
    loops_.correct(on_, whole, nullptr, r0, x, add);
  }
  std::size_t bytes() const override {
    return memory_.bytes() + (own_ ? own_->bytes() : 0) + scalars_.bytes() + loops_.bytes();
  }

private:
  using Base::on_, Base::scalars_;

  void make_own() { own_ = std::make_unique<SchurMatrix<Backend>>(level_.extent, level_.layout); }
  // of a class, with those up to `steps` around the box on several ranks
  Range2 nodes(Class c, index_t steps) const {
    return (ranks_ ? widened(level_.extent, steps) : level_.extent).nodes_of(c);
  }
  // What is around on one rank is around a ring.
  template <int N> void exchange(const Class (&c)[N], const Dense (&a)[N]) const {
    if (!ranks_) halo_.exchange(on_, c, a);
  }
  void add_up_below(Norm norm, bool start) {
    if (ranks_) ranks_->add_up_below(loops_.residual_sums(x_, norm, start));
  }
  template <class Solve, class Finish> auto solve_below(Norm norm, const Solve &solve, const Finish &finish) {
    const auto error = Cycle(core_).apply_below(1, solve, Energy::yes);
    if (norm == Norm::preconditioned && !error) sum_preconditioned();
    if (!error) finish(core_.energy());
    return error;
  }
  // The squares of z = M^-1 r at all nodes; z is put where q was.
  void sum_preconditioned() {
    const auto v = natural(level_.extent, x_.v).get(Inner{});
    const auto sum = [&](Class c, const auto &z) {
      scalars_.sum(on_, squares_of(c), level_.extent.nodes_of(c), Square{Times{z, v[c], x_.v != nullptr}});
    };
    if (ranks_) ranks_->exchange_solution();
    level_.with_solution([&](const auto &z) { on_.for_each(nodes(b2, 2), CopyNode{z, x_.q[b2]}); });
    exchange({b2}, {x_.q[b2]});
    level_.with_factor([&](const auto &factor) {
      const auto f = factor.get(Inner{});
      using F = std::decay_t<decltype(f)>;
      const Scaling scaling = x_.eisenstat ? Scaling::root : Scaling::full;
      on_.for_each(nodes(b1, 1), BackwardB1{f, loops_.r_b1(x_), x_.q[b2], x_.q[b1], scaling});
      exchange({b1}, {x_.q[b1]});
      sum(r1, RedCorrection<r1, Zero, F>{f, {}, x_.q});
      sum(r2, RedCorrection<r2, Zero, F>{f, {}, x_.q});
    });
    sum(b1, x_.q[b1]), sum(b2, x_.q[b2]);
    if (ranks_) ranks_->add_up(sums_of_ranks(scalars_, {squares_b1, squares_b2, squares_r1, squares_r2}));
  }

  Factorization &core_;
  BlackRanks *ranks_;
  BlackLevel level_;
  Halo<Backend> halo_;
  std::unique_ptr<SchurMatrix<Backend>> own_; // once there was one to make
  SchurLoops<Backend> loops_;
  typename Backend::template Array<double> memory_;
  SchurVectors<Backend> x_;
  bool lent_ = false; // S1 is the factorization's
};

} // namespace petscrrb::rrbsolver
