// Block tridiagonal factors, which kernels make and use, by threads of the host in place of a device's: against banded ones.
#include "pc/blockrelax/core/chunks.hpp"

#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using petscrrb::index_t;
using petscrrb::blockrelax::Band;
using petscrrb::blockrelax::BlockMatrix;
using petscrrb::blockrelax::ChunkRoom;
using petscrrb::blockrelax::Chunks;
using petscrrb::blockrelax::ChunkSolve;
using petscrrb::blockrelax::DeviceBlock;
using petscrrb::blockrelax::DeviceValues;
using petscrrb::blockrelax::Neighbours;
using petscrrb::blockrelax::offset;

namespace {

using Vector = std::vector<double>;

thread_local int rank_of_this_thread;

class Barrier {
public:
  explicit Barrier(int threads) : threads_(threads) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int round = round_;
    if (++here_ == threads_) {
      here_ = 0, ++round_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round_ != round; });
    }
  }

private:
  const int threads_;
  int here_ = 0, round_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

template <int threads, int of_line, int of_side> struct Group {
  static constexpr int size = threads, lanes = of_line, lines = threads / of_line, side = of_side;
  static_assert(side * side == size, "a square");
  Barrier &barrier;
  static int rank() { return rank_of_this_thread; }
  void sync() const { barrier.wait(); }
};
using Few = Group<16, 4, 4>;
using Many = Group<64, 16, 8>;

template <class Group, class Work> void together(const Work &work) {
  Barrier barrier(Group::size);
  const Group g{barrier};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < Group::size; ++rank)
    threads.emplace_back([&, rank] {
      rank_of_this_thread = rank;
      work(g);
    });
  for (std::thread &t : threads) t.join();
}

// A symmetric matrix with few couplings a row.
struct Sparse {
  static constexpr int most = 7;
  explicit Sparse(int n) : diagonals(std::size_t(n), 0.0), before(std::size_t(n)), behind(std::size_t(n)) {}

  void add(int i, int j, double a) { // j < i
    before[i].push_back({j, a});
    behind[j].push_back({i, a});
  }
  double diagonal(int i) const { return diagonals[i]; }
  template <class F> void back(int i, const F &f) const {
    for (const auto &[j, a] : before[i]) f(j, a);
  }
  template <class F> void ahead(int i, const F &f) const {
    for (const auto &[j, a] : behind[i]) f(j, a);
  }

  Vector diagonals;
  std::vector<std::vector<std::pair<int, double>>> before, behind;
};

// As in -div grad: a diagonal is `dominance` times what its row has beside it.
Sparse random_matrix(int n, int width, unsigned seed, double dominance = 1.01) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(0.01, 1);
  Sparse A(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0, j = i; k < Sparse::most - 1; ++k) {
      j -= 1 + int(random() % unsigned(1 + width / 3));
      if (j < 0 || i - j >= width) break;
      A.add(i, j, -value(random));
    }
  for (int i = width; i < n; ++i) A.add(i, i - width, -value(random));
  for (int i = 0; i < n; ++i) {
    const auto count = [&](int, double a) { A.diagonals[i] += dominance * std::fabs(a); };
    A.back(i, count);
    A.ahead(i, count);
    if (A.diagonals[i] == 0) A.diagonals[i] = 1;
  }
  return A;
}

// What a factorization finds, and a solution.
struct Solved {
  int bad;
  Vector x;
};

template <class Matrix> Solved by_band(const Matrix &A, int n, int width, Vector x) {
  const Band band{n, width};
  Vector a(band.size(), 0.0);
  for (int i = 0; i < n; ++i) {
    band.row(a.data(), i)[i] = A.diagonal(i);
    A.back(i, [&](int j, double value) {
      if (value != 0) band.row(a.data(), i)[j] = value;
    });
  }
  const int bad = band.factor(a.data());
  if (bad < 0) band.solve(a.data(), x.data());
  return {bad, x};
}

template <int tile, int slots, int early, class Group, class Matrix>
Solved by_chunks(const Matrix &A, int n, int width, Vector x) {
  const Chunks chunks{n, width};
  using Solve = ChunkSolve<slots, early, Group>;
  Vector factor(std::size_t(chunks.size()), 3.0), room(std::size_t(Solve::room(width)), 3.0);
  const auto shared = std::make_unique<ChunkRoom<tile * Group::side, Matrix::most>>();
  std::vector<int> bad(std::size_t(Group::size));
  together<Group>([&](const Group &g) {
    bad[g.rank()] = petscrrb::blockrelax::factor<tile>(g, chunks, A, factor.data(), *shared);
    if (bad[g.rank()] < 0) Solve(g, chunks, factor.data(), room.data())(A, x.data());
  });
  for (int found : bad) EXPECT_EQ(found, bad[0]);
  return {bad[0], x};
}

Vector random_values(int n) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(-1, 1);
  Vector x(std::size_t(n), 0.0);
  for (double &v : x) v = value(random);
  return x;
}

template <class Matrix> void compare_few(const Matrix &A, int n, int width, int bad = -1) {
  SCOPED_TRACE(std::to_string(n) + " rows, width " + std::to_string(width));
  const Vector b = random_values(n);
  const Solved there = by_band(A, n, width, b);
  EXPECT_EQ(there.bad, bad);
  for (const Solved &here : {by_chunks<4, 4, 2, Few>(A, n, width, b), by_chunks<5, 5, 5, Few>(A, n, width, b)}) {
    EXPECT_EQ(here.bad, there.bad);
    for (int i = 0; i < n && bad < 0; ++i) ASSERT_NEAR(here.x[i], there.x[i], 1e-10) << i;
  }
}

TEST(BlockRelaxChunks, RandomMatrices) {
  for (const auto &[n, width] : std::vector<std::pair<int, int>>{{1, 1},
                                                                 {2, 1},
                                                                 {7, 1},
                                                                 {3, 5},
                                                                 {16, 16},
                                                                 {17, 16},
                                                                 {31, 16},
                                                                 {64, 16},
                                                                 {65, 13},
                                                                 {90, 7},
                                                                 {100, 15},
                                                                 {24, 8}})
    compare_few(random_matrix(n, width, unsigned(n + width)), n, width);
}

TEST(BlockRelaxChunks, DiagonalEntriesForNullPivots) {
  for (const auto &[n, width] : std::vector<std::pair<int, int>>{{1, 4}, {12, 12}, {40, 8}, {41, 13}}) {
    Sparse A = random_matrix(n, width, 3, 1.0);
    if (n == 1) A.diagonals[0] = 1;
    compare_few(A, n, width);
  }
  // two parts, so that the first one's is among the pivots
  const Sparse part = random_matrix(20, 6, 3, 1.0);
  Sparse A(40);
  for (int i = 0; i < 40; ++i) {
    A.diagonals[i] = part.diagonals[i % 20];
    part.back(i % 20, [&](int j, double a) { A.add(i, i - i % 20 + j, a); });
  }
  compare_few(A, 40, 6);
}

TEST(BlockRelaxChunks, TheFirstNegativePivot) {
  for (const int row : {0, 3, 17, 40}) {
    Sparse A = random_matrix(41, 9, 8);
    A.diagonals[row] *= 1e-3;
    int bad = by_band(A, 41, 9, Vector(41, 0.0)).bad;
    EXPECT_GE(bad, row);
    compare_few(A, 41, 9, bad);
  }
}

// A block in the midst of its patch, with identity rows.
void compare_block(int points, int nx, int ny, int nz, int width) {
  SCOPED_TRACE(std::to_string(points) + " points");
  const Neighbours near(points);
  const int line = nx + 3, plane = line * (ny + 2), n = nx * ny * nz;
  const std::size_t rows = std::size_t(plane) * (nz + 2), before = std::size_t(plane + line + 1);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> value(-1, 0);
  std::vector<Vector> couplings(std::size_t(near.count), Vector(before + rows));
  DeviceValues values{false, {}, nullptr, {}};
  Vector diagonals(rows, 2.01 * near.count);
  const std::size_t identity = std::size_t(plane + line + 2);
  diagonals[identity] = 0;
  values.diagonals = diagonals.data();
  const int sides[3] = {line, plane / line, nz};
  for (int m = 0; m < near.count; ++m) {
    for (double &a : couplings[m]) a = value(random);
    values.aheads[m] = couplings[m].data() + before;
    couplings[m][before + identity] = couplings[m][before + identity - std::size_t(offset(sides, near.step[m]))] = 0;
  }
  const DeviceBlock block{plane + line + 1, line, plane, {nx, ny, nz}, 63, 0, -1};
  const BlockMatrix A{block, near, values};
  const Vector b = random_values(n);
  const Solved there = by_band(A, n, width, b);
  ASSERT_EQ(there.bad, -1);
  for (const Solved &here : {by_chunks<5, 3, 6, Many>(A, n, width, b), by_chunks<6, 4, 4, Many>(A, n, width, b)}) {
    ASSERT_EQ(here.bad, -1);
    for (int i = 0; i < n; ++i) ASSERT_NEAR(here.x[i], there.x[i], 1e-11) << i;
  }
}

TEST(BlockRelaxChunks, Blocks) {
  compare_block(7, 5, 7, 4, 35);
  compare_block(7, 6, 4, 4, 30); // chunks are not planes
  compare_block(5, 20, 6, 1, 20);
  compare_block(9, 17, 5, 1, 18);
  compare_block(27, 6, 5, 4, 37);
}

} // namespace
