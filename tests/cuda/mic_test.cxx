// Incomplete factorizations on a device, against the same on the host: grids of all kinds; and to the bit against a
// sequential sweep.
#include "pc/mic/cuda/order.hpp"

#include "../unit/mic_naive.hpp"
#include "read_support.hpp"

#include <cmath>
#include <string>

using namespace mic_support;
using namespace petscrrb;
using namespace petscrrb::mic;
using read_support::DeviceRows;

namespace {

std::string about(const Shape &s, const Options &o) {
  return words(s) + (o.type == Type::mic ? ", mic " : ", ssor ") + std::to_string(o.omega) + ", blocks of " +
         std::to_string(o.block_lines) + (o.single ? ", single" : "");
}

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (bool single : {false, true})
    for (index_t lines : {0, 3, 16}) {
      all.push_back({Type::mic, 1, single, 0, lines});
      all.push_back({Type::mic, 0.95, single, 0.01, lines});
      all.push_back({Type::ssor, 1.5, single, 0, lines});
    }
  all.push_back({Type::mic, 0});
  all.push_back({Type::ssor, 1});
  return all;
}

int processors() {
  int device, count;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}

std::vector<double> read(const cuda::Buffer<double> &from) {
  std::vector<double> to(from.size());
  cuda::check(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return to;
}

void expect_near(const std::vector<double> &x, const std::vector<double> &y, const std::string &what) {
  double most = 0;
  for (double v : y) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-12 * most) << what << ", at " << i;
}

void expect_same(const Findings &here, const Findings &there, const std::string &what) {
  SCOPED_TRACE(what);
  EXPECT_EQ(here.read.identity_rows, there.read.identity_rows);
  EXPECT_EQ(here.read.bad_pivot, there.read.bad_pivot);
  EXPECT_EQ(here.read.not_finite, there.read.not_finite);
  EXPECT_EQ(here.read.foreign, there.read.foreign);
  EXPECT_EQ(here.read.asymmetry, there.read.asymmetry);
  EXPECT_EQ(here.read.result(), there.read.result());
  EXPECT_EQ(here.constant, there.constant);
  if (there.read.result() != ReadResult::ok || there.read.bad_pivot != no_row) return;
  EXPECT_EQ(here.pivot, there.pivot);
  EXPECT_NEAR(here.pivot_value, there.pivot_value, 1e-12);
  EXPECT_EQ(here.shifted, there.shifted);
  if (there.pivot != no_row) return;
  EXPECT_EQ(here.null_rows, there.null_rows);
}

// A factorization on the device, and the vectors that it is applied to.
class OnBoth {
public:
  // shared: memory of a block; 0: the device's
  OnBoth(const Shape &s, const Options &o, cudaStream_t stream, int shared = 0)
      : host(make_mic(lattice(s), o)), r(random_values(std::size_t(s.size()))), x(r), y(r.size()) {
    on_.stream = stream;
    device = shared ? make_mic(on_, lattice(s), o, shared) : make_mic(on_, lattice(s), o);
  }

  // Whether they can be used.
  bool refresh(const Csr &A, const std::string &what) {
    const DeviceRows rows(A);
    const Findings here = device->refresh(rows.csr()), there = host->refresh(A);
    constant = here.constant;
    expect_same(here, there, what);
    return there.read.result() == ReadResult::ok && !there.bad_pivot();
  }
  std::vector<double> applied() {
    device->apply(x.data(), y.data());
    return result();
  }
  void compare(const std::string &what) {
    std::vector<double> z(r.size());
    host->apply(r.data(), z.data());
    expect_near(applied(), z, what);
    host->apply_left(r.data(), z.data());
    device->apply_left(x.data(), y.data());
    expect_near(result(), z, what + ", left");
    host->apply_right(r.data(), z.data());
    device->apply_right(x.data(), y.data());
    expect_near(result(), z, what + ", right");
  }
  std::vector<double> result() {
    cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    auto z = read(y);
    y.assign(std::vector<double>(z.size(), std::nan("")));
    return z;
  }

private:
  Cuda on_;

public:
  bool constant = false; // the couplings
  const std::unique_ptr<Mic> host;
  std::unique_ptr<Mic> device;
  const std::vector<double> r;
  cuda::Buffer<double> x;
  cuda::Buffer<double> y;
};

struct MicOnDevice : read_support::OnDevice {
  void compare(const Csr &A, const Shape &s, const Options &o) {
    OnBoth both(s, o, stream);
    ASSERT_TRUE(both.refresh(A, about(s, o))) << about(s, o);
    both.compare(about(s, o));
  }
};

// Sizes around those of tiles, warps and what is prefetched.
const std::vector<Shape> large_shapes{{129, 127},
                                      {1000, 33},
                                      {33, 1000},
                                      {1, 700},
                                      {700, 1},
                                      {513, 260},
                                      solid(31, 33, 64),
                                      solid(65, 17, 40),
                                      {64, 64},
                                      solid(32, 32, 32),
                                      solid(1, 50, 60),
                                      solid(50, 1, 60),
                                      {15, 17},
                                      solid(100, 2, 3),
                                      solid(2, 100, 3),
                                      solid(2, 3, 100),
                                      {16, 16},
                                      solid(48, 48, 5),
                                      solid(5, 48, 48),
                                      solid(1, 1, 500),
                                      {300, 40, 1, true, true, false},
                                      {40, 33, 35, true, true, true, 7}};

} // namespace

// In all ways that an application may take; few enough for a sanitizer.
TEST_F(MicOnDevice, SmallGridsAreTheHosts) {
  for (const Shape &s : {Shape{40, 9}, Shape{9, 20, 1, true, true}, solid(18, 17, 9), solid(3, 5, 7)}) {
    SmallMatrix A = uneven(s);
    A.make_identity(s.size() / 2, false);
    compare(A.csr(3), s, {Type::mic, 0.95});
    compare(A.csr(3), s, {Type::mic, 1, true, 0.01, 4});
    compare(A.csr(3), s, {Type::ssor, 1.2});
  }
}

TEST_F(MicOnDevice, AllShapesAreTheHosts) {
  for (const Shape &s : shapes) {
    SmallMatrix A = uneven(s), masked = A;
    for (int p = 0; p < s.size(); p += 4) masked.make_identity(p, p % 8 == 0, p % 3 ? 0.5 : 2);
    for (const Options &o : all_options()) {
      compare(A.csr(3), s, o);
      compare(masked.csr(), s, o);
    }
  }
}

// Devices whose blocks have less shared memory have smaller tiles.
TEST_F(MicOnDevice, SmallerTilesAreTheHosts) {
  for (const int shared : {1, 80 << 10})
    for (const Shape &s : {solid(31, 33, 24), solid(65, 17, 40), solid(3, 5, 7), solid(48, 48, 5)}) {
      SmallMatrix A = uneven(s);
      for (const Options &o : all_options()) {
        OnBoth both(s, o, stream, shared);
        ASSERT_TRUE(both.refresh(A.csr(), about(s, o)));
        both.compare(about(s, o));
      }
    }
}

TEST_F(MicOnDevice, LargeGridsAreTheHosts) {
  for (const Shape &s : large_shapes) {
    SmallMatrix A = uneven(s);
    for (const Options &o : all_options()) compare(A.csr(), s, o);
  }
}

TEST_F(MicOnDevice, ConstantCouplingsAreTheHosts) {
  for (const Shape &s : large_shapes) {
    SmallMatrix A = laplacian(s, 0.01, s.px);
    for (int p = 0; p < s.size(); p += 7) A.set(p, p, A.at(p, p) + 1);
    for (const Options &o : all_options()) compare(A.csr(), s, o);
  }
}

TEST_F(MicOnDevice, ARefreshIsANewOne) {
  const Shape s = solid(37, 20, 33);
  SmallMatrix first = laplacian(s, 0.1, false), second = uneven(s);
  second.make_identity(77, false);
  for (const Options &o : all_options()) {
    OnBoth both(s, o, stream), other(s, o, stream);
    for (SmallMatrix *A : {&first, &second, &first}) {
      ASSERT_TRUE(both.refresh(A->csr(), about(s, o)));
      ASSERT_TRUE(other.refresh(A->csr(), about(s, o)));
      both.compare(about(s, o));
      EXPECT_EQ(both.applied(), other.applied()) << about(s, o);
    }
  }
}

TEST_F(MicOnDevice, RefusesAsTheHost) {
  const Shape s{6, 5};
  const auto see = [&](SmallMatrix A) {
    for (Type type : {Type::mic, Type::ssor}) EXPECT_FALSE(OnBoth(s, {type}, stream).refresh(A.csr(), "refused"));
  };
  SmallMatrix negative = random_matrix(s), bad = negative, skew = negative, far = negative;
  negative.set(11, 11, -1), negative.set(20, 20, 0);
  bad.set(3, 4, std::nan(""));
  skew.set(14, 15, -5);
  far.set_both(2, 17, -1);
  see(negative), see(bad), see(skew), see(far);
}

TEST_F(MicOnDevice, PivotsThatAreNotPositiveAreTheHosts) {
  for (const Shape &s : {Shape{9, 7}, Shape{40, 70}, solid(9, 7, 5), solid(40, 20, 33)}) {
    SmallMatrix A = singular(s);
    OnBoth null(s, {Type::mic, 1}, stream);
    EXPECT_TRUE(null.refresh(A.csr(), words(s)));
    for (int p : {s.size() / 3, s.size() / 2}) A.set(p, p, 0.2 * A.at(p, p));
    OnBoth bad(s, {Type::mic, 0.5}, stream), raised(s, {Type::mic, 0.5, false, 0.3}, stream);
    EXPECT_FALSE(bad.refresh(A.csr(), words(s)));
    EXPECT_TRUE(raised.refresh(A.csr(), words(s)));
    raised.compare(words(s));
  }
}

TEST_F(MicOnDevice, ManyColumnsAreEachItself) {
  for (const Shape &s : {Shape{100, 67}, solid(37, 20, 33)}) {
    SmallMatrix A = uneven(s);
    for (const Options &o : all_options()) {
      OnBoth both(s, o, stream);
      ASSERT_TRUE(both.refresh(A.csr(), about(s, o)));
      const int n = s.size(), columns = 5, from = n + 3, to = n + 8;
      const auto r = random_values(std::size_t(from * columns));
      const cuda::Buffer<double> x(r), y(std::vector<double>(std::size_t(to * columns), -7.0));
      both.device->apply(x.data(), from, y.data(), to, columns);
      cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      const auto z = read(y);
      for (int k = 0; k < columns; ++k) {
        both.x.assign(std::vector<double>(r.begin() + k * from, r.begin() + k * from + n)); // which waits
        const auto alone = both.applied();
        for (int p = 0; p < n; ++p) ASSERT_EQ(z[std::size_t(k * to + p)], alone[std::size_t(p)]) << about(s, o);
        for (int p = n; p < to; ++p) ASSERT_EQ(z[std::size_t(k * to + p)], -7.0);
      }
    }
  }
}

// SSOR's factor is the same to the bit wherever it is computed, so that nothing but the sweeps is compared.
TEST_F(MicOnDevice, SweepsAreTheSequentialOnesToTheBit) {
  for (const auto &list : {shapes, large_shapes})
    for (const Shape &s : list) {
      SmallMatrix A = uneven(s);
      for (const Options &o : {Options{Type::ssor, 1.5}, Options{Type::ssor, 1, true}}) {
        OnBoth both(s, o, stream);
        ASSERT_TRUE(both.refresh(A.csr(), about(s, o)));
        const Kept kept(A, s);
        const Order order = device::device_order(lattice(s), o, processors());
        const auto z = o.single ? Naive<float>(kept, s, o, order.axis, both.constant).solve(both.r)
                                : Naive<double>(kept, s, o, order.axis, both.constant).solve(both.r);
        ASSERT_EQ(both.applied(), z) << about(s, o);
      }
    }
}

TEST_F(MicOnDevice, AllRunsAreAlikeToTheBit) {
  const Shape s = solid(100, 70, 50);
  SmallMatrix A = uneven(s);
  for (const Options &o : all_options()) {
    OnBoth both(s, o, stream);
    ASSERT_TRUE(both.refresh(A.csr(), about(s, o)));
    const auto z = both.applied();
    for (int k = 0; k < 20; ++k) {
      ASSERT_TRUE(both.refresh(A.csr(), about(s, o)));
      ASSERT_EQ(both.applied(), z) << about(s, o);
    }
  }
}

// Ten thousand applications that wait for their neighbours' blocks, while another stream takes multiprocessors away at random
// times: another factorization, whose blocks wait for each other, too.
TEST_F(MicOnDevice, DoesNotHangBesideOtherKernels) {
  const Shape s = solid(64, 64, 64), other{700, 300};
  SmallMatrix A = uneven(s), B = uneven(other);
  cudaStream_t second;
  cuda::check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  {
    OnBoth first(s, {Type::mic, 0.97}, stream), beside(other, {Type::mic, 0.97}, second);
    ASSERT_TRUE(first.refresh(A.csr(), words(s)));
    ASSERT_TRUE(beside.refresh(B.csr(), words(other)));
    const auto z = first.applied(), y = beside.applied();
    for (int k = 0; k < 10000; ++k) {
      first.device->apply(first.x.data(), first.y.data());
      if (k % 3 == 0) beside.device->apply(beside.x.data(), beside.y.data());
    }
    EXPECT_EQ(first.result(), z);
    EXPECT_EQ(beside.result(), y);
  }
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
}
