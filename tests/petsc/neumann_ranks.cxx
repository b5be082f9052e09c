// PCNEUMANN on several ranks is what it is on one: mpiexec -n 3 build/tests/petsc --gtest_filter='NeumannRanks*'
#include "neumann_support.hpp"
#include "ranks_support.hpp"

#include <limits>
#include <cmath>

using namespace petsctest;
using namespace petsctest::distributed;
using namespace neumann_support;

namespace {

const std::vector<std::string> choices{
    "-pc_neumann_terms 0",
    "-pc_neumann_terms 1",
    "-pc_neumann_terms 2 -pc_neumann_omega 1.5",
    "-pc_neumann_terms 5",
    "-pc_neumann_type poisson",
    "-pc_neumann_type poisson -pc_neumann_scale 0",
    "-pc_neumann_type poisson -pc_neumann_drop pattern",
    "-pc_neumann_type poisson -pc_neumann_drop pattern -pc_neumann_scale 0",
    "-pc_neumann_type poisson -pc_neumann_drop threshold -pc_neumann_drop_threshold 0.02"};

// Each with another of the choices at a time, so that few set-ups see all: many ranks share few cores in tests.
const std::vector<Shape> some{{5, 3},
                              {3, 7},
                              {7, 6, 1, true, true},
                              {6, 7, 1, false, false, false, 9},
                              {9, 8, 1, true, true, false, 9},
                              {4, 3, 5, false, false, false, 7},
                              {3, 4, 6, false, true, true, 7}};

class Turns {
public:
  explicit Turns(std::size_t count) : count_(count) {}
  std::vector<std::string> next() {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < count_; ++k) out.push_back(choices[turn_++ % choices.size()]);
    return out;
  }

private:
  const std::size_t count_;
  std::size_t turn_ = 0;
};

// On one rank, every rank for itself.
reference::Vector expected(const reference::Matrix &A, const std::string &options, const reference::Vector &r) {
  return applied(neumann_of(matrix_of(A), options), r);
}

void expect_same(PC pc, const Distributed &d, const reference::Matrix &A, const std::string &options,
                 const std::string &what) {
  const reference::Vector r = random_values(std::size_t(A.size()));
  EXPECT_LT(largest_difference(applied_on(pc, d, r), own_part(d, expected(A, options, r))), 1e-12)
      << what << ", " << options;
}

TEST(NeumannRanks, AreTheSameAsOne) {
  Turns turns(1);
  for (const Shape &s : some) {
    const reference::Matrix A = reference_of(uneven(s));
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      for (const std::string &options : turns.next()) expect_same(neumann_of(d.A, options), d, A, options, what);
    });
  }
}

TEST(NeumannRanks, DecoupleIdentityRowsAndMasks) {
  Turns turns(1);
  bool column_too = true; // for every other shape
  for (const Shape &s : some) {
    SmallMatrix values = uneven(s);
    for (int p = 0; p < s.size(); p += 4) values.make_identity(p, column_too, p % 3 ? 0.5 : 2);
    column_too = !column_too;
    const reference::Matrix A = reference_of(values);
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      for (const std::string &options : turns.next()) expect_same(neumann_of(d.A, options), d, A, options, what);
    });
  }
}

TEST(NeumannRanks, FollowNewValues) {
  const Shape s{9, 8, 1, true, true, false, 9};
  const reference::Matrix A = reference_of(uneven(s, 1)), B = reference_of(uneven(s, 2));
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  for (const std::string &options : choices) {
    set_new_values(d, A);
    const Preconditioner pc = neumann_of(d.A, options);
    expect_same(pc, d, A, options, "before");
    set_new_values(d, B);
    expect_same(pc, d, B, options, "after");
  }
}

TEST(NeumannRanks, TakeOtherTypesOfMatrices) {
  const Shape s{9, 7};
  const reference::Matrix A = reference_of(uneven(s)), B = reference_of(uneven(s, 2));
  for (MatType type : {MATMPIBAIJ, MATMPISBAIJ}) {
    const Distributed d = by_rows(A, uneven_rows(A.size()), type);
    const Preconditioner pc = neumann_of(d.A);
    expect_same(pc, d, A, "", type);
    set_new_values(d, B);
    expect_same(pc, d, B, "", type);
  }
}

TEST(NeumannRanks, AreSymmetric) {
  const Shape s{17, 9};
  const reference::Matrix A = reference_of(uneven(s));
  const reference::Vector r = random_values(std::size_t(A.size()));
  each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
    const Preconditioner pc = neumann_of(d.A);
    EXPECT_EQ(applied_on(pc, d, r, PCApplyTranspose), applied_on(pc, d, r)) << what;
  });
}

// As the application numbers them: all unknowns of a point follow one another.
TEST(NeumannRanks, MayHaveSeveralUnknownsAPoint) {
  Array da;
  Matrix A;
  ok(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 7, 6, PETSC_DECIDE,
                  PETSC_DECIDE, 2, 1, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, A.put()));
  ok(MatShift(A, 4));
  Vector x, y;
  ok(MatCreateVecs(A, x.put(), y.put()));
  ok(VecSet(x, 1));
  ok(PCApply(neumann_of(A), x, y));
  for (double z : values_of(y)) EXPECT_DOUBLE_EQ(z, 0.25);
}

// ---- solves ----

TEST(NeumannRanks, TakeTheSameIterations) {
  Turns turns(1);
  for (const Shape &s :
       {Shape{5, 3}, Shape{24, 31}, Shape{12, 12, 1, true, true}, Shape{8, 9, 7, false, false, false, 7}}) {
    const reference::Matrix A = reference_of(uneven(s));
    const reference::Vector b = random_values(std::size_t(A.size()));
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      const std::string options = turns.next()[0];
      const std::string all = "-ksp_type cg -ksp_rtol 1e-12 -ksp_max_it 2000 -pc_type neumann " + options;
      const Solve alone = solve(ksp_of(matrix_of(A), all), b), done = solve_on(ksp_of(d.A, all), d, b);
      EXPECT_EQ(done.reason, alone.reason) << what << ", " << options;
      // on a device the march over one rank's grid adds in another order than the triangles of several
      EXPECT_NEAR(done.iterations, alone.iterations, backend.device ? 1 : 0) << what << ", " << options;
      EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-10) << what << ", " << options;
    });
  }
}

// ---- refusals ----

// All ranks hear of it, though one alone has the entry.
void expect_refused(const Distributed &d, const std::string &words, PetscErrorCode code = PETSC_ERR_ARG_WRONG) {
  for (const char *options : {"", "-pc_neumann_type poisson -pc_neumann_drop threshold"}) {
    raised = {};
    const Preconditioner pc = neumann_of(d.A, options);
    EXPECT_TRUE(refused(PCSetUp(pc)));
    EXPECT_EQ(raised.code, code);
    EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
    EXPECT_EQ(raised.message.find("on rank ") != std::string::npos, ranks() > 1) << raised.message;
  }
}

TEST(NeumannRanks, RefuseTogether) {
  const Shape s{7, 6};
  reference::Matrix A = reference_of(uneven(s));
  A.row[40][41] *= 2;
  expect_refused(by_rows(A, uneven_rows(A.size())), "not symmetric: row 40, column 41");
  // across two ranks
  A = reference_of(uneven(s));
  const int cut = ranks() > 1 ? uneven_rows(A.size())[0] : 20;
  A.row[std::size_t(cut - 1)][cut + 6] *= 2;
  expect_refused(by_rows(A, uneven_rows(A.size())),
                 "not symmetric: row " + std::to_string(cut - 1) + ", column " + std::to_string(cut + 6));
  A = reference_of(uneven(s));
  A.row[40][41] = NAN;
  expect_refused(by_rows(A, uneven_rows(A.size())), "not finite: row 40, column 41");
}

TEST(NeumannRanks, FailTogether) {
  const Shape s{7, 6};
  reference::Matrix A = reference_of(uneven(s));
  A.row[41][41] = -1;
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  const Preconditioner pc = neumann_of(d.A), strict = neumann_of(d.A);
  PCFailedReason reason;
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
  for (double z : applied_on(pc, d, random_values(std::size_t(A.size()))))
    EXPECT_EQ(z, std::numeric_limits<double>::infinity());
  ok(PCSetErrorIfFailure(strict, PETSC_TRUE));
  EXPECT_TRUE(refused(PCSetUp(strict)));
  EXPECT_EQ(raised.code, PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_NE(raised.message.find("row 41 "), std::string::npos) << raised.message;
}

TEST(NeumannRanks, HoldTheGridAgainstTheRows) {
  const Shape s{7, 6};
  const reference::Matrix A = reference_of(uneven(s));
  const Distributed d = by_rows(A, uneven_rows(A.size()));
  expect_same(neumann_of(d.A, "-pc_neumann_grid 7,6"), d, A, "", "with its grid");
  EXPECT_TRUE(refused(PCSetUp(neumann_of(d.A, "-pc_neumann_grid 7,5"))));
  EXPECT_EQ(raised.code, PETSC_ERR_ARG_INCOMP);
}

// ---- the view ----

TEST(NeumannRanks, AreInTheView) {
  const Shape s{7, 6};
  SmallMatrix values = uneven(s);
  values.make_identity(0, true), values.make_identity(41, true);
  const reference::Matrix A = reference_of(values);
  each_distribution(A, s, [&](const Distributed &d, const std::string &) {
    const Preconditioner pc = neumann_of(d.A);
    ok(PCSetUp(pc));
    const std::string text = view_on_first(pc);
    if (rank() > 0) return;
    EXPECT_NE(text.find("identity rows, decoupled: 2\n"), std::string::npos) << text;
    const std::string order = static_cast<DM>(d.da) ? "Mat's DMDA" : "numbering of the rows";
    const std::string said =
        "the same operator as on one rank, on " + std::to_string(ranks()) + " ranks; order: " + order + "\n";
    EXPECT_EQ(text.find(said) != std::string::npos, ranks() > 1) << text;
  });
}

} // namespace
