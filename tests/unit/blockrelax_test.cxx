// Relaxation by blocks on the host against the textbook's.
#include "blockrelax_support.hpp"

#include <gtest/gtest.h>

using namespace blockrelax_support;
using petscrrb::no_row;
using petscrrb::ReadResult;
using petscrrb::blockrelax::Findings;
using petscrrb::blockrelax::Inverse;
using petscrrb::blockrelax::Parallel;

namespace {

void expect_near(const Vector &x, const Vector &y, const std::string &what, double tolerance = 1e-11) {
  const double most = largest(y);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * most) << what << ", at " << i;
}

// A relaxation whose matrix is fine.
std::unique_ptr<BlockRelax> made(const Domain &domain, SmallMatrix &A, const Options &o) {
  auto relax = make(domain, o);
  const Findings found = relax->refresh(A.csr(3));
  EXPECT_EQ(found.read.result(), ReadResult::ok) << words(domain, o);
  EXPECT_EQ(found.read.bad_pivot, no_row) << words(domain, o);
  EXPECT_EQ(found.pivot, no_row) << words(domain, o);
  return relax;
}

void compare(const Domain &domain, SmallMatrix &A, const std::vector<Options> &all) {
  const int n = A.size(), sweeps = 3;
  const Vector b = random_values(n, -1, 1), x = random_values(n, 0, 1, 7);
  const auto reference = relaxation(domain, A, all[0]);
  for (const Options &o : all) {
    const auto relax = made(domain, A, o);
    Vector y = x, z(x.size(), 0.0);
    for (int k = 1; k <= sweeps; ++k) {
      y = relaxed(reference, o, b, y);
      z = relaxed(reference, o, b, z);
      if (k == 2) continue;
      expect_near(swept(*relax, b, x, k), y, words(domain, o) + ", sweeps: " + std::to_string(k));
      expect_near(swept_from_zero(*relax, b, k), z, words(domain, o) + ", from zero, sweeps: " + std::to_string(k));
    }
  }
}

using MakeMatrix = SmallMatrix (*)(const Domain &);
SmallMatrix variable(const Domain &domain) { return random_couplings(domain); }
const MakeMatrix matrices[] = {constant, variable, masked};

// They differ in what has no part in a factor of the reference.
std::vector<Options> deterministic(int bx, int by, int bz, int colours) {
  std::vector<Options> all{jacobi(bx, by, bz), jacobi(bx, by, bz, 1), coloured(bx, by, bz), symmetric(bx, by, bz),
                           symmetric(bx, by, bz)};
  all.back().omega = 0.9; // the last colour is relaxed twice
  for (Options &o : all) o.colours = colours;
  return all;
}

std::vector<Options> each_inverse(const std::vector<Options> &from) {
  std::vector<Options> all;
  for (Options o : from)
    for (Inverse inverse : {Inverse::automatic, Inverse::tensor, Inverse::dense}) {
      o.inverse = inverse;
      all.push_back(o);
    }
  return all;
}

void compare_all(const Domain &domain, int bx, int by, int bz) {
  for (MakeMatrix matrix : matrices) {
    SmallMatrix A = matrix(domain);
    compare(domain, A, deterministic(bx, by, bz, fewest_colours(domain.s, {bx, by, bz})));
  }
}

TEST(BlockRelax, ThePapersBlocks) {
  for (const auto &[bx, by, bz] : block_sizes) compare_all(solid(16, 8, 8), bx, by, bz);
}

TEST(BlockRelax, TruncatedBlocks) {
  for (const auto &[bx, by, bz] : block_sizes) compare_all(solid(13, 9, 11), bx, by, bz);
  for (const Shape &s : {solid(1, 1, 1), solid(7, 1, 1), solid(1, 9, 1), solid(1, 1, 9), solid(2, 3, 2)})
    for (const auto &[bx, by, bz] : block_sizes) compare_all(s, bx, by, bz);
}

TEST(BlockRelax, OddBlocksLinesAndPlanes) {
  const Shape s = solid(11, 7, 6);
  for (const auto &[bx, by, bz] : std::vector<std::array<int, 3>>{{1, 1, 1},
                                                                  {3, 5, 2},
                                                                  {7, 1, 3},
                                                                  {11, 1, 1},
                                                                  {1, 7, 1},
                                                                  {1, 1, 6},
                                                                  {11, 7, 1},
                                                                  {11, 1, 6},
                                                                  {16, 2, 2},
                                                                  {11, 7, 6}})
    compare_all(s, bx, by, bz);
}

TEST(BlockRelax, TwoDimensions) {
  for (int points : {5, 9})
    for (const auto &[nx, ny] : std::vector<std::array<int, 2>>{{1, 1}, {40, 1}, {1, 33}, {5, 4}, {17, 23}, {41, 30}})
      for (const auto &[bx, by] : std::vector<std::array<int, 2>>{{1, 1}, {8, 8}, {5, 3}, {64, 1}, {1, 64}, {32, 32}})
        compare_all(Shape{nx, ny, 1, false, false, false, points}, bx, by, 1);
}

TEST(BlockRelax, LongSides) {
  compare_all(Shape{130, 9, 1, false, false, false, 5}, 65, 9, 1);
  compare_all(solid(5, 70, 4), 5, 70, 4);
}

TEST(BlockRelax, TwentySevenPoints) {
  for (const Shape &s : {solid(9, 5, 6, 27), solid(8, 8, 8, 27), solid(3, 1, 4, 27), solid(3, 1, 3, 27)})
    for (const auto &[bx, by, bz] :
         std::vector<std::array<int, 3>>{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {5, 3, 2}, {8, 8, 8}})
      compare_all(s, bx, by, bz);
}

// With even and odd numbers of blocks, and blocks that are as long as the side.
TEST(BlockRelax, PeriodicSides) {
  for (const Shape &s :
       {around({12, 7}, true, false, false), around({7, 12}, false, true, false), around({12, 9}, true, true, false),
        around({12, 15, 1, false, false, false, 9}, true, true, false), around(solid(8, 11, 6), true, false, true),
        around(solid(8, 9, 7), true, true, true), around(solid(8, 10, 5, 27), true, true, true)})
    for (const auto &[bx, by, bz] :
         std::vector<std::array<int, 3>>{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {4, 3, 1}, {12, 5, 2}})
      compare_all(s, bx, by, bz);
}

TEST(BlockRelax, EightColoursOfSevenPoints) {
  for (const auto &[bx, by, bz] : block_sizes)
    for (MakeMatrix matrix : matrices) {
      const Domain domain = solid(13, 9, 11);
      SmallMatrix A = matrix(domain);
      compare(domain, A, {coloured(bx, by, bz, 8)});
    }
}

// Blocks do not cross patches, which are coupled by the matrix and nothing else.
TEST(BlockRelax, Patches) {
  const Domain domains[] = {{solid(12, 8, 8), {{4, 8}, {4}, {4}}},
                            {solid(17, 9, 10), {{3, 10}, {4}, {1, 7}}},
                            {{30, 21}, {{7, 8, 20}, {9}, {}}},
                            {{19, 15, 1, false, false, false, 9}, {{6}, {5, 6}, {}}},
                            {solid(9, 8, 7, 27), {{5}, {3}, {3}}}};
  for (const Domain &domain : domains)
    for (const auto &[bx, by, bz] : std::vector<std::array<int, 3>>{{2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {5, 2, 3}})
      compare_all(domain, bx, by, bz);
}

// As where grids of different resolution meet: any couplings between patches.
TEST(BlockRelax, AnyCouplingsBetweenPatches) {
  const Domain domain(solid(12, 8, 8), {{4, 8}, {4}, {4}});
  for (MakeMatrix matrix : {variable, masked}) {
    SmallMatrix A = matrix(domain);
    const int last = static_cast<int>(domain.patches.back().first);
    for (int k = 0; k < 50; ++k) {
      const int p = k * 5 % 64, q = last + k * 7 % 64;
      if (A.entries()[p].size() > 1 && A.entries()[q].size() > 1) A.set_both(p, q, -0.1);
    }
    compare(domain, A, deterministic(4, 4, 2, 2));
  }
}

// Inverses are alike as long as blocks are; what lies between blocks is not theirs.
TEST(BlockRelax, OnlyCouplingsBetweenBlocksVary) {
  for (const Shape &s : {solid(12, 8, 8), solid(13, 9, 7)}) {
    const Domain domain(s);
    SmallMatrix A = constant(domain);
    for (int p = 0; p < s.size(); ++p) {
      if (p % s.nx % 4 == 3 && p % s.nx + 1 < s.nx) A.set_both(p, p + 1, -0.1 - 0.01 * (p % 70));
      if (p / s.nx % s.ny % 4 == 3 && p / s.nx % s.ny + 1 < s.ny) A.set_both(p, p + s.nx, -0.2 - 0.01 * (p % 50));
    }
    compare(domain, A, each_inverse(deterministic(4, 4, 4, 2)));
  }
}

TEST(BlockRelax, EachInverseIsTheSame) {
  const Domain domains[] = {solid(13, 9, 11),
                            Shape{20, 13},
                            {{20, 13, 1, false, false, false, 9}},
                            {solid(12, 9, 8), {{5}, {4}, {}}},
                            solid(9, 8, 7, 27)};
  for (const Domain &domain : domains)
    for (MakeMatrix matrix : matrices) {
      SmallMatrix A = matrix(domain);
      compare(domain, A, each_inverse(deterministic(4, 4, 4, fewest_colours(domain.s, {4, 4, 4}))));
    }
}

// What has no room is computed when it is needed.
TEST(BlockRelax, KeepsToItsMemory) {
  const Domain domain = solid(20, 17, 13);
  const Vector b = random_values(domain.s.size(), -1, 1), x = random_values(domain.s.size(), 0, 1, 7);
  SmallMatrix A = random_couplings(domain);
  Options o = coloured(8, 8, 4);
  const auto all = made(domain, A, o);
  double before = all->bytes();
  for (double memory : {5e5, 1e5, 1.0}) {
    o.memory = memory;
    const auto some = made(domain, A, o);
    expect_near(swept(*some, b, x, 2), swept(*all, b, x, 2), "memory " + std::to_string(memory));
    EXPECT_LT(some->bytes(), before);
    before = some->bytes();
  }
}

TEST(BlockRelax, NoSweepsChangeNothing) {
  const Domain domain = solid(9, 8, 7);
  SmallMatrix A = random_couplings(domain);
  const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
  for (const Options &o : {jacobi(4, 4, 4), coloured(4, 4, 4), chaotic(4, 4, 4)}) {
    const auto relax = made(domain, A, o);
    EXPECT_EQ(swept(*relax, b, x, 0), x) << words(domain, o);
    EXPECT_EQ(swept_from_zero(*relax, b, 0), Vector(x.size(), 0.0)) << words(domain, o);
  }
}

TEST(BlockRelax, ARefreshIsANewOne) {
  const Domain domain = solid(13, 9, 11);
  const Vector b = random_values(domain.s.size(), -1, 1), x = random_values(domain.s.size(), 0, 1, 7);
  for (const Options &o : deterministic(4, 4, 4, 2)) {
    SmallMatrix first = random_couplings(domain, 1.02, 8);
    const auto relax = made(domain, first, o);
    for (MakeMatrix matrix : {variable, constant, masked, constant}) {
      SmallMatrix A = matrix(domain);
      EXPECT_EQ(relax->refresh(A.csr(3)).pivot, no_row);
      EXPECT_EQ(swept(*relax, b, x, 2), swept(*made(domain, A, o), b, x, 2)) << words(domain, o);
    }
  }
}

SmallMatrix apart(const Domain &domain) { // no couplings between patches
  const auto patch = [&](int p) {
    std::size_t at = 0;
    while (at + 1 < domain.patches.size() && domain.patches[at + 1].first <= domain.row[p]) ++at;
    return at;
  };
  SmallMatrix A =
      coupled(domain, [&](int p, int q, int, int, int) { return patch(p) == patch(q) ? -1 - 0.1 * (p % 3) : 0; });
  set_diagonals(A, 1.02);
  return A;
}

// To the bit, for any number of threads and however they share the work.
TEST(BlockRelax, IsReproducible) {
  const Domain domains[] = {solid(33, 17, 21), {solid(33, 17, 21), {{8, 17}, {9}, {11, 13}}}};
  for (const Domain &domain : domains)
    for (MakeMatrix matrix : {variable, MakeMatrix(apart)})
      for (Options o : {jacobi(8, 4, 4), symmetric(8, 4, 4)}) {
        SmallMatrix A = matrix(domain);
        const Vector b = random_values(A.size(), -1, 1), x = random_values(A.size(), 0, 1, 7);
        o.parallel = Parallel::both;
        const Vector twice = swept(*made(domain, A, o), b, x, 2), fifth = swept(*made(domain, A, o), b, twice, 3);
        for (int n : {1, 2, 5})
          for (Parallel parallel : {Parallel::automatic, Parallel::patches, Parallel::blocks, Parallel::both}) {
            const Threads threads(n);
            o.parallel = parallel;
            const auto relax = made(domain, A, o);
            for (int again = 0; again < 2; ++again) {
              ASSERT_EQ(swept(*relax, b, x, 2), twice) << words(domain, o) << ", " << n << " threads";
              ASSERT_EQ(swept(*relax, b, x, 5), fifth) << words(domain, o) << ", " << n << " threads";
            }
          }
      }
}

// What CG asks of a preconditioner.
TEST(BlockRelax, SymmetricSweepsAreSymmetricAndPositive) {
  const Domain domains[] = {solid(13, 9, 11), {solid(17, 9, 10), {{3, 10}, {4}, {1, 7}}}, Shape{33, 21}};
  for (const Domain &domain : domains)
    for (double omega : {0.7, 1.0, 1.4})
      for (int sweeps : {1, 2}) {
        Options o = symmetric(4, 4, 4);
        o.omega = domain.patches.size() > 1 ? std::min(omega, 1.0) : omega;
        SmallMatrix A = random_couplings(domain);
        const auto relax = made(domain, A, o);
        const Vector x = random_values(A.size(), -1, 1), y = random_values(A.size(), -1, 1, 9);
        const Vector Mx = swept_from_zero(*relax, x, sweeps), My = swept_from_zero(*relax, y, sweeps);
        const double size = reference::dot(x, Mx);
        EXPECT_GT(size, 0) << words(domain, o);
        EXPECT_NEAR(reference::dot(y, Mx), reference::dot(x, My), 1e-12 * size) << words(domain, o);
      }
}

} // namespace
