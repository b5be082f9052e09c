// One grid on a rank's box: its matrix, its factor and its vector in r1/r2/b1/b2 storage, with what is around the box. One
// exchange in a factorization, one on the way down, one on the way up (docs/design_ranks.md).
#pragma once

#include "pc/rrb/ranks/slots.hpp"
#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/core/seam.hpp"

namespace petscrrb::rrb {

// Where a box's solution goes, in natural order by coordinates: times v, if that is not NULL.
struct BoxSolution {
  Strided<1> z;
  Strided<1> v = {};
};

// The sweeps of such a grid, for each backend its own. Its vector is in place, with what is around it in the borders; b1 is computed there, too.
//   down<Couple>(on, grid, next, energy): from the right-hand side at own nodes; what goes on goes to `next`. Without couplings it moves only.
//     energy: NULL, or what own red nodes add to y^T M^-1 y is added to it.
//   up<Couple>(on, grid, to, scaling): from the solution at b2, own and around; the vector is lost.
//   up(on, grid, to, kept, energy): the same with couplings, which adds the terms of kept times the solution, on the next grid.
//   parts(own), kept_parts(own): of the energy's sum, at most, on the way down and on the way up.
//   take(on, own, to, r, v): a vector of the box in natural order to classes; times v, if that is not NULL.
template <class Backend> class BoxSweeps;

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
        slots_(own_, block), seams_(own_, false),
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

  // On a device a kernel cannot overwrite what its neighbours read, and AMLI reads the right-hand side once more.
  Dense b1_after() const {
    return Backend::on_device ? slots_.layout.view(memory_.data() + 24 * slots_.layout.size()) : vector().q[b1];
  }
  Dense solution_b2() const { return slots_.layout.view(solution_memory() + b2 * slots_.layout.size()); }

protected:
  Split field(int i) const {
    const auto view = [&](Class c) { return slots_.layout.view(memory_.data() + (4 * i + c) * slots_.layout.size()); };
    return {{{view(r1), view(r2), view(b1), view(b2)}}};
  }

  Extent own_;
  index_t around_; // how far level 2 is known: farther on the finest grid, for the RRB-solver
  Slots slots_;
  Seams<Backend> seams_;
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
    const auto m = this->matrix();
    const StencilFields<DenseField, DenseField> a{{m.X.q}, {m.E.q}, {m.N.q}, {m.NE.q}, {m.NW.q}};
    const auto edge = a.get(Edge{});
    seams_.lump(on, SeamAccess<std::decay_t<decltype(edge)>, true>{edge, own_}, own_, lumping.omega, counts + b2);
    const Steps<Backend, true> steps(on, own_, lumping, around_);
    if (!steps.all(a, factor_, a.X, next, counts)) {
      steps.odd(a, factor_, counts);
      steps.even(a, factor_, a.X, counts);
      steps.coarse(a, factor_, a.X, next, counts);
    }
    steps.test(a, factor_, true, counts);
    seams_.put_kept(on, next, own_);
  }

  const FactorFields<DenseFieldOf<T>> &factor() const { return factor_; }

private:
  typename Backend::template Array<T> factor_memory_;
  FactorFields<DenseFieldOf<T>> factor_;
};

} // namespace petscrrb::rrb
