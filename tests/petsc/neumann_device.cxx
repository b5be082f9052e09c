// What PCNEUMANN must keep on a device. -backend cuda.
#include "neumann_support.hpp"
#include "on_device.hpp"

using namespace petsctest;

namespace {

// On a grid of each kind, and on none.
OnDevice neumann() {
  OnDevice all{neumann_of,
               {},
               {"-pc_neumann_terms 0", "-pc_neumann_terms 1", "-pc_neumann_terms 2", "-pc_neumann_terms 3",
                "-pc_neumann_terms 8", "-pc_neumann_terms 2 -pc_neumann_omega 1.5", "-pc_neumann_type poisson",
                "-pc_neumann_type poisson -pc_neumann_scale 0", "-pc_neumann_type poisson -pc_neumann_drop pattern",
                "-pc_neumann_type poisson -pc_neumann_drop threshold"}};
  for (const Shape &s :
       {Shape{37, 29}, Shape{30, 31, 1, false, false, false, 9}, Shape{12, 11, 10, false, false, false, 7},
        Shape{30, 31, 1, true, true}, Shape{8, 9, 7, false, true, true, 7}})
    all.cases.push_back(uneven_case(s));
  DeviceCase none = all.cases[0];
  none.name = "on no grid";
  for (reference::Matrix *A : {&none.before, &none.after}) A->add(5, 300, -0.5), A->add(300, 5, -0.5);
  all.cases.push_back(none);
  // the same to the last bit, but for cuSPARSE's products, which add up in an order that may change
  all.far_from_itself = [](const DeviceCase &c, const std::string &options) {
    return c.name == "on no grid" || options.find("drop") != std::string::npos ? 1e-14 : 0.0;
  };
  return all;
}

TEST(NeumannDevice, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  neumann().is_what_the_view_names();
}

TEST(NeumannDevice, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  neumann().equals_the_host();
}

TEST(NeumannDevice, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  neumann().applies_without_the_host();
}

TEST(NeumannDevice, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  neumann().refreshes_without_the_host();
}

TEST(NeumannDevice, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  solves_without_the_host(reference::two_phase(32), "-ksp_type cg -ksp_rtol 1e-6 -pc_type neumann");
}

TEST(NeumannDevice, IsTheSameFromRunToRun) {
  SKIP_ON_HOST();
  neumann().is_the_same_from_run_to_run();
}

class NeumannMixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(NeumannMixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  neumann().works_where_vectors_are_elsewhere(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Device, NeumannMixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

} // namespace
