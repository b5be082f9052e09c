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

// One but for its factor: extent is the rank's box, right_hand_side() the vector, in place.
template <class Backend> class DistributedArrays : public DenseArrays<Backend> {
  using Base = DenseArrays<Backend>;

public:
  using Base::extent;

  DistributedArrays(const Boxes &boxes, int g, int rank, index_t block)
      : Base(boxes.extent(rank, g), Slots(boxes.extent(rank, g), block).layout, false, false, Backend::on_device),
        around_(g == 0 && !extent.x.odd_ring() && !extent.y.odd_ring() ? 2 : 1), seams_(extent, false),
        rows_(make_plan(boxes, g, rank, block, around_ == 2 ? Exchanged::more_rows : Exchanged::rows, 1, 5)),
        down_(make_plan(boxes, g, rank, block, Exchanged::down, 0, 1)),
        solutions_(make_plan(boxes, g, rank, block, Exchanged::solutions, 0, 1)) {}

  Split vector() const { return {this->right_hand_side()}; }
  std::size_t bytes() const { return Base::bytes() + seams_.bytes(); }

  // matrix_out() and vector() have own nodes' values: what is around, as before a factorization and on the way down.
  void exchange_rows(Ranks &ranks) const { ranks.exchange(rows_, this->memory()); }
  void exchange_right_hand_side(Ranks &ranks) const { ranks.exchange(down_, this->memory()); }

  // Where the solution at own b2 goes before the sweep up. On a device a kernel cannot overwrite what its neighbours read, and AMLI reads the
  // right-hand side once more.
  Dense solution_b2() const { return this->layout().view(solution_memory() + b2 * this->layout().size()); }
  // The same by coordinates of the next grid.
  Strided<1> next_solution() const {
    const Dense z = solution_b2();
    return {z.p, z.pitch, 1};
  }
  // The same and what is around, from the solution of the whole next grid.
  void take_solution(const Backend &on, const Strided<1> &z, const Extent &all) const {
    on.for_each(widened(extent, around_ + 1).nodes_of(b2),
                CopyNode<AroundRings, Strided<1>>{{z, all.x.n, all.y.n}, next_solution()});
  }
  // What is around own b2 of the solution; by another plan, more of it.
  void exchange_solution(Ranks &ranks, const Plan &plan) const { ranks.exchange(plan, solution_memory()); }
  const Plan &solutions() const { return solutions_; }
  double *solution_memory() const { // as plans have it, for a field whose fourth class is b2
    return Backend::on_device ? this->more() - b2 * this->layout().size() : this->memory();
  }

protected:
  index_t around_; // how far level 2 is known: farther on the finest grid, for the RRB-solver
  Seams<Backend> seams_;
  Plan rows_, down_, solutions_;
};

// With it. T: what it is stored in.
template <class Backend, class T> class DistributedGrid : public DenseGrid<Backend, T, DistributedArrays<Backend>> {
  using Base = DenseGrid<Backend, T, DistributedArrays<Backend>>;
  using Base::around_, Base::seams_;

public:
  using Base::Base, Base::extent, Base::matrix, Base::factor;

  // matrix_out() has own nodes' values. next: where those of the next grid's own nodes go. keep: NULL, or where the matrix goes
  // before its elimination, with what is around, in the same layout.
  template <class Out>
  void refresh(const Backend &on, Ranks &ranks, Lumping lumping, const Out &next, NodeCounts counts[4],
               double *keep) const {
    const index_t size = this->layout().size();
    ranks.prepare(this->down_), ranks.prepare(this->solutions_);
    this->exchange_rows(ranks);
    if (keep) on.copy(keep, this->memory() + 4 * size, 20 * size);
    const auto edge = matrix.get(Edge{});
    seams_.lump(on, SeamAccess<std::decay_t<decltype(edge)>, true>{edge, extent}, extent, lumping.omega, counts + b2);
    const Steps<Backend, true> steps(on, extent, lumping, around_);
    if (!steps.all(matrix, factor, matrix.X, next, counts)) {
      steps.odd(matrix, factor, counts);
      steps.even(matrix, factor, matrix.X, counts);
      steps.coarse(matrix, factor, matrix.X, next, counts);
    }
    steps.test(matrix, factor, true, counts);
    seams_.put_kept(on, next, extent);
  }
};

} // namespace petscrrb::rrb
