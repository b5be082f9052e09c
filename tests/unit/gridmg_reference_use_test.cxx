// The reference of the multigrid on 3D grids: the grids it chooses, and iterations of CG with it.
#include "reference/cg_reference.hpp"
#include "reference/gridmg_reference.hpp"
#include "reference/problems3d.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

using namespace reference;

namespace {

// A grid's size, the directions of its lines, those it is coarsened in.
std::string text(const GridMG &M) {
  const auto size = [](const Grid3D &grid) {
    return std::to_string(grid.n[0]) + "x" + std::to_string(grid.n[1]) + "x" + std::to_string(grid.n[2]);
  };
  std::string out;
  for (const GridMG::Level &level : M.levels()) {
    out += size(level.A.grid) + " ";
    if (level.lines.empty()) out += "points";
    for (int q : level.lines) out += "xyz"[q];
    out += " ";
    for (const Interpolation &step : level.steps) out += "xyz"[step.q];
    out += ", ";
  }
  return out + size(M.coarsest().grid);
}

std::string grids(const Problem3D &problem, const GridMGOptions &options = {}) {
  return text(GridMG(problem.A, problem.grid, options));
}

GridMGOptions down_to(int coarse_size) {
  GridMGOptions options;
  options.coarse_size = coarse_size;
  return options;
}

TEST(GridMGReferenceGrids, FollowTheMatrix) {
  EXPECT_EQ(grids(plain({32, 32, 32}, all_neumann), down_to(2048)), "32x32x32 points xyz, 16x16x16 points x, 8x16x16");
  EXPECT_EQ(grids(plain({16, 16, 16}, all_dirichlet, {1, 1, 100}), down_to(300)),
            "16x16x16 z z, 16x16x8 z z, 16x16x4 z z, 16x16x2 points x, 8x16x2");
  EXPECT_EQ(grids(plain({16, 16, 16}, all_dirichlet, {1, 100, 100}), down_to(100)),
            "16x16x16 yz yz, 16x8x8 yz yz, 16x4x4 yz yz, 16x2x2");
  EXPECT_EQ(grids(plain({17, 16, 1}, all_dirichlet), down_to(1)),
            "17x16x1 points xy, 8x8x1 points xy, 4x4x1 points xy, 2x2x1");
  EXPECT_EQ(grids(plain({17, 5, 3}, all_periodic), down_to(1)),
            "17x5x3 points xyz, 9x3x2 points xy, 5x2x2 z x, 3x2x2 yz x, 2x2x2");
  EXPECT_EQ(grids(plain({20, 20, 2}, all_neumann), down_to(100)), "20x20x2 points xy, 10x10x2 z x, 5x10x2");
}

TEST(GridMGReferenceGrids, FollowTheOptions) {
  const Problem3D problem = plain({8, 8, 16}, all_periodic, {1, 2, 20});
  GridMGOptions options = down_to(80);
  options.coarsening = Coarsening::full;
  EXPECT_EQ(grids(problem, options), "8x8x16 z xyz, 4x4x8 z x, 2x4x8");
  options.smoother = Smoother::points;
  EXPECT_EQ(grids(problem, options), "8x8x16 points xyz, 4x4x8 points x, 2x4x8");
  options.smoother = Smoother::lines;
  options.coarsening = Coarsening::semi;
  options.most_grids = 3;
  EXPECT_EQ(grids(problem, options), "8x8x16 xyz z, 8x8x8 xyz z, 8x8x4");
  options.most_grids = 1;
  EXPECT_EQ(grids(problem, options), "8x8x16");
}

int iterations(const Problem3D &problem, const GridMGOptions &options = {}) {
  const GridMG M(problem.A, problem.grid, options);
  const CGResult result = cg(
      problem.A, problem.b, [&](const Vector &r) { return M.apply(r); }, Norm::unpreconditioned, 1e-6, 100);
  EXPECT_TRUE(result.converged);
  return result.iterations;
}

TEST(GridMGReferenceIterations, AreKnownOn64Cubed) {
  EXPECT_NEAR(iterations(problem3d("poisson", 64)), 10, 1);
  EXPECT_NEAR(iterations(problem3d("porous", 64)), 13, 1);
}

TEST(GridMGReferenceIterations, AreKnownOn32Cubed) {
  const std::map<std::string, int> known{{"poisson", 9},
                                         {"neumann", 9},
                                         {"periodic", 8},
                                         {"smooth", 10},
                                         {"lognormal1", 11},
                                         {"lognormal3", 14},
                                         {"bubbles 1e3", 15},
                                         {"bubbles dirichlet 1e3", 14},
                                         {"bubbles 1e6", 21},
                                         {"bubbles dirichlet 1e6", 44},
                                         {"bubbles 1e-3", 10},
                                         {"bubbles dirichlet 1e-3", 11},
                                         {"bubbles 1e-6", 11},
                                         {"bubbles dirichlet 1e-6", 12},
                                         {"anisotropic 1,1,10", 6},
                                         {"anisotropic 1,1,100", 3},
                                         {"anisotropic 100,1,1", 3},
                                         {"anisotropic 1,100,100", 5},
                                         {"tanh1", 7},
                                         {"tanh2", 6},
                                         {"tanh3", 6},
                                         {"channel", 8},
                                         {"porous", 13},
                                         {"thin", 10},
                                         {"identity rows", 9}};
  for (const auto &[name, make] : problems3d())
    EXPECT_NEAR(iterations(make(32), down_to(256)), known.at(name), 1) << name;
}

TEST(GridMGReferenceIterations, InTwoDimensions) {
  EXPECT_LE(iterations(plain({100, 100, 1}, all_dirichlet), down_to(100)), 8);
  EXPECT_LE(iterations(plain({1, 100, 101}, all_neumann), down_to(100)), 8);
}

TEST(GridMGReferenceIterations, MoreSmoothingTakesFewer) {
  const Problem3D problem = problem3d("poisson", 32);
  GridMGOptions options;
  options.smooths = 2;
  EXPECT_LT(iterations(problem, options), iterations(problem));
}

} // namespace
