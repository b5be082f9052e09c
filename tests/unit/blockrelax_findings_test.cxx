// What relaxation by blocks finds out about a matrix, and what it refuses.
#include "blockrelax_support.hpp"

#include <gtest/gtest.h>

using namespace blockrelax_support;
using petscrrb::no_row;
using petscrrb::ReadResult;
using petscrrb::blockrelax::Findings;

namespace {

TEST(BlockRelaxFindings, ConstantCoefficientsAreFound) {
  const Shape s = solid(20, 17, 13);
  SmallMatrix A = constant(s);
  auto relax = make(s, jacobi(8, 8, 8));
  Findings found = relax->refresh(A.csr());
  EXPECT_TRUE(found.constant);
  EXPECT_EQ(found.used, "tensor");
  EXPECT_EQ(found.shapes, 2 * 2 * 2); // 8 and 4, 8 and 1, 8 and 5
  A.set_both(s.row(9, 9, 9), s.row(10, 9, 9), -1.01);
  found = relax->refresh(A.csr());
  EXPECT_FALSE(found.constant);
  EXPECT_EQ(found.used, "factored");
  EXPECT_GT(relax->bytes(), 0);
}

TEST(BlockRelaxFindings, SaysWhatIsWrong) {
  const Shape s = solid(9, 8, 7);
  const auto found = [&](const std::function<void(SmallMatrix &)> &spoil, const Options &o = jacobi(4, 4, 4)) {
    SmallMatrix A = random_couplings(s);
    spoil(A);
    return make(s, o)->refresh(A.csr());
  };
  const int p = s.row(5, 5, 5);
  EXPECT_EQ(found([&](SmallMatrix &A) { A.set(p, p + 1, -3); }).read.result(), ReadResult::refused);
  EXPECT_EQ(found([&](SmallMatrix &A) { A.set_both(p, p + 1, std::nan("")); }).read.result(), ReadResult::refused);
  EXPECT_EQ(found([&](SmallMatrix &A) { A.set_both(p, p + 2, -0.1); }).read.result(), ReadResult::rebuild);
  EXPECT_EQ(found([&](SmallMatrix &A) { A.set_both(p, p + 2, 0); }).read.result(), ReadResult::ok);
  EXPECT_EQ(found([&](SmallMatrix &A) { A.set(p, p, -1); }).read.bad_pivot, p);
  const auto indefinite = [&](SmallMatrix &A) { A.set_both(p, p + 1, -100); };
  const Findings in_block = found(indefinite);
  EXPECT_EQ(in_block.read.bad_pivot, no_row);
  ASSERT_NE(in_block.pivot, no_row);
  EXPECT_TRUE(in_block.pivot == p + 1 || in_block.pivot == s.row(4, 4, 4))
      << in_block.pivot;                                       // of the block, or the block's
  EXPECT_EQ(found(indefinite, jacobi(3, 4, 4)).pivot, no_row); // between blocks
}

TEST(BlockRelaxFindings, TooFewColoursAreAnException) {
  EXPECT_THROW(make(solid(9, 8, 7), coloured(4, 4, 4, 1)), std::invalid_argument);
  EXPECT_THROW(make(solid(9, 8, 7, 27), coloured(4, 4, 4, 7)), std::invalid_argument);
  EXPECT_THROW(make(around(solid(9, 8, 7), true, false, false), coloured(3, 4, 4, 2)), std::invalid_argument);
  EXPECT_NO_THROW(make(solid(9, 8, 7), coloured(9, 8, 7, 1)));
  const Domain domain = solid(9, 8, 7, 27);
  SmallMatrix A = constant(domain);
  const Vector b = random_values(domain.s.size(), -1, 1);
  const auto few = make(domain, coloured(4, 4, 4, 0)), eight = make(domain, coloured(4, 4, 4, 8));
  for (const auto &relax : {few.get(), eight.get()}) (void)relax->refresh(A.csr());
  EXPECT_EQ(swept_from_zero(*few, b, 2), swept_from_zero(*eight, b, 2));
}

} // namespace
