// The RRB-solver's product on the black points of a 3D grid, on boxes with what is around them: the host's, and the device's kernel
// run by threads of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#define petscrrb petscrrb_emulated // what is defined otherwise here must not meet the library's
#include "ksp/rrb/cuda/black_product.cuh"
#include "ksp/rrb/host/black_product.hpp"

using namespace petscrrb;
using gridmg::Cuts;
using gridmg::Field;
using gridmg::Layout;
using gridmg::Matrix;
using gridmg::Shape;
using gridmg::Sizes;
using namespace rrbsolver;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The whole grid in natural order; p is what it is at black points, and at red ones solves their equations.
struct Whole {
  Cuts cuts;
  Sizes n;
  std::vector<double> w[3], e, p, q;

  explicit Whole(const Cuts &c) : cuts(c), n(c.whole().n) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(0.5, 2.0);
    const std::size_t points = std::size_t(n[0] * n[1] * n[2]);
    for (auto *x : {&w[0], &w[1], &w[2], &e, &p})
      for (std::size_t i = 0; i < points; ++i) x->push_back(number(random));
    q.assign(points, 0.0);
    for (const index_t colour : {0, 1})
      each_point([&](const Sizes &at) {
        if (((at[0] + at[1] + at[2]) & 1) != colour) return;
        double d = e[place(at)], sum = 0.0;
        each_neighbour(at, [&](double coupling, double beyond) { d += coupling, sum += coupling * beyond; });
        if (colour)
          q[place(at)] = d * p[place(at)] - sum;
        else
          p[place(at)] = sum / d;
      });
  }
  template <class F> void each_point(const F &f) const {
    for (index_t k = 0; k < n[2]; ++k)
      for (index_t j = 0; j < n[1]; ++j)
        for (index_t i = 0; i < n[0]; ++i) f(Sizes{i, j, k});
  }
  std::size_t place(const Sizes &at) const { return std::size_t((at[2] * n[1] + at[1]) * n[0] + at[0]); }
  // Goes around rings; false: there is no such point.
  bool wrap(Sizes &at) const {
    for (int q = 0; q < 3; ++q) {
      if (cuts.ring[q]) at[q] = (at[q] + n[q]) % n[q];
      if (at[q] < 0 || at[q] >= n[q]) return false;
    }
    return true;
  }
  // 0 where it leads out of the grid
  double coupling(int q, const Sizes &at) const {
    Sizes beyond = at;
    ++beyond[q];
    return wrap(beyond) ? w[q][place(at)] : 0.0;
  }
  template <class F> void each_neighbour(const Sizes &at, const F &f) const {
    for (int q = 0; q < 3; ++q)
      for (const int step : {-1, 1}) {
        Sizes beyond = at;
        beyond[q] += step;
        if (wrap(beyond)) f(coupling(q, step < 0 ? beyond : at), p[place(beyond)]);
      }
  }
};

// A rank's arrays as the iteration has them when the product begins: own red points as they may be, on faces what the neighbours have,
// 0 where there is nothing, and what is exchanged for nobody is no number.
struct Box {
  const Whole &whole;
  Sizes first;
  Shape shape;
  Layout layout;
  std::vector<double> memory[6]; // each by itself, so that sanitizers see where it ends
  Matrix A;
  Field<double> p, q;

  Box(const Whole &of, int rank)
      : whole(of), shape(of.cuts.box(rank)), layout(shape.n), A{{field(0), field(1), field(2)}, field(3)}, p(field(4)),
        q(field(5)) {
    for (int d = 0; d < 3; ++d) first[d] = whole.cuts.first(rank, d);
    for (index_t k = -1; k <= shape.n[2]; ++k)
      for (index_t j = -1; j <= shape.n[1]; ++j)
        for (index_t i = -1; i <= shape.n[0]; ++i) set({i, j, k});
    gridmg::fill_rings(on_host, shape, {A.w[0], A.w[1], A.w[2], A.e, p});
  }
  Field<double> field(int i) {
    memory[i].assign(std::size_t(layout.size()), 0.0);
    return {memory[i].data(), layout};
  }
  void set(const Sizes &at) {
    int beyond = 0, around = 0;
    for (int d = 0; d < 3; ++d) {
      const bool out = at[d] < 0 || at[d] >= shape.n[d];
      const bool more = at[d] < 0 ? shape.more_before[d] : shape.more_after[d];
      if (out && !more && !shape.ring[d]) return;
      beyond += out && more, around += out && shape.ring[d];
    }
    const bool red = !((at[0] + at[1] + at[2]) & 1);
    Sizes there;
    for (int d = 0; d < 3; ++d) there[d] = first[d] + at[d];
    EXPECT_TRUE(whole.wrap(there));
    const bool known = beyond + around <= 1;
    const auto put = [&](const Field<double> &f, double value) { f(at[0], at[1], at[2]) = known ? value : nan; };
    for (int d = 0; d < 3; ++d) put(A.w[d], whole.coupling(d, there));
    put(A.e, whole.e[whole.place(there)]);
    put(p, red && !beyond ? nan : whole.p[whole.place(there)]);
    q(at[0], at[1], at[2]) = nan;
  }
  template <class F> void each_own(const F &f) const {
    for (index_t k = 0; k < shape.n[2]; ++k)
      for (index_t j = 0; j < shape.n[1]; ++j)
        for (index_t i = 0; i < shape.n[0]; ++i)
          f(Sizes{i, j, k}, whole.place({first[0] + i, first[1] + j, first[2] + k}));
  }

  void expect_sent_reds() const {
    each_own([&](const Sizes &at, std::size_t there) {
      if ((at[0] + at[1] + at[2]) & 1) return;
      EXPECT_NEAR(SolvedRed({A, p})(layout.place(at[0], at[1], at[2])), whole.p[there], 1e-14);
    });
  }
  void expect_product(const Terms &terms, const std::string &what) const {
    double sum = 0.0, size = 1.0;
    bool written = false;
    each_own([&](const Sizes &at, std::size_t there) {
      if (!((at[0] + at[1] + at[2]) & 1)) {
        written |= !std::isnan(q(at[0], at[1], at[2]));
        return;
      }
      sum += whole.p[there] * whole.q[there], size += std::fabs(whole.p[there] * whole.q[there]);
      ASSERT_NEAR(q(at[0], at[1], at[2]), whole.q[there], 1e-13)
          << what << " at " << at[0] << ", " << at[1] << ", " << at[2];
    });
    EXPECT_FALSE(written) << what << ": at red points";
    EXPECT_NEAR(sum_of(terms), sum, 1e-13 * size) << what;
  }
};

struct Case {
  Sizes n;
  std::array<bool, 3> ring;
  std::array<std::vector<index_t>, 3> inner; // cuts
};
const std::vector<Case> cases = {
    {{17, 13, 11}, {}, {}},
    {{16, 12, 4}, {true, true, true}, {}},
    {{17, 13, 11}, {}, {{{}, {}, {6}}}},
    {{17, 13, 7}, {}, {{{8}, {4}, {4}}}},
    {{12, 9, 6}, {}, {{{2, 4}, {2}, {2, 4}}}}, // boxes of two points
    {{70, 19, 4}, {}, {{{}, {10}, {2}}}},      // several tiles
    {{133, 5, 2}, {}, {{{64}, {}, {}}}},       // cut where a tile ends
    {{67, 17, 2}, {}, {{{64}, {8, 16}, {}}}},  // a row alone
    {{16, 12, 4}, {true, true, true}, {{{8}, {}, {2}}}},
    {{16, 12, 4}, {true, true, true}, {{{}, {4, 8}, {}}}},
    {{4, 4, 4}, {true, true, true}, {{{2}, {2}, {2}}}},
    {{66, 10, 3}, {true, false, false}, {{{}, {8}, {2}}}},
    {{16, 6, 6}, {}, {{{0, 8, 16}, {}, {}}}}, // ranks without points
    {{21, 18, 1}, {}, {{{4}, {10}, {}}}},     // 2D
    {{16, 16, 1}, {true, false, false}, {{{8}, {8}, {}}}},
};

template <class Run> void on_boxes_of(const Case &c, const Run &run) {
  Cuts cuts;
  for (int q = 0; q < 3; ++q) {
    cuts.at[q] = {0};
    cuts.at[q].insert(cuts.at[q].end(), c.inner[q].begin(), c.inner[q].end());
    cuts.at[q].push_back(c.n[q]);
    cuts.ring[q] = c.ring[q];
  }
  const Whole whole(cuts);
  for (int rank = 0; rank < cuts.count(); ++rank) {
    const std::string what = std::to_string(c.n[0]) + " x " + std::to_string(c.n[1]) + " x " + std::to_string(c.n[2]) +
                             ", rank " + std::to_string(rank) + " of " + std::to_string(cuts.count());
    run(Box(whole, rank), what);
  }
}

TEST(BlackProduct, IsTheSchurComplementsOnBoxesOfTheHost) {
  for (const Case &c : cases)
    on_boxes_of(c, [](const Box &box, const std::string &what) {
      box.expect_sent_reds();
      PartialSum<Host> partial;
      partial.reserve(BlackProduct<Host>::parts_of(box.shape));
      box.expect_product(BlackProduct<Host>::run(on_host, box.shape, box.A, box.p, box.q, partial), what);
    });
}

TEST(BlackProduct, IsTheSchurComplementsOnBoxesByTheDevicesKernel) {
  for (const Case &c : cases)
    on_boxes_of(c, [](const Box &box, const std::string &what) {
      PartialSum<Cuda> partial;
      partial.reserve(BlackProduct<Cuda>::parts_of(box.shape));
      partial.start();
      box.expect_product(BlackProduct<Cuda>::run({}, box.shape, box.A, box.p, box.q, partial), what);
    });
}

// As on larger grids, where blocks go through some planes.
TEST(BlackProduct, GoesThroughPlanesByTheDevicesKernel) {
  for (const int depth : {2, 3, 100})
    for (const Case &c : cases)
      on_boxes_of(c, [&](const Box &box, const std::string &what) {
        BlackTiles tiles(box.shape, box.A, box.p, box.q);
        tiles.depth = depth, tiles.chunks = int((box.shape.n[2] + depth - 1) / depth);
        PartialSum<Cuda> partial;
        partial.reserve(tiles.blocks());
        partial.start();
        const auto sum = partial.take<tile_threads>(tiles.blocks());
        cuda::launch("product", box.shape.has_more() ? multiply_black<true> : multiply_black<false>, false,
                     unsigned(tiles.blocks()), tile_threads, 0, 0, tiles, sum);
        box.expect_product({sum.term, tiles.blocks()}, what + ", depth " + std::to_string(depth));
      });
}

} // namespace
