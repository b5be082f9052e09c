// What is around a box comes from its owners, of all points or those of one colour, and nothing else is touched.
#include "exec/host/host.hpp"
#include "pc/gridmg/core/halo.hpp"
#include "simulated_ranks.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace petscrrb;
using namespace petscrrb::gridmg;
using support::SimulatedRanks;

namespace {

struct Twice {
  const double *field;
  double operator()(index_t place) const { return 2.0 * field[place]; }
};

// The number of a point that is (i, j, k) from the first one of a box, which may be around it; -1: there is none of another rank.
double number_of(const Cuts &cuts, int rank, const Sizes &at, int directions, index_t colour) {
  const Shape box = cuts.box(rank), whole = cuts.whole();
  double number = 0.0;
  int beyond = 0;
  for (int q = 2; q >= 0; --q) {
    const bool before = at[q] < 0, after = at[q] >= box.n[q];
    if ((before && !box.more_before[q]) || (after && !box.more_after[q])) return -1.0;
    beyond += before || after;
    number = number * double(whole.n[q]) + double((cuts.first(rank, q) + at[q] + whole.n[q]) % whole.n[q]);
  }
  if (beyond && (beyond > directions || (colour != all_colours && ((at[0] + at[1] + at[2]) & 1) != colour)))
    return -1.0;
  return beyond ? 2.0 * number : number;
}

const Cuts cases[] = {
    {{{{0, 8, 17}, {0, 4, 7}, {0, 2, 4, 9}}}, {false, false, false}},
    {{{{0, 2, 4}, {0, 2, 6}, {0, 3}}}, {true, true, true}},
    {{{{0, 5}, {0, 0, 4, 4}, {0, 2, 5}}}, {true, false, false}},
    {{{{0, 2, 4, 6}, {0, 4, 8}, {0, 1}}}, {true, false, false}},
};

TEST(Halo, BringsWhatIsAskedForAndNothingElse) {
  for (const Cuts &cuts : cases)
    for (const int directions : {1, 3})
      for (const index_t colour : {all_colours, index_t(0), index_t(1)})
        SimulatedRanks::run(cuts.count(), [&](rrb::Ranks &ranks) {
          const Layout layout(cuts.sizes(ranks.rank()));
          std::vector<double> memory(std::size_t(layout.size()), -1.0);
          const Field<double> f(memory.data(), layout);
          const auto each = [&](index_t from, const auto &visit) {
            for (index_t k = from; k < layout.n[2] - from; ++k)
              for (index_t j = from; j < layout.n[1] - from; ++j)
                for (index_t i = from; i < layout.n[0] - from; ++i) visit(Sizes{i, j, k});
          };
          const auto expected = [&](const Sizes &at) { return number_of(cuts, ranks.rank(), at, directions, colour); };
          each(0, [&](const Sizes &at) { f(at[0], at[1], at[2]) = expected(at); });
          const Halo<Host> halo(Sides(cuts), ranks.rank(), cuts.count(), layout, directions, colour);
          halo.fill(on_host, ranks, f, Twice{f.p});
          each(-1, [&](const Sizes &at) {
            EXPECT_EQ(f(at[0], at[1], at[2]), cuts.box(ranks.rank()).points() > 0 ? expected(at) : -1.0)
                << "rank " << ranks.rank() << " at " << at[0] << ", " << at[1] << ", " << at[2];
          });
        });
}

} // namespace
