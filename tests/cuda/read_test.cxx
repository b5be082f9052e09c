// Reading and preparing the stencil on the device, against the same on the host.
#include "stencil/cuda/stencil.hpp"

#include "pc/rrb/core/prepare.hpp"
#include "read_support.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using namespace petscrrb;
using namespace read_support;

namespace {

constexpr double rounding = 1e-14;

struct Expected {
  ReadResult result = ReadResult::ok;
  Stencil stencil;
  RowFacts facts;
  std::string why;
};

Expected on_host(const Csr &A, const Grid &g, const std::vector<double> &v) {
  Expected e;
  e.result = read_stencil(A, g, e.stencil, e.facts, e.why);
  if (e.result != ReadResult::ok) return e;
  e.stencil.v = v;
  for (std::size_t p = 0; p < e.stencil.v.size(); ++p) {
    if (e.stencil.identity[p]) e.stencil.v[p] = 1;
    if (e.stencil.v[p] != 0 && std::isfinite(e.stencil.v[p])) continue;
    e.facts.useless_row = static_cast<index_t>(p);
    e.stencil.v.clear();
  }
  rrb::prepare(e.stencil, g, rounding, Positive::moves, e.facts);
  return e;
}

template <class T> std::vector<T> fetched(const cuda::Buffer<T> &buffer) {
  std::vector<T> values(buffer.size());
  if (!values.empty())
    cuda::check(cudaMemcpy(values.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// -0 and 0 differ, and a NaN is itself.
void expect_same_bits(const std::vector<double> &expected, const cuda::Buffer<double> &buffer, const char *what) {
  const auto got = fetched(buffer);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t p = 0; p < got.size(); ++p)
    ASSERT_EQ(std::memcmp(&got[p], &expected[p], sizeof(double)), 0)
        << what << "[" << p << "] is " << got[p] << ", not " << expected[p];
}

double sum(const std::vector<double> &a) {
  double s = 0;
  for (const double x : a) s += x;
  return s;
}

void expect_same(const Expected &e, const cuda::DeviceStencil &s, const RowFacts &f) {
  expect_same_bits(e.stencil.C, s.C, "C");
  expect_same_bits(e.stencil.E, s.E, "E");
  expect_same_bits(e.stencil.N, s.N, "N");
  expect_same_bits(e.stencil.NE, s.NE, "NE");
  expect_same_bits(e.stencil.NW, s.NW, "NW");
  EXPECT_EQ(fetched(s.identity), e.stencil.identity);
  EXPECT_EQ(s.scaled, !e.stencil.v.empty());
  if (s.scaled) expect_same_bits(e.stencil.v, s.v, "v");
  EXPECT_EQ(f.identity_rows, e.facts.identity_rows);
  EXPECT_EQ(f.zero_rows, e.facts.zero_rows);
  EXPECT_EQ(f.positive, e.facts.positive);
  EXPECT_EQ(f.corners, e.facts.corners);
  EXPECT_EQ(f.asymmetry, e.facts.asymmetry);
  EXPECT_EQ(f.crosses[0], e.facts.crosses[0]);
  EXPECT_EQ(f.crosses[1], e.facts.crosses[1]);
  EXPECT_EQ(f.rounded, e.facts.rounded);
  EXPECT_EQ(f.bad_pivot, e.facts.bad_pivot);
  EXPECT_EQ(f.useless_row, e.facts.useless_row);
  EXPECT_NEAR(f.weights[0], sum(e.stencil.E), 1e-12 * sum(e.stencil.E));
  EXPECT_NEAR(f.weights[1], sum(e.stencil.N), 1e-12 * sum(e.stencil.N));
}

struct ReadOnDevice : OnDevice {
  void expect_read(const Csr &A, const Grid &g, const std::vector<double> &v = {}) {
    const DeviceRows rows(A);
    const cuda::Buffer<double> near_null(v);
    cuda::StencilReader reader(g);
    cuda::DeviceStencil stencil;
    const Expected e = on_host(A, g, v);
    EXPECT_EQ(reader.read(rows.csr(), near_null.data(), rounding, stencil, facts, stream), e.result);
    if (e.result == ReadResult::ok)
      expect_same(e, stencil, facts);
    else
      EXPECT_EQ(cuda::why_not(rows.csr(), g, stream), e.why);
    result = e.result;
  }
  void expect_read(const Shape &s, const Traits &t, const std::vector<double> &v = {}) {
    SCOPED_TRACE(name(s) + ", seed " + std::to_string(t.seed));
    expect_read(GridMatrix(s, t).csr(), grid_of(s), v);
  }

  RowFacts facts;
  ReadResult result = ReadResult::ok;
};

std::vector<double> uneven(int n) {
  std::vector<double> v(n);
  for (int p = 0; p < n; ++p) v[p] = 0.5 + double(hash(p, 0, 3) % 1000) / 700;
  return v;
}

} // namespace

TEST_F(ReadOnDevice, EverySmallGrid) {
  unsigned seed = 0;
  for (const Shape &s : shapes({1, 2, 3, 4, 5, 30, 31}, {1, 2, 3, 4, 5, 9})) {
    ++seed;
    expect_read(s, {seed});
    expect_read(s, {seed, true, false, false});
    expect_read(s, {seed, true, true, true}, uneven(s.size()));
  }
}

TEST_F(ReadOnDevice, LargerGrids) {
  unsigned seed = 0;
  for (const Shape &s : shapes({29, 60, 61, 97, 300}, {1, 32, 33, 300})) expect_read(s, {++seed, true, seed % 2 == 0});
  for (int points : {5, 9}) {
    expect_read({1, 3000, 1, false, true, false, points}, {++seed, true});
    expect_read({5000, 1, 1, true, false, false, points}, {++seed, true, true});
    expect_read({1023, 1030, 1, false, false, false, points}, {++seed, true}, uneven(1023 * 1030));
    expect_read({1531, 1503, 1, true, true, false, points}, {++seed, true, true, true});
  }
}

TEST_F(ReadOnDevice, FivePointMatrixOnNinePointGrid) {
  const Shape s{40, 7};
  Grid g = grid_of(s);
  g.points = 9;
  expect_read(GridMatrix(s, {4}).csr(), g);
  EXPECT_FALSE(facts.corners);
}

TEST_F(ReadOnDevice, LongRows) {
  for (int points : {5, 9}) {
    const Shape s{40, 6, 1, true, false, false, points};
    auto A = random_matrix(s);
    A.pad(37); // more entries than a warp stages
    expect_read(A.csr(), grid_of(s));
    expect_read(A.csr(3), grid_of(s));
    EXPECT_EQ(result, ReadResult::ok);
  }
}

TEST_F(ReadOnDevice, NotFinite) {
  const Shape s{35, 20};
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
    for (const int column : {371, 372, 336, 406, 0}) {
      GridMatrix A(s, {1});
      if (column)
        A.at(371, column) = bad;
      else
        A.redirect(371, 0, bad);
      expect_read(A.csr(), grid_of(s));
      EXPECT_EQ(result, ReadResult::refused);
    }
}

TEST_F(ReadOnDevice, Nonsymmetric) {
  const Shape s{64, 40, 1, true, true, false, 9}; // the smaller of two diagonal entries is 30
  for (const int q : {1, 63, 64, 65, 127, 64 * 39, 64 * 39 + 1, 64 * 40 - 1}) {
    GridMatrix A(s, {1});
    A.at(q, 0) += 2.9e-9;
    expect_read(A.csr(), grid_of(s));
    EXPECT_EQ(result, ReadResult::ok);
    A.at(q, 0) += 0.2e-9;
    expect_read(A.csr(), grid_of(s));
    EXPECT_EQ(result, ReadResult::refused);
  }
}

TEST_F(ReadOnDevice, SmallForeignCouplings) {
  const Shape s{33, 9};
  Traits t{2, true, true};
  GridMatrix clean(s, t);
  std::vector<int> identity, coupled;
  for (int p = 40; p < 250; ++p) (clean.identity(p) ? identity : coupled).push_back(p);
  GridMatrix A = clean; // into an identity row far away: dropped
  A.redirect(coupled[0], identity.back(), -2);
  expect_read(A.csr(), grid_of(s));
  A.redirect(coupled[9], coupled[3], -2);
  expect_read(A.csr(), grid_of(s));
  EXPECT_EQ(result, ReadResult::rebuild);
  GridMatrix seam({33, 9, 1, true}, {1}), corners({33, 9, 1, false, false, false, 9}, {1});
  for (const GridMatrix *other : {&seam, &corners}) {
    expect_read(other->csr(), grid_of(s));
    EXPECT_EQ(result, ReadResult::rebuild);
  }
  cuda::DeviceStencil stencil;
  const DeviceRows rows(clean.csr());
  cuda::StencilReader larger(grid_of({33, 10}));
  EXPECT_EQ(larger.read(rows.csr(), nullptr, rounding, stencil, facts, stream), ReadResult::rebuild);
}

TEST_F(ReadOnDevice, RingThatNoValueCrosses) {
  for (int points : {5, 9})
    for (const bool x : {true, false}) {
      const Shape open{37, 12, 1, !x, x, false, points}, closed{37, 12, 1, true, true, false, points};
      expect_read(GridMatrix(open, {1}).csr(), grid_of(closed));
      EXPECT_TRUE(facts.simpler(grid_of(closed)));
      expect_read(GridMatrix(closed, {1}).csr(), grid_of(closed));
      EXPECT_FALSE(facts.simpler(grid_of(closed)));
    }
}

TEST_F(ReadOnDevice, VectorThatSaysNothing) {
  const Shape s{50, 30};
  const Traits t{5, true};
  const GridMatrix A(s, t);
  const Expected e = on_host(A.csr(), grid_of(s), {});
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> v = uneven(s.size());
    for (int p = 0; p < s.size(); ++p)
      if (e.stencil.identity[p]) v[p] = bad; // of no importance
    expect_read(s, t, v);
    EXPECT_EQ(facts.useless_row, no_row);
    int first = 700;
    while (e.stencil.identity[first]) ++first;
    v[first] = v[first + 400] = bad;
    expect_read(s, t, v);
    EXPECT_EQ(facts.useless_row, first);
    EXPECT_EQ(std::memcmp(&facts.useless_value, &bad, sizeof bad), 0);
  }
}

TEST_F(ReadOnDevice, RefreshKeepsTheArraysAndForgetsTheOldValues) {
  for (int points : {5, 9}) {
    const Shape s{129, 65, 1, true, false, false, points};
    const GridMatrix A(s, {3, true}), B(s, {4, true, true});
    const DeviceRows a(A.csr()), b(B.csr());
    const Grid g = grid_of(s);
    const cuda::Buffer<double> v(uneven(s.size()));
    cuda::StencilReader reader(g);
    cuda::DeviceStencil stencil;
    ASSERT_EQ(reader.read(a.csr(), v.data(), rounding, stencil, facts, stream), ReadResult::ok);
    const void *before[] = {stencil.C.data(), stencil.NW.data(), stencil.v.data(), stencil.identity.data()};
    ASSERT_EQ(reader.read(b.csr(), nullptr, rounding, stencil, facts, stream), ReadResult::ok);
    expect_same(on_host(B.csr(), g, {}), stencil, facts);
    const RowFacts once = facts;
    for (int again = 0; again < 3; ++again) {
      ASSERT_EQ(reader.read(b.csr(), nullptr, rounding, stencil, facts, stream), ReadResult::ok);
      EXPECT_EQ(facts.weights[0], once.weights[0]);
      EXPECT_EQ(facts.weights[1], once.weights[1]);
    }
    ASSERT_EQ(reader.read(a.csr(), v.data(), rounding, stencil, facts, stream), ReadResult::ok);
    expect_same(on_host(A.csr(), g, uneven(s.size())), stencil, facts);
    const void *after[] = {stencil.C.data(), stencil.NW.data(), stencil.v.data(), stencil.identity.data()};
    EXPECT_TRUE(std::equal(before, before + 4, after));
  }
}
