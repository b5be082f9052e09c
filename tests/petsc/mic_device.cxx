// What PCMIC must keep on a device. -backend cuda.
#include "mic_support.hpp"
#include "on_device.hpp"

using namespace petsctest;
using mic_support::solid;

namespace {

OnDevice mic() {
  OnDevice all{mic_of,
               {{"constant couplings", cube(18, 3, 0).A, cube(18, 3, 10).A}},
               {"", "-pc_mic_omega 0", "-pc_mic_precision single", "-pc_mic_block_lines 4",
                "-pc_mic_type ssor -pc_mic_omega 1.5"},
               2};
  for (const Shape &s : {Shape{37, 29}, Shape{30, 31, 1, true, true}, solid(20, 19, 18), solid(33, 3, 9)})
    all.cases.push_back(uneven_case(s));
  // floats that are rounded the other way are 6e-8 away
  all.far_from_host = [](const std::string &options) {
    return options.find("single") == std::string::npos ? 1e-12 : 1e-6;
  };
  return all;
}

TEST(MicDevice, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  mic().is_what_the_view_names();
}

TEST(MicDevice, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  mic().equals_the_host();
}

TEST(MicDevice, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  mic().applies_without_the_host({PCApply, PCApplySymmetricLeft, PCApplySymmetricRight});
}

TEST(MicDevice, AppliesToColumnsWithoutTheHost) {
  SKIP_ON_HOST();
  mic().applies_to_columns_without_the_host();
}

TEST(MicDevice, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  mic().refreshes_without_the_host();
}

TEST(MicDevice, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  solves_without_the_host(cube(20, 3, 0), "-ksp_type cg -ksp_rtol 1e-6 -pc_type mic");
}

TEST(MicDevice, IsTheSameFromRunToRun) {
  SKIP_ON_HOST();
  mic().is_the_same_from_run_to_run();
}

class MicMixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(MicMixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  mic().works_where_vectors_are_elsewhere(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Device, MicMixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

} // namespace
