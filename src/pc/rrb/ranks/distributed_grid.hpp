// One grid on a rank's box: its matrix, its factor and its vector in r1/r2/b1/b2 storage, with what is around the box. One
// exchange in a factorization, one on the way down, one on the way up (docs/design_ranks.md).
#pragma once

#include "exec/sums.hpp"
#include "pc/rrb/ranks/around.hpp"
#include "pc/rrb/ranks/box_sweeps.hpp"
#include "pc/rrb/ranks/slots_seam.hpp"
#include "pc/rrb/core/steps.hpp"

namespace petscrrb::rrb {

// An array of a whole grid, around its rings, too: more than once around one of a single point.
struct AroundRings {
  Strided<1> all;
  index_t nx, ny;

  PETSCRRB_HD double operator()(index_t a, index_t b) const { return all(inside(a, nx), inside(b, ny)); }

private:
  PETSCRRB_HD static index_t inside(index_t i, index_t n) {
    while (i < 0) i += n;
    while (i >= n) i -= n;
    return i;
  }
};

// One but for its factor.
template <class Backend> class DistributedArrays {
public:
  DistributedArrays(const Boxes &boxes, int g, int rank, index_t block)
      : own_(boxes.extent(rank, g)), around_(g == 0 && !own_.x.odd_ring() && !own_.y.odd_ring() ? 2 : 1),
        slots_(own_, block), seams_(own_),
        rows_(make_plan(boxes, g, rank, block, around_ == 2 ? Exchanged::more_rows : Exchanged::rows, 1, 5)),
        down_(make_plan(boxes, g, rank, block, Exchanged::down, 0, 1)),
        solutions_(make_plan(boxes, g, rank, block, Exchanged::solutions, 0, 1)) {
    memory_.resize(slots_.layout.size() * (24 + 2 * Backend::on_device));
  }

  const Extent &own() const { return own_; }
  const DenseLayout &layout() const { return slots_.layout; }
  Split vector() const { return field(0); }
  StencilOut<Split> matrix() const { return {field(1), field(2), field(3), field(4), field(5)}; }
  std::size_t bytes() const { return memory_.bytes() + seams_.bytes(); }

  // matrix() and vector() have own nodes' values: what is around, as before a factorization and on the way down.
  void exchange_rows(Ranks &ranks) const { ranks.exchange(rows_, memory_.data()); }
  void exchange_right_hand_side(Ranks &ranks) const { ranks.exchange(down_, memory_.data()); }

  index_t energy_parts() const { return BoxSweeps<Backend>::parts(own_); }
  index_t kept_parts() const { return BoxSweeps<Backend>::kept_parts(own_); }
  // Where the solution at own b2 goes before the sweep up, by coordinates of the next grid.
  Strided<1> next_solution() const {
    const Dense z = solution_b2();
    return {z.p, z.pitch, 1};
  }
  // The same and what is around, from the solution of the whole next grid.
  void take_solution(const Backend &on, const Strided<1> &z, const Extent &all) const {
    on.for_each(widened(own_, around_ + 1).nodes_of(b2),
                CopyNode<AroundRings, Strided<1>>{{z, all.x.n, all.y.n}, next_solution()});
  }
  // What is around own b2 of the solution; by another plan, more of it.
  void exchange_solution(Ranks &ranks, const Plan &plan) const { ranks.exchange(plan, solution_memory()); }
  const Plan &solutions() const { return solutions_; }
  double *solution_memory() const { // as plans have it, for a field whose fourth class is b2
    return Backend::on_device ? memory_.data() + (25 - b2) * slots_.layout.size() : memory_.data();
  }

protected:
  // On a device a kernel cannot overwrite what its neighbours read, and AMLI reads the right-hand side once more.
  Dense b1_after() const {
    return Backend::on_device ? slots_.layout.view(memory_.data() + 24 * slots_.layout.size()) : vector().q[b1];
  }
  Dense solution_b2() const { return slots_.layout.view(solution_memory() + b2 * slots_.layout.size()); }
  Split field(int i) const {
    const auto view = [&](Class c) { return slots_.layout.view(memory_.data() + (4 * i + c) * slots_.layout.size()); };
    return {{{view(r1), view(r2), view(b1), view(b2)}}};
  }
  Rings rings() const {
    const auto ring_of = [](const Side &s, index_t n) { return s.periodic && s.n == n; };
    return {ring_of(own_.x, 2), ring_of(own_.y, 2), ring_of(own_.x, 3), ring_of(own_.y, 3)};
  }

  Extent own_;
  index_t around_; // how far level 2 is known: farther on the finest grid, for the RRB-solver
  Slots slots_;
  SlotSeams<Backend> seams_;
  Plan rows_, down_, solutions_;
  typename Backend::template Array<double> memory_; // vector, X, E, N, NE, NW: four classes each
};

// With it. T: what it is stored in.
template <class Backend, class T> class DistributedGrid : public DistributedArrays<Backend> {
  using Base = DistributedArrays<Backend>;
  using Base::own_, Base::around_, Base::slots_, Base::seams_, Base::memory_;

public:
  DistributedGrid(const Boxes &boxes, int g, int rank, index_t block) : Base(boxes, g, rank, block) {
    factor_ = make_factor(slots_.layout, factor_memory_);
  }

  std::size_t bytes() const { return Base::bytes() + factor_memory_.bytes(); }

  // matrix() has own nodes' values. next: where those of the next grid's own nodes go. keep: NULL, or where the matrix goes
  // before its elimination, with what is around, in the same layout.
  template <class Out>
  void factor(const Backend &on, Ranks &ranks, Lumping lumping, const Out &next, NodeCounts counts[4],
              double *keep) const {
    ranks.prepare(this->down_), ranks.prepare(this->solutions_);
    this->exchange_rows(ranks);
    if (keep) on.copy(keep, memory_.data() + 4 * slots_.layout.size(), 20 * slots_.layout.size());
    seams_.lump(on, this->matrix(), lumping.omega, counts + b2);
    const StencilOut<Split> m = this->matrix();
    const StencilViews<Dense, Dense> a{m.X.q, m.E.q, m.N.q, m.NE.q, m.NW.q};
    const auto f = factor_.get(Inner{});
    using A = std::decay_t<decltype(a)>;
    using V = std::decay_t<decltype(f.dinv[r1])>;
    const Schur<A, V> schur{a, f, lumping};
    if (!in_one_pass(on, a, next, lumping, counts)) {
      at_own_and_around(on, own_, r1, around_ + 1, EliminateR1<A, V>{a, f, lumping}, counts);
      at_own_and_around(on, own_, r2, around_ + 1, EliminateR2<A, V>{a, f, lumping}, counts);
      at_own_and_around(on, own_, b1, around_, EliminateB1<A, V, Dense>{schur, this->rings(), a.X[b1]}, counts);
      const CoarseStencil<A, V, Dense, Out> coarse{schur, this->rings(), a.X[b1], next};
      on.count_each(own_.nodes_of(b2), own_.nodes_of(b2), coarse, coarse, counts + b2);
    }
    if (lumping.test) {
      const TestR1<A> at_r1{a, lumping.limits.tau};
      const TestAtB2<A, V> at_b2{schur, this->rings()};
      on.count_each(own_.nodes_of(r1), own_.nodes_of(r1), at_r1, at_r1, counts + r1);
      on.count_each(own_.nodes_of(b2), own_.nodes_of(b2), at_b2, at_b2, counts + b1);
    }
    seams_.put_kept(on, next);
  }

  const FactorFields<DenseFieldOf<T>> &factor() const { return factor_; }
  BoxGrid<T> box() const { return box(this->vector().q); }
  BoxGrid<T> box(const Quad<Dense> &x) const { return {own_, x, this->b1_after(), this->solution_b2(), factor_}; }

private:
  template <class A, class Out>
  bool in_one_pass(const Backend &on, const A &a, const Out &next, const Lumping &lumping, NodeCounts counts[4]) const {
    FactorNodes nodes;
    for (Class c : {r1, r2, b1, b2}) {
      nodes.counted[c] = own_.nodes_of(c);
      nodes.made[c] = widened(own_, c == b2 ? 0 : c == b1 ? around_ : around_ + 1).nodes_of(c);
      nodes.inner[c] = nodes.made[c];
    }
    return OnePass<Backend>::factor(on, nodes, a, a, factor_.get(Inner{}), next, this->rings(), lumping, counts);
  }

  typename Backend::template Array<T> factor_memory_;
  FactorFields<DenseFieldOf<T>> factor_;
};

} // namespace petscrrb::rrb
