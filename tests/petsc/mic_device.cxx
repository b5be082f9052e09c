// What PCMIC must keep on a device: no copies, nothing allocated, the host's results, any stream. -backend cuda.
#include "device_support.hpp"
#include "mic_support.hpp"
#include "traffic.hpp"

#include <petscdevice.h>

using namespace petsctest;
using mic_support::solid;
using mic_support::uneven;

namespace {

const char *const several[] = {"", "-pc_mic_omega 0", "-pc_mic_precision single", "-pc_mic_block_lines 4",
                               "-pc_mic_type ssor -pc_mic_omega 1.5"};

struct Case {
  std::string name;
  reference::Matrix before, after;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Shape &s : {Shape{37, 29}, Shape{30, 31, 1, true, true}, solid(20, 19, 18), solid(33, 3, 9)})
    all.push_back({words(s), reference_of(uneven(s, 1)), reference_of(uneven(s, 2))});
  all.push_back({"constant couplings", cube(18, 3, 0).A, cube(18, 3, 10).A});
  return all;
}

template <class Test> void in_all_cases(const Test &test) {
  for (const Case &c : cases())
    for (const char *options : several) {
      SCOPED_TRACE(c.name + ", " + options);
      test(c, options);
    }
}

TEST(MicDevice, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = mic_of(A, options);
    ok(PCSetUp(pc));
    EXPECT_NE(view(pc).find("backend: cuda\n"), std::string::npos) << view(pc);
  });
}

TEST(MicDevice, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = matrix_of(c.before);
    const reference::Vector here = applied(mic_of(A, options), r);
    const OnTheHost host;
    const Matrix B = matrix_of(c.before);
    // floats that are rounded the other way are 6e-8 away
    EXPECT_LT(largest_difference(here, applied(mic_of(B, options), r)),
              std::string(options).find("single") == std::string::npos ? 1e-12 : 1e-6);
  });
}

using Part = PetscErrorCode (*)(PC, Vec, Vec);

TEST(MicDevice, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = mic_of(A, options);
    for (const Part apply : {PCApply, PCApplySymmetricLeft, PCApplySymmetricRight}) {
      const Vector r = vector_of(random_values(std::size_t(c.before.size()))), z = like(r);
      ok(PCSetUp(pc));
      ok(apply(pc, r, z)); // also makes what is made once
      ok(VecScale(r, 2));  // the host's copy of r is old now, and that of z too
      ok(VecScale(z, 2));
      const Traffic seen = traffic_of([&] { ok(apply(pc, r, z)); });
      PetscOffloadMask where;
      ok(VecGetOffloadMask(z, &where));
      EXPECT_EQ(where, PETSC_OFFLOAD_GPU);
      EXPECT_EQ(seen.petsc, 0);
      EXPECT_EQ(seen.cuda.copies, 0);
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
      EXPECT_EQ(seen.cuda.device_waits + seen.cuda.stream_waits, 0);
    }
  });
}

TEST(MicDevice, AppliesToColumnsWithoutTheHost) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const PetscInt n = c.before.size();
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = mic_of(A, options);
    const Matrix X = dense_of(n, 3, reference::random_vector(int(3 * n))), Y = dense_of(n, 3);
    ok(PCSetUp(pc));
    ok(PCMatApply(pc, X, Y)); // also takes X to the device
    ok(MatScale(X, 2));
    const Traffic seen = traffic_of([&] { ok(PCMatApply(pc, X, Y)); });
    EXPECT_EQ(seen.petsc, 0);
    EXPECT_EQ(seen.cuda.copies, 0);
    EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
  });
}

// New values of a matrix that was assembled on the device never see the host.
TEST(MicDevice, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = assembled_on_device(c.before), same = matrix_of(c.after);
    const Preconditioner pc = mic_of(A, options);
    (void)applied(pc, r);
    for (int times = 0; times < 2; ++times) {
      assemble_on_device(A, entries_of(c.after));
      const Traffic seen = traffic_of([&] { ok(PCSetUp(pc)); });
      EXPECT_EQ(seen.petsc, 0);
      EXPECT_EQ(seen.cuda.bulk, 0);
      EXPECT_LE(seen.cuda.copies, 2); // what was found
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
      EXPECT_EQ(seen.cuda.device_waits, 0);
    }
    EXPECT_EQ(applied(pc, r), applied(mic_of(same, options), r));
  });
}

TEST(MicDevice, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  const reference::Problem problem = cube(20, 3, 0);
  const Matrix A = matrix_of(problem.A);
  const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-6 -pc_type mic");
  const Vector b = vector_of(problem.b), x = like(b);
  ok(KSPSolve(ksp, b, x)); // also takes all to the device
  const Traffic seen = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
  EXPECT_EQ(seen.petsc, 0);
  EXPECT_EQ(seen.cuda.bulk, 0);
}

TEST(MicDevice, IsTheSameFromRunToRun) {
  SKIP_ON_HOST();
  in_all_cases([](const Case &c, const char *options) {
    const reference::Vector r = random_values(std::size_t(c.before.size()));
    const Matrix A = matrix_of(c.before);
    const reference::Vector z = applied(mic_of(A, options), r);
    for (int times = 0; times < 3; ++times) EXPECT_EQ(applied(mic_of(A, options), r), z);
  });
}

class MicMixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(MicMixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  const auto where = [](bool device) { return device ? backend : Backend{}; };
  const Backend mat = where(GetParam()), vec = where(!GetParam());
  in_all_cases([&](const Case &c, const char *options) {
    const PetscInt n = c.before.size();
    const reference::Vector r = random_values(std::size_t(n));
    const Matrix P = matrix_of(c.before, mat.mat), pure = matrix_of(c.before, mat.mat);
    const Preconditioner pc = mic_of(P, options);
    const Vector x = vector_of(r, PETSC_COMM_SELF, vec.vec), y = like(x);
    EXPECT_TRUE(says_that_it_copies(info_of([&] { ok(PCApply(pc, x, y)); })));
    const Vector a = vector_of(r, PETSC_COMM_SELF, mat.vec), b = like(a);
    const Preconditioner same = mic_of(pure, options);
    ok(PCApply(same, a, b));
    EXPECT_EQ(values_of(y), values_of(b));
    const Backend before = std::exchange(backend, vec); // dense matrices where the vectors are
    const Matrix X = dense_of(n, 2, reference::random_vector(int(2 * n))), Y = dense_of(n, 2);
    backend = mat;
    const Matrix V = dense_of(n, 2, reference::random_vector(int(2 * n))), W = dense_of(n, 2);
    backend = before;
    ok(PCMatApply(pc, X, Y));
    ok(PCMatApply(pc, V, W));
    EXPECT_EQ(values_of_dense(Y), values_of_dense(W));
  });
}

INSTANTIATE_TEST_SUITE_P(Device, MicMixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

} // namespace
