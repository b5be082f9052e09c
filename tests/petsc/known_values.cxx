// Known values: identity rows whose columns other rows keep, with every preconditioner of ours and methods that need a symmetric
// matrix. What a solve says is held against b - A x. On any number of ranks: mpiexec -n 3 build/tests/petsc
// --gtest_filter='KnownValuesRanks*'.
#include "ranks_support.hpp"

#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace petsctest;
using namespace petsctest::distributed;

namespace {

const Shape flat{13, 11}, corners{13, 11, 1, false, false, false, 9}, solid{8, 7, 9, false, false, false, 7};

// Which points have a known value.
using Known = std::function<bool(int p)>;

bool on_side(const Shape &s, int p) {
  const int at[3] = {p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny}, n[3] = {s.nx, s.ny, s.nz};
  for (int d = 0; d < 3; ++d)
    if (n[d] > 1 && (at[d] == 0 || at[d] == n[d] - 1)) return true;
  return false;
}
Known sides(const Shape &s) {
  return [s](int p) { return on_side(s, p); };
}
Known scattered(int every) {
  return [every](int p) { return p * 7 % every == 2; };
}
Known nowhere() {
  return [](int) { return false; };
}

// Random couplings, a diagonal that is a little more than their sum, and known values with zeros stored in the place of
// couplings, so that matrices of one shape have one pattern.
reference::Matrix matrix(const Shape &s, const Known &known, unsigned seed = 1) {
  reference::Matrix A(s.size());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(0.5, 2);
  const int reach = s.points == 9 ? 1 : 0;
  const auto couple = [&](int p, int q, double a) { A.add(p, q, -a), A.add(q, p, -a), A.add(p, p, a), A.add(q, q, a); };
  for (int k = 0; k < s.nz; ++k)
    for (int j = 0; j < s.ny; ++j)
      for (int i = 0; i < s.nx; ++i) {
        const int p = (k * s.ny + j) * s.nx + i;
        A.add(p, p, 0.3);
        if (i + 1 < s.nx) couple(p, p + 1, value(random));
        if (k + 1 < s.nz) couple(p, p + s.nx * s.ny, value(random));
        for (int d = -reach; j + 1 < s.ny && d <= reach; ++d)
          if (i + d >= 0 && i + d < s.nx) couple(p, p + s.nx + d, value(random) / (1 + d * d));
      }
  for (int p = 0; p < s.size(); ++p)
    if (known(p))
      for (auto &[q, a] : A.row[std::size_t(p)]) a = q == p ? 0.5 + p % 4 : 0;
  return A;
}

Distributed distribute(const reference::Matrix &A, const Shape &s) { return on_dmda(A, s, partitions(s).front()); }

double true_residual(Mat A, Vec b, Vec x, PetscErrorCode (*multiply)(Mat, Vec, Vec) = MatMult) {
  const petsctest::Vector r = like(b);
  PetscReal of_r, of_b;
  ok(multiply(A, x, r));
  ok(VecAXPY(r, -1, b));
  ok(VecNorm(r, NORM_2, &of_r));
  ok(VecNorm(b, NORM_2, &of_b));
  return of_r / of_b;
}

void expect_solved(KSP ksp, const Distributed &d, const std::string &words, unsigned seed = 3) {
  PetscInt n;
  ok(MatGetSize(d.A, &n, nullptr));
  const petsctest::Vector b = vector_on(d, reference::random_vector(n, seed)), x = like(b);
  KSPConvergedReason reason;
  ok(KSPSolve(ksp, b, x));
  ok(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0) << words;
  EXPECT_LT(true_residual(d.A, b, x), 1e-6) << words;
}

const std::string tight = " -ksp_rtol 1e-9 -ksp_max_it 300 ";

// The preconditioners that can be used for a matrix of this shape and are symmetric.
std::vector<std::string> preconditioners(const Shape &s) {
  std::vector<std::string> all{"-pc_type blockrelax -pc_blockrelax_block_size 4,4,4",
                               "-pc_type blockrelax -pc_blockrelax_block_size 4,4,4 -pc_blockrelax_type coloured "
                               "-pc_blockrelax_symmetric",
                               "-pc_type neumann", "-pc_type neumann -pc_neumann_type poisson"};
  if (s.points != 9)
    all.insert(all.end(), {"-pc_type gridmg -pc_gridmg_coarse_size 30 -pc_gridmg_precision double", "-pc_type mic",
                           "-pc_type mic -pc_mic_type ssor -pc_mic_omega 1.5"});
  if (s.points != 7) all.insert(all.end(), {"-pc_type rrb -pc_rrb_levels 3"});
  return all;
}

TEST(KnownValuesRanks, AreSolvedForByEachMethod) {
  for (const Shape &s : {flat, corners, solid}) {
    const Distributed d = distribute(matrix(s, sides(s)), s);
    std::vector<std::string> all{"-ksp_type richardson -pc_type blockrelax -pc_blockrelax_block_size 4,4,4"};
    for (const std::string &pc : preconditioners(s))
      for (const char *method : {"cg", "cg -ksp_norm_type unpreconditioned", "minres"})
        all.push_back(pc + " -ksp_type " + method);
    for (const char *method :
         {"cg -ksp_norm_type natural", "cg -ksp_cg_single_reduction", "pipecg", "fcg", "symmlq", "cr", "gmres", "bcgs"})
      all.push_back(preconditioners(s).back() + " -ksp_type " + method);
    if (s.points != 7) all.insert(all.end(), {"-ksp_type rrb", "-ksp_type rrb -pc_rrb_levels 1"});
    for (const std::string &options : all) expect_solved(ksp_of(d.A, tight + options), d, options);
  }
}

TEST(KnownValuesRanks, AreThoseOfTheMatrixAsItIs) {
  for (const Shape &s : {flat, solid}) {
    const Distributed d = distribute(matrix(s, sides(s)), s);
    std::vector<std::string> all = preconditioners(s);
    for (std::string &pc : all) pc += " -ksp_type cg";
    if (s.points != 7) all.push_back("-ksp_type rrb");
    for (const std::string &options : all) {
      const Solver ksp = ksp_of(d.A, tight + options);
      unsigned seed = 1;
      for (const Known &known : {sides(s), sides(s), scattered(9), nowhere(), scattered(5)}) {
        set_new_values(d, matrix(s, known, ++seed));
        expect_solved(ksp, d, options, seed);
        expect_solved(ksp, d, options, seed + 10);
      }
    }
  }
}

// The largest number that there is, which any multiple is not.
TEST(KnownValuesRanks, MayHaveHugeEntries) {
  reference::Matrix A = matrix(flat, sides(flat));
  A.row[flat.nx + 12][flat.nx + 12] = std::numeric_limits<double>::max();
  const Distributed d = distribute(A, flat);
  for (const char *options : {"-ksp_type cg -pc_type gridmg -pc_gridmg_precision double",
                              "-ksp_type rrb -pc_type gridmg", "-ksp_type cg -pc_type mic"})
    expect_solved(ksp_of(d.A, tight + options), d, options);
}

TEST(KnownValuesRanks, AreSolvedForByOneMethodAfterAnother) {
  const Distributed d = distribute(matrix(solid, scattered(7)), solid);
  for (const std::string &pc : preconditioners(solid)) {
    const Solver first = ksp_of(d.A, tight + "-ksp_type cg " + pc);
    expect_solved(first, d, pc);
    for (const char *method : {"minres", "gmres", "bcgs"}) {
      const Solver next = ksp_of(d.A, tight + "-ksp_type " + method);
      ok(KSPSetPC(next, pc_of(first)));
      expect_solved(next, d, pc + method);
      expect_solved(first, d, pc + method);
    }
  }
}

TEST(KnownValuesRanks, LeaveTheSolverAsItWas) {
  for (const std::string options : {"-ksp_type cg -pc_type mic", "-ksp_type cg -pc_type blockrelax", "-ksp_type rrb",
                                    "-ksp_type gmres -pc_type mic"})
    for (const std::string guess : {"zero", "nonzero", "knoll"}) {
      const Distributed d = distribute(matrix(flat, sides(flat)), flat);
      const Solver ksp = ksp_of(d.A, tight + options);
      const petsctest::Vector b = vector_on(d, reference::random_vector(flat.size(), 1)), x = like(b, 3);
      ok(KSPSetInitialGuessNonzero(ksp, PetscBool(guess == "nonzero")));
      ok(KSPSetInitialGuessKnoll(ksp, PetscBool(guess == "knoll")));
      for (int again = 0; again < 3; ++again) {
        ok(VecSet(x, 3));
        ok(KSPSolve(ksp, b, x));
        EXPECT_LT(true_residual(d.A, b, x), 1e-6) << options << guess;
        EXPECT_EQ(KSP(ksp)->guess_knoll, PetscBool(guess == "knoll"));
        if (guess == "knoll") continue; /* which PETSc takes for nonzero from then on */
        EXPECT_EQ(KSP(ksp)->guess_zero, PetscBool(guess == "zero"));
      }
    }
}

PetscErrorCode fail(KSP, PetscInt n, PetscReal, void *times) {
  if (n < 2 || !*static_cast<int *>(times)) return PETSC_SUCCESS;
  --*static_cast<int *>(times);
  return PETSC_ERR_USER;
}

// PCPostSolve() does not come then.
TEST(KnownValuesRanks, AreSolvedForAfterErrors) {
  for (const std::string options :
       {"-ksp_type cg -pc_type mic", "-ksp_type cg -pc_type neumann",
        "-ksp_type cg -pc_type blockrelax -pc_blockrelax_block_size 4,4", "-ksp_type rrb -pc_rrb_levels 3"}) {
    const Distributed d = distribute(matrix(flat, sides(flat)), flat);
    const Solver ksp = ksp_of(d.A, tight + options);
    int times = 5;
    ok(KSPMonitorSet(ksp, fail, &times, nullptr));
    for (int again = 0; again < 5; ++again) {
      const petsctest::Vector b = vector_on(d, reference::random_vector(flat.size(), 1)), x = like(b, std::nan(""));
      EXPECT_EQ(KSPSolve(ksp, b, x), PETSC_ERR_USER) << options << raised.message;
    }
    expect_solved(ksp, d, options);
    EXPECT_TRUE(KSP(ksp)->guess_zero);
  }
}

TEST(KnownValuesRanks, OfAmatMatterWhereItIsNotPmat) {
  for (const Shape &s : {flat, solid}) {
    const Distributed d = distribute(matrix(s, sides(s)), s), near = distribute(matrix(s, sides(s), 2), s);
    std::vector<std::string> all = preconditioners(s);
    for (std::string &pc : all) pc += " -ksp_type cg";
    if (s.points != 7) all.push_back("-ksp_type rrb");
    for (const std::string &options : all) expect_solved(ksp_of(d.A, tight + options, near.A), d, options);
  }
}

// A preconditioner that is kept decouples the rows that were known then: these, none, or others.
TEST(KnownValuesRanks, AreSolvedForWithAnOldPreconditioner) {
  for (const Shape &s : {flat, solid}) {
    std::vector<std::string> all = preconditioners(s);
    all.erase(all.begin() + 1); // coloured blocks: their sweeps take the matrix as it is
    for (std::string &pc : all) pc += " -ksp_type cg -ksp_norm_type unpreconditioned";
    all.push_back("-ksp_type rrb");
    if (s.points != 7) all.insert(all.end(), {"-ksp_type rrb -pc_rrb_levels 1", "-ksp_type rrb -pc_type gridmg"});
    all.push_back("-ksp_type cg -ksp_norm_type unpreconditioned -pc_type mic -ksp_deflation block");
    for (const std::string &options : all)
      for (const Known &before : {sides(s), nowhere(), scattered(9)}) {
        const Distributed d = distribute(matrix(s, before), s);
        const Solver ksp = ksp_of(d.A, tight + options);
        expect_solved(ksp, d, options);
        ok(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
        unsigned seed = 2;
        for (const Known &now : {sides(s), scattered(9), scattered(5), nowhere()}) {
          reference::Matrix A = matrix(s, now, ++seed);
          for (int p = 0; p < s.size(); ++p)
            if (now(p)) // much smaller than what other rows have in its column
              for (auto &[q, a] : A.row[std::size_t(p)]) a *= 1e-4;
          set_new_values(d, A);
          expect_solved(ksp, d, options + " seed " + std::to_string(seed), seed);
        }
      }
  }
}

TEST(KnownValuesRanks, AreSolvedForInsideOfOthers) {
  const Distributed d = distribute(matrix(solid, sides(solid)), solid);
  for (const char *options :
       {"-ksp_type fgmres -pc_type bjacobi -sub_ksp_type cg -sub_pc_type mic -sub_ksp_rtol 1e-4",
        "-ksp_type fgmres -pc_type ksp -ksp_ksp_type cg -ksp_ksp_rtol 1e-3 -ksp_pc_type mic",
        "-ksp_type cg -pc_type mic -ksp_deflation block -ksp_deflation_blocks 2,2,2",
        "-ksp_type cg -pc_type mic -ksp_deflation block -ksp_deflation_blocks 2,2,2 -ksp_deflation_variant def1",
        "-ksp_type chebyshev -pc_type mic -ksp_max_it 2000 -ksp_chebyshev_esteig 0,0.05,0,1.1 -esteig_ksp_type cg",
        "-ksp_type gmres -pc_type composite -pc_composite_pcs jacobi,mic -pc_composite_type additive",
        "-ksp_type richardson -pc_type ksp -ksp_ksp_type cg -ksp_ksp_rtol 1e-10 -ksp_pc_type blockrelax"})
    expect_solved(ksp_of(d.A, tight + options), d, options);
}

TEST(KnownValuesRanks, LeaveTransposedSolvesAlone) {
  const Distributed d = distribute(matrix(flat, sides(flat)), flat);
  const Solver ksp = ksp_of(d.A, tight + "-ksp_type gmres -ksp_gmres_restart 400 -pc_type mic"),
               cg = ksp_of(d.A, tight + "-ksp_type cg -pc_type mic");
  const petsctest::Vector b = vector_on(d, reference::random_vector(flat.size(), 1)), x = like(b);
  ok(KSPSolveTranspose(ksp, b, x));
  EXPECT_LT(true_residual(d.A, b, x, MatMultTranspose), 1e-6);
  ok(KSPSolveTranspose(cg, b, x)); /* need not converge */
  expect_solved(cg, d, "after the transposed one");
}

TEST(KnownValuesRanks, OfBlockedMatricesToo) {
  SKIP_ON_DEVICE("the types of matrices are the host's");
  const reference::Matrix A = matrix(flat, sides(flat));
  const Distributed d = by_rows(A, uneven_rows(A.size()), MATMPIBAIJ);
  for (const char *options : {"-ksp_type cg -pc_type neumann", "-ksp_type rrb"})
    expect_solved(ksp_of(d.A, tight + options), d, options);
}

} // namespace
