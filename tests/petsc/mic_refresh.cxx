// New values in PCMIC after the first setup, as if all were set up anew; and the same results with any threads.
#include "mic_support.hpp"

using namespace petsctest;
using mic_support::shapes;
using mic_support::uneven;

namespace {

// As if all were set up anew, to the last bit.
TEST(MicRefresh, EqualsARebuild) {
  for (const Shape &s : shapes)
    for (const char *options : {"-pc_mic_omega 0.95", "-pc_mic_precision single", "-pc_mic_type ssor"}) {
      const reference::Matrix one = reference_of(uneven(s, 1)), two = reference_of(uneven(s, 2));
      const Matrix A = matrix_of(one), B = matrix_of(two);
      const reference::Vector r = random_values(std::size_t(s.size()));
      const Preconditioner pc = mic_of(A, options);
      const reference::Vector before = applied(pc, r);
      set_values(A, two);
      EXPECT_EQ(applied(pc, r), applied(mic_of(B, options), r)) << words(s) << ", " << options;
      set_values(A, one);
      EXPECT_EQ(applied(pc, r), before) << words(s) << ", " << options;
    }
}

// Couplings that become all alike, or cease to be; a failure between.
TEST(MicRefresh, TakesValuesOfAnotherKind) {
  const reference::Matrix constant = cube(9, 3, 0).A;
  reference::Matrix varying = constant, bad = constant;
  varying.row[100][101] = varying.row[101][100] = -0.5;
  bad.row[100][100] = 0.01;
  const Matrix A = matrix_of(constant);
  const Preconditioner pc = mic_of(A);
  const reference::Vector r = random_values(729);
  for (const reference::Matrix *now :
       std::vector<const reference::Matrix *>{&constant, &varying, &bad, &constant, &bad, &varying, &constant}) {
    set_values(A, *now);
    ok(PCSetUp(pc));
    PCFailedReason reason;
    ok(PCGetFailedReason(pc, &reason));
    EXPECT_EQ(reason == PC_NOERROR, now != &bad);
    if (now == &bad) continue;
    const Matrix B = matrix_of(*now);
    EXPECT_EQ(applied(pc, r), applied(mic_of(B), r));
    EXPECT_EQ(view(pc).find("constant couplings") == std::string::npos, now != &constant);
  }
}

TEST(MicRefresh, LooksForTheGridAgain) {
  const Shape flat{10, 9}, around{10, 9, 1, true};
  reference::Matrix one = reference_of(uneven(flat)), two = reference_of(uneven(around));
  for (int p = 0; p < 90; ++p)
    for (const auto &entry : two.row[p]) one.add(p, entry.first, 0);
  const Matrix A = matrix_of(one);
  const Preconditioner pc = mic_of(A, "-pc_mic_omega 0.5");
  const reference::Vector r = random_values(90);
  for (int times = 0; times < 2; ++times) {
    set_values(A, one);
    EXPECT_LT(largest_difference(applied(pc, r), Factorization::mic(Kept(uneven(flat), flat).A, 0.5).solve(r)), 1e-12);
    set_values(A, two);
    EXPECT_LT(largest_difference(applied(pc, r), Factorization::mic(Kept(uneven(around), around).A, 0.5).solve(r)),
              1e-12);
  }
}

TEST(MicRefresh, AndApplyMakeNoVectors) {
  SKIP_ON_DEVICE("PETSc's own device code makes C++ objects");
  for (const Shape &s : {Shape{37, 29}, Shape{12, 11, 10, false, false, false, 7}})
    for (const char *options : {"-pc_mic_omega 0.95", "-pc_mic_precision single", "-pc_mic_block_lines 4"}) {
      const Matrix A = matrix_of(reference_of(uneven(s)));
      const Preconditioner pc = mic_of(A, options);
      const Vector r = vector_of(random_values(std::size_t(s.size()))), z = like(r);
      long before = allocated;
      ok(PCSetUp(pc));
      ok(PCApply(pc, r, z));
      EXPECT_GT(allocated - before, 3) << "this does not count what the library allocates";
      ok(MatScale(A, 2));
      before = allocated;
      ok(PCSetUp(pc));
      ok(PCApply(pc, r, z));
      EXPECT_EQ(allocated - before, 0) << words(s) << ", " << options;
    }
}

// Threads change nothing.
TEST(MicThreads, GiveTheSame) {
  for (const int dim : {2, 3}) {
    const reference::Problem problem = cube(dim == 3 ? 40 : 250, dim, 10);
    const Matrix A = matrix_of(problem.A);
    for (const char *options : {"", "-pc_mic_block_lines 6"}) {
      const auto with = [&](int count) {
        const Threads threads(count);
        return applied(mic_of(A, options), problem.b);
      };
      const reference::Vector one = with(1);
      for (const int count : {2, 3, 4}) EXPECT_EQ(with(count), one) << count << " threads, " << options;
    }
  }
}

} // namespace
