// What AMLI's step needs of other ranks on a distributed grid: what is around the box, and sums of all.
#pragma once

#include "rrb/amli.hpp"
#include "rrb/slots.hpp"

namespace petscrrb::rrb {

template <class Backend> class BordersOnRanks {
public:
  BordersOnRanks(Ranks &ranks, const Boxes &boxes, int g, index_t block)
      : ranks_(ranks), slots_(boxes.extent(ranks.rank(), g), block),
        plan_(make_plan(boxes, g, ranks.rank(), block, Travels::all, 0, 1)) {}

  DenseLayout layout() const { return slots_.layout; }
  // x: the four classes of one array, one after the other
  void fill(const Backend &, const Quad<Dense> &x) const {
    ranks_.exchange(plan_, x[r1].p - slots_.layout.place(0, 0));
  }
  void add_up(const Backend &on, const Scalars<Backend> &scalars, std::size_t i) const {
    double sum = 0.0;
    for (const double of_rank : ranks_.tell(std::vector<double>(1, scalars.read(on)[i]))) sum += of_rank;
    scalars.write(on, i, sum);
  }

private:
  Ranks &ranks_;
  Slots slots_;
  Plan plan_;
};

} // namespace petscrrb::rrb
