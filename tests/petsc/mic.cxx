// What PCMIC applies, against the recurrence of the textbook, PETSc's ICC, and what it promises.
#include "device_support.hpp"
#include "mic_support.hpp"

#include <cmath>

using namespace petsctest;
using mic_support::shapes;
using mic_support::uneven;

namespace {

std::string sizes(const Shape &s) {
  return " -pc_mic_grid " + std::to_string(s.nx) + "," + std::to_string(s.ny) +
         (s.points == 7 ? "," + std::to_string(s.nz) : "");
}

void expect_applied(PC pc, const Factorization &factors, const std::string &what) {
  const reference::Vector r = random_values(factors.d.size());
  EXPECT_LT(largest_difference(applied(pc, r), factors.solve(r)), 1e-12) << what;
}

void compare(const SmallMatrix &A, const Shape &s, const std::string &what) {
  const Matrix P = matrix_of(reference_of(A));
  const Kept kept(A, s);
  for (const double omega : {0.0, 0.6, 1.0}) {
    const std::string option = "-pc_mic_omega " + std::to_string(omega) + sizes(s);
    expect_applied(mic_of(P, option), Factorization::mic(kept.A, omega), words(s) + ", " + what + ", " + option);
  }
  for (const double omega : {0.8, 1.0, 1.7}) {
    const std::string option = "-pc_mic_type ssor -pc_mic_omega " + std::to_string(omega) + sizes(s);
    expect_applied(mic_of(P, option), Factorization::ssor(kept.A, omega, kept.identity),
                   words(s) + ", " + what + ", " + option);
  }
}

TEST(Mic, IsTheTextbooksOnEveryShape) {
  for (const Shape &s : shapes) compare(uneven(s), s, "");
}

TEST(Mic, DecouplesIdentityRowsAndMasks) {
  for (const Shape &s : shapes)
    for (bool column_too : {true, false}) {
      SmallMatrix A = uneven(s);
      for (int p = 0; p < s.size(); p += 4) A.make_identity(p, column_too, p % 3 ? 0.5 : 2);
      compare(A, s, "identity rows");
    }
}

TEST(Mic, TakesARowOfZerosForTheIdentity) {
  SmallMatrix A = uneven({6, 5});
  A.make_identity(8, true, 0);
  const Matrix P = matrix_of([&] {
    reference::Matrix out = reference_of(A);
    out.add(8, 8, 0);
    return out;
  }());
  expect_applied(mic_of(P, "-pc_mic_grid 6,5 -pc_mic_omega 1"), Factorization::mic(Kept(A, {6, 5}).A, 1),
                 "a row of zeros");
}

TEST(Mic, LeavesOutWhatIsBetweenBlocks) {
  for (const Shape &s : {Shape{9, 13}, Shape{5, 9, 1, false, true}, Shape{4, 5, 9, false, false, false, 7},
                         Shape{3, 4, 3, true, true, true, 7}})
    for (const int lines : {1, 2, 4, 50}) {
      const SmallMatrix A = uneven(s);
      const Matrix P = matrix_of(reference_of(A));
      const std::string option = "-pc_mic_omega 0.5 -pc_mic_block_lines " + std::to_string(lines) + sizes(s);
      expect_applied(mic_of(P, option), Factorization::mic(Kept(A, s, lines).A, 0.5), words(s) + ", " + option);
    }
}

TEST(Mic, IsPETScsIncompleteCholesky) {
  for (const Shape &s : shapes) {
    if (s.px || s.py || s.pz) continue; // PETSc keeps what goes around
    const Matrix P = matrix_of(reference_of(uneven(s)));
    const OnTheHost host;
    const Matrix Q = matrix_of(reference_of(uneven(s)));
    const Solver icc = ksp_of(Q, "-pc_type icc -pc_factor_mat_ordering_type natural -pc_factor_shift_type none");
    ok(KSPSetUp(icc));
    const reference::Vector r = random_values(std::size_t(s.size()));
    EXPECT_LT(largest_difference(applied(mic_of(P, "-pc_mic_omega 0" + sizes(s)), r), applied(pc_of(icc), r)), 1e-12)
        << words(s);
  }
}

TEST(Mic, KeepsRowSumsAtOmegaOne) {
  for (const Shape &s : shapes) {
    if (s.px || s.py || s.pz) continue;
    const reference::Matrix A = reference_of(uneven(s));
    const reference::Vector one(std::size_t(s.size()), 1.0);
    const Matrix P = matrix_of(A);
    EXPECT_LT(largest_difference(applied(mic_of(P, "-pc_mic_omega 1" + sizes(s)), A.multiply(one)), one), 1e-12)
        << words(s);
  }
}

TEST(Mic, IsTheSameInSinglePrecisionToItsDigits) {
  for (const Shape &s : {Shape{33, 17}, Shape{8, 9, 10, false, false, false, 7}})
    for (const std::string options : {"-pc_mic_omega 0.9", "-pc_mic_type ssor -pc_mic_omega 1.5"}) {
      const Matrix P = matrix_of(reference_of(uneven(s)));
      const reference::Vector r = random_values(std::size_t(s.size()));
      const reference::Vector z = applied(mic_of(P, options), r),
                              x = applied(mic_of(P, options + " -pc_mic_precision single"), r);
      EXPECT_LT(largest_difference(x, z), 1e-6);
      EXPECT_TRUE(x != z);
    }
}

// A DMDA stores zeros at the corners; they are no couplings.
TEST(Mic, TakesTheGridOfADMDA) {
  Array da;
  Matrix A;
  ok(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 4, 5, 6,
                  1, 1, 1, 1, 1, nullptr, nullptr, nullptr, da.put()));
  ok(DMSetMatType(da, backend.mat));
  ok(DMSetUp(da));
  ok(DMCreateMatrix(da, A.put()));
  const Shape s{4, 5, 6, false, true, false, 7};
  set_values(A, reference_of(uneven(s)));
  const Preconditioner pc = mic_of(A, "-pc_mic_omega 0.7");
  expect_applied(pc, Factorization::mic(Kept(uneven(s), s).A, 0.7), "a DMDA");
  EXPECT_NE(view(pc).find("grid: 4 x 5 x 6, 7-point, from the Mat's DMDA\n"), std::string::npos) << view(pc);
}

TEST(Mic, TakesOtherTypesOfMatrices) {
  const Shape s{9, 7};
  for (MatType type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATSEQSBAIJ}) {
    const Matrix P = matrix_of(reference_of(uneven(s)), type);
    expect_applied(mic_of(P, "-pc_mic_omega 0.7"), Factorization::mic(Kept(uneven(s), s).A, 0.7), type);
  }
}

using Part = PetscErrorCode (*)(PC, Vec, Vec);
reference::Vector part(PC pc, Part apply, const reference::Vector &r) {
  const Vector x = vector_of(r), y = like(x, std::nan(""));
  ok(VecLockReadPush(x));
  ok(apply(pc, x, y));
  ok(VecLockReadPop(x));
  return values_of(y);
}

TEST(Mic, HasTwoHalves) {
  for (const Shape &s : {Shape{17, 9}, Shape{9, 8, 1, true, false}, Shape{6, 5, 7, false, false, false, 7}})
    for (const char *options : {"-pc_mic_omega 0.9", "-pc_mic_type ssor -pc_mic_omega 1.4",
                                "-pc_mic_block_lines 2 -pc_mic_precision single"}) {
      const Matrix P = matrix_of(reference_of(uneven(s)));
      const Preconditioner pc = mic_of(P, options);
      const reference::Vector x = reference::random_vector(s.size(), 1), y = reference::random_vector(s.size(), 2);
      const reference::Vector left = part(pc, PCApplySymmetricLeft, x), right = part(pc, PCApplySymmetricRight, y);
      EXPECT_LT(largest_difference(part(pc, PCApplySymmetricRight, left), applied(pc, x)), 1e-13) << options;
      EXPECT_NEAR(reference::dot(left, y), reference::dot(x, right),
                  1e-13 * std::sqrt(reference::dot(left, left) * reference::dot(y, y)))
          << options;
      EXPECT_EQ(part(pc, PCApplyTranspose, x), applied(pc, x)) << options;
    }
}

TEST(Mic, AppliesToSeveralColumns) {
  for (const Shape &s : {Shape{17, 9}, Shape{6, 5, 7, false, false, false, 7}})
    for (const PetscInt more : {0, 3}) {
      const Matrix P = matrix_of(reference_of(uneven(s)));
      const Preconditioner pc = mic_of(P);
      const PetscInt n = s.size(), lda = n + more;
      reference::Vector columns(std::size_t(5 * lda), 7.0), expected(columns);
      for (int j = 0; j < 5; ++j) {
        const reference::Vector x = reference::random_vector(int(n), unsigned(j)), z = applied(pc, x);
        std::copy(x.begin(), x.end(), columns.begin() + j * lda);
        std::copy(z.begin(), z.end(), expected.begin() + j * lda);
      }
      const Matrix X = dense_of(n, 5, columns, lda), Y = dense_of(n, 5, reference::Vector(columns.size(), 7.0), lda);
      ok(PCMatApply(pc, X, Y));
      EXPECT_EQ(values_of_dense(Y, lda), expected);
    }
}

} // namespace
