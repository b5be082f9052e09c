// What PCNEUMANN must keep on a device: no copies, nothing allocated, the host's results, any stream. -backend cuda.
#include "device_support.hpp"
#include "neumann_support.hpp"
#include "traffic.hpp"

#include <petscdevice.h>

#include <cmath>

using namespace petsctest;
using namespace neumann_support;

namespace {

const char *const several[] = {"-pc_neumann_terms 0",
                               "-pc_neumann_terms 1",
                               "-pc_neumann_terms 2",
                               "-pc_neumann_terms 3",
                               "-pc_neumann_terms 8",
                               "-pc_neumann_terms 2 -pc_neumann_omega 1.5",
                               "-pc_neumann_type poisson",
                               "-pc_neumann_type poisson -pc_neumann_scale 0",
                               "-pc_neumann_type poisson -pc_neumann_drop pattern",
                               "-pc_neumann_type poisson -pc_neumann_drop threshold"};

struct Case {
  std::string name;
  reference::Matrix before, after;
};

// One on a grid of each kind, and one on none.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Shape &s :
       {Shape{37, 29}, Shape{30, 31, 1, false, false, false, 9}, Shape{12, 11, 10, false, false, false, 7},
        Shape{30, 31, 1, true, true}, Shape{8, 9, 7, false, true, true, 7}})
    all.push_back({words(s), reference_of(uneven(s, 1)), reference_of(uneven(s, 2))});
  Case none = all[0];
  none.name = "on no grid";
  for (reference::Matrix *A : {&none.before, &none.after}) A->add(5, 300, -0.5), A->add(300, 5, -0.5);
  all.push_back(none);
  return all;
}

template <class Test> void in_all_cases(const Test &test) {
  for (const Case &c : cases())
    for (const char *options : several) {
      SCOPED_TRACE(c.name + ", " + options);
      test(c, options);
    }
}

// The same to the last bit, but for cuSPARSE's products, which add up in an order that may change.
void expect_same(const Case &c, const std::string &options, const reference::Vector &x, const reference::Vector &y) {
  if (c.name == "on no grid" || options.find("drop") != std::string::npos)
    EXPECT_LT(largest_difference(x, y), 1e-14);
  else
    EXPECT_EQ(x, y);
}

TEST(NeumannDevice, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = neumann_of(A, options);
    ok(PCSetUp(pc));
    EXPECT_NE(view(pc).find("backend: cuda\n"), std::string::npos) << view(pc);
  });
}

TEST(NeumannDevice, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = matrix_of(c.before);
    const reference::Vector here = applied(neumann_of(A, options), r);
    const OnTheHost host;
    const Matrix B = matrix_of(c.before);
    EXPECT_LT(largest_difference(here, applied(neumann_of(B, options), r)), 1e-12);
  });
}

TEST(NeumannDevice, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = neumann_of(A, options);
    const Vector r = vector_of(random_values(std::size_t(c.before.size()))), z = like(r);
    ok(PCSetUp(pc));
    ok(PCApply(pc, r, z)); // also makes what is made once
    ok(VecScale(r, 2));    // the host's copy of r is old now, and that of z too
    ok(VecScale(z, 2));
    const Traffic seen = traffic_of([&] { ok(PCApply(pc, r, z)); });
    PetscOffloadMask where;
    ok(VecGetOffloadMask(z, &where));
    EXPECT_EQ(where, PETSC_OFFLOAD_GPU);
    EXPECT_EQ(seen.petsc, 0);
    EXPECT_EQ(seen.cuda.copies, 0);
    EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
    EXPECT_EQ(seen.cuda.device_waits + seen.cuda.stream_waits, 0);
  });
}

// New values of a matrix that was assembled on the device never see the host.
TEST(NeumannDevice, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = assembled_on_device(c.before), same = matrix_of(c.after);
    const Preconditioner pc = neumann_of(A, options);
    (void)applied(pc, r);
    for (int times = 0; times < 2; ++times) {
      assemble_on_device(A, entries_of(c.after));
      const Traffic seen = traffic_of([&] { ok(PCSetUp(pc)); });
      EXPECT_EQ(seen.petsc, 0);
      EXPECT_EQ(seen.cuda.bulk, 0);
      EXPECT_LE(seen.cuda.copies, 1); // what was found
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
      EXPECT_EQ(seen.cuda.device_waits, 0);
    }
    expect_same(c, options, applied(pc, r), applied(neumann_of(same, options), r));
  });
}

TEST(NeumannDevice, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  const Matrix A = matrix_of(reference::two_phase(32).A);
  const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-6 -pc_type neumann");
  const Vector b = vector_of(reference::two_phase(32).b), x = like(b);
  ok(KSPSolve(ksp, b, x)); // also takes all to the device
  const Traffic seen = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
  EXPECT_EQ(seen.petsc, 0);
  EXPECT_EQ(seen.cuda.bulk, 0);
}

TEST(NeumannDevice, IsTheSameFromRunToRun) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = matrix_of(c.before);
    const reference::Vector z = applied(neumann_of(A, options), r);
    for (int times = 0; times < 3; ++times) expect_same(c, options, applied(neumann_of(A, options), r), z);
  });
}

class NeumannMixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(NeumannMixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  const auto where = [](bool device) { return device ? backend : Backend{}; };
  const Backend mat = where(GetParam()), vec = where(!GetParam());
  in_all_cases([&](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix P = matrix_of(c.before, mat.mat), pure = matrix_of(c.before);
    const Preconditioner pc = neumann_of(P, options);
    const Vector x = vector_of(r, PETSC_COMM_SELF, vec.vec), y = like(x);
    EXPECT_TRUE(says_that_it_copies(info_of([&] { ok(PCApply(pc, x, y)); })));
    EXPECT_LT(largest_difference(values_of(y), applied(neumann_of(pure, options), r)), 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(Device, NeumannMixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

} // namespace
