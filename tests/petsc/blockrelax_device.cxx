// What PCBLOCKRELAX must keep on a device. -backend cuda.
#include "blockrelax_support.hpp"
#include "on_device.hpp"

using namespace petsctest;
using mic_support::solid;

namespace {

OnDevice blockrelax() {
  return {relax_of,
          {{"constant couplings", cube(18, 3, 0).A, cube(18, 3, 10).A},
           uneven_case({37, 29}),
           uneven_case({30, 31, 1, true, true}),
           uneven_case({30, 31, 1, false, false, false, 9}),
           uneven_case(solid(20, 19, 18)),
           uneven_case(solid(33, 3, 9))},
          {"", "-pc_blockrelax_sweeps 2", "-pc_blockrelax_type coloured -pc_blockrelax_sweeps 3",
           "-pc_blockrelax_type coloured -pc_blockrelax_symmetric -pc_blockrelax_block_size 5,3,2",
           "-pc_blockrelax_block_size 100,1,1", "-pc_blockrelax_block_size 4,4,4 -pc_blockrelax_inverse dense",
           "-pc_blockrelax_block_size 8,8,8 -pc_blockrelax_memory 1e5"},
          6};
}

// Blocks see what they see, so that only what is left out is promised.
OnDevice chaotic() {
  OnDevice some = blockrelax();
  some.options = {"-pc_blockrelax_type chaotic", "-pc_blockrelax_type chaotic -pc_blockrelax_sweeps 2"};
  some.far_from_itself = [](const DeviceCase &, const std::string &) { return 1.0; };
  return some;
}

TEST(BlockRelaxDevice, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  blockrelax().is_what_the_view_names();
}

TEST(BlockRelaxDevice, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  blockrelax().equals_the_host();
}

TEST(BlockRelaxDevice, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  blockrelax().applies_without_the_host();
  chaotic().applies_without_the_host();
}

TEST(BlockRelaxDevice, AppliesToColumnsWithoutTheHost) {
  SKIP_ON_HOST();
  blockrelax().applies_to_columns_without_the_host();
}

TEST(BlockRelaxDevice, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  blockrelax().refreshes_without_the_host();
  chaotic().refreshes_without_the_host();
}

TEST(BlockRelaxDevice, IsTheSameFromRunToRun) {
  SKIP_ON_HOST();
  blockrelax().is_the_same_from_run_to_run();
}

// Without a norm nothing at all goes to the host, with one only that.
TEST(BlockRelaxDevice, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  const std::string type = "-pc_type blockrelax -pc_blockrelax_block_size 4,4,4 -pc_blockrelax_type ";
  for (const std::string order : {"jacobi", "chaotic", "coloured"}) {
    solves_without_the_host(cube(20, 3, 1), "-ksp_type richardson -ksp_rtol 1e-6 " + type + order);
    solves_without_the_host(cube(20, 3, 1), "-ksp_type richardson -ksp_norm_type none -ksp_max_it 7 " + type + order,
                            false);
  }
  solves_without_the_host(cube(20, 3, 0), "-ksp_type cg -ksp_rtol 1e-6 " + type + "jacobi");
}

class BlockRelaxMixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(BlockRelaxMixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  blockrelax().works_where_vectors_are_elsewhere(GetParam());
}

// What is in x when Richardson's iteration begins is used, wherever it is.
TEST_P(BlockRelaxMixed, GoesOnFromAGuess) {
  SKIP_ON_HOST();
  const auto where = [](bool device) { return device ? backend : Backend{}; };
  const Backend mat = where(GetParam()), vec = where(!GetParam());
  const reference::Problem problem = cube(12, 3, 1);
  const Matrix A = matrix_of(problem.A, mat.mat);
  const Solver ksp = ksp_of(A, "-ksp_type richardson -ksp_max_it 3 -ksp_norm_type none -pc_type blockrelax "
                               "-ksp_initial_guess_nonzero");
  const auto from = [&](const Backend &side) {
    const Vector b = vector_of(problem.b, PETSC_COMM_SELF, side.vec),
                 x = vector_of(random_values(problem.b.size()), PETSC_COMM_SELF, side.vec);
    ok(KSPSolve(ksp, b, x));
    return values_of(x);
  };
  EXPECT_EQ(from(vec), from(mat));
}

INSTANTIATE_TEST_SUITE_P(Device, BlockRelaxMixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

} // namespace
