// Finding and checking the grid of rows on the device: the same grids and the same words as on the host.
#include "grid/cuda/find.hpp"
#include "grid/reach.hpp"

#include "../unit/cut_rows.hpp"
#include "read_support.hpp"

#include <limits>
#include <memory>
#include <vector>

using namespace petscrrb;
using namespace read_support;

namespace {

constexpr const char *option = "-pc_rrb_grid";

void expect_equal(const Grid &got, const Grid &expected) {
  EXPECT_EQ(got.dim, expected.dim);
  EXPECT_EQ(got.points, expected.points);
  EXPECT_EQ(got.source, expected.source);
  for (int x = 0; x < 3; ++x) {
    EXPECT_EQ(got.n[x], expected.n[x]);
    EXPECT_EQ(got.periodic[x], expected.periodic[x]);
  }
}

struct FindOnDevice : OnDevice {
  void expect_found(const Csr &A, Widest widest = Widest::flat) {
    const DeviceRows rows(A);
    Grid expected, got;
    expected.source = got.source = "as before";
    why = petscrrb::find_grid(A, widest, option, expected);
    EXPECT_EQ(cuda::find_grid(rows.csr(), widest, option, got, stream), why);
    expect_equal(got, expected);
  }
  void expect_checked(const Csr &A, const Shape &s, Widest widest = Widest::star) {
    const DeviceRows rows(A);
    Grid expected = grid_of(s);
    expected.dim = s.nz > 1 ? 3 : 2;
    expected.n[2] = s.nz;
    Grid got = expected;
    why = petscrrb::check_grid(A, widest, option, expected);
    EXPECT_EQ(cuda::check_grid(rows.csr(), widest, option, got, stream), why);
    expect_equal(got, expected);
  }
  void expect_all(const Csr &A, const Shape &s) {
    SCOPED_TRACE(name(s));
    for (const Widest widest : {Widest::flat, Widest::star, Widest::box}) {
      expect_found(A, widest);
      expect_checked(A, s, widest);
      expect_checked(A, {s.ny, s.nx, s.nz}, widest);
    }
  }
  void expect_as_on_host(const cut_rows::AllRanks &ranks, std::size_t rank, const Shape &s) {
    RankRows rows = ranks.rows(rank).rows();
    const auto ghosts = PetscInt(ranks.rows(rank).ghosts().size());
    std::vector<std::unique_ptr<DeviceRows>> blocks;
    for (Csr *block : {&rows.own, &rows.others})
      if (block->ia) {
        blocks.push_back(std::make_unique<DeviceRows>(*block));
        *block = blocks.back()->csr();
      }
    const auto device = cuda::make_rank_pattern(rows, ghosts, [this] { return stream; });
    HostRankPattern &host = ranks.pattern(rank);
    const std::size_t all = std::size_t(rows.n + ghosts);
    EXPECT_TRUE(device->mark_identity());
    std::vector<unsigned char> identity(std::size_t(rows.n));
    cuda::check(cudaMemcpy(identity.data(), device->identity(), identity.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    EXPECT_TRUE(std::equal(identity.begin(), identity.end(), host.identity()));
    cuda::check(cudaMemcpy(device->identity(), host.identity(), all, cudaMemcpyHostToDevice), "cudaMemcpy");
    cuda::check(cudaStreamSynchronize(nullptr), "cudaMemcpy"); // from pageable memory it may still be on its way
    for (const std::size_t most : {most_distances, most_distances_of_box}) {
      const Distances d = device->distances(most), expected_d = host.distances(most);
      EXPECT_EQ(d.too_many, expected_d.too_many);
      if (!d.too_many) {
        EXPECT_EQ(d.all, expected_d.all);
      }
    }
    for (const Shape &t : {s, Shape{s.ny, s.nx, 1, s.py, s.px, false, s.points}})
      for (const bool around : {false, true}) {
        const Fit f = device->fit(around ? all_around(grid_of(t)) : grid_of(t)),
                  expected_f = host.fit(around ? all_around(grid_of(t)) : grid_of(t));
        EXPECT_EQ(f.row, expected_f.row);
        EXPECT_EQ(f.column, expected_f.column);
        if (!f.ok()) continue; // what is seen up to there depends on who looks
        EXPECT_EQ(f.seen, expected_f.seen);
        for (int x = 0; x < 3; ++x) EXPECT_EQ(f.seam[x], expected_f.seam[x]);
      }
  }
  void expect_reason(const char *part) { EXPECT_NE(why.find(part), std::string::npos) << why; }

  std::string why;
};

} // namespace

TEST_F(FindOnDevice, EverySmallGrid) {
  unsigned seed = 0;
  for (const Shape &s : shapes({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 7})) {
    ++seed;
    expect_all(GridMatrix(s, {seed}).csr(), s);
    expect_all(GridMatrix(s, {seed, true, seed % 2 == 0, true}).csr(), s);
  }
}

TEST_F(FindOnDevice, ThreeDimensions) {
  for (const int nx : {2, 3, 5})
    for (const int nz : {2, 3, 4})
      for (int periodic = 0; periodic < 8; ++periodic) {
        const Shape s{nx, 4, nz, (periodic & 1) != 0, (periodic & 2) != 0, (periodic & 4) != 0, 7};
        if ((s.px && nx < 3) || (s.pz && nz < 3)) continue;
        auto A = random_matrix(s);
        expect_all(A.csr(), s);
      }
}

TEST_F(FindOnDevice, TwentySevenPoints) {
  for (const Shape &s : {Shape{2, 4, 3}, Shape{5, 4, 6}, Shape{4, 7, 5, true}, Shape{5, 5, 6, true, true, true},
                         Shape{3, 3, 9, false, true, true}, Shape{30, 20, 17, false, false, true}}) {
    Shape box = s;
    box.points = 27;
    auto A = random_matrix(box);
    expect_all(A.csr(), box);
    expect_found(A.csr(), Widest::box);
    EXPECT_EQ(why, "");
    if (s.nx < 30) A.set_both(0, s.size() / 2, -1);
    expect_all(A.csr(), box);
  }
}

TEST_F(FindOnDevice, LargerGrids) {
  unsigned seed = 0;
  for (const Shape &s : shapes({64, 97, 300}, {63, 300})) expect_all(GridMatrix(s, {++seed, true}).csr(), s);
  for (int points : {5, 9}) {
    const Shape s{1023, 1024, 1, false, true, false, points};
    expect_all(GridMatrix(s, {++seed, true, true, true}).csr(), s);
    EXPECT_NE(why, ""); // the sides were exchanged
    expect_found(GridMatrix(s, {++seed}).csr());
    EXPECT_EQ(why, "");
  }
}

// What each of several ranks says of its rows.
TEST_F(FindOnDevice, RanksSayWhatTheyDoOnTheHost) {
  unsigned seed = 0;
  for (const Shape &s : shapes({1, 3, 5, 40}, {1, 4, 33})) {
    SCOPED_TRACE(name(s));
    const GridMatrix A(s, {++seed, seed % 2 == 0, seed % 4 == 0, true});
    for (const auto &parts : {cut_rows::boxes(s.nx, s.ny, s.nx > 2 ? 2 : 1, s.ny > 3 ? 2 : 1),
                              cut_rows::slabs({0, s.size() / 3, s.size() - s.size() / 3})}) {
      const cut_rows::AllRanks ranks(A.csr(), parts);
      for (std::size_t r = 0; r < ranks.count(); ++r) expect_as_on_host(ranks, r, s);
    }
  }
}

// The rest goes wrong, or nearly so.

TEST_F(FindOnDevice, Ambiguous) {
  SmallMatrix A(6), canal(12);
  for (int p = 0; p < 6; ++p)
    for (int q = 0; q < 6; ++q) A.set(p, q, p == q ? 8 : -1);
  expect_found(A.csr());
  expect_reason("Several grids fit");
  for (int p = 0; p < 12; ++p) canal.set(p, p, 4);
  canal.set_both(4, 7, -1);
  canal.set_both(7, 10, -1);
  expect_found(canal.csr());
  expect_reason("Several grids fit");
}

TEST_F(FindOnDevice, NotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    const Shape s{50, 50};
    GridMatrix A(s, {1});
    A.at(1230, 1231) = A.at(1700, 1700) = bad;
    expect_found(A.csr());
    expect_reason("row 1230, column 1231");
    expect_checked(A.csr(), s);
  }
}

TEST_F(FindOnDevice, NoStencil) {
  GridMatrix A({50, 60}, {1});
  A.redirect(1800, 2111, -0.5);
  A.redirect(2800, 11, -0.25);
  expect_found(A.csr());
  expect_reason("No 2D grid");
  expect_reason("row 1800 couples with column 2111 (-0.5)");
  expect_checked(A.csr(), {50, 60});
}

TEST_F(FindOnDevice, TooManyDistances) {
  for (const int count : {10, 11, 12, 40}) {
    SmallMatrix A(6000);
    for (int p = 0; p < 6000; ++p) A.set(p, p, 9);
    for (int q = 1; q <= count; ++q) A.set_both(20 + 100 * q, 20 + 101 * q, -1);
    expect_found(A.csr());
    if (count > 10) expect_reason("row 1120 couples with column 1131");
  }
}

TEST_F(FindOnDevice, FarFetchedSizes) {
  const GridMatrix A({63, 64}, {1});
  expect_checked(A.csr(), {64, 63});
  expect_reason("Its nonzeros fit 63 x 64");
  const GridMatrix chain({4096, 1}, {1});
  expect_checked(chain.csr(), {64, 64});
  expect_reason("4096 x 1");
}

TEST_F(FindOnDevice, NothingToGoBy) {
  SmallMatrix empty(4), none(0), diagonal(3000);
  for (int p = 0; p < 3000; ++p) diagonal.set(p, p, 2);
  expect_found(none.csr());
  expect_found(empty.csr());
  expect_found(diagonal.csr());
  expect_checked(diagonal.csr(), {50, 60});
}
