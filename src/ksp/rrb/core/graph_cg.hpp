// Conjugate gradients on S1 of a graph (BlackGraph): on its black nodes, in the order in which they are eliminated.
#pragma once

#include "ksp/rrb/core/full_cg.hpp"
#include "pc/rrb/graph/black_graph.hpp"

namespace petscrrb::rrbsolver {

// --- loops over nodes: see CouplingSums ---

// r = r0 of black nodes, with what red ones give
struct EliminateRed {
  Couplings<double> couplings;
  const node_t *point; // of all nodes
  node_t reds;
  const double *r0;
  double *r;

  PETSCRRB_HD double own(node_t i) const { return r0[point[reds + i]]; }
  PETSCRRB_HD double term(node_t, double weight, node_t column) const { return weight * r0[point[column]]; }
  PETSCRRB_HD void take(node_t i, double sum) const { r[i] = sum; }
};
// What solves the equations of red nodes, with x of the black ones; their own residual is 0.
struct RedOf {
  Couplings<double> couplings;
  node_t reds;
  const double *x;

  PETSCRRB_HD double own(node_t) const { return 0.0; }
  PETSCRRB_HD double term(node_t, double weight, node_t column) const { return weight * x[column - reds]; }
};
// Times d.
struct SolveRedOf : RedOf {
  const double *inverse;
  double *dp;

  PETSCRRB_HD void take(node_t i, double sum) const { dp[i] = sum / inverse[i]; }
};
struct SquareOfRed : RedOf {
  PETSCRRB_HD double take(node_t, double sum) const { return sum * sum; }
};
// y = or += that, with their residual r0.
struct PutRed : RedOf {
  const double *inverse;
  const node_t *point;
  const double *r0;
  double *y;
  bool add;

  PETSCRRB_HD double own(node_t i) const { return r0[point[i]] * inverse[i]; }
  PETSCRRB_HD void take(node_t i, double sum) const { y[point[i]] = add ? y[point[i]] + sum : sum; }
};
// q = S1 p; returns p q
struct BlackTimes {
  Couplings<double> couplings;
  const double *diagonal, *dp, *p;
  double *q;

  PETSCRRB_HD double own(node_t i) const { return diagonal[i] * p[i]; }
  PETSCRRB_HD double term(node_t, double weight, node_t column) const { return -weight * dp[column]; }
  PETSCRRB_HD double take(node_t i, double product) const {
    q[i] = product;
    return p[i] * product;
  }
};
// x = or += delta of black nodes
struct PutBlack {
  const node_t *point; // of the black ones
  const double *delta;
  double *x;
  bool add;

  PETSCRRB_HD void operator()(index_t i) const { x[point[i]] = add ? x[point[i]] + delta[i] : delta[i]; }
};
// r0^2 / d of red nodes
struct RedEnergyOnGraph {
  const node_t *point;
  const double *inverse, *r0;

  PETSCRRB_HD double operator()(index_t i) const { return r0[point[i]] * r0[point[i]] * inverse[i]; }
};

template <class Backend> class BlackGraphProduct {
public:
  explicit BlackGraphProduct(const Factorization &core) : g_(*core.black_graph()) {}

  index_t rows(index_t) const { return 0; }
  static index_t most_terms(index_t n) { return CouplingSums<Backend>::most_terms(n); }
  long version() const { return 0; }
  std::size_t bytes() const { return 0; }

  void multiply(const Backend &on, double *p, double *q, const Scalars<Backend> &scalars,
                PartialSum<Backend> &partial) const {
    CouplingSums<Backend>::each(on, g_.reds, g_.on_average(g_.reds),
                                SolveRedOf{{g_.upper, g_.reds, p}, g_.inverse, g_.x});
    const Terms curvature = CouplingSums<Backend>::terms(on, g_.blacks, g_.on_average(g_.blacks),
                                                         BlackTimes{g_.lower, g_.diagonal, g_.x, p, q}, partial);
    partial.put_then(on, curvature, scalars.data() + curvature_b1, AfterProduct{scalars.data()});
  }

private:
  const BlackGraph g_;
};

// What is left of M^-1 on the black nodes. z is where the factor's sweeps end: others may write there.
struct BelowRed {
  Factorization &core;

  static constexpr bool in_place = true;
  index_t nodes() const { return core.black_graph()->blacks; }
  double *place(double *) const { return core.black_graph()->x + core.black_graph()->reds; }
  long version() const { return long(Cycle<Factorization>(core).used()); }
  Terms energy() const { return {}; }
  template <class Solve> auto apply(const double *, double *, const Solve &solve) const {
    return Cycle<Factorization>(core).apply_below(1, solve);
  }
};

template <class Backend> class GraphCG : public FullCG<Backend, BelowRed, BlackGraphProduct<Backend>> {
  using Base = FullCG<Backend, BelowRed, BlackGraphProduct<Backend>>;
  using NodeSums = CouplingSums<Backend>;

public:
  GraphCG(const Backend &on, Factorization &core) : Base(on, BelowRed{core}, core), g_(*core.black_graph()) {
    partial_.reserve(4 * PartialSum<Backend>::parts_of(ListAsBox::points(nodes())) +
                     NodeSums::most_terms(std::max(g_.reds, g_.blacks)));
  }

  // From the residual r0 of all unknowns in the matrix's order, which is kept by the caller. The norm is that of r0; the preconditioned one is not
  // taken.
  template <class Solve, class Finish>
  auto start(const double *r0, Norm norm, const Solve &solve, const Finish &finish) {
    NodeSums::each(on_, g_.blacks, g_.on_average(g_.blacks),
                   EliminateRed{g_.lower, g_.point, g_.reds, r0, at(Base::q)});
    const auto error = Base::start(at(Base::q), Norm::none, solve, finish);
    partial_.start();
    if (norm == Norm::natural)
      put(partial_.terms_of_list(on_, g_.reds, RedEnergyOnGraph{g_.point, g_.inverse, r0}), energy_r1);
    if (norm == Norm::unpreconditioned) put(partial_.terms_of_list(on_, nodes(), ProductOf{r0, r0}), squares_r1);
    return error;
  }
  template <class Solve, class Finish> auto step(Norm norm, const Solve &solve, const Finish &finish) {
    return Base::step(norm, solve, [&](const Terms &energy) {
      if (norm == Norm::preconditioned)
        put(NodeSums::terms(on_, g_.reds, g_.on_average(g_.reds),
                            SquareOfRed{{g_.upper, g_.reds, Base::preconditioned()}}, partial_),
            squares_r1);
      finish(energy);
    });
  }
  template <class Solve> auto resume(const Solve &solve) {
    on_.copy(Base::preconditioned(), Base::residual(), std::size_t(g_.blacks));
    return Base::apply(solve);
  }
  void solution(const double *r0, double *x, bool add) const {
    double *const delta = at(Base::q);
    Base::solution(nullptr, delta, false);
    NodeSums::each(on_, g_.reds, g_.on_average(g_.reds),
                   PutRed{{g_.upper, g_.reds, delta}, g_.inverse, g_.point, r0, x, add});
    on_.for_each_point(ListAsBox::points(g_.blacks), AtEntry<PutBlack>{{g_.point + g_.reds, delta, x, add}, g_.blacks});
  }

private:
  using Base::at, Base::on_, Base::partial_, Base::put;

  index_t nodes() const { return index_t(g_.reds) + g_.blacks; }

  const BlackGraph g_;
};

} // namespace petscrrb::rrbsolver
