// Conjugate gradients on all unknowns, around any preconditioner. One pass over memory for each vector operation.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/sums.hpp"
#include "ksp/rrb/core/matrix_iteration.hpp"
#include "ksp/rrb/core/products.hpp"
#include "pc/rrb/core/cycle.hpp"
#include "pc/rrb/graph/couplings.hpp"

namespace petscrrb::rrbsolver {

// copies: r goes to `copy`, too
template <bool copies> struct StartAt {
  const double *r0;
  double *r, *copy, *p, *delta;

  PETSCRRB_HD double operator()(index_t i) const {
    p[i] = delta[i] = 0.0;
    r[i] = r0[i];
    if (copies) copy[i] = r[i];
    return r[i] * r[i];
  }
};
// delta += alpha p, p = z + beta p; unless the steps have ended
struct NextDirectionOf {
  const double *z;
  double *p, *delta;
  const double *s;

  struct Read {
    const double *z;
    double *p, *delta, alpha, beta;
    bool ended;

    PETSCRRB_HD void operator()(index_t i) const {
      if (ended) return;
      const double before = p[i];
      delta[i] += alpha * before;
      p[i] = z[i] + beta * before;
    }
  };
  PETSCRRB_HD Read read() const { return {z, p, delta, s[alpha], s[beta], s[ended] != 0.0}; }
  PETSCRRB_HD void operator()(index_t i) const { read()(i); }
};
// r -= alpha q, unless the steps have ended; returns r^2
template <bool copies> struct SubtractProductOf {
  double *r, *copy;
  const double *q, *s;

  struct Read {
    double *r, *copy;
    const double *q;
    double alpha;
    bool ended;

    PETSCRRB_HD double operator()(index_t i) const {
      const double value = ended ? r[i] : r[i] - alpha * q[i];
      r[i] = value;
      if (copies) copy[i] = value;
      return value * value;
    }
  };
  PETSCRRB_HD Read read() const { return {r, copy, q, s[alpha], s[ended] != 0.0}; }
  PETSCRRB_HD double operator()(index_t i) const { return read()(i); }
};
// x = or += delta + alpha p; alpha NULL: delta alone
struct PutCorrectionOf {
  const double *delta, *p, *alpha;
  double *x;
  bool add;

  PETSCRRB_HD void operator()(index_t i) const {
    const double correction = alpha ? delta[i] + *alpha * p[i] : delta[i];
    x[i] = add ? x[i] + correction : correction;
  }
};
struct NoDirection {
  double *s;

  PETSCRRB_HD void operator()(index_t, index_t) const { s[alpha] = s[beta] = 0.0; }
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

// Product: of products.hpp. Vectors are in natural order.
template <class Backend, class Inside, class Product> class FullCG : NotCopied {
public:
  // with: what the product is made of
  template <class... With>
  FullCG(const Backend &on, const Inside &inside, const With &...with)
      : inside_(inside), product_(with...), n_(inside.nodes()), box_(ListAsBox::points(n_)),
        memory_((Inside::in_place ? 4 : 5) * n_), on_(on), scalars_(slots, product_.rows(n_)) {
    partial_.reserve(4 * PartialSum<Backend>::parts_of(box_) + Product::most_terms(n_));
  }

  Product &product() { return product_; }
  const Product &product() const { return product_; }
  double *residual() const { return at(r); }
  double *preconditioned() const { return inside_.place(at(z)); } // residual

  template <class Solve, class Finish>
  auto start(const double *r0, Norm norm, const Solve &solve, const Finish &finish) {
    pending_ = false;
    partial_.start();
    on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
    sum_residual(norm, StartAt<Inside::in_place>{r0, at(r), preconditioned(), at(p), at(delta)});
    const auto error = precondition(norm, solve, finish);
    on_.for_each({0, 1, 0, 1}, NoDirection{scalars_.data()});
    return error;
  }
  template <class Solve, class Finish> auto step(Norm norm, const Solve &solve, const Finish &finish) {
    pending_ = true;
    partial_.start();
    each(NextDirectionOf{preconditioned(), at(p), at(delta), scalars_.data()});
    product_.multiply(on_, at(p), at(q), scalars_, partial_);
    sum_residual(norm, SubtractProductOf<Inside::in_place>{at(r), preconditioned(), at(q), scalars_.data()});
    return precondition(norm, solve, finish);
  }
  // z is of its own: nobody else writes there.
  template <class Solve> auto resume(const Solve &solve) { return decltype(solve(Part::whole))(0); }
  const Scalars<Backend> &scalars() const { return scalars_; }
  const Terms &squares() const { return squares_; } // of the norm: on a device they are added when a step ends
  // of what a captured step has in it
  long version() const { return (product_.version() << 32) + inside_.version(); }
  void steps_taken() { pending_ = true; }
  // The residual is 0: so is the correction.
  void settle() {
    on_.for_each({0, n_, 0, 1}, SetZero{at(delta)});
    pending_ = false;
  }
  void drop_step() { pending_ = false; }
  void solution(const double *, double *x, bool add) const {
    each(PutCorrectionOf{at(delta), at(p), pending_ ? scalars_.at(alpha) : nullptr, x, add});
  }
  std::size_t bytes() const { return memory_.bytes() + scalars_.bytes() + partial_.bytes() + product_.bytes(); }

protected:
  enum Vector {
    r,
    p,
    q,
    delta,
    z
  };

  double *at(Vector i) const { return memory_.data() + i * n_; }
  void put(const Terms &terms, Slot slot) {
    Sums sums;
    sums.add(terms, scalars_.data() + slot);
    partial_.put(on_, sums, scalars_.data() + slot);
  }
  template <class Solve> auto apply(const Solve &solve) const { return inside_.apply(at(r), preconditioned(), solve); }

private:
  template <class F> void each(const F &f) const { on_.for_each_point(box_, AtEntry<F>{f, n_}); }
  template <class F> Terms sum(const F &f) { return partial_.terms_of_list(on_, n_, f); }
  // f sets r, and returns its squares.
  template <class F> void sum_residual(Norm norm, const F &f) {
    const Terms squares = sum(f);
    squares_ = {};
    if (norm == Norm::unpreconditioned) add_squares(squares);
  }
  void add_squares(const Terms &squares) {
    squares_ = squares;
    if (Backend::on_device) return; // with the energy
    put(squares, squares_b1);
  }
  template <class Solve, class Finish> auto precondition(Norm norm, const Solve &solve, const Finish &finish) {
    const auto error = apply(solve);
    const double *const z = preconditioned();
    const Terms left = inside_.energy(), energy = left.count ? left : sum(ProductOf{at(r), z});
    if (norm == Norm::preconditioned) add_squares(sum(ProductOf{z, z}));
    if (!error) finish(energy);
    return error;
  }

  const Inside inside_;
  Product product_;
  const index_t n_;
  const Range3 box_;
  typename Backend::template Array<double> memory_;

protected:
  const Backend &on_;
  Scalars<Backend> scalars_;
  PartialSum<Backend> partial_;

private:
  Terms squares_;
  bool pending_ = false; // alpha p is not yet added to delta
};

} // namespace petscrrb::rrbsolver
