// Conjugate gradients on all unknowns, around any preconditioner. One pass over memory for each vector operation.
#pragma once

#include "ksp/rrb/core/step.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "pc/rrb/graph/couplings.hpp"

namespace petscrrb::rrbsolver {

// copies: r goes to `copy`, too
template <bool copies> struct TakeResidualOf {
  const double *r0;
  double *r, *copy;

  PETSCRRB_HD double operator()(index_t i) const {
    r[i] = r0[i];
    if (copies) copy[i] = r[i];
    return r[i] * r[i];
  }
};
// r -= alpha q, unless the steps have ended; returns r^2
template <bool copies> struct SubtractProductOf {
  double *r, *copy;
  const double *q;

  PETSCRRB_HD double operator()(const StepNumbers &step, index_t i) const {
    const double value = step.ended ? r[i] : r[i] - step.alpha * q[i];
    r[i] = value;
    if (copies) copy[i] = value;
    return value * value;
  }
};

// --- preconditioners: z = M^-1 r of `nodes` unknowns, in_place: r has been copied to z; place(): where z is; another version() where a captured
// application would not be the same; energy(): the terms of (r, z), if an application leaves them ---

// A factorization, whose last block is the caller's.
struct FactorizationInside {
  Factorization &core;

  static constexpr bool in_place = false;
  index_t nodes() const { return core.extent().nodes(); }
  static double *place(double *z) { return z; }
  long version() const { return long(Cycle<Factorization>(core).used()); }
  Terms energy() const { return {}; }
  template <class Solve> auto apply(const double *r, double *z, const Solve &solve) const {
    return Cycle<Factorization>(core).apply(r, z, Part::whole, solve);
  }
};
// All of it is the caller's, who knows where r and z are.
struct CallersInside {
  index_t n;
  Callers with;

  static constexpr bool in_place = false;
  index_t nodes() const { return n; }
  static double *place(double *z) { return z; }
  long version() const { return with.version ? with.version() : 0; }
  Terms energy() const { return with.energy; }
  template <class Solve> auto apply(const double *, double *, const Solve &solve) const { return solve(Part::whole); }
};

// What a Product has:
//   version(): another one where the arrays have moved that it reads
//   multiply(on, p, q, scalars, partial): q = A p, alpha by (p, q), with up to most_terms(n) terms of the partial sum and rows(n) of scalars
// Vectors are in natural order.
template <class Backend, class Inside, class Product, class Interface = Iteration>
class FullCG : public ConjugateGradients<Backend, Interface> {
  using Base = ConjugateGradients<Backend, Interface>;

public:
  // with: what the product is made of
  template <class... With>
  FullCG(const Backend &on, const Inside &inside, const With &...with)
      : Base(on), inside_(inside), product_(with...), n_(inside.nodes()), memory_((Inside::in_place ? 4 : 5) * n_) {
    Base::scalars_.reserve(product_.rows(n_));
    partial_.reserve(4 * PartialSum<Backend>::parts_of(ListAsBox::points(n_)) + Product::most_terms(n_));
  }

  double *residual() const { return at(r); }                      // these two are a MatrixIteration's, too
  double *preconditioned() const { return inside_.place(at(z)); } // residual

  template <class Solve, class Finish>
  auto start(const double *r0, Norm norm, const Solve &solve, const Finish &finish) {
    Base::begin(false);
    sum_residual(norm, TakeResidualOf<Inside::in_place>{r0, at(r), preconditioned()});
    return precondition(norm, solve, finish);
  }
  template <class Solve, class Finish> auto step(Norm norm, const Solve &solve, const Finish &finish) {
    Base::begin(true);
    const double *const s = Base::scalars_.data();
    each(InStep{NextDirection<double>{{preconditioned()}, at(p), at(delta)}, s});
    product_.multiply(on_, at(p), at(q), Base::scalars_, partial_);
    sum_residual(norm, InStep{SubtractProductOf<Inside::in_place>{at(r), preconditioned(), at(q)}, s});
    return precondition(norm, solve, finish);
  }
  // z is of its own: nobody else writes there.
  template <class Solve> auto resume(const Solve &solve) { return decltype(solve(Part::whole))(0); }
  long version() const { return (product_.version() << 32) + inside_.version(); }
  // The residual is 0: so is the correction.
  void settle() override {
    on_.for_each({0, n_, 0, 1}, SetZero{at(delta)});
    Base::drop_step();
  }
  void solution(const double *, double *x, bool add) const override {
    each(PutCorrection{at(delta), at(p), Base::pending_alpha(), x, add});
  }
  std::size_t bytes() const override {
    return memory_.bytes() + Base::scalars_.bytes() + partial_.bytes() + product_.bytes();
  }

protected:
  using Base::on_, Base::partial_, Base::put;

  enum Vector {
    r,
    p,
    q,
    delta,
    z
  };

  double *at(Vector i) const { return memory_.data() + i * n_; }
  template <class Solve> auto apply(const Solve &solve) const { return inside_.apply(at(r), preconditioned(), solve); }

private:
  template <class F> void each(const F &f) const { on_.for_each_point(ListAsBox::points(n_), AtEntry<F>{f, n_}); }
  template <class F> Terms sum(const F &f) { return partial_.terms_of_list(on_, n_, f); }
  // f sets r, and returns its squares.
  template <class F> void sum_residual(Norm norm, const F &f) {
    const Terms squares = sum(f);
    if (norm == Norm::unpreconditioned) Base::squares_ = squares;
  }
  template <class Solve, class Finish> auto precondition(Norm norm, const Solve &solve, const Finish &finish) {
    const auto error = apply(solve);
    const double *const z = preconditioned();
    const Terms left = inside_.energy(), energy = left.count ? left : sum(ProductOf{at(r), z});
    if (norm == Norm::preconditioned) Base::squares_ = sum(ProductOf{z, z});
    if (!error) finish(energy);
    return error;
  }

  const Inside inside_;

protected:
  Product product_;

private:
  const index_t n_;
  typename Backend::template Array<double> memory_;
};

} // namespace petscrrb::rrbsolver
