// What the forms of the RRB-solver share: what the host sees of an iteration, its scalars, and operations on single nodes.
#pragma once

#include "exec/sums.hpp"
#include "pc/rrb/core/rrb.hpp"
#include "pc/rrb/core/views.hpp"

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

namespace petscrrb::rrbsolver {

using namespace rrb;

enum class Norm {
  none,
  natural,          // sqrt((r, M^-1 r)), the papers'
  unpreconditioned, // ||r||
  preconditioned    // ||M^-1 r||
};

struct Numbers {
  double curvature = 0; // (p, A p)
  double rho = 0;       // (r, M^-1 r), r after the iteration
  double norm = 0;
};

// When a run of steps ends, which the host does not watch: after `most`, or once the norm of one is `below` or less, or
// `above` or more; but not because of the norm before `untested` of them. Also where a sum is not what conjugate gradients
// need.
struct Limits {
  int most = 1, untested = 0;
  double below = -1.0, above = std::numeric_limits<double>::infinity();
};

// What a solve asks of an iteration, on the host or on a device. Errors are 0, or what solve() has returned.
class Iteration {
public:
  using Solve = std::function<int(Part)>; // with the last block: 0, or an error that ends the work

  // How a run on a device repeats its step: in a graph's conditional node, or by launching the step's graph so many times that no step
  // waits for the host, where there are no such nodes.
  enum class Loop {
    automatic,
    launches
  };

  virtual ~Iteration() = default;
  virtual int start(const double *r0, Norm, const Solve &) = 0;
  virtual Numbers started(Norm) const = 0; // waits
  // Takes a step, or steps until the limits say so, and sets what came of them; waits. captured: on a device they are a graph, for
  // which solve() may only launch kernels, the same ones as long as the factorization's arrays are.
  virtual int run(Norm, const Limits &, bool captured, const Solve &, std::vector<Numbers> &) = 0;
  virtual int resume(const Solve &) = 0; // others have used the levels' vectors since
  virtual void settle() = 0;             // the black nodes' correction is 0
  virtual void drop_step() = 0;
  virtual void solution(const double *r0, double *x, bool add) const = 0;
  virtual bool eisenstat() const { return false; } // the product is that of Eisenstat's form
  virtual bool by_kinds() const { return false; }  // it reads a byte in place of each row
  virtual std::size_t bytes() const = 0;
};

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

// x v; where not `scaled`, v is missing and taken for 1.
template <class X, class V> struct Times {
  X x;
  V v;
  bool scaled;

  PETSCRRB_HD double operator()(index_t h, index_t k) const { return scaled ? x(h, k) * v(h, k) : x(h, k); }
};

// delta + alpha p; only delta where alpha p is not part of it
template <class V> struct Correction {
  V delta, p;
  const double *alpha;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    return alpha ? delta(h, k) + *alpha * p(h, k) : delta(h, k);
  }
};

// x += delta, or x = delta
template <class D, class X> struct AddCorrection {
  D delta;
  X x;
  bool add;

  PETSCRRB_HD void operator()(index_t h, index_t k) const { x.at(h, k) = add ? x(h, k) + delta(h, k) : delta(h, k); }
};

// For sums: u^2, and u^2 w.
template <class U> struct Square {
  U u;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    const double value = u(h, k);
    return value * value;
  }
};
template <class U> Square(U) -> Square<U>;
template <class U, class W> struct WeightedSquare {
  U u;
  W w;

  PETSCRRB_HD double operator()(index_t h, index_t k) const {
    const double value = u(h, k);
    return value * value * w(h, k);
  }
};
template <class U, class W> WeightedSquare(U, W) -> WeightedSquare<U, W>;

} // namespace petscrrb::rrbsolver
