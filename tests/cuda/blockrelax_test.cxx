// Relaxation by blocks on a device against the same on the host: matrices, blocks and patches of all kinds.
#include "../petsc/cuda_calls.hpp"
#include "../unit/blockrelax_known.hpp"
#include "read_support.hpp"

using namespace blockrelax_support;
using petscrrb::Csr;
using petscrrb::no_row;
using petscrrb::ReadResult;
using petscrrb::blockrelax::Findings;
using petscrrb::blockrelax::Inverse;
using read_support::DeviceRows;
namespace cuda = petscrrb::cuda;

namespace {

Vector read(const cuda::Buffer<double> &from) {
  Vector to(from.size());
  cuda::check(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return to;
}

void expect_near(const Vector &x, const Vector &y, const std::string &what, double tolerance = 1e-11) {
  const double most = largest(y);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * most) << what << ", at " << i;
}

void expect_same(const Findings &here, const Findings &there, const std::string &what) {
  SCOPED_TRACE(what);
  EXPECT_EQ(here.read.identity_rows, there.read.identity_rows);
  EXPECT_EQ(here.read.bad_pivot, there.read.bad_pivot);
  EXPECT_EQ(here.read.not_finite, there.read.not_finite);
  EXPECT_EQ(here.read.foreign, there.read.foreign);
  EXPECT_EQ(here.read.varies, there.read.varies);
  EXPECT_EQ(here.read.asymmetry, there.read.asymmetry);
  EXPECT_EQ(here.read.result(), there.read.result());
  EXPECT_EQ(here.constant, there.constant);
  if (there.read.result() != ReadResult::ok || there.read.bad_pivot != no_row) return;
  EXPECT_EQ(here.pivot, there.pivot);
  EXPECT_LE(here.shapes, there.shapes); // the host takes links in the order of the matrix
  EXPECT_EQ(here.used, there.used);
}

bool usable(const Findings &f) {
  return f.read.result() == ReadResult::ok && f.read.bad_pivot == no_row && f.pivot == no_row;
}

class OnTheDevice {
public:
  OnTheDevice(const Domain &domain, const Options &o, cudaStream_t stream)
      : b_(std::size_t(domain.s.size())), x_(b_.size()) {
    on_.stream = stream;
    relax = petscrrb::blockrelax::make_blockrelax(on_, domain.patches_and_points(), o);
  }
  Findings refresh(const Csr &A) {
    const DeviceRows rows(A);
    return relax->refresh(rows.csr());
  }
  Vector swept(const Vector &b, const Vector &x, int sweeps, bool from_zero = false) {
    b_.assign(b);
    x_.assign(from_zero ? Vector(x.size(), std::nan("")) : x);
    relax->sweep(b_.data(), x_.data(), sweeps, from_zero);
    cuda::check(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize");
    return read(x_);
  }

private:
  petscrrb::Cuda on_;
  cuda::Buffer<double> b_, x_;

public:
  std::unique_ptr<BlockRelax> relax;
};

using MakeMatrix = SmallMatrix (*)(const Domain &);
SmallMatrix variable(const Domain &domain) { return random_couplings(domain); }
const MakeMatrix matrices[] = {constant, variable, masked};

std::vector<Options> deterministic(int bx, int by, int bz, int colours) {
  std::vector<Options> all{jacobi(bx, by, bz), coloured(bx, by, bz), symmetric(bx, by, bz)};
  for (Options &o : all) o.colours = colours;
  all.back().omega = 1.2;
  return all;
}

struct BlockRelaxOnDevice : read_support::OnDevice {
  // split: most blocks are solved in sine bases there
  void compare(const Domain &domain, SmallMatrix &A, const Options &o, bool split = false) {
    const std::string what = words(domain, o);
    const auto host = make(domain, o);
    OnTheDevice device(domain, o, stream);
    const Csr rows = A.csr(3);
    const Findings there = host->refresh(rows);
    Findings here = device.refresh(rows);
    if (split) EXPECT_EQ(std::exchange(here.used, there.used), "tensor and factored") << what;
    expect_same(here, there, what);
    ASSERT_TRUE(usable(there) && usable(here)) << what;
    const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
    for (int k : {1, 2, 3}) {
      const std::string sweeps = what + ", sweeps: " + std::to_string(k);
      expect_near(device.swept(b, x, k), swept(*host, b, x, k), sweeps);
      expect_near(device.swept(b, x, k, true), swept_from_zero(*host, b, k), sweeps + ", from zero");
    }
  }
  void compare_all(const Domain &domain, int bx, int by, int bz) {
    for (MakeMatrix matrix : matrices) {
      SmallMatrix A = matrix(domain);
      for (const Options &o : deterministic(bx, by, bz, fewest_colours(domain.s, {bx, by, bz}))) compare(domain, A, o);
    }
  }
};

const std::vector<Size> sizes{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {5, 3, 7}};

// Each kind of kernel; few enough for a sanitizer.
TEST_F(BlockRelaxOnDevice, SmallGridsAreTheHosts) {
  for (const Domain &domain :
       {Domain(solid(9, 5, 6)), Domain(around({12, 7}, true, true, false)), Domain({13, 9, 1, false, false, false, 9}),
        Domain(solid(7, 6, 5), {{3}, {}, {2}}), Domain(around(solid(6, 5, 3, 27), true, false, true))})
    for (const Size &size : {Size{2, 2, 2}, Size{4, 5, 3}, Size{16, 1, 1}, Size{8, 6, 3}})
      compare_all(domain, size[0], size[1], size[2]);
}

TEST_F(BlockRelaxOnDevice, SmallBudgetsAndDenseInverses) {
  const Domain domain(solid(9, 8, 7), {{5}, {}, {}});
  for (MakeMatrix matrix : matrices) {
    SmallMatrix A = matrix(domain);
    for (const Inverse inverse : {Inverse::automatic, Inverse::dense})
      for (const double memory : {0.0, 1e5, 1.0}) {
        Options o = coloured(4, 4, 4);
        o.inverse = inverse, o.memory = memory;
        compare(domain, A, o);
      }
  }
}

TEST_F(BlockRelaxOnDevice, ThePapersBlocks) {
  for (const Size &size : block_sizes)
    for (const Shape &s : {solid(16, 8, 8), solid(13, 9, 11)}) compare_all(s, size[0], size[1], size[2]);
}

TEST_F(BlockRelaxOnDevice, TinyAndOddGrids) {
  for (const Shape &s :
       {solid(1, 1, 1), solid(7, 1, 1), solid(1, 9, 1), solid(1, 1, 9), solid(2, 3, 2), solid(33, 18, 21)})
    for (const Size &size : sizes) compare_all(s, size[0], size[1], size[2]);
}

TEST_F(BlockRelaxOnDevice, LinesAndPlanes) {
  const Shape s = solid(20, 14, 11);
  for (const Size &size : {Size{20, 1, 1}, Size{1, 14, 1}, Size{1, 1, 11}, Size{20, 14, 1}, Size{20, 1, 11},
                           Size{1, 14, 11}, Size{20, 14, 11}})
    compare_all(s, size[0], size[1], size[2]);
  compare_all(Shape{700, 9}, 700, 1, 1);
  compare_all(Shape{9, 700}, 1, 700, 1);
}

TEST_F(BlockRelaxOnDevice, TwoDimensions) {
  for (int points : {5, 9})
    for (const auto &[nx, ny] : std::vector<std::array<int, 2>>{{1, 1}, {40, 1}, {1, 33}, {5, 4}, {41, 30}, {100, 67}})
      for (const auto &[bx, by] : std::vector<std::array<int, 2>>{{1, 1}, {4, 4}, {5, 3}, {8, 8}, {32, 32}})
        compare_all(Shape{nx, ny, 1, false, false, false, points}, bx, by, 1);
}

TEST_F(BlockRelaxOnDevice, TwentySevenPoints) {
  for (const Shape &s : {solid(9, 5, 6, 27), solid(16, 17, 9, 27), solid(3, 1, 4, 27)})
    for (const Size &size : sizes) compare_all(s, size[0], size[1], size[2]);
}

TEST_F(BlockRelaxOnDevice, PeriodicSides) {
  for (const Shape &s :
       {around({12, 7}, true, false, false), around({7, 12}, false, true, false), around({41, 33}, true, true, false),
        around({12, 15, 1, false, false, false, 9}, true, true, false), around(solid(8, 11, 6), true, false, true),
        around(solid(16, 9, 17), true, true, true), around(solid(8, 10, 5, 27), true, true, true)})
    for (const Size &size : {Size{1, 1, 1}, Size{2, 2, 2}, Size{4, 4, 4}, Size{4, 3, 1}, Size{12, 5, 2}, Size{8, 8, 8}})
      compare_all(s, size[0], size[1], size[2]);
}

TEST_F(BlockRelaxOnDevice, Patches) {
  const Domain domains[] = {{solid(12, 8, 8), {{4, 8}, {4}, {4}}},
                            {solid(31, 17, 9), {{3, 19}, {8}, {1, 5}}},
                            {Shape{40, 33, 1, false, false, false, 9}, {{11, 13, 30}, {16}, {}}},
                            {around({40, 33}, true, true, false), {{20}, {16}, {}}},
                            {solid(9, 9, 9, 27), {{4}, {3}, {5}}}};
  for (const Domain &domain : domains)
    for (const Size &size : sizes) {
      for (MakeMatrix matrix : matrices) {
        SmallMatrix A = matrix(domain);
        const int points = domain.s.points, colours = points == 27 ? 8 : points == 9 ? 4 : 3; // 3: around a side
        for (const Options &o : deterministic(size[0], size[1], size[2], colours)) compare(domain, A, o);
      }
    }
}

TEST_F(BlockRelaxOnDevice, EachInverseIsTheHosts) {
  const Domain domains[] = {solid(13, 9, 11),
                            Shape{50, 40},
                            {{20, 13, 1, false, false, false, 9}},
                            {solid(12, 9, 8), {{5}, {4}, {}}},
                            solid(9, 8, 7, 27)};
  for (const Domain &domain : domains)
    for (MakeMatrix matrix : matrices) {
      SmallMatrix A = matrix(domain);
      for (const Inverse inverse : {Inverse::tensor, Inverse::dense})
        for (Options o : deterministic(8, 8, 4, 8)) {
          o.inverse = inverse;
          compare(domain, A, o);
        }
    }
}

// What has no room is computed when it is needed.
TEST_F(BlockRelaxOnDevice, KeepsToItsMemory) {
  for (const Domain &domain :
       {Domain(solid(20, 17, 13)), Domain(Shape{70, 65}), Domain(around(solid(9, 8, 7), true, true, false))})
    for (MakeMatrix matrix : matrices) {
      SmallMatrix A = matrix(domain);
      for (const double memory : {5e5, 1e5, 5e3, 1.0})
        for (Options o : {jacobi(8, 8, 4), coloured(32, 32, 1, 3)}) {
          o.memory = memory;
          compare(domain, A, o);
        }
    }
}

// Their cells do not fit into shared memory.
TEST_F(BlockRelaxOnDevice, VeryLargeBlocks) {
  for (const Domain &domain : {Domain(Shape{200, 180}), Domain(Shape{180, 200, 1, false, false, false, 9})})
    for (MakeMatrix matrix : {MakeMatrix(constant), MakeMatrix(variable)}) {
      SmallMatrix A = matrix(domain);
      compare(domain, A, jacobi(200, 180, 1));
    }
}

// Inverses are alike as long as blocks are; what lies between blocks is not theirs.
TEST_F(BlockRelaxOnDevice, BlocksThatAreAlikeShareFactors) {
  const Domain domain(solid(25, 24, 16));
  SmallMatrix A = constant(domain);
  for (int p = 0; p < A.size(); ++p)
    if (p % 25 % 4 == 3 && p % 25 < 24) A.set_both(p, p + 1, -0.1 - 0.01 * (p % 70));
  A.set(1000, 1000, 8);
  for (const Options &o : deterministic(4, 4, 4, 2)) compare(domain, A, o);
}

// More blocks than the device has at a time.
TEST_F(BlockRelaxOnDevice, BlocksWithCommonCouplingsApartFromOthers) {
  for (const Domain &domain : {Domain(solid(97, 88, 90)), Domain(around(solid(97, 88, 90), true, false, false)),
                               Domain(solid(97, 88, 90), {{41}, {}, {48}})}) {
    const auto row = [&](int i, int j, int k) { return domain.row[domain.s.row(i, j, k)]; };
    SmallMatrix A = constant(domain);
    for (int k = 0; k < 90; ++k)
      for (int j = 0; j < 88; ++j) A.set(row(0, j, k), row(0, j, k), 9);
    A.set(row(50, 40, 40), row(50, 40, 40), 7);         // within a block
    A.set_both(row(71, 20, 20), row(72, 20, 20), -0.5); // between blocks along each side
    A.set_both(row(20, 71, 20), row(20, 72, 20), -0.25);
    A.set_both(row(20, 20, 71), row(20, 20, 72), -0.125);
    const int alone = row(60, 60, 60);
    for (const auto &[i, j, k] : std::vector<std::array<int, 3>>{
             {59, 60, 60}, {61, 60, 60}, {60, 59, 60}, {60, 61, 60}, {60, 60, 59}, {60, 60, 61}})
      A.set_both(alone, row(i, j, k), 0);
    for (Options o : deterministic(8, 8, 8, 3)) compare(domain, A, o, true);
  }
}

// Levels of a multigrid method have blocks of several sizes.
TEST_F(BlockRelaxOnDevice, LargeAndSmallBlocksSideBySide) {
  const Domain large(Shape{130, 130}), small(Shape{33, 33});
  for (MakeMatrix matrix : {MakeMatrix(constant), MakeMatrix(variable)}) {
    const Options o = jacobi(64, 64, 1);
    SmallMatrix A = matrix(large), B = matrix(small);
    const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
    const auto host = make(large, o);
    OnTheDevice first(large, o, stream), second(small, o, stream);
    ASSERT_TRUE(usable(host->refresh(A.csr())) && usable(first.refresh(A.csr())) && usable(second.refresh(B.csr())));
    expect_near(first.swept(b, x, 2), swept(*host, b, x, 2), words(large, o));
  }
}

TEST_F(BlockRelaxOnDevice, NoSweepsChangeNothing) {
  const Domain domain = solid(9, 8, 7);
  SmallMatrix A = random_couplings(domain);
  const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
  for (const Options &o : {jacobi(4, 4, 4), coloured(4, 4, 4), chaotic(4, 4, 4)}) {
    OnTheDevice device(domain, o, stream);
    ASSERT_TRUE(usable(device.refresh(A.csr())));
    EXPECT_EQ(device.swept(b, x, 0), x);
    EXPECT_EQ(device.swept(b, x, 0, true), Vector(x.size(), 0.0));
  }
}

TEST_F(BlockRelaxOnDevice, ARefreshIsANewOne) {
  const Domain domains[] = {solid(33, 19, 21), {solid(33, 19, 21), {{8, 17}, {9}, {11, 13}}}};
  for (const Domain &domain : domains)
    for (const Options &o : deterministic(4, 4, 4, 2)) {
      const Vector b = random_values(domain.s.size(), -1, 1), x = random_values(domain.s.size(), 0, 1, 7);
      OnTheDevice again(domain, o, stream);
      for (MakeMatrix matrix : {variable, constant, masked, constant, variable, variable}) {
        SmallMatrix A = matrix(domain);
        OnTheDevice anew(domain, o, stream);
        ASSERT_TRUE(usable(again.refresh(A.csr(3))) && usable(anew.refresh(A.csr(3))));
        EXPECT_EQ(again.swept(b, x, 2), anew.swept(b, x, 2)) << words(domain, o);
      }
    }
}

TEST_F(BlockRelaxOnDevice, SmallRefreshesAndSweepsAllocateNothing) {
  const Domain domain(around(solid(13, 9, 11), true, false, false), {{5}, {}, {}});
  for (MakeMatrix matrix : matrices)
    for (Options o : deterministic(4, 4, 4, 3))
      for (const Inverse inverse : {Inverse::automatic, Inverse::dense})
        for (const double memory : {0.0, 1e4}) {
          o.inverse = inverse, o.memory = memory;
          SmallMatrix A = matrix(domain);
          const DeviceRows rows(A.csr());
          const Vector x = random_values(A.size(), 0, 1, 7);
          const cuda::Buffer<double> b(x), u(x);
          OnTheDevice device(domain, o, stream);
          ASSERT_TRUE(usable(device.relax->refresh(rows.csr())));
          const petsctest::CudaCalls before = petsctest::cuda_calls;
          device.relax->sweep(b.data(), u.data(), 2, false);
          device.relax->sweep(b.data(), u.data(), 2, true);
          const petsctest::CudaCalls in_sweeps = petsctest::cuda_calls - before;
          EXPECT_EQ(in_sweeps.copies + in_sweeps.stream_waits + in_sweeps.device_waits, 0) << words(domain, o);
          ASSERT_TRUE(usable(device.relax->refresh(rows.csr())));
          const petsctest::CudaCalls all = petsctest::cuda_calls - before;
          EXPECT_EQ(all.allocations + all.frees, 0) << words(domain, o);
        }
}

TEST_F(BlockRelaxOnDevice, AllRunsAreAlikeToTheBit) {
  const Domain domain(solid(33, 17, 21), {{8, 17}, {9}, {11, 13}});
  SmallMatrix A = random_couplings(domain);
  const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
  for (const Options &o : deterministic(8, 4, 4, 2)) {
    OnTheDevice device(domain, o, stream);
    ASSERT_TRUE(usable(device.refresh(A.csr())));
    const Vector once = device.swept(b, x, 2);
    for (int again = 0; again < 20; ++again) ASSERT_EQ(device.swept(b, x, 2), once) << words(domain, o);
  }
}

TEST_F(BlockRelaxOnDevice, SmallRefusalsAreTheHosts) {
  const Domain domains[] = {solid(9, 8, 7), {solid(9, 8, 7), {{4}, {}, {}}}, around(solid(9, 8, 7), true, true, true)};
  for (const Domain &domain : domains)
    for (const Options &o : {jacobi(4, 4, 4), jacobi(9, 8, 7)}) {
      const auto see = [&](const std::function<void(SmallMatrix &)> &spoil, bool good = false) {
        SmallMatrix A = random_couplings(domain);
        spoil(A);
        const Findings here = OnTheDevice(domain, o, stream).refresh(A.csr(3));
        expect_same(here, make(domain, o)->refresh(A.csr(3)), words(domain, o));
        EXPECT_EQ(usable(here), good) << words(domain, o);
      };
      const int p = domain.row[domain.s.row(5, 5, 5)];
      see([&](SmallMatrix &) {}, true);
      see([&](SmallMatrix &A) { A.set(p, p + 1, -3); });
      see([&](SmallMatrix &A) { A.set_both(p, p + 1, std::nan("")); });
      see([&](SmallMatrix &A) { A.set_both(p, p - 2, -0.1); });
      see([&](SmallMatrix &A) { A.set_both(p, p - 2, 0); }, true);
      see([&](SmallMatrix &A) { A.set(p, p, -1), A.set(7, 7, 0); });
      see([&](SmallMatrix &A) { A.set_both(p, p + 1, -100); });
    }
  for (const Inverse inverse : {Inverse::tensor, Inverse::dense, Inverse::automatic}) {
    SmallMatrix A = constant(domains[0]);
    for (int p = 0; p < A.size(); ++p) A.set(p, p, 2);
    Options o = jacobi(4, 4, 4);
    o.inverse = inverse;
    const Findings here = OnTheDevice(domains[0], o, stream).refresh(A.csr());
    expect_same(here, make(domains[0], o)->refresh(A.csr()), words(domains[0], o));
    EXPECT_NE(here.pivot, no_row);
  }
}

// Between that of undamped Jacobi and that of sequential Gauss-Seidel.
TEST_F(BlockRelaxOnDevice, ChaosReducesLikeGaussSeidel) {
  const Domain domain = cube(32);
  SmallMatrix rows = laplacian(domain);
  const reference::Matrix A = reference_of(rows);
  const Vector x = start(A.size());
  for (const Known &k : known_numbers) {
    const Options o = chaotic(k.block[0], k.block[1], k.block[2]);
    const auto relaxed = relaxation(domain, rows, o);
    const double best = reduction(A, x, [&](const Vector &b, const Vector &u) { return relaxed.lexicographic(b, u); });
    const double worst = reduction(A, x, [&](const Vector &b, const Vector &u) { return relaxed.jacobi(b, u); });
    OnTheDevice device(domain, o, stream);
    ASSERT_TRUE(usable(device.refresh(rows.csr())));
    for (int again = 0; again < 5; ++again) {
      const double chaos = reduction(A, x, [&](const Vector &b, const Vector &u) { return device.swept(b, u, 1); });
      EXPECT_GT(chaos, 0.95 * best) << words(domain, o);
      EXPECT_LT(chaos, worst) << words(domain, o);
    }
  }
}

// Chazan and Miranker: where diagonals are d times the sum of their row's couplings, no sweep leaves more than 1 / d of
// the largest error.
TEST_F(BlockRelaxOnDevice, ChaosConvergesOnMMatrices) {
  std::mt19937 random(11);
  const auto up_to = [&](int n) { return 1 + static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (unsigned run = 0; run < 100; ++run) {
    const int nx = up_to(20), ny = up_to(20), nz = up_to(20), bx = up_to(9), by = up_to(9), bz = up_to(9);
    const Shape s = run % 2 ? solid(nx, ny, nz) : Shape{3 * nx, 3 * ny};
    const Domain domain = run % 3 || s.nx < 4 ? Domain(s) : Domain(s, {{s.nx / 3}, {}, {}});
    const Options o = chaotic(bx, by, bz);
    const double dominance = 1.2;
    SmallMatrix A = random_couplings(domain, dominance, run + 1);
    OnTheDevice device(domain, o, stream);
    ASSERT_TRUE(usable(device.refresh(A.csr()))) << words(domain, o);
    const Vector b(static_cast<std::size_t>(A.size()), 0.0);
    Vector x = random_values(A.size(), -1, 1, run + 1);
    const double before = largest(x);
    for (int k = 1; k <= 10; ++k) {
      x = device.swept(b, x, 1);
      ASSERT_LE(largest(x), before * std::pow(dominance, -k) * (1 + 1e-10)) << words(domain, o) << ", run " << run;
    }
    x = device.swept(b, x, 20);
    ASSERT_LE(largest(x), before * std::pow(dominance, -30) * (1 + 1e-10)) << words(domain, o) << ", run " << run;
  }
}

} // namespace
