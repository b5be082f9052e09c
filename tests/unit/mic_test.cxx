// Incomplete factorizations on the host against a textbook's, and against a sequential sweep to the bit.
#include "pc/mic/host/order.hpp"

#include "mic_naive.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace mic_support;
using namespace petscrrb;
using namespace petscrrb::mic;

namespace {

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (double omega : {0.0, 0.5, 0.95, 1.0}) all.push_back({Type::mic, omega});
  for (double omega : {0.7, 1.0, 1.6}) all.push_back({Type::ssor, omega});
  return all;
}

std::string about(const Shape &s, const Options &o) {
  return words(s) + (o.type == Type::mic ? ", mic " : ", ssor ") + std::to_string(o.omega) + ", blocks of " +
         std::to_string(o.block_lines) + (o.single ? ", single" : "");
}

void expect_near(const std::vector<double> &x, const std::vector<double> &y, const std::string &what,
                 double tolerance = 1e-12) {
  double most = 0;
  for (double v : y) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance * most) << what << ", at " << i;
}

// A factorization that is ok.
std::unique_ptr<Mic> made(const Csr &A, const Shape &s, const Options &o) {
  auto mic = make_mic(lattice(s), o);
  const Findings found = mic->refresh(A);
  EXPECT_EQ(found.read.result(), ReadResult::ok) << about(s, o);
  EXPECT_FALSE(found.bad_pivot()) << about(s, o);
  return mic;
}

std::vector<double> applied(Mic &mic, const std::vector<double> &r) {
  std::vector<double> z(r.size(), std::nan(""));
  mic.apply(r.data(), z.data());
  return z;
}
std::vector<double> left(Mic &mic, const std::vector<double> &r) {
  std::vector<double> z(r.size(), std::nan(""));
  mic.apply_left(r.data(), z.data());
  return z;
}
std::vector<double> right(Mic &mic, const std::vector<double> &r) {
  std::vector<double> z(r.size(), std::nan(""));
  mic.apply_right(r.data(), z.data());
  return z;
}

void compare(SmallMatrix &A, const Shape &s, const Options &o, double tolerance = 1e-12) {
  const Kept kept(A, s, int(o.block_lines));
  const auto textbook = factorization(kept, o);
  const auto r = random_values(std::size_t(s.size()));
  const auto mic = made(A.csr(3), s, o);
  expect_near(applied(*mic, r), textbook.solve(r), about(s, o), tolerance);
  expect_near(left(*mic, r), textbook.left(r), about(s, o) + ", left", tolerance);
  expect_near(right(*mic, r), textbook.right(r), about(s, o) + ", right", tolerance);
}

TEST(Mic, IsTheTextbooks) {
  for (const Shape &s : shapes)
    for (Options o : all_options())
      for (bool single : {false, true}) {
        SmallMatrix A = uneven(s);
        o.single = single;
        compare(A, s, o, single ? 1e-5 : 1e-12);
      }
}

TEST(Mic, BlocksAreNotCoupled) {
  for (const Shape &s : shapes)
    for (Options o : all_options())
      for (int lines : {1, 2, 3, 5, 9, 16, 100}) {
        SmallMatrix A = uneven(s);
        o.block_lines = lines;
        compare(A, s, o);
      }
}

TEST(Mic, IdentityRowsAreDecoupled) {
  for (const Shape &s : shapes)
    for (const Options &o : all_options())
      for (bool column_too : {true, false}) {
        SmallMatrix A = uneven(s);
        for (int p = 0; p < s.size(); p += 3) A.make_identity(p, column_too, p % 2 ? 0.5 : p % 4 ? 2 : 0);
        compare(A, s, o);
        const auto mic = made(A.csr(), s, o);
        const auto r = random_values(std::size_t(s.size())), z = applied(*mic, r);
        for (int p = 0; p < s.size(); p += 3) EXPECT_DOUBLE_EQ(z[p], r[p] / (p % 2 ? 0.5 : p % 4 ? 2 : 1));
      }
}

// M v = A v where v is constant, as long as no row is dropped.
TEST(Mic, KeepsRowSums) {
  for (const Shape &s : shapes) {
    if (s.px || s.py || s.pz) continue;
    SmallMatrix A = uneven(s);
    const std::vector<double> ones(std::size_t(s.size()), 1.0);
    const auto sums = Kept(A, s).A.multiply(ones);
    expect_near(applied(*made(A.csr(), s, {Type::mic, 1}), sums), ones, words(s), 1e-11);
  }
}

TEST(Mic, IsSymmetric) {
  for (const Shape &s : {Shape{17, 9}, solid(9, 7, 15)})
    for (const Options &o : all_options()) {
      SmallMatrix A = uneven(s);
      const auto mic = made(A.csr(), s, o);
      const auto x = random_values(std::size_t(s.size()));
      std::vector<double> y(x);
      std::reverse(y.begin(), y.end());
      const double xy = reference::dot(x, applied(*mic, y)), yx = reference::dot(y, applied(*mic, x));
      EXPECT_NEAR(xy, yx, 1e-13 * std::fabs(reference::dot(x, applied(*mic, x)))) << about(s, o);
    }
}

TEST(Mic, RightAfterLeftIsAll) {
  for (const Shape &s : shapes)
    for (const Options &o : all_options()) {
      SmallMatrix A = uneven(s);
      const auto mic = made(A.csr(), s, o);
      const auto r = random_values(std::size_t(s.size()));
      expect_near(right(*mic, left(*mic, r)), applied(*mic, r), about(s, o));
    }
}

TEST(Mic, ManyColumnsAreEachItself) {
  const Shape s = solid(17, 9, 4);
  SmallMatrix A = uneven(s);
  const auto mic = made(A.csr(), s, {Type::mic, 0.9});
  const int n = s.size(), columns = 3, from = n + 5, to = n + 11;
  const auto r = random_values(std::size_t(from * columns));
  std::vector<double> z(std::size_t(to * columns), -7.0);
  mic->apply(r.data(), from, z.data(), to, columns);
  for (int k = 0; k < columns; ++k) {
    const auto alone = applied(*mic, std::vector<double>(r.begin() + k * from, r.begin() + k * from + n));
    for (int p = 0; p < n; ++p) ASSERT_EQ(z[std::size_t(k * to + p)], alone[std::size_t(p)]);
    for (int p = n; p < to; ++p) ASSERT_EQ(z[std::size_t(k * to + p)], -7.0);
  }
}

// Of a solver that diverged nothing stays behind, in lanes without points neither.
TEST(Mic, ForgetsWhatIsNotFinite) {
  for (const Shape &s : {Shape{33, 31}, solid(17, 9, 5)})
    for (SmallMatrix A : {uneven(s), laplacian(s, 0.1, false)}) {
      const auto mic = made(A.csr(), s, {Type::mic, 0.9});
      const auto r = random_values(std::size_t(s.size())), z = applied(*mic, r);
      (void)applied(*mic, std::vector<double>(r.size(), std::nan("")));
      EXPECT_EQ(applied(*mic, r), z);
      (void)left(*mic, std::vector<double>(r.size(), 1e308));
      (void)right(*mic, std::vector<double>(r.size(), std::numeric_limits<double>::infinity()));
      EXPECT_EQ(applied(*mic, r), z);
    }
}

TEST(Mic, ARefreshIsANewOne) {
  for (Options o : all_options()) {
    const Shape s = solid(17, 9, 4);
    SmallMatrix first = uneven(s, 1), second = uneven(s, 2);
    second.make_identity(40, false);
    const auto mic = made(first.csr(), s, o);
    EXPECT_FALSE(mic->refresh(second.csr()).bad_pivot());
    const auto r = random_values(std::size_t(s.size()));
    EXPECT_EQ(applied(*mic, r), applied(*made(second.csr(), s, o), r));
  }
}

template <class T> void compare_to_the_bit(SmallMatrix &A, const Shape &s, const Options &o, int most_threads = 1) {
  const auto r = random_values(std::size_t(s.size()));
  const Grid g = lattice(s);
  const Csr rows = A.csr();
  const bool constant = make_mic(g, o)->refresh(rows).constant;
  const auto z = Naive<T>(Kept(A, s, int(o.block_lines)), s, o, host_order(g, o).axis, constant).solve(r);
  for (int n = 1; n <= most_threads; ++n) {
    const Threads threads(n);
    const auto mic = made(rows, s, o);
    for (int again = 0; again < 3; ++again) ASSERT_EQ(applied(*mic, r), z) << about(s, o) << ", " << n << " threads";
  }
}

// Couplings that are all alike, whose w are not stored.
SmallMatrix constant_couplings(const Shape &s) {
  SmallMatrix A = laplacian(s, 0.1, s.px || s.py || s.pz);
  for (int p = 0; p < s.size(); p += 5) A.set(p, p, A.at(p, p) + 1);
  return A;
}

TEST(Mic, ConstantCouplingsAreTheTextbooks) {
  for (const Shape &s : shapes)
    for (Options o : all_options())
      for (int lines : {0, 3}) {
        SmallMatrix A = constant_couplings(s);
        o.block_lines = lines;
        EXPECT_TRUE(make_mic(lattice(s), o)->refresh(A.csr()).constant);
        compare(A, s, o);
      }
}

TEST(Mic, IsTheSequentialSweepToTheBit) {
  for (const Shape &s : shapes)
    for (Options o : all_options())
      for (SmallMatrix A : {uneven(s), constant_couplings(s)}) {
        o.single = false;
        compare_to_the_bit<double>(A, s, o);
        o.single = true;
        compare_to_the_bit<float>(A, s, o);
      }
}

TEST(Mic, ThreadsAreTheSequentialSweepToTheBit) {
  for (const Shape &s :
       {Shape{130, 75}, Shape{64, 160}, solid(23, 41, 11), solid(64, 9, 17), solid(11, 160, 6), solid(64, 80, 3)})
    for (Options o : {Options{Type::mic, 0.97}, Options{Type::ssor, 1.5}})
      for (SmallMatrix A : {uneven(s), constant_couplings(s)})
        for (int lines : {0, 2, 30}) {
          if (lines && o.type == Type::ssor) continue; // blocks are the same to both
          o.block_lines = lines;
          compare_to_the_bit<double>(A, s, o, 4);
        }
}

} // namespace
