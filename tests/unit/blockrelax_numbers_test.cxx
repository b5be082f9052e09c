// How fast relaxation by blocks converges: known numbers, and what theory promises.
#include "blockrelax_known.hpp"

#include <gtest/gtest.h>

using namespace blockrelax_support;
using petscrrb::blockrelax::Parallel;

namespace {

// ||x_(k+1)|| / ||x_k|| late, from near the slowest mode.
double factor(BlockRelax &relax, const Shape &s) {
  const Vector b(s.size(), 0.0);
  Vector x(b.size());
  const double pi = std::acos(-1.0);
  for (int p = 0; p < s.size(); ++p)
    x[p] = std::sin(pi * (p % s.nx + 1) / (s.nx + 1)) * std::sin(pi * (p / s.nx % s.ny + 1) / (s.ny + 1)) *
           std::sin(pi * (p / s.nx / s.ny + 1) / (s.nz + 1));
  x = swept(relax, b, x, 60);
  const Vector y = swept(relax, b, x, 1);
  return std::sqrt(reference::dot(y, y) / reference::dot(x, x));
}

std::unique_ptr<BlockRelax> made(const Domain &domain, SmallMatrix &A, const Options &o) {
  auto relax = make(domain, o);
  EXPECT_EQ(relax->refresh(A.csr()).pivot, petscrrb::no_row) << words(domain, o);
  return relax;
}

TEST(BlockRelaxNumbers, Reductions) {
  const Domain domain = cube(32);
  SmallMatrix rows = laplacian(domain);
  const reference::Matrix A = reference_of(rows);
  const Vector x = start(A.size());
  const auto by = [&](const Options &o) {
    const auto relax = made(domain, rows, o);
    return reduction(A, x, [&](const Vector &b, const Vector &u) { return swept(*relax, b, u, 1); });
  };
  for (const Known &k : known_numbers) {
    const auto &[bx, by_, bz] = k.block;
    EXPECT_NEAR(by(jacobi(bx, by_, bz)), k.jacobi, tolerance);
    EXPECT_NEAR(by(coloured(bx, by_, bz, 2)), k.two, tolerance);
    EXPECT_NEAR(by(coloured(bx, by_, bz, 8)), k.eight, tolerance);
  }
}

// With rho the factor of undamped block Jacobi: 0.2 + 0.8 rho and rho^2.
TEST(BlockRelaxNumbers, AsymptoticFactors) {
  const Domain domain = cube(32);
  SmallMatrix A = laplacian(domain);
  for (const Known &k : known_numbers) {
    const auto &[bx, by, bz] = k.block;
    const double damped = factor(*made(domain, A, jacobi(bx, by, bz)), domain.s), rho = (damped - 0.2) / 0.8;
    EXPECT_NEAR(damped, k.factor_jacobi, 1e-4);
    for (int colours : {2, 8}) {
      const double seidel = factor(*made(domain, A, coloured(bx, by, bz, colours)), domain.s);
      EXPECT_NEAR(seidel, k.factor_seidel, 1e-4);
      EXPECT_NEAR(seidel, rho * rho, 1e-4);
    }
  }
}

// Better with larger blocks, all the paper's sizes: its Figure 4.
TEST(BlockRelaxNumbers, LargerBlocksReduceMore) {
  const Domain domain = cube(32);
  SmallMatrix rows = laplacian(domain);
  const reference::Matrix A = reference_of(rows);
  const Vector x = start(A.size());
  for (const auto &options : {+[](int bx, int by, int bz) { return jacobi(bx, by, bz); },
                              +[](int bx, int by, int bz) { return coloured(bx, by, bz); }, &chaotic}) {
    double before = 100;
    for (const auto &[bx, by, bz] : block_sizes) {
      const auto relax = made(domain, rows, options(bx, by, bz));
      const double now = reduction(A, x, [&](const Vector &b, const Vector &u) { return swept(*relax, b, u, 1); });
      EXPECT_LT(now, before) << words(domain, options(bx, by, bz));
      before = now;
    }
  }
}

// In order where one thread is alone, and at worst as if four of them went through a quarter each in step; however many
// there are, better than undamped Jacobi.
TEST(BlockRelaxChaotic, ReducesLikeGaussSeidel) {
  const Domain domain = cube(32), quarters(solid(32, 32, 32), {{}, {}, {8, 16, 24}});
  SmallMatrix rows = laplacian(domain);
  const reference::Matrix A = reference_of(rows);
  const Vector x = start(A.size());
  for (const Known &k : known_numbers) {
    const Options o = chaotic(k.block[0], k.block[1], k.block[2]);
    const auto together = relaxation(domain, rows, o), apart = relaxation(quarters, rows, o);
    const double best = reduction(A, x, [&](const Vector &b, const Vector &u) { return together.lexicographic(b, u); });
    const double in_step = reduction(A, x, [&](const Vector &b, const Vector &u) { return apart.lexicographic(b, u); });
    const double worst = reduction(A, x, [&](const Vector &b, const Vector &u) { return together.jacobi(b, u); });
    for (int threads : {1, 2, 4, 16})
      for (int again = 0; again < 3; ++again) {
        const Threads here(threads);
        const auto relax = made(domain, rows, o);
        const double chaos = reduction(A, x, [&](const Vector &b, const Vector &u) { return swept(*relax, b, u, 1); });
        EXPECT_GT(chaos, 0.95 * best) << words(domain, o) << ", " << threads << " threads";
        EXPECT_LT(chaos, threads > 4 ? worst : 1.1 * in_step) << words(domain, o) << ", " << threads << " threads";
      }
  }
}

// Chazan and Miranker: where diagonals are d times the sum of their row's couplings, no sweep leaves more than 1 / d of
// the largest error.
TEST(BlockRelaxChaotic, ConvergesOnMMatrices) {
  std::mt19937 random(11);
  const auto up_to = [&](int n) { return 1 + static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (unsigned run = 0; run < 100; ++run) {
    const int nx = up_to(20), ny = up_to(20), nz = up_to(20), bx = up_to(9), by = up_to(9), bz = up_to(9);
    const Shape s = run % 5 == 0 ? solid(20 + nx / 2, 30, 20 + nz / 2) // enough for threads
                    : run % 2    ? solid(nx, ny, nz)
                                 : Shape{3 * nx, 3 * ny};
    const Domain domain = run % 3 || s.nx < 4 ? Domain(s) : Domain(s, {{s.nx / 3}, {}, {}});
    Options o = chaotic(bx, by, bz);
    o.parallel = std::array{Parallel::automatic, Parallel::patches, Parallel::blocks, Parallel::both}[run % 4];
    const Threads threads(up_to(4));
    const double dominance = 1.2;
    SmallMatrix A = random_couplings(domain, dominance, run + 1);
    const auto relax = made(domain, A, o);
    const Vector b(static_cast<std::size_t>(A.size()), 0.0);
    Vector x = random_values(A.size(), -1, 1, run + 1);
    const double before = largest(x);
    for (int k = 1; k <= 10; ++k) {
      x = swept(*relax, b, x, 1);
      ASSERT_LE(largest(x), before * std::pow(dominance, -k) * (1 + 1e-10)) << words(domain, o) << ", run " << run;
    }
    x = swept(*relax, b, x, 20);
    ASSERT_LE(largest(x), before * std::pow(dominance, -30) * (1 + 1e-10)) << words(domain, o) << ", run " << run;
  }
}

TEST(BlockRelaxChaotic, StaysAtTheSolution) {
  const Domain domains[] = {solid(20, 17, 13), {solid(20, 17, 13), {{8}, {9}, {}}}};
  for (const Domain &domain : domains)
    for (const auto &matrix : {&constant, +[](const Domain &d) { return random_couplings(d); }, &masked}) {
      SmallMatrix A = matrix(domain);
      const Vector x = random_values(A.size(), -1, 1), b = reference_of(A).multiply(x);
      const auto relax = made(domain, A, chaotic(4, 4, 4));
      const Vector y = swept(*relax, b, x, 5);
      for (std::size_t p = 0; p < x.size(); ++p) ASSERT_NEAR(y[p], x[p], 1e-12);
      Vector z = swept_from_zero(*relax, b, 3);
      for (double v : z) ASSERT_TRUE(std::isfinite(v));
    }
}

} // namespace
