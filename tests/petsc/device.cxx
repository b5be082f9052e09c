// What a device must keep: no copies, nothing allocated, the host's results, its errors, any stream. -backend cuda.
#include "device_support.hpp"
#include "traffic.hpp"
#include "unit/reference_support.hpp"

#include <petscdevice.h>

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

const char *const several[] = {"-pc_rrb_levels 8 ", "-pc_rrb_levels 5 -pc_rrb_lump_nodes both ",
                               "-pc_rrb_levels 12 -pc_rrb_cycle amli ", "-pc_rrb_levels 9 -pc_rrb_precision single ",
                               "-pc_rrb_levels 3 "};

Problem nine() { return reference::random_nine_points({130, 97}, 0.1); }
Problem changed_nine() { return reference::random_nine_points({130, 97}, 0.1, 0.02, 7); }

TEST(Device, IsWhatTheViewNames) {
  SKIP_ON_HOST();
  const Matrix A = matrix_of(nine());
  const Preconditioner pc = pc_of(A);
  ok(PCSetUp(pc));
  EXPECT_NE(view(pc).find("backend: cuda\n"), std::string::npos) << view(pc);
}

TEST(Device, CopiesNothingInASolve) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  for (const char *options : several) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, std::string(papers) + options);
    const Vector b = vector_of(problem.b), x = like(b);
    ok(KSPSolve(ksp, b, x)); // also takes all to the device
    const Traffic seen = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
    EXPECT_EQ(seen.petsc, 0) << options;
    EXPECT_EQ(seen.cuda.bulk, 0) << options;
    EXPECT_LT(relative_residual(problem, values_of(x)), 1e-4) << options;
  }
}

TEST(Device, AppliesWithoutTheHost) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  for (const char *options : several) {
    const Matrix A = matrix_of(problem);
    const Preconditioner pc = pc_of(A, options);
    const Vector r = vector_of(problem.b), z = like(r);
    ok(PCSetUp(pc));
    ok(PCApply(pc, r, z)); // also makes what is made once
    ok(VecScale(r, 2));    // the host's copy of r is old now, and that of z too
    ok(VecScale(z, 2));
    const Traffic seen = traffic_of([&] { ok(PCApply(pc, r, z)); });
    PetscOffloadMask where;
    ok(VecGetOffloadMask(z, &where));
    EXPECT_EQ(where, PETSC_OFFLOAD_GPU) << options;
    EXPECT_EQ(seen.petsc, 0) << options;
    EXPECT_EQ(seen.cuda.copies, 0) << options;
    EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0) << options;
    EXPECT_EQ(seen.cuda.device_waits + seen.cuda.stream_waits, 0) << options;
  }
}

// New values of a matrix that was assembled on the device never see the host.
TEST(Device, RefreshesWithoutTheHost) {
  SKIP_ON_HOST();
  const Problem before = nine(), after = changed_nine();
  for (const char *options : several) {
    const Matrix A = assembled_on_device(before.A), same = matrix_of(after);
    const Preconditioner pc = pc_of(A, options);
    const Traffic first = traffic_of([&] { ok(PCSetUp(pc)); });
    EXPECT_GT(first.cuda.allocations, 0) << "this does not count what the library allocates";
    for (int times = 0; times < 3; ++times) {
      assemble_on_device(A, entries_of(after.A));
      const Traffic seen = traffic_of([&] { ok(PCSetUp(pc)); });
      EXPECT_EQ(seen.petsc, 0) << options;
      EXPECT_EQ(seen.cuda.bulk, 0) << options;
      EXPECT_LE(seen.cuda.copies, 5) << options; // what was read, how both factorizations went, two of AMLI's estimates
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0) << options;
      EXPECT_EQ(seen.cuda.device_waits, 0) << options;
    }
    EXPECT_EQ(applied(pc, after.b), applied(pc_of(same, options), after.b)) << options;
  }
}

TEST(Device, SetsUpFromTheDevice) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  const Matrix A = assembled_on_device(problem.A);
  const Preconditioner pc = pc_of(A, "-pc_rrb_grid 130,97 -pc_rrb_levels 8");
  const Traffic seen = traffic_of([&] { ok(PCSetUp(pc)); });
  EXPECT_EQ(seen.petsc, 0);
  const Matrix same = matrix_of(problem);
  EXPECT_EQ(applied(pc, problem.b), applied(pc_of(same, "-pc_rrb_levels 8"), problem.b));
}

// ---- the host's results ----

reference::Vector applied_on_the_host(const Problem &problem, const std::string &options) {
  const OnTheHost host;
  const Matrix A = matrix_of(problem);
  return applied(pc_of(A, options), problem.b);
}

std::vector<std::pair<std::string, Problem>> well_conditioned() {
  using namespace reference;
  return {{"poisson", poisson(63)},
          {"poisson, even", five_points({64, 50}, one, one)},
          {"large", poisson(300)},
          {"faces", random_faces({65, 63}, 10)},
          {"nine points", nine()},
          {"bilinear elements", bilinear_elements(63, 40, 2, 1)},
          {"rings", periodic({63, 64, true, true}, 0.1)},
          {"one line", random_faces({500, 1}, 10)},
          {"small", random_faces({5, 4}, 10)}};
}

TEST(Device, EqualsTheHostToRounding) {
  SKIP_ON_HOST();
  for (const auto &[name, problem] : well_conditioned())
    for (const char *options : several) {
      const std::string all = grid_option(problem) + options;
      const Matrix A = matrix_of(problem);
      EXPECT_LT(largest_difference(applied(pc_of(A, all), problem.b), applied_on_the_host(problem, all)), 1e-12)
          << name << ", " << options;
    }
}

TEST(Device, TakesTheHostsIterations) {
  SKIP_ON_HOST();
  for (const auto &[name, problem] : well_conditioned())
    for (const char *options : several) {
      const std::string all = grid_option(problem) + options;
      const Solve here = solve(problem, all);
      const OnTheHost host;
      const Solve there = solve(problem, all);
      EXPECT_EQ(here.iterations, there.iterations) << name << ", " << options;
      EXPECT_EQ(here.reason, there.reason) << name << ", " << options;
    }
}

TEST(Device, IsBitwiseTheSameFromRunToRun) {
  SKIP_ON_HOST();
  for (const Problem &problem : {reference::random_jumps({301, 290}, 1e6, 5), nine(), reference::two_ponds(200, 199)})
    for (const char *options : several) {
      const Matrix A = matrix_of(problem);
      const reference::Vector z = applied(pc_of(A, grid_option(problem) + options), problem.b);
      for (int times = 0; times < 5; ++times) {
        const Preconditioner again = pc_of(A, grid_option(problem) + options);
        EXPECT_EQ(applied(again, problem.b), z) << options;
        EXPECT_EQ(applied(again, problem.b), z) << options;
      }
    }
}

// ---- mixed cases ----

class Mixed : public testing::TestWithParam<bool> {}; // whether the matrix is the one on the device

TEST_P(Mixed, WorksAndSaysSo) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  const auto where = [](bool device) { return device ? backend : Backend{}; };
  const Backend mat = where(GetParam()), vec = where(!GetParam());
  const Matrix P = matrix_of(problem.A, mat.mat), A = matrix_of(problem.A, vec.mat), pure = matrix_of(problem);
  const Vector b = vector_of(problem.b, PETSC_COMM_SELF, vec.vec), x = like(b);
  const Solver ksp = ksp_of(A, std::string(papers) + "-pc_rrb_levels 8", P);
  KSPConvergedReason reason;
  const std::string info = info_of([&] { ok(KSPSolve(ksp, b, x)); });
  ok(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
  EXPECT_LT(relative_residual(problem, values_of(x)), 1e-4);
  EXPECT_TRUE(says_that_it_copies(info));
  ok(PCApply(pc_of(ksp), b, x));
  EXPECT_LT(largest_difference(values_of(x), applied(pc_of(pure, "-pc_rrb_levels 8"), problem.b)), 1e-12);
  const Solver not_mixed = ksp_of(pure, std::string(papers) + "-pc_rrb_levels 8");
  EXPECT_FALSE(says_that_it_copies(info_of([&] { (void)solve(not_mixed, problem.b); })));
}

INSTANTIATE_TEST_SUITE_P(Device, Mixed, testing::Bool(),
                         [](const auto &info) { return info.param ? "device_matrix" : "host_matrix"; });

// ---- contexts and streams ----

#if defined(PETSC_HAVE_CUDA)

// A context with a stream of its own, which the stream 0 does not wait for, as PETSc's current one.
class OtherContext {
public:
  OtherContext() {
    ok(PetscDeviceContextGetCurrentContext(&before_));
    ok(PetscDeviceContextDuplicate(before_, &context_));
    ok(PetscDeviceContextSetStreamType(context_, PETSC_STREAM_NONBLOCKING));
    ok(PetscDeviceContextSetUp(context_));
    ok(PetscDeviceContextSetCurrentContext(context_));
  }
  ~OtherContext() {
    (void)PetscDeviceContextSynchronize(context_);
    (void)PetscDeviceContextSetCurrentContext(before_);
    (void)PetscDeviceContextDestroy(&context_);
  }

private:
  PetscDeviceContext before_ = nullptr, context_ = nullptr;
};

TEST(Context, OfAnyKindGivesTheSame) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  const Matrix A = matrix_of(problem);
  for (const char *options : several) {
    const Preconditioner outside = pc_of(A, options);
    const reference::Vector z = applied(outside, problem.b);
    const OtherContext other;
    EXPECT_EQ(applied(outside, problem.b), z) << options; // set up in another one
    EXPECT_EQ(applied(pc_of(A, options), problem.b), z) << options;
  }
}

// PCApply() at once after work that takes long, in the same stream: it has to wait for it, and what follows for PCApply().
TEST(Context, KeepsTheOrderOfItsStream) {
  SKIP_ON_HOST();
  const Problem problem = reference::poisson(511);
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, "-pc_rrb_levels 10");
  const reference::Vector z = applied(pc, problem.b);
  const OtherContext other;
  const Vector r = vector_of(problem.b), x = like(r), y = like(r);
  ok(VecScale(r, 2)); // takes it to the device: PETSc's copies from the host do not wait for such a stream
  ok(VecScale(r, 0.5));
  for (int times = 0; times < 3; ++times) {
    for (int k = 0; k < 300; ++k) ok(VecSet(x, k));
    ok(VecCopy(r, x));
    ok(PCApply(pc, x, y));
    ok(VecSet(x, 1)); // must not come before x was read
    EXPECT_EQ(values_of(y), z);
  }
}

#endif

// ---- other places ----

// One that is kept while the matrix is another one on the host, whose vectors are there, too, and then one on the device.
TEST(Device, IsKeptForMatricesElsewhere) {
  SKIP_ON_HOST();
  const Problem problem = reference::random_faces({30, 23}, 10);
  for (const char *options :
       {"-ksp_type rrb", "-ksp_type rrb -pc_rrb_coarse cholesky", "-pc_type rrb", "-pc_type mic", "-pc_type neumann",
        "-pc_type neumann -pc_neumann_type poisson -pc_neumann_drop pattern", "-pc_type blockrelax",
        "-ksp_type richardson -pc_type blockrelax -pc_blockrelax_type coloured"}) {
    const Matrix A = matrix_of(problem);
    const Solver ksp = ksp_of(A, std::string(options) + " -ksp_rtol 1e-9 -ksp_max_it 10000");
    const auto expect_solves = [&](const char *where) {
      const Matrix B = matrix_of(problem);
      const Vector b = vector_of(problem.b), x = like(b);
      ok(KSPSetOperators(ksp, B, B));
      ok(KSPSolve(ksp, b, x));
      EXPECT_LT(relative_residual(problem, values_of(x)), 1e-6) << options << ", " << where;
    };
    expect_solves("device");
    ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    {
      const OnTheHost host;
      expect_solves("host");
    }
    expect_solves("device again");
  }
}

// ---- errors ----

// Whichever allocation fails, PETSc's error is that of the host, and the next attempt succeeds.
TEST(Device, OutOfMemoryIsAnErrorAndForgotten) {
  SKIP_ON_HOST();
  const Problem problem = nine();
  const Matrix A = matrix_of(problem);
  const reference::Vector z = applied(pc_of(A), problem.b);
  long failures = 0;
  for (long k = 1; k < 1000; ++k) {
    const Preconditioner pc = pc_of(A);
    raised = {};
    fail_cuda_allocation(k);
    const bool failed = refused(PCSetUp(pc));
    fail_cuda_allocation(0);
    if (!failed) break;
    ++failures;
    EXPECT_EQ(raised.code, PETSC_ERR_MEM) << k << ": " << raised.message;
    EXPECT_NE(raised.message.find("No memory"), std::string::npos) << raised.message;
    EXPECT_EQ(applied(pc, problem.b), z) << k;
  }
  EXPECT_GT(failures, 3);
}

} // namespace
