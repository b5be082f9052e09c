// What a user can set of PCMIC, what the view says, and what is refused.
#include "device_support.hpp"
#include "mic_support.hpp"

#include <limits>
#include <cmath>

using namespace petsctest;
using mic_support::uneven;

namespace {

struct Everything {
  PCMICType type = PC_MIC_TYPE_MIC;
  PetscReal omega = PETSC_DECIDE, shift = 0;
  PCMICPrecision precision = PC_MIC_PRECISION_DOUBLE;
  PetscInt lines = 0, nx = 0, ny = 0, nz = 0;
};

Everything all_of(PC pc) {
  Everything e;
  ok(PCMICGetType(pc, &e.type));
  ok(PCMICGetOmega(pc, &e.omega));
  ok(PCMICGetShift(pc, &e.shift));
  ok(PCMICGetPrecision(pc, &e.precision));
  ok(PCMICGetBlockLines(pc, &e.lines));
  ok(PCMICGetGrid(pc, &e.nx, &e.ny, &e.nz));
  return e;
}

void expect_equal(const Everything &a, const Everything &b) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.omega, b.omega);
  EXPECT_EQ(a.shift, b.shift);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.lines, b.lines);
  EXPECT_EQ(a.nx, b.nx);
  EXPECT_EQ(a.ny, b.ny);
  EXPECT_EQ(a.nz, b.nz);
}

const Everything other{PC_MIC_TYPE_SSOR, 1.25, 0.5, PC_MIC_PRECISION_SINGLE, 2, 4, 3, 5};
const Shape shape{4, 3, 5, false, false, false, 7};

class MicChoices : public testing::Test {
protected:
  const SmallMatrix values = uneven(shape);
  const Matrix A = matrix_of(reference_of(values));
};

TEST_F(MicChoices, SettersAndGettersAgree) {
  const Preconditioner pc = mic_of(A);
  expect_equal(all_of(pc), Everything());
  ok(PCMICSetType(pc, other.type));
  ok(PCMICSetOmega(pc, other.omega));
  ok(PCMICSetShift(pc, other.shift));
  ok(PCMICSetPrecision(pc, other.precision));
  ok(PCMICSetBlockLines(pc, other.lines));
  ok(PCMICSetGrid(pc, other.nx, other.ny, other.nz));
  expect_equal(all_of(pc), other);
  ok(PCReset(pc));
  expect_equal(all_of(pc), other);
}

TEST_F(MicChoices, OptionsSayTheSameAsSetters) {
  expect_equal(all_of(mic_of(A, "-pc_mic_type ssor -pc_mic_omega 1.25 -pc_mic_shift 0.5 -pc_mic_precision single "
                                "-pc_mic_block_lines 2 -pc_mic_grid 4,3,5")),
               other);
  EXPECT_EQ(all_of(mic_of(A, "-pc_mic_grid 20,3")).nz, 1);
  EXPECT_EQ(all_of(mic_of(A, "-pc_mic_omega -1")).omega, PETSC_DECIDE);
}

TEST_F(MicChoices, GettersTellWhatIsInUse) {
  const Preconditioner pc = mic_of(A);
  ok(PCSetUp(pc));
  Everything found;
  found.omega = 0.9; // the default on a small grid
  found.nx = 4, found.ny = 3, found.nz = 5;
  expect_equal(all_of(pc), found);
  ok(PCMICSetType(pc, PC_MIC_TYPE_SSOR));
  ok(PCSetUp(pc));
  EXPECT_EQ(all_of(pc).omega, 1);
}

TEST_F(MicChoices, TakeEffectAtTheNextSetUp) {
  const Preconditioner pc = mic_of(A);
  const reference::Vector r = random_values(std::size_t(shape.size()));
  const auto expect = [&](const Factorization &factors, double tolerance = 1e-12) {
    EXPECT_LT(largest_difference(applied(pc, r), factors.solve(r)), tolerance);
  };
  const Kept kept(values, shape);
  expect(Factorization::mic(kept.A, 0.9));
  ok(PCMICSetOmega(pc, 0.5));
  expect(Factorization::mic(kept.A, 0.5));
  ok(PCMICSetPrecision(pc, PC_MIC_PRECISION_SINGLE));
  expect(Factorization::mic(kept.A, 0.5), 1e-6);
  ok(PCMICSetPrecision(pc, PC_MIC_PRECISION_DOUBLE));
  ok(PCMICSetBlockLines(pc, 2));
  expect(Factorization::mic(Kept(values, shape, 2).A, 0.5));
  ok(PCMICSetType(pc, PC_MIC_TYPE_SSOR));
  ok(PCMICSetBlockLines(pc, 0));
  expect(Factorization::ssor(kept.A, 0.5, kept.identity));
  ok(PCMICSetOmega(pc, PETSC_DECIDE));
  expect(Factorization::ssor(kept.A, 1, kept.identity));
}

TEST_F(MicChoices, OutOfRangeAreRefused) {
  const Preconditioner pc = mic_of(A);
  const auto expect_refused = [&](PetscErrorCode code, PetscErrorCode expected, const char *word) {
    EXPECT_TRUE(refused(code)) << word;
    EXPECT_EQ(raised.code, expected) << word;
    EXPECT_NE(raised.message.find(word), std::string::npos) << raised.message;
    raised = {};
  };
  expect_refused(PCMICSetType(pc, (PCMICType)2), PETSC_ERR_ARG_OUTOFRANGE, "PCMICType 2");
  expect_refused(PCMICSetOmega(pc, -0.5), PETSC_ERR_ARG_OUTOFRANGE, "Omega -0.5");
  expect_refused(PCMICSetOmega(pc, 2), PETSC_ERR_ARG_OUTOFRANGE, "Omega 2");
  expect_refused(PCMICSetOmega(pc, std::nan("")), PETSC_ERR_ARG_OUTOFRANGE, "Omega nan");
  expect_refused(PCMICSetShift(pc, -0.5), PETSC_ERR_ARG_OUTOFRANGE, "Shift -0.5");
  expect_refused(PCMICSetShift(pc, 1.5), PETSC_ERR_ARG_OUTOFRANGE, "Shift 1.5");
  expect_refused(PCMICSetShift(pc, std::nan("")), PETSC_ERR_ARG_OUTOFRANGE, "Shift nan");
  expect_refused(PCMICSetPrecision(pc, (PCMICPrecision)2), PETSC_ERR_ARG_OUTOFRANGE, "PCMICPrecision 2");
  expect_refused(PCMICSetBlockLines(pc, -1), PETSC_ERR_ARG_OUTOFRANGE, "lines -1");
  expect_refused(PCMICSetGrid(pc, 4, 0, 1), PETSC_ERR_ARG_OUTOFRANGE, "4 x 0 x 1");
  expect_equal(all_of(pc), Everything());
  ok(PCMICSetOmega(pc, 1.5));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "incomplete Cholesky takes values from 0 to 1");
  ok(PCMICSetType(pc, PC_MIC_TYPE_SSOR));
  ok(PCSetUp(pc));
  ok(PCMICSetShift(pc, 0.1));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "-pc_mic_shift");
  ok(PCMICSetShift(pc, 0));
  ok(PCMICSetOmega(pc, 0));
  expect_refused(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, "between 0 and 2");
  EXPECT_THROW(mic_of(A, "-pc_mic_grid 60"), std::runtime_error);
  EXPECT_THROW(mic_of(A, "-pc_mic_grid 4,3,5,1"), std::runtime_error);
}

// ---- the view ----

void expect_lines(PC pc, const std::vector<std::string> &lines) {
  const std::string text = view(pc);
  for (const std::string &line : lines)
    EXPECT_NE(text.find("    " + line + "\n"), std::string::npos) << line << "\n" << text;
}

TEST_F(MicChoices, AreInTheView) {
  const Preconditioner pc = mic_of(A);
  expect_lines(pc, {"modified incomplete Cholesky, omega: the default", "precision: double", "not set up yet"});
  ok(PCSetUp(pc));
  expect_lines(pc, {"modified incomplete Cholesky, omega: 0.9 (the default)",
                    "grid: 4 x 3 x 5, 7-point, from the matrix pattern",
                    backend.device ? "backend: cuda" : "backend: host"});
  EXPECT_NE(view(pc).find("memory: "), std::string::npos);
  for (const char *word : {"ranks", "null", "raised", "identity", "periodic", "blocks", "constant"})
    EXPECT_EQ(view(pc).find(word), std::string::npos) << word;
  ok(PCMICSetOmega(pc, 0));
  ok(PCMICSetBlockLines(pc, 2));
  ok(PCMICSetPrecision(pc, PC_MIC_PRECISION_SINGLE));
  expect_lines(pc, {"incomplete Cholesky, omega: 0.", "precision: single", "not set up yet"});
  ok(PCSetUp(pc));
  expect_lines(pc, {"incomplete Cholesky, omega: 0.", "blocks of 2 planes, not coupled: 3"});
  ok(PCMICSetType(pc, PC_MIC_TYPE_SSOR));
  ok(PCMICSetOmega(pc, 1.5));
  expect_lines(pc, {"SSOR, omega: 1.5"});
}

TEST(MicView, TellsWhatTheMatrixIs) {
  SmallMatrix around = uneven({9, 8, 1, true, true});
  around.make_identity(5, true);
  const Matrix A = matrix_of(reference_of(around));
  const Preconditioner pc = mic_of(A, "-pc_mic_grid 9,8 -pc_mic_block_lines 3");
  ok(PCSetUp(pc));
  expect_lines(pc,
               {"grid: 9 x 8, 5-point, from the option", "periodic in x: the couplings across this side are left out",
                "periodic in y: the couplings across this side are left out", "identity rows, decoupled: 1",
                "blocks of 3 lines, not coupled: 3"});
  const Matrix B = matrix_of(cube(9, 3, 0).A);
  const Preconditioner constant = mic_of(B);
  ok(PCSetUp(constant));
  expect_lines(constant, {"constant couplings: an application reads only pivots"});
}

// ---- what is refused ----

void expect_refused(const reference::Matrix &A, PetscErrorCode code, const std::vector<std::string> &words,
                    const std::string &options = "") {
  const Matrix P = matrix_of(A);
  const Preconditioner pc = mic_of(P, options);
  EXPECT_TRUE(refused(PCSetUp(pc)));
  EXPECT_EQ(raised.code, code) << raised.message;
  for (const std::string &word : words)
    EXPECT_NE(raised.message.find(word), std::string::npos) << word << "\n is not in: " << raised.message;
  raised = {};
}

TEST(MicRefused, WhatIsNotSymmetricOrNotFinite) {
  const reference::Matrix good = reference_of(uneven({10, 9}));
  reference::Matrix skew = good, bad = good;
  skew.row[44][45] = -0.625, skew.row[45][44] = -0.25;
  expect_refused(skew, PETSC_ERR_ARG_WRONG, {"not symmetric", "row 44, column 45 holds -0.625", "-0.25", "1e-10"});
  bad.row[31][32] = std::nan("");
  expect_refused(bad, PETSC_ERR_ARG_WRONG, {"not finite", "row 31, column 32"});
  bad.row[31][32] = HUGE_VAL;
  expect_refused(bad, PETSC_ERR_ARG_WRONG, {"not finite", "row 31, column 32"});
}

TEST(MicRefused, WhatIsOnNoGridOfItsKind) {
  const reference::Matrix A = reference_of(uneven({10, 9}));
  expect_refused(A, PETSC_ERR_ARG_INCOMP, {"10 x 10", "90 rows"}, "-pc_mic_grid 10,10");
  expect_refused(A, PETSC_ERR_ARG_INCOMP, {"does not fit", "10 x 9"}, "-pc_mic_grid 15,6");
  reference::Matrix far = A;
  far.add(23, 61, -0.5), far.add(61, 23, -0.5);
  expect_refused(far, PETSC_ERR_ARG_WRONG, {"pc_mic_grid", "another preconditioner"});
  expect_refused(reference_of(random_matrix({10, 9, 1, false, false, false, 9})), PETSC_ERR_SUP,
                 {"-pc_type mic takes 5 points on a 2D grid and 7 on a 3D one", "-pc_type rrb"});
}

TEST(MicRefused, DiagonalsThatAreNotPositive) {
  for (const double d : {0.0, -3.0}) {
    const reference::Matrix good = reference_of(uneven({10, 9}));
    reference::Matrix A = good;
    A.row[31][31] = A.row[52][52] = d;
    const Matrix P = matrix_of(A);
    const Solver ksp = ksp_of(P, "-ksp_type cg -pc_type mic");
    EXPECT_EQ(solve(ksp, reference::random_vector(90)).reason, KSP_DIVERGED_PC_FAILED);
    const Preconditioner pc = mic_of(P);
    ok(PCSetErrorIfFailure(pc, PETSC_TRUE));
    EXPECT_TRUE(refused(PCSetUp(pc)));
    EXPECT_NE(raised.message.find("row 31 at (1, 3) is not positive"), std::string::npos) << raised.message;
    set_values(P, good);
    ok(KSPSetOperators(ksp, P, P)); // without this PETSc 3.18 takes the failure into the next solve, whatever the PC
    EXPECT_GT(solve(ksp, reference::random_vector(90)).reason, 0);
  }
}

// A positive diagonal, and not definite.
class MicPivots : public testing::Test {
protected:
  void SetUp() override {
    for (int p = 0; p < shape.size(); ++p) values.set(p, p, p < 17 ? 13 : 4);
  }
  SmallMatrix values = random_matrix(shape);
};

TEST_F(MicPivots, ThatAreNotPositiveFailWithTheirGridPoint) {
  const Matrix A = matrix_of(reference_of(values));
  const int p = Factorization::mic(Kept(values, shape).A, 0).bad;
  const std::string row = "the pivot of row " + std::to_string(p) + " at (" + std::to_string(p % 4) + ", " +
                          std::to_string(p / 4 % 3) + ", " + std::to_string(p / 12) + ") is -";
  const Preconditioner pc = mic_of(A, "-pc_mic_omega 0"), strict = mic_of(A, "-pc_mic_omega 0");
  EXPECT_NE(info_of([&] { ok(PCSetUp(pc)); }).find(row), std::string::npos) << row;
  PCFailedReason reason;
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
  const Matrix X = dense_of(60, 2), Y = dense_of(60, 2);
  EXPECT_EQ(applied(pc, random_values(60)), reference::Vector(60, std::numeric_limits<double>::infinity()));
  ok(PCMatApply(pc, X, Y));
  EXPECT_EQ(values_of_dense(Y), reference::Vector(120, std::numeric_limits<double>::infinity()));
  ok(PCSetErrorIfFailure(strict, PETSC_TRUE));
  EXPECT_TRUE(refused(PCSetUp(strict)));
  EXPECT_EQ(raised.code, PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_NE(raised.message.find(row), std::string::npos) << raised.message;
}

TEST_F(MicPivots, AreRaisedByAShift) {
  const Factorization factors = Factorization::mic(Kept(values, shape).A, 0, 0.2);
  const Matrix A = matrix_of(reference_of(values));
  const Preconditioner pc = mic_of(A, "-pc_mic_omega 0 -pc_mic_shift 0.2");
  const reference::Vector r = random_values(60);
  EXPECT_LT(largest_difference(applied(pc, r), factors.solve(r)), 1e-12);
  EXPECT_GT(factors.raised, 0);
  expect_lines(pc, {"pivots raised to 0.2 of the diagonal entry: " + std::to_string(factors.raised)});
}

} // namespace
