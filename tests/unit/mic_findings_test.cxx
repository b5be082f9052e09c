// What incomplete factorizations find out about a matrix, pivots that are not positive, and iteration counts.
#include "../reference/cg_reference.hpp"
#include "mic_support.hpp"

#include <gtest/gtest.h>

using namespace mic_support;
using namespace petscrrb;
using namespace petscrrb::mic;

namespace {

Findings found_in(SmallMatrix A, const Shape &s, const Options &o) {
  return make_mic(lattice(s), o)->refresh(A.csr(3));
}

std::vector<double> applied(Mic &mic, const std::vector<double> &r) {
  std::vector<double> z(r.size(), std::nan(""));
  mic.apply(r.data(), z.data());
  return z;
}

TEST(MicFindings, CountsIdentityRowsAndRefuses) {
  const Shape s{6, 5};
  const Options o;
  SmallMatrix A = random_matrix(s);
  A.make_identity(7, false);
  A.make_identity(8, true, 0);
  EXPECT_EQ(found_in(A, s, o).read.identity_rows, 2);
  EXPECT_FALSE(found_in(A, s, o).bad_pivot());
  SmallMatrix bad = A, skew = A, far = A, negative = A;
  bad.set(3, 4, std::nan(""));
  EXPECT_EQ(found_in(bad, s, o).read.result(), ReadResult::refused);
  skew.set(14, 15, -5);
  EXPECT_EQ(found_in(skew, s, o).read.result(), ReadResult::refused);
  far.set_both(2, 17, -1);
  EXPECT_EQ(found_in(far, s, o).read.result(), ReadResult::rebuild);
  negative.set(11, 11, -1), negative.set(20, 20, 0);
  for (Type type : {Type::mic, Type::ssor}) {
    EXPECT_EQ(found_in(negative, s, {type}).read.bad_pivot, 11);
    EXPECT_TRUE(found_in(negative, s, {type}).bad_pivot());
  }
}

TEST(MicFindings, AMatrixThatIsSingularHasANullDirection) {
  for (const Shape &s : shapes) {
    if (s.px || s.py || s.pz || s.size() == 1) continue;
    SmallMatrix A = singular(s);
    const auto textbook = factorization(Kept(A, s), {Type::mic, 1});
    const auto r = random_values(std::size_t(s.size()));
    for (bool single : {false, true}) {
      Options o;
      o.single = single;
      const auto mic = make_mic(lattice(s), o);
      const Findings found = mic->refresh(A.csr());
      EXPECT_EQ(found.null_rows, 1) << words(s);
      EXPECT_FALSE(found.bad_pivot());
      const auto z = applied(*mic, r), expected = textbook.solve(r);
      for (std::size_t i = 0; i < z.size(); ++i) ASSERT_NEAR(z[i], expected[i], (single ? 1e-4 : 1e-11) * s.size());
      std::vector<double> last(r.size(), 0.0); // the residual that no solution has
      last.back() = 1;
      EXPECT_NEAR(applied(*mic, last).back() * A.at(s.size() - 1, s.size() - 1), 1, single ? 1e-6 : 1e-15) << words(s);
    }
    const bool chain = (s.nx > 1) + (s.ny > 1) + (s.nz > 1) == 1; // nothing is dropped, and omega does not matter
    EXPECT_EQ(found_in(A, s, {Type::mic, 0.9}).null_rows, chain ? 1 : 0) << words(s);
  }
}

TEST(MicFindings, APivotThatIsNotPositiveHasItsPoint) {
  for (const Shape &s : {Shape{9, 7}, Shape{40, 20}, solid(9, 7, 5), solid(20, 4, 12)}) {
    SmallMatrix A = singular(s);
    for (int p : {s.size() / 3, s.size() / 2}) A.set(p, p, 0.2 * A.at(p, p));
    const auto textbook = factorization(Kept(A, s), {Type::mic, 0.5});
    const Findings found = found_in(A, s, {Type::mic, 0.5});
    EXPECT_TRUE(found.bad_pivot());
    EXPECT_EQ(found.read.bad_pivot, no_row);
    EXPECT_EQ(found.pivot, textbook.bad);
    EXPECT_LT(found.pivot_value, 0);
    EXPECT_GT(found.pivot_value, -1);
    EXPECT_FALSE(found_in(A, s, {Type::ssor, 1}).bad_pivot());
  }
}

TEST(MicFindings, AShiftRaisesPivots) {
  for (const Shape &s : {Shape{9, 7}, Shape{40, 20}, solid(9, 7, 5), solid(20, 4, 12)})
    for (double shift : {0.01, 0.3}) {
      SmallMatrix A = singular(s);
      for (int p : {s.size() / 3, s.size() / 2}) A.set(p, p, 0.2 * A.at(p, p));
      Options o{Type::mic, 0.5};
      o.shift = shift;
      const auto textbook = factorization(Kept(A, s), o);
      const auto mic = make_mic(lattice(s), o);
      const Findings found = mic->refresh(A.csr());
      EXPECT_FALSE(found.bad_pivot());
      EXPECT_EQ(found.shifted, textbook.raised);
      EXPECT_GT(found.shifted, 1);
      const auto r = random_values(std::size_t(s.size())), z = applied(*mic, r), expected = textbook.solve(r);
      double most = 0;
      for (double v : expected) most = std::max(most, std::fabs(v));
      for (std::size_t i = 0; i < z.size(); ++i) ASSERT_NEAR(z[i], expected[i], 1e-12 * most);
    }
}

TEST(MicFindings, TellsConstantCouplings) {
  for (const Shape &s : {Shape{9, 7}, Shape{12, 9, 1, true, true}, solid(9, 7, 5), solid(3, 1, 5), solid(1, 1, 9)})
    for (int lines : {0, 1, 2})
      for (Type type : {Type::mic, Type::ssor}) {
        Options o{type};
        o.block_lines = lines;
        SmallMatrix A = laplacian(s, 0.5, true), with_mask = A, other = A, stronger = A;
        EXPECT_TRUE(found_in(A, s, o).constant) << words(s) << ", blocks of " << lines;
        const int p = s.size() - 2; // in x of lines that have more than a point
        if (s.nx == 1) continue;
        with_mask.make_identity(p, false);
        EXPECT_FALSE(found_in(with_mask, s, o).constant) << words(s);
        other.set_both(p, p + 1, -0.9999);
        EXPECT_FALSE(found_in(other, s, o).constant) << words(s);
        stronger.set_both(0, 1, -1.0001);
        EXPECT_FALSE(found_in(stronger, s, o).constant) << words(s);
      }
}

struct Counts {
  int six, ten;
};

// Iterations to a residual of 1e-6 and 1e-10 of the first.
Counts iterations(const Shape &s, double shift, double omega) {
  SmallMatrix A = laplacian(s, shift, false);
  const Kept kept(A, s);
  const auto mic = make_mic(lattice(s), {Type::mic, omega});
  EXPECT_FALSE(mic->refresh(A.csr()).bad_pivot());
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> b(std::size_t(s.size()));
  for (double &v : b) v = normal(random);
  const auto result = reference::cg(
      kept.A, b, [&](const reference::Vector &r) { return applied(*mic, r); }, reference::Norm::unpreconditioned,
      1e-10);
  Counts counts{0, result.iterations};
  while (result.history[std::size_t(counts.six)] > 1e-6 * result.history[0]) counts.six++;
  return counts;
}

void expect_counts(const Shape &s, double shift, double omega, int six, int ten) {
  const Counts counts = iterations(s, shift, omega);
  EXPECT_NEAR(counts.six, six, 1) << words(s) << ", omega " << omega;
  EXPECT_NEAR(counts.ten, ten, 1) << words(s) << ", omega " << omega;
}

TEST(MicIterations, AreAsKnown) {
  const Shape cube = solid(40, 40, 40), small = solid(20, 20, 20), square{64, 64};
  expect_counts(cube, 0.01, 0, 34, 55);
  expect_counts(cube, 0.01, 0.95, 19, 31);
  expect_counts(cube, 0.01, 0.99, 17, 28);
  expect_counts(cube, 0.01, 1, 20, 32);
  expect_counts(small, 0, 0, 22, 34);
  expect_counts(small, 0, 0.95, 14, 23);
  expect_counts(small, 0, 0.99, 16, 26);
  expect_counts(small, 0, 1, 19, 30);
  expect_counts(square, 0, 0, 51, 77);
  expect_counts(square, 0, 0.95, 30, 43);
  expect_counts(square, 0, 0.99, 25, 37);
  expect_counts(square, 0, 1, 27, 43);
}

} // namespace
