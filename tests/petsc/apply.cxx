// PCApply() and its kin against the reference: every kind of matrix in every storage, and what an operator must keep.
#include "support.hpp"
#include "unit/reference_support.hpp"

#include <cmath>

using namespace petsctest;
using reference::Problem;

namespace {

struct Variant {
  double omega = 1;
  bool both = false;
};

std::string options(const Problem &problem, int levels, Variant variant = {}) {
  return grid_option(problem) + "-pc_rrb_levels " + std::to_string(levels) + " -pc_rrb_lumping " +
         std::to_string(variant.omega) + (variant.both ? " -pc_rrb_lump_nodes both " : " ");
}

// -pc_rrb_storage_grids for as many grids as the levels have
std::vector<std::string> storages(int levels) {
  std::vector<std::string> all{"-pc_rrb_storage naive "};
  for (int g = 0; 2 * g <= levels; ++g)
    all.push_back("-pc_rrb_storage_grids " + std::to_string(g) + (g % 2 ? " -pc_rrb_compute_block 8 " : " "));
  return all;
}

int levels_of(const Problem &problem, int levels) { // no more than there are
  PetscInt used;
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, options(problem, levels));
  ok(PCSetUp(pc));
  ok(PCRRBGetLevels(pc, &used));
  return int(used);
}

TEST(Apply, MatchesTheReferenceInEveryStorage) {
  for (const auto &[name, problem] : reference::zoo()) {
    const Matrix A = problem.v.empty() ? matrix_of(problem.A) : matrix_of(problem);
    for (const int wanted : {1, 2, 3, 4, 5, 20})
      for (const Variant variant : {Variant{}, Variant{0.7, false}, Variant{0.5, true}}) {
        SCOPED_TRACE(name + ", levels " + std::to_string(wanted) + ", omega " + std::to_string(variant.omega));
        const auto nodes = variant.both ? reference::LumpNodes::both : reference::LumpNodes::red;
        reference::Options as_wanted = reference::with_levels(wanted, variant.omega, nodes);
        as_wanted.null_inverse = reference::Prepared(problem.A, problem.grid, problem.v, false).null_inverse();
        const reference::RRB slow = factor(problem, as_wanted);
        const reference::Vector r = reference::random_vector(problem.A.size(), 5), expected = slow.apply(r);
        EXPECT_EQ(levels_of(problem, wanted), slow.levels());
        for (const std::string &storage : storages(slow.levels())) {
          const Preconditioner pc = pc_of(A, options(problem, wanted, variant) + storage);
          EXPECT_LT(largest_difference(applied(pc, r), expected), 1e-9) << storage;
        }
      }
  }
}

TEST(Apply, DefaultLevelsMatchTheReference) {
  for (const int n : {33, 63, 90}) {
    const Problem problem = reference::random_nine_points({n, n - 1}, 0.1);
    const Matrix A = matrix_of(problem);
    const Preconditioner pc = pc_of(A);
    PetscInt levels;
    const reference::Vector z = applied(pc, problem.b);
    ok(PCRRBGetLevels(pc, &levels));
    if (!backend.device) { // which may leave a larger last block
      EXPECT_EQ(levels, factor(problem).levels()) << n;
    }
    const reference::RRB slow = factor(problem, reference::with_levels(int(levels)));
    EXPECT_LT(largest_difference(z, slow.apply(problem.b)), 1e-10) << n;
  }
}

TEST(Apply, EveryCoarseSolverIsTheSameOperator) {
  for (const auto &[name, problem] : reference::zoo()) {
    const Matrix A = matrix_of(problem);
    for (const int levels : {1, 2, 3}) {
      SCOPED_TRACE(name + ", levels " + std::to_string(levels));
      const Preconditioner cholesky = pc_of(A, options(problem, levels));
      const Preconditioner inverse = pc_of(A, options(problem, levels) + "-pc_rrb_coarse inverse");
      const reference::Vector z = applied(cholesky, problem.b);
      EXPECT_LT(largest_difference(applied(inverse, problem.b), z), 1e-10);
      if (!problem.null_space.empty()) continue; // there a KSP's answer holds up to the null space
      const Preconditioner inner = pc_of(A, options(problem, levels) + "-pc_rrb_coarse ksp");
      EXPECT_LT(largest_difference(applied(inner, problem.b), z), 1e-10);
    }
  }
}

std::vector<std::pair<std::string, Problem>> large_ones() {
  return {{"jumps", reference::random_jumps({301, 290}, 1e6, 5)},
          {"nine points", reference::random_nine_points({299, 300}, 0.1)},
          {"two ponds", reference::two_ponds(300, 299)},
          {"periodic", reference::periodic({300, 289, true, true}, 1e-3)}};
}

TEST(Apply, IsBitwiseTheSameForAnyNumberOfThreads) {
  SKIP_ON_DEVICE("OpenMP's threads are the host's");
  for (const auto &[name, problem] : large_ones())
    for (const char *storage :
         {"-pc_rrb_storage naive", "-pc_rrb_storage_grids 1", "-pc_rrb_storage_grids 3", "-pc_rrb_coarse inverse",
          "-pc_rrb_cycle amli", "-pc_rrb_cycle amli -pc_rrb_storage naive"}) {
      SCOPED_TRACE(name + " " + storage);
      const Matrix A = matrix_of(problem);
      std::vector<reference::Vector> z;
      for (const int at_setup : {1, 2}) {
        const Threads threads(at_setup);
        const Preconditioner pc = pc_of(A, options(problem, 8) + storage);
        ok(PCSetUp(pc));
        for (const int at_apply : {1, 2, 3}) {
          const Threads other(at_apply);
          z.push_back(applied(pc, problem.b));
        }
      }
      for (const reference::Vector &other : z) EXPECT_EQ(other, z[0]);
    }
}

TEST(Apply, NaiveEqualsR1R2B1B2ToRounding) {
  for (const auto &[name, problem] : large_ones()) {
    const Matrix A = matrix_of(problem);
    const Preconditioner naive = pc_of(A, options(problem, 10) + "-pc_rrb_storage naive");
    const Preconditioner dense = pc_of(A, options(problem, 10) + "-pc_rrb_compute_block 16");
    EXPECT_LT(largest_difference(applied(dense, problem.b), applied(naive, problem.b)), 1e-9) << name;
  }
}

TEST(Apply, AgainIsBitwiseTheSameAndSoIsTheTranspose) {
  for (const auto &[name, problem] : reference::zoo())
    for (const char *storage : {"-pc_rrb_storage naive", "-pc_rrb_storage_grids 2"}) {
      const Matrix A = matrix_of(problem);
      const Preconditioner pc = pc_of(A, options(problem, 4) + (levels_of(problem, 4) < 4 ? "" : storage));
      const reference::Vector z = applied(pc, problem.b);
      const Vector r = vector_of(problem.b), transposed = like(r, std::nan(""));
      (void)applied(pc, reference::random_vector(problem.A.size(), 77));
      EXPECT_EQ(applied(pc, problem.b), z) << name;
      ok(PCApplyTranspose(pc, r, transposed));
      EXPECT_EQ(values_of(transposed), z) << name;
    }
}

// Columns from each of two dense matrices whose columns lie further apart than they are long.
TEST(Apply, MatApplyTakesColumnsFurtherApart) {
  const Problem problem = reference::random_nine_points({23, 31}, 0.2);
  const PetscInt n = problem.A.size(), columns = 3, ldx = n + 5, ldy = n + 2;
  const Matrix A = matrix_of(problem);
  const reference::Vector x = reference::random_vector(int(ldx * columns), 3);
  const Matrix X = dense_of(n, columns, x, ldx), Y = dense_of(n, columns, reference::Vector(ldy * columns, 7), ldy);
  for (const char *storage : {"-pc_rrb_storage naive", "-pc_rrb_storage_grids 2"}) {
    const Preconditioner pc = pc_of(A, options(problem, 5) + storage);
    ok(PCMatApply(pc, X, Y));
    const reference::Vector y = values_of_dense(Y, ldy);
    for (PetscInt j = 0; j < columns; ++j) {
      const auto column = y.begin() + j * ldy;
      EXPECT_EQ(reference::Vector(column, column + n),
                applied(pc, reference::Vector(x.begin() + j * ldx, x.begin() + j * ldx + n)));
      for (PetscInt i = n; i < ldy; ++i) EXPECT_EQ(column[i], 7) << "between columns";
    }
  }
}

reference::Vector half(PC pc, const reference::Vector &r, PetscErrorCode (*apply_half)(PC, Vec, Vec)) {
  const Vector x = vector_of(r), y = like(x, std::nan(""));
  ok(apply_half(pc, x, y));
  EXPECT_EQ(values_of(x), r);
  return values_of(y);
}

TEST(Halves, AreEachOthersTransposeAndMakeTheWhole) {
  for (const auto &[name, problem] : reference::zoo())
    for (const int levels : {1, 2, 3, 4})
      for (const std::string &storage : storages(std::min(levels, levels_of(problem, levels)))) {
        SCOPED_TRACE(name + ", levels " + std::to_string(levels) + " " + storage);
        const Matrix A = matrix_of(problem);
        const Preconditioner pc = pc_of(A, options(problem, levels) + storage + "-pc_rrb_coarse cholesky");
        const reference::Vector x = problem.b, y = reference::random_vector(problem.A.size(), 9);
        ok(PCSetUp(pc));
        const reference::Vector left = half(pc, x, PCApplySymmetricLeft), right = half(pc, y, PCApplySymmetricRight);
        const double product = reference::dot(left, y);
        EXPECT_NEAR(product, reference::dot(x, right), 1e-11 * reference::norm(left) * reference::norm(y));
        EXPECT_LT(largest_difference(half(pc, left, PCApplySymmetricRight), applied(pc, x)), 1e-10);
      }
}

// M^-1, one column after the other, as a matrix on the host.
Matrix inverse(PC pc, PetscInt n) {
  reference::Vector one(n * n, 0);
  for (PetscInt i = 0; i < n; ++i) one[i * (n + 1)] = 1;
  const Matrix I = dense_of(n, n, one), Z = dense_of(n, n);
  Matrix out;
  ok(PCMatApply(pc, I, Z));
  ok(MatConvert(Z, MATSEQDENSE, MAT_INITIAL_MATRIX, out.put()));
  return out;
}

TEST(Operator, IsSymmetricAndPositive) {
  for (const auto &[name, problem] : reference::zoo())
    for (const std::string more : {"1", "2", "4", "20", "6 -pc_rrb_cycle amli", "9 -pc_rrb_cycle amli"}) {
      SCOPED_TRACE(name + ", levels " + more);
      const PetscInt n = problem.A.size();
      const Matrix A = matrix_of(problem);
      const Preconditioner pc = pc_of(A, grid_option(problem) + "-pc_rrb_levels " + more);
      const Matrix Z = inverse(pc, n);
      Matrix transposed;
      PetscReal asymmetry, size;
      ok(MatTranspose(Z, MAT_INITIAL_MATRIX, transposed.put()));
      ok(MatAXPY(transposed, -1, Z, SAME_NONZERO_PATTERN));
      ok(MatNorm(transposed, NORM_INFINITY, &asymmetry));
      ok(MatNorm(Z, NORM_INFINITY, &size));
      EXPECT_LT(asymmetry, 1e-11 * size);
      ok(MatShift(Z, 1e-11 * size)); // semidefinite ones too
      ok(MatSetOption(Z, MAT_SPD, PETSC_TRUE));
      EXPECT_FALSE(refused(MatCholeskyFactor(Z, nullptr, nullptr))) << raised.message;
    }
}

// M v = A v where all that is dropped is lumped: v is what comes out for A v.
TEST(Operator, KeepsTheNearNullSpaceVector) {
  for (const auto &[name, problem] : reference::zoo()) {
    if (!problem.null_space.empty() || name == "diagonal canal") continue; // unlumped pivots
    const Matrix A = matrix_of(problem);
    const reference::Vector v = problem.v.empty() ? reference::Vector(problem.A.size(), 1) : problem.v;
    for (const std::string more : {"1", "2", "3", "4", "20", "6 -pc_rrb_cycle amli", "9 -pc_rrb_cycle amli"}) {
      const Preconditioner pc = pc_of(A, grid_option(problem) + "-pc_rrb_levels " + more);
      EXPECT_LT(largest_difference(applied(pc, problem.A.multiply(v)), v), 1e-8) << name << ", levels " << more;
    }
  }
}

// Of a singular matrix in two parts, a basis whose vectors are both nonzero on both parts, and one where they are not.
TEST(NullSpace, OfSeveralVectorsInAnyBasis) {
  Problem ponds = reference::two_ponds(25, 20);
  const reference::Vector z = factor(ponds, reference::with_levels(6)).apply(ponds.b);
  const Matrix A = matrix_of(ponds);
  EXPECT_LT(largest_difference(applied(pc_of(A, options(ponds, 6)), ponds.b), z), 1e-10);
  reference::Vector &first = ponds.null_space[0], &second = ponds.null_space[1];
  const double sizes = reference::dot(second, second) / reference::dot(first, first);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i], b = second[i];
    first[i] = a + b;
    second[i] = sizes * a - b;
  }
  const Matrix mixed = matrix_of(ponds);
  EXPECT_LT(largest_difference(applied(pc_of(mixed, options(ponds, 6)), ponds.b), z), 1e-10);
}

TEST(NullSpace, ThatIsZeroAtACoupledRowIsNotTaken) {
  Problem problem = reference::random_nine_points({20, 25}, 0);
  const reference::Vector expected = factor(problem, reference::with_levels(5)).apply(problem.b);
  problem.v = reference::random_vector(problem.A.size(), 4);
  problem.v[77] = 0;
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, options(problem, 5));
  EXPECT_LT(largest_difference(applied(pc, problem.b), expected), 1e-10);
  EXPECT_EQ(view(pc).find("near null space of the matrix\n"), std::string::npos);
}

TEST(NullSpace, MayBeZeroAtIdentityRows) {
  const auto fixed = [](int i, int j) { return i == 0 || j == 7; };
  Problem problem = reference::identity_rows(reference::random_faces({20, 25}, 10), fixed, true);
  for (int p = 0; p < problem.A.size(); ++p) problem.v.push_back(fixed(p % 20, p / 20) ? 0 : 1 + 0.1 * (p % 7));
  const Matrix A = matrix_of(problem);
  const Preconditioner pc = pc_of(A, options(problem, 5));
  const reference::RRB slow = factor(problem, reference::with_levels(5));
  EXPECT_LT(largest_difference(applied(pc, problem.b), slow.apply(problem.b)), 1e-10);
  EXPECT_NE(view(pc).find("lumping keeps the near null space of the matrix"), std::string::npos);
}

} // namespace
