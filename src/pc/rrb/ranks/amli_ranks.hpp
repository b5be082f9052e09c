// What AMLI's step needs of other ranks on a distributed grid: what is around the box, and sums of all.
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/ranks/gather.hpp"
#include "pc/rrb/ranks/slots.hpp"

namespace petscrrb::rrb {

template <class Backend> class BordersOnRanks {
public:
  // gather: for sums; must outlive this
  BordersOnRanks(Ranks &ranks, const Gather<Backend> &gather, const Boxes &boxes, int g, index_t block)
      : ranks_(ranks), gather_(gather), slots_(boxes.extent(ranks.rank(), g), block),
        plan_(make_plan(boxes, g, ranks.rank(), block, Exchanged::all, 0, 1)) {}

  DenseLayout layout() const { return slots_.layout; }
  // x: the four classes of one array, one after the other
  void fill(const Backend &, const Quad<Dense> &x) const {
    ranks_.exchange(plan_, x[r1].p - slots_.layout.place(0, 0));
  }
  void add_up(const Backend &, const Scalars<Backend> &scalars, std::size_t i) const {
    Sums sum;
    sum.add({scalars.at(i), 1}, scalars.data() + i);
    gather_.sums().add(sum);
  }
  void prepare() const { ranks_.prepare(plan_); }

private:
  Ranks &ranks_;
  const Gather<Backend> &gather_;
  Slots slots_;
  Plan plan_;
};

} // namespace petscrrb::rrb
