// What is around a box comes from its owners, of all points or those of one colour, and nothing else is touched.
#include "exec/host/host.hpp"
#include "pc/gridmg/core/halo.hpp"
#include "simulated_ranks.hpp"

#include <gtest/gtest.h>

using namespace petscrrb;
using namespace petscrrb::gridmg;
using support::SimulatedRanks;

namespace {

// A field with the numbers of the own points of a box, and more to tell several fields apart; -1 elsewhere.
template <class T> struct Numbered {
  const Cuts &cuts;
  const int rank;
  const double more;
  const Shape box;
  const Layout layout;
  std::vector<T> memory;
  const Field<T> f;

  Numbered(const Cuts &c, int r, double m)
      : cuts(c), rank(r), more(m), box(cuts.box(rank)), layout(box.n), memory(std::size_t(layout.size()), T(-1)),
        f(memory.data(), layout) {
    each(0, [&](const Sizes &at) { f(at[0], at[1], at[2]) = T(number(at)); });
  }
  template <class Visit> void each(index_t around, const Visit &visit) const {
    for (index_t k = -around; k < box.n[2] + around; ++k)
      for (index_t j = -around; j < box.n[1] + around; ++j)
        for (index_t i = -around; i < box.n[0] + around; ++i) visit(Sizes{i, j, k});
  }
  double number(const Sizes &at) const {
    const Shape whole = cuts.whole();
    double n = 0.0;
    for (int q = 2; q >= 0; --q)
      n = n * double(whole.n[q]) + double((cuts.first(rank, q) + at[q] + whole.n[q]) % whole.n[q]);
    return n + more;
  }
  // What has come is so many times the number.
  void expect(int directions, index_t colour, double times) const {
    each(1, [&](const Sizes &at) {
      int out = 0;
      bool comes = box.points() > 0 && (colour == all_colours || ((at[0] + at[1] + at[2]) & 1) == colour);
      for (int q = 0; q < 3; ++q) {
        const bool before = at[q] < 0, after = at[q] >= box.n[q];
        out += before || after;
        comes &= (!before || box.more_before[q]) && (!after || box.more_after[q]);
      }
      const double expected = !out ? number(at) : comes && out <= directions ? times * number(at) : -1.0;
      EXPECT_EQ(f(at[0], at[1], at[2]), T(expected))
          << "rank " << rank << " of " << cuts.count() << " at " << at[0] << ", " << at[1] << ", " << at[2];
    });
  }
};

struct Twice {
  const double *field;
  double operator()(index_t place) const { return 2.0 * field[place]; }
};

const Cuts cases[] = {
    {{{{0, 8, 17}, {0, 4, 7}, {0, 2, 4, 9}}}, {false, false, false}},
    {{{{0, 2, 4}, {0, 2, 6}, {0, 3}}}, {true, true, true}},
    {{{{0, 5}, {0, 0, 4, 4}, {0, 2, 5}}}, {true, false, false}}, // ranks without points
    {{{{0, 2, 4, 6}, {0, 4, 8}, {0, 1}}}, {true, false, false}},
};

TEST(Halo, BringsWhatIsAskedForAndNothingElse) {
  for (const Cuts &cuts : cases)
    for (const int directions : {1, 3})
      for (const index_t colour : {all_colours, index_t(0), index_t(1)})
        SimulatedRanks::run(cuts.count(), [&](rrb::Ranks &ranks) {
          const Numbered<double> x(cuts, ranks.rank(), 0.0);
          const Halo<Host> halo(Sides(cuts), x.rank, cuts.count(), x.layout, directions, colour, 1);
          halo.fill(on_host, ranks, x.f, Twice{x.f.p});
          x.expect(directions, colour, 2.0);
        });
}

TEST(Halo, BringsSeveralFieldsAtATime) {
  for (const Cuts &cuts : cases)
    for (const int directions : {1, 3})
      SimulatedRanks::run(cuts.count(), [&](rrb::Ranks &ranks) {
        const Numbered<float> x(cuts, ranks.rank(), 0.0), y(cuts, ranks.rank(), 0.25), z(cuts, ranks.rank(), 0.5);
        const Halo<Host> halo(Sides(cuts), x.rank, cuts.count(), x.layout, directions, all_colours, 3);
        halo.fill(on_host, ranks, {x.f, y.f, z.f});
        for (const auto *field : {&x, &y, &z}) field->expect(directions, all_colours, 1.0);
      });
}

} // namespace
