// What the forms of conjugate gradients share: the scalars of a step, on the host or on a device, and operations on single nodes.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/sums.hpp"
#include "ksp/rrb/core/iteration.hpp"
#include "pc/rrb/core/views.hpp"
#include "stencil/scales.hpp"

#include <cmath>
#include <initializer_list>

namespace petscrrb::rrbsolver {

// The scalars of an iteration, in the backend's memory.
enum Slot {
  energy_r1 = 0, // sums over classes of nodes: of r^2 / d, where r1 and r2 are those of the initial residual
  energy_r2,
  energy_b1,
  squares_b1, // of what the norm is taken of
  squares_b2,
  squares_r1,
  squares_r2,
  curvature_b1, // of p q
  curvature_b2,
  rho,        // (r, M^-1 r)
  rho_before, // of the iteration before
  curvature,  // (p, S1 p)
  alpha,      // rho_before / curvature
  beta,       // rho / rho_before
  steps,      // since the start
  ended,      // not 0: steps change nothing any more, on a device
  slots
};

// Numbers of which each rank has its own, to be added in place.
template <class Scalars> Sums sums_of_ranks(const Scalars &scalars, std::initializer_list<Slot> numbers) {
  Sums sums;
  for (const Slot i : numbers) sums.add({scalars.data() + i, 1}, scalars.data() + i);
  return sums;
}

constexpr std::size_t squares_of(Class c) { return c < b1 ? squares_r1 + (c - r1) : squares_b1 + (c - b1); }

struct AfterProduct {
  double *s;

  PETSCRRB_HD void operator()(index_t, index_t) const {
    if (s[ended] != 0.0) return;
    s[curvature] = s[curvature_b1] + s[curvature_b2];
    s[alpha] = s[rho] / s[curvature];
  }
};
struct BeforeStart {
  double *s;

  PETSCRRB_HD void operator()(index_t, index_t) const {
    for (int sum = energy_r1; sum <= squares_r2; ++sum) s[sum] = 0.0;
    s[steps] = s[ended] = 0.0;
  }
};
// The end of a step, or of the start. below: (y, z) on the next grid.
struct AfterCycle {
  double *s;
  double below;
  bool start;

  PETSCRRB_HD void operator()(index_t, index_t) const {
    if (s[ended] != 0.0) return;
    s[rho_before] = s[rho];
    s[rho] = s[energy_b1] + below;
    s[beta] = s[rho] / s[rho_before];
    if (!start) s[steps] += 1.0;
  }
};

// What the host sees of them.
PETSCRRB_HD inline Numbers numbers_of(const double *s, Norm norm) {
  const bool start = s[steps] == 0.0;
  double squares = s[squares_b1] + s[squares_b2];
  if (start || norm == Norm::preconditioned) squares += s[squares_r1] + s[squares_r2];
  if (norm == Norm::natural) squares = s[rho] + (start ? s[energy_r1] + s[energy_r2] : 0.0);
  return {s[curvature], s[rho], norm == Norm::none ? 0.0 : std::sqrt(std::abs(squares))};
}

// A form of conjugate gradients, as the Iteration that is its Interface. What runs it on a backend (host/iteration.hpp, cuda/iteration.cuh)
// calls, with a finish(terms) that does the work of AfterCycle with the sum of the terms and those of pending():
//   start(r0, norm, solve, finish), step(norm, solve, finish), resume(solve)
//   version()     of what a captured step has in it
template <class Backend, class Interface> class ConjugateGradients : public Interface, NotCopied {
public:
  const Scalars<Backend> &scalars() const { return scalars_; } // in the order of Slot
  // Sums that a start or a step has left to its end.
  Sums pending(Norm, bool /* start */) const {
    Sums sums;
    if (squares_.count) sums.add(squares_, slot(squares_b1));
    return sums;
  }
  void steps_taken() { pending_ = true; } // without step(): by a graph that was captured from it
  void drop_step() override { pending_ = false; }

protected:
  explicit ConjugateGradients(const Backend &on) : on_(on), scalars_(slots) {}

  void begin(bool step) {
    pending_ = step;
    partial_.start();
    squares_ = {};
    if (!step) on_.for_each({0, 1, 0, 1}, BeforeStart{scalars_.data()});
  }
  void put(const Terms &terms, Slot i) {
    Sums sums;
    sums.add(terms, slot(i));
    partial_.put(on_, sums, slot(i));
  }
  double *slot(Slot i) const { return scalars_.data() + i; }
  // that of p, which delta is without; or NULL
  const double *pending_alpha() const { return pending_ ? slot(alpha) : nullptr; }

  const Backend &on_;
  Scalars<Backend> scalars_;
  PartialSum<Backend> partial_;
  Terms squares_;        // of the norm
  bool pending_ = false; // alpha p is not yet added to delta
};

// --- loops over points ---

// The numbers of a step, which a loop reads once for many points.
struct StepNumbers {
  double alpha = 0.0, beta = 0.0;
  bool first = true, ended = true;
};
template <class F> struct WithStep {
  F f;
  StepNumbers step;

  template <class... I> PETSCRRB_HD auto operator()(I... i) const { return f(step, i...); }
};
// f(numbers, i) at each point. s: NULL at the start, which is as if the steps had ended
template <class F> struct InStep {
  F f;
  const double *s;

  PETSCRRB_HD auto read() const {
    StepNumbers step;
    if (s) step = {s[alpha], s[beta], s[steps] == 0.0, s[ended] != 0.0};
    return WithStep<decltype(with_numbers(f))>{with_numbers(f), step};
  }
  template <class... I> PETSCRRB_HD auto operator()(I... i) const { return read()(i...); }
};
template <class F> InStep(F, const double *) -> InStep<F>;

// z, what it is multiplied by, and where it is that of the scaled matrix and residual, by what; NULL: 1
template <class T> struct Unscaled {
  const T *z;
  double by = 1.0;
  const Scales *scales = nullptr;

  PETSCRRB_HD Unscaled read() const { return {z, scales ? scales->from * by : by, nullptr}; }
  PETSCRRB_HD double operator()(index_t i) const { return (scales ? scales->from * by : by) * double(z[i]); }
};
// In the first step p = z, delta = 0; else delta += alpha p, p = z + beta p; unless the steps have ended.
template <class T> struct NextDirection {
  Unscaled<T> z;
  double *p, *delta;

  PETSCRRB_HD NextDirection read() const { return {z.read(), p, delta}; }
  PETSCRRB_HD void operator()(const StepNumbers &step, index_t i) const {
    if (step.ended) return;
    const double value = z(i), before = p[i];
    delta[i] = step.first ? 0.0 : delta[i] + step.alpha * before;
    p[i] = step.first ? value : value + step.beta * before;
  }
};
// x = or += delta + alpha p; alpha NULL: delta alone
struct PutCorrection {
  const double *delta, *p, *alpha;
  double *x;
  bool add;

  PETSCRRB_HD void operator()(index_t i) const {
    const double correction = alpha ? delta[i] + *alpha * p[i] : delta[i];
    x[i] = add ? x[i] + correction : correction;
  }
};

} // namespace petscrrb::rrbsolver
