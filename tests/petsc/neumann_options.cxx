// What a user can set of PCNEUMANN, what the view says, what is refused, and new values after the first setup.
#include "device_support.hpp"
#include "neumann_support.hpp"

#include <cmath>

using namespace petsctest;
using namespace neumann_support;

namespace {

struct Everything {
  PetscInt terms = 2, nx = 0, ny = 0, nz = 0;
  PCNeumannType type = PC_NEUMANN_SERIES;
  PetscReal omega = 1;
  PetscBool scale = PETSC_TRUE;
  PCNeumannDrop drop = PC_NEUMANN_DROP_NONE;
  PetscReal threshold = 0.1;
};

Everything all_of(PC pc) {
  Everything e;
  ok(PCNeumannGetTerms(pc, &e.terms));
  ok(PCNeumannGetOmega(pc, &e.omega));
  ok(PCNeumannGetType(pc, &e.type));
  ok(PCNeumannGetScale(pc, &e.scale));
  ok(PCNeumannGetDrop(pc, &e.drop));
  ok(PCNeumannGetDropThreshold(pc, &e.threshold));
  ok(PCNeumannGetGrid(pc, &e.nx, &e.ny, &e.nz));
  return e;
}

void expect_equal(const Everything &a, const Everything &b) {
  EXPECT_EQ(a.terms, b.terms);
  EXPECT_EQ(a.omega, b.omega);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.drop, b.drop);
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.nx, b.nx);
  EXPECT_EQ(a.ny, b.ny);
  EXPECT_EQ(a.nz, b.nz);
}

const Everything other{5, 4, 3, 5, PC_NEUMANN_POISSON, 1.25, PETSC_FALSE, PC_NEUMANN_DROP_THRESHOLD, 0.25};
const Shape shape{4, 3, 5, false, false, false, 7};

class NeumannChoices : public testing::Test {
protected:
  const reference::Matrix values = reference_of(uneven(shape));
  const Matrix A = matrix_of(values);
};

TEST_F(NeumannChoices, SettersAndGettersAgree) {
  const Preconditioner pc = neumann_of(A);
  expect_equal(all_of(pc), Everything());
  ok(PCNeumannSetTerms(pc, other.terms));
  ok(PCNeumannSetOmega(pc, other.omega));
  ok(PCNeumannSetType(pc, other.type));
  ok(PCNeumannSetScale(pc, other.scale));
  ok(PCNeumannSetDrop(pc, other.drop));
  ok(PCNeumannSetDropThreshold(pc, other.threshold));
  ok(PCNeumannSetGrid(pc, other.nx, other.ny, other.nz));
  expect_equal(all_of(pc), other);
  ok(PCReset(pc));
  expect_equal(all_of(pc), other);
}

TEST_F(NeumannChoices, OptionsSayTheSameAsSetters) {
  expect_equal(
      all_of(neumann_of(
          A, "-pc_neumann_terms 5 -pc_neumann_omega 1.25 -pc_neumann_type poisson "
             "-pc_neumann_scale 0 -pc_neumann_drop threshold -pc_neumann_drop_threshold 0.25 -pc_neumann_grid 4,3,5")),
      other);
  const Preconditioner flat = neumann_of(A, "-pc_neumann_grid 20,3");
  EXPECT_EQ(all_of(flat).nz, 1);
}

TEST_F(NeumannChoices, GettersTellTheGridInUse) {
  const Preconditioner pc = neumann_of(A);
  ok(PCSetUp(pc));
  Everything found;
  found.nx = 4, found.ny = 3, found.nz = 5;
  expect_equal(all_of(pc), found);
}

TEST_F(NeumannChoices, TakeEffectAtTheNextSetUp) {
  const Preconditioner pc = neumann_of(A);
  const reference::Vector r = random_values(std::size_t(shape.size()));
  const auto expect = [&](const reference::Dense &inverse) {
    EXPECT_LT(largest_difference(applied(pc, r), reference::product(inverse, r)), 1e-12);
  };
  expect(reference::neumann_inverse(values, 2));
  ok(PCNeumannSetTerms(pc, 1));
  expect(reference::neumann_inverse(values, 1));
  ok(PCNeumannSetOmega(pc, 1.2));
  expect(reference::neumann_inverse(values, 1, 1.2));
  ok(PCNeumannSetOmega(pc, 1));
  ok(PCNeumannSetType(pc, PC_NEUMANN_POISSON));
  expect(reference::poisson_inverse(values, true));
  ok(PCNeumannSetScale(pc, PETSC_FALSE));
  expect(reference::poisson_inverse(values, false));
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_PATTERN));
  expect(reference::poisson_inverse(values, false, reference::Dropped::outside_pattern));
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_THRESHOLD));
  expect(reference::poisson_inverse(values, false, reference::Dropped::below_threshold, 0.1));
  ok(PCNeumannSetDropThreshold(pc, 0.01));
  expect(reference::poisson_inverse(values, false, reference::Dropped::below_threshold, 0.01));
}

TEST_F(NeumannChoices, OutOfRangeAreRefused) {
  const Preconditioner pc = neumann_of(A);
  const auto expect_refused = [&](PetscErrorCode code, PetscErrorCode expected, const char *word) {
    EXPECT_TRUE(refused(code)) << word;
    EXPECT_EQ(raised.code, expected) << word;
    EXPECT_NE(raised.message.find(word), std::string::npos) << raised.message;
    raised = {};
  };
  expect_refused(PCNeumannSetTerms(pc, -1), PETSC_ERR_ARG_OUTOFRANGE, "terms -1");
  expect_refused(PCNeumannSetOmega(pc, 2), PETSC_ERR_ARG_OUTOFRANGE, "Omega 2");
  expect_refused(PCNeumannSetOmega(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "Omega 0");
  expect_refused(PCNeumannSetOmega(pc, std::nan("")), PETSC_ERR_ARG_OUTOFRANGE, "Omega nan");
  expect_refused(PCNeumannSetType(pc, (PCNeumannType)2), PETSC_ERR_ARG_OUTOFRANGE, "PCNeumannType 2");
  expect_refused(PCNeumannSetDrop(pc, (PCNeumannDrop)3), PETSC_ERR_ARG_OUTOFRANGE, "PCNeumannDrop 3");
  expect_refused(PCNeumannSetDropThreshold(pc, -0.5), PETSC_ERR_ARG_OUTOFRANGE, "Threshold -0.5");
  expect_refused(PCNeumannSetDropThreshold(pc, std::nan("")), PETSC_ERR_ARG_OUTOFRANGE, "Threshold nan");
  expect_refused(PCNeumannSetGrid(pc, 4, 0, 1), PETSC_ERR_ARG_OUTOFRANGE, "4 x 0 x 1");
  expect_equal(all_of(pc), Everything());
  ok(PCNeumannSetScale(pc, PETSC_FALSE));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "-pc_neumann_scale");
  ok(PCNeumannSetScale(pc, PETSC_TRUE));
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_PATTERN));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "-pc_neumann_drop");
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_NONE));
  ok(PCNeumannSetOmega(pc, 1.5));
  ok(PCNeumannSetType(pc, PC_NEUMANN_POISSON));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "-pc_neumann_omega");
  ok(PCNeumannSetType(pc, PC_NEUMANN_SERIES));
  ok(PCSetUp(pc));
  EXPECT_THROW(neumann_of(A, "-pc_neumann_grid 60"), std::runtime_error);
  EXPECT_THROW(neumann_of(A, "-pc_neumann_grid 4,3,5,1"), std::runtime_error);
}

TEST_F(NeumannChoices, AreInTheView) {
  const auto expect_lines = [](const std::string &text, const std::vector<std::string> &lines) {
    for (const std::string &line : lines)
      EXPECT_NE(text.find("    " + line + "\n"), std::string::npos) << line << "\n" << text;
  };
  const Preconditioner pc = neumann_of(A);
  expect_lines(view(pc), {"Neumann series, terms: 2", "not set up yet"});
  EXPECT_EQ(view(pc).find("omega"), std::string::npos);
  ok(PCNeumannSetOmega(pc, 1.5));
  expect_lines(view(pc), {"omega: 1.5"});
  ok(PCNeumannSetOmega(pc, 1));
  ok(PCSetUp(pc));
  expect_lines(view(pc), {"grid: 4 x 3 x 5, 7-point, from the matrix pattern",
                          backend.device ? "backend: cuda" : "backend: host"});
  EXPECT_NE(view(pc).find("largest row sum of the scaled triangle: 0."), std::string::npos) << view(pc);
  EXPECT_NE(view(pc).find("memory: "), std::string::npos);
  ok(PCNeumannSetType(pc, PC_NEUMANN_POISSON));
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_THRESHOLD));
  ok(PCSetUp(pc));
  expect_lines(view(pc), {"incomplete Poisson of the diagonally scaled matrix", "dropped: entries below 0.1",
                          "stored as one sparse matrix"});
  ok(PCNeumannSetDrop(pc, PC_NEUMANN_DROP_PATTERN));
  ok(PCNeumannSetScale(pc, PETSC_FALSE));
  expect_lines(view(pc), {"incomplete Poisson of the unscaled matrix", "dropped: entries where the matrix has none"});
}

// ---- what is refused ----

void expect_refused(const reference::Matrix &A, PetscErrorCode code, const std::vector<std::string> &words,
                    const std::string &options = "") {
  const Matrix P = matrix_of(A);
  const Preconditioner pc = neumann_of(P, options);
  EXPECT_TRUE(refused(PCSetUp(pc)));
  EXPECT_EQ(raised.code, code) << raised.message;
  for (const std::string &word : words)
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << "\n is not in: " << raised.message;
  raised = {};
}

TEST(NeumannRefused, WhatIsNotSymmetricOrNotFinite) {
  for (const bool on_grid : {true, false}) {
    reference::Matrix good = reference_of(uneven({10, 9}));
    if (!on_grid) good.add(23, 61, -0.5), good.add(61, 23, -0.5);
    reference::Matrix skew = good, bad = good;
    skew.row[44][45] = -0.625, skew.row[45][44] = -0.25;
    expect_refused(skew, PETSC_ERR_ARG_WRONG, {"not symmetric", "row 44, column 45 holds -0.625", "-0.25", "1e-10"});
    bad.row[31][32] = std::nan("");
    expect_refused(bad, PETSC_ERR_ARG_WRONG, {"not finite", "row 31, column 32"});
    bad.row[31][32] = HUGE_VAL;
    expect_refused(bad, PETSC_ERR_ARG_WRONG, {"not finite", "row 31, column 32"});
  }
}

TEST(NeumannRefused, GridsThatDoNotFit) {
  const reference::Matrix A = reference_of(uneven({10, 9}));
  expect_refused(A, PETSC_ERR_ARG_INCOMP, {"10 x 10", "90 rows"}, "-pc_neumann_grid 10,10");
  expect_refused(A, PETSC_ERR_ARG_INCOMP, {"does not fit", "10 x 9"}, "-pc_neumann_grid 15,6");
  expect_refused(A, PETSC_ERR_ARG_INCOMP, {"does not fit", "10 x 9"},
                 "-pc_neumann_grid 15,6 -pc_neumann_type poisson -pc_neumann_drop pattern");
}

TEST(NeumannRefused, DiagonalsThatAreNotPositive) {
  for (const bool on_grid : {true, false})
    for (const double d : {0.0, -3.0}) {
      reference::Matrix A = reference_of(uneven({10, 9}));
      if (!on_grid) A.add(23, 61, -0.5), A.add(61, 23, -0.5);
      const reference::Matrix good = A;
      A.row[31][31] = A.row[52][52] = d;
      const Matrix P = matrix_of(A);
      const Solver ksp = ksp_of(P, "-ksp_type cg -pc_type neumann");
      EXPECT_EQ(solve(ksp, reference::random_vector(90)).reason, KSP_DIVERGED_PC_FAILED);
      const Preconditioner pc = neumann_of(P);
      ok(PCSetErrorIfFailure(pc, PETSC_TRUE));
      EXPECT_TRUE(refused(PCSetUp(pc)));
      EXPECT_NE(raised.message.find("row 31 is not positive"), std::string::npos) << raised.message;
      set_values(P, good);
      ok(KSPSetOperators(ksp, P, P)); // without this PETSc 3.18 takes the failure into the next solve, whatever the PC
      EXPECT_GT(solve(ksp, reference::random_vector(90)).reason, 0);
    }
}

// ---- new values ----

// To the last bit on the host; cuSPARSE's products may differ in it.
void expect_same(const reference::Vector &x, const reference::Vector &y, const std::string &what) {
  if (backend.device)
    EXPECT_LT(largest_difference(x, y), 1e-14) << what;
  else
    EXPECT_EQ(x, y) << what;
}

// As if all were set up anew.
TEST(NeumannRefresh, EqualsARebuild) {
  for (const Shape &s : shapes)
    for (const char *options :
         {"-pc_neumann_terms 2", "-pc_neumann_terms 10", "-pc_neumann_type poisson",
          "-pc_neumann_type poisson -pc_neumann_drop pattern", "-pc_neumann_type poisson -pc_neumann_drop threshold"}) {
      const Matrix A = matrix_of(reference_of(uneven(s, 1))), B = matrix_of(reference_of(uneven(s, 2)));
      const reference::Vector r = random_values(std::size_t(s.size()));
      const Preconditioner pc = neumann_of(A, options);
      const reference::Vector before = applied(pc, r);
      set_values(A, reference_of(uneven(s, 2)));
      expect_same(applied(pc, r), applied(neumann_of(B, options), r), words(s) + ", " + options);
      set_values(A, reference_of(uneven(s, 1)));
      expect_same(applied(pc, r), before, words(s) + ", " + options);
    }
}

TEST(NeumannRefresh, LooksForTheGridAgain) {
  reference::Matrix near = reference_of(uneven({10, 9})), far = near;
  near.add(23, 61, 0), near.add(61, 23, 0);
  far.add(23, 61, -0.5), far.add(61, 23, -0.5);
  const Matrix A = matrix_of(near);
  const Preconditioner pc = neumann_of(A);
  const reference::Vector r = random_values(90);
  for (int times = 0; times < 2; ++times) {
    set_values(A, near);
    EXPECT_LT(largest_difference(applied(pc, r), reference::product(reference::neumann_inverse(near, 2), r)), 1e-12);
    set_values(A, far);
    EXPECT_LT(largest_difference(applied(pc, r), reference::product(reference::neumann_inverse(far, 2), r)), 1e-12);
    EXPECT_NE(view(pc).find("no grid"), std::string::npos);
  }
}

// ---- what -info says ----

TEST(NeumannInfo, SaysWhereMoreTermsMayNotHelp) {
  const auto says_so = [](double diagonal) {
    SmallMatrix A = random_matrix({10, 9});
    for (int p = 0; p < 90; ++p) A.set(p, p, diagonal);
    const Matrix P = matrix_of(reference_of(A));
    const Preconditioner pc = neumann_of(P);
    return info_of([&] { ok(PCSetUp(pc)); }).find("more terms may not help") != std::string::npos;
  };
  EXPECT_TRUE(says_so(2.5));
  EXPECT_FALSE(says_so(10));
}

// Threads change nothing.
TEST(NeumannThreads, GiveTheSame) {
  for (const Shape &s :
       {Shape{301, 290}, Shape{120, 90, 1, true, true, false, 9}, Shape{70, 30, 33, false, false, false, 7}}) {
    reference::Matrix A(s.size());
    for (int p = 0; p < s.size(); ++p)
      for (int d : {1, s.nx, s.points == 9 ? s.nx + 1 : s.nx, s.points == 7 ? s.nx * s.ny : s.nx}) {
        const bool in_x = d == s.nx || d == s.nx * s.ny || p % s.nx + 1 < s.nx;
        if (p + d < s.size() && in_x && (s.points != 7 || d != s.nx || p / s.nx % s.ny + 1 < s.ny))
          A.add(p, p + d, -1 - p % 7), A.add(p + d, p, -1 - p % 7);
      }
    for (int p = 0; p < s.size(); ++p) A.add(p, p, 60);
    const Matrix P = matrix_of(A);
    const reference::Vector r = random_values(std::size_t(s.size()));
    reference::Vector one, four;
    {
      const Threads few(1);
      one = applied(neumann_of(P, "-pc_neumann_terms 3"), r);
    }
    {
      const Threads many(4);
      four = applied(neumann_of(P, "-pc_neumann_terms 3"), r);
    }
    EXPECT_EQ(one, four);
  }
}

} // namespace
