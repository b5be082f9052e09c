// Deflation by a user's own vectors on several ranks: mpiexec -n 3 build/tests/petsc --gtest_filter='DeflationUserRanks*'
#include "ranks_support.hpp"

#include <cmath>
#include <numeric>

using namespace petsctest;
using namespace petsctest::distributed;
using namespace neumann_support;

namespace {

// on_last: all columns belong to the last rank
enum class Kind {
  dense,
  sparse,
  dense_on_last,
  sparse_on_last
};
const Kind kinds[] = {Kind::dense, Kind::sparse, Kind::dense_on_last, Kind::sparse_on_last};

bool is_dense(Kind kind) { return kind == Kind::dense || kind == Kind::dense_on_last; }

reference::Dense zeros(int n, int count) {
  return reference::Dense(std::size_t(n), reference::Vector(std::size_t(count), 0.0));
}

// Values that all vectors have everywhere.
reference::Dense waves(int n, int count, double shift = 0.5) {
  reference::Dense Z = zeros(n, count);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k)
      Z[i][k] = std::cos(3.14159265358979 * k * (i + shift) / n) + 0.1 * ((i * 7 + k) % 5);
  return Z;
}

// Vectors of a few rows each, which overlap.
reference::Dense hats(int n, int count) {
  reference::Dense Z = zeros(n, count);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) Z[i][k] = std::max(0.0, 1 - std::abs((i + 0.5) * (count + 1) / n - 1 - k));
  return Z;
}

void fill(Mat Z, const Distributed &d, const reference::Dense &columns) {
  PetscInt first;
  ok(MatGetOwnershipRange(Z, &first, nullptr));
  for (std::size_t i = 0; i < d.natural.size(); ++i)
    for (std::size_t k = 0; k < columns[0].size(); ++k) {
      const double z = columns[std::size_t(d.natural[i])][k];
      if (z != 0) ok(MatSetValue(Z, first + PetscInt(i), PetscInt(k), z, INSERT_VALUES));
    }
  ok(MatAssemblyBegin(Z, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(Z, MAT_FINAL_ASSEMBLY));
}

Matrix space_of_type(const Distributed &d, const reference::Dense &columns, MatType type, bool on_last = false) {
  const PetscInt rows = PetscInt(d.natural.size()), count = PetscInt(columns[0].size());
  const MPI_Comm comm = PetscObjectComm(d.A);
  PetscMPIInt at, all;
  Matrix Z;
  (void)MPI_Comm_rank(comm, &at);
  (void)MPI_Comm_size(comm, &all);
  ok(MatCreate(comm, Z.put()));
  ok(MatSetSizes(Z, rows, !on_last ? PETSC_DECIDE : at + 1 == all ? count : 0, PETSC_DETERMINE, count));
  ok(MatSetType(Z, type));
  ok(MatSetUp(Z));
  ok(MatSetOption(Z, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  fill(Z, d, columns);
  return Z;
}

// Of the types that PETSc multiplies with the matrix's, on one rank too.
Matrix space_on(const Distributed &d, const reference::Dense &columns, Kind kind) {
  MatType type;
  ok(MatGetType(d.A, &type));
  if (is_dense(kind))
    type = std::string(type).find("mpi") != 0 ? backend.dense : backend.device ? MATMPIDENSECUDA : MATMPIDENSE;
  return space_of_type(d, columns, type, kind == Kind::dense_on_last || kind == Kind::sparse_on_last);
}

Distributed alone_with(const reference::Matrix &A) {
  Distributed d;
  d.A = matrix_of(A);
  d.natural.resize(std::size_t(A.size()));
  std::iota(d.natural.begin(), d.natural.end(), 0);
  return d;
}

Solver solver_on(const Distributed &d, Mat Z, const std::string &more = "") {
  Solver ksp = ksp_of(d.A, "-ksp_type cg -ksp_rtol 1e-12 -ksp_max_it 2000 -pc_type jacobi -ksp_deflation user " + more);
  ok(KSPDeflationSetSpace(ksp, Z));
  return ksp;
}

void expect_same(const Solve &done, const Solve &alone, const Distributed &d, const std::string &what) {
  EXPECT_GT(done.reason, 0) << what;
  EXPECT_EQ(done.reason, alone.reason) << what;
  EXPECT_EQ(done.iterations, alone.iterations) << what;
  EXPECT_LT(largest_difference(done.x, own_part(d, alone.x)), 1e-10) << what;
}

const char *const ways[] = {"-ksp_deflation_inverse explicit", "-ksp_deflation_inverse cholesky",
                            "-ksp_deflation_variant def1"};

// Each in its turn, of so many.
void each_way(int of, const std::function<void(Kind, const std::string &way, Turn)> &f) {
  Turn turn{0, of};
  for (const Kind kind : {Kind::dense, Kind::sparse})
    for (const std::string way : ways) f(kind, way, turn), ++turn.from;
  f(Kind::dense_on_last, ways[0], turn), ++turn.from;
  f(Kind::sparse_on_last, ways[2], turn);
}

TEST(DeflationUserRanks, TakeTheSameIterations) {
  int shapes = 0;
  for (const Shape &s : {Shape{5, 3}, Shape{13, 11}, Shape{6, 5, 4, false, false, false, 7}}) {
    const reference::Matrix A = reference_of(uneven(s));
    const reference::Vector b = random_values(std::size_t(A.size()));
    const Distributed one = alone_with(A);
    each_way(3, [&](Kind kind, const std::string &way, Turn turn) {
      turn.from += shapes;
      const reference::Dense columns = is_dense(kind) ? waves(A.size(), 6) : hats(A.size(), 7);
      const Solve alone = solve_on(solver_on(one, space_on(one, columns, kind), way), one, b);
      const auto test = [&](const Distributed &d, const std::string &on) {
        const std::string what = on + ", " + way + ", columns " + std::to_string(int(kind));
        expect_same(solve_on(solver_on(d, space_on(d, columns, kind), way), d, b), alone, d, what);
      };
      each_distribution(A, s, test, turn);
    });
    ++shapes;
  }
}

// A balanced right-hand side of a matrix whose rows all have the sum 0, as the matrix is told.
TEST(DeflationUserRanks, MayHaveDependentVectorsAndASingularMatrix) {
  const auto problem = reference::neumann(9, 8);
  const Shape s{9, 8};
  reference::Dense columns = waves(problem.A.size(), 6);
  for (auto &row : columns) {
    row[0] = 1;               // in the null space
    row[5] = row[4] + row[3]; // nothing new
  }
  const auto tell = [](Mat A) {
    Handle<MatNullSpace, MatNullSpaceDestroy> constant;
    ok(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, nullptr, constant.put()));
    ok(MatSetNullSpace(A, constant));
  };
  const Distributed one = alone_with(problem.A);
  tell(one.A);
  each_way(2, [&](Kind kind, const std::string &way, Turn turn) {
    const Solve alone = solve_on(solver_on(one, space_on(one, columns, kind), way), one, problem.b);
    const auto test = [&](const Distributed &d, const std::string &what) {
      tell(d.A);
      const Solver ksp = solver_on(d, space_on(d, columns, kind), way);
      expect_same(solve_on(ksp, d, problem.b), alone, d, what + ", " + way);
      const std::string view = view_on_first(ksp);
      for (const char *words : {"dimension: 6, null directions: 2", "E^-1: explicit inverse, dense"})
        EXPECT_TRUE(rank() || view.find(words) != std::string::npos) << view;
    };
    each_distribution(problem.A, s, test, turn);
  });
}

TEST(DeflationUserRanks, TakeOtherTypesOfMatrices) {
  const reference::Matrix first = reference_of(uneven({13, 11})), second = reference_of(uneven({13, 11}, 7));
  const reference::Vector b = random_values(std::size_t(first.size()));
  const Distributed expected = by_rows(first, uneven_rows(first.size()), MATAIJ);
  for (MatType of_space : {MATDENSE, MATAIJ}) {
    const Solver one = solver_on(expected, space_of_type(expected, hats(first.size(), 7), of_space));
    for (MatType type : {MATBAIJ, MATSBAIJ}) {
      const Distributed d = by_rows(first, uneven_rows(first.size()), type);
      const Solver ksp = solver_on(d, space_of_type(d, hats(first.size(), 7), of_space));
      for (const reference::Matrix *A : {&first, &second}) {
        const std::string what = std::string(type) + " and " + of_space;
        set_new_values(expected, *A);
        set_new_values(d, *A);
        const Solve done = solve_on(ksp, d, b), by_aij = solve_on(one, expected, b);
        EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << what;
        EXPECT_NEAR(done.iterations, by_aij.iterations, 1) << what;
        EXPECT_LT(largest_difference(done.x, by_aij.x), 1e-9) << what;
      }
    }
  }
}

// Of the matrix, and of the space.
TEST(DeflationUserRanks, FollowNewValues) {
  const Shape s{13, 11};
  const reference::Matrix first = reference_of(uneven(s)), second = reference_of(uneven(s, 7));
  const reference::Dense columns = waves(first.size(), 6), others = waves(first.size(), 6, 2.5);
  const reference::Vector b = random_values(std::size_t(first.size()));
  const auto alone = [&](const reference::Matrix &A, const reference::Dense &Z, const std::string &way) {
    const Distributed one = alone_with(A);
    return solve_on(solver_on(one, space_on(one, Z, Kind::dense), way), one, b);
  };
  each_way(2, [&](Kind kind, const std::string &way, Turn turn) {
    const Solve before = alone(first, columns, way), with_matrix = alone(second, columns, way),
                with_both = alone(second, others, way);
    const auto test = [&](const Distributed &d, const std::string &on) {
      const std::string what = on + ", " + way;
      const Matrix Z = space_on(d, columns, kind);
      const Solver ksp = solver_on(d, Z, way);
      expect_same(solve_on(ksp, d, b), before, d, what);
      set_new_values(d, second);
      expect_same(solve_on(ksp, d, b), with_matrix, d, what + ", a new matrix");
      fill(Z, d, others);
      expect_same(solve_on(ksp, d, b), with_both, d, what + ", a new space");
      const std::string view = view_on_first(ksp);
      EXPECT_TRUE(rank() || view.find("1 from scratch, 2 with new values") != std::string::npos) << view;
    };
    each_distribution(first, s, test, turn);
  });
}

TEST(DeflationUserRanks, FollowNewNonzerosOfTheSpace) {
  const Shape s{13, 11};
  const reference::Matrix A = reference_of(uneven(s));
  const reference::Dense few = hats(A.size(), 6), all = waves(A.size(), 6);
  const reference::Vector b = random_values(std::size_t(A.size()));
  const Distributed one = alone_with(A);
  const Solve before = solve_on(solver_on(one, space_on(one, few, Kind::sparse)), one, b),
              after = solve_on(solver_on(one, space_on(one, all, Kind::sparse)), one, b);
  each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
    const Matrix Z = space_on(d, few, Kind::sparse);
    const Solver ksp = solver_on(d, Z);
    expect_same(solve_on(ksp, d, b), before, d, what);
    fill(Z, d, all);
    expect_same(solve_on(ksp, d, b), after, d, what + ", more nonzeros");
  });
}

// P^T M^-1 r + Q r is Q r where r is zero: there every rank sees each of the numbers.
TEST(DeflationUserRanks, HaveTheSameBitsOfTheCoarseSolution) {
  const Shape s{13, 11};
  const int count = 5, zero_from = 20;
  const reference::Matrix A = reference_of(uneven(s));
  reference::Dense columns = zeros(A.size(), count);
  for (int p = 0; p < A.size(); ++p) columns[p][p % count] = 1;
  reference::Vector r = random_values(std::size_t(A.size()));
  std::fill(r.begin() + zero_from, r.end(), 0.0);
  for (const Kind kind : kinds)
    for (const std::string inverse : {"explicit", "cholesky"})
      each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
        const Matrix Z = space_on(d, columns, kind);
        const Solver ksp = solver_on(d, Z, "-ksp_deflation_inverse " + inverse);
        ok(KSPSetUp(ksp));
        const reference::Vector y = applied_on(pc_of(ksp), d, r);
        for (int k = 0; k < count; ++k) {
          double most = -INFINITY, minus_least = -INFINITY;
          for (std::size_t i = 0; i < d.natural.size(); ++i) {
            if (d.natural[i] % count != k || d.natural[i] < zero_from) continue;
            most = std::max(most, y[i]);
            minus_least = std::max(minus_least, -y[i]);
          }
          EXPECT_EQ(largest_over_ranks(most), -largest_over_ranks(minus_least)) << what;
        }
      });
}

TEST(DeflationUserRanks, AreSeen) {
  const Shape s{13, 11};
  const reference::Matrix A = reference_of(uneven(s));
  const reference::Vector b = random_values(std::size_t(A.size()));
  const auto seen = [](const std::string &view) { // up to the memory
    const std::size_t at = std::min(view.find("dimension: "), view.size());
    return view.substr(at, view.find("memory: ") - at);
  };
  for (const Kind kind : {Kind::dense, Kind::sparse}) {
    const reference::Dense columns = hats(A.size(), 7);
    const Distributed one = alone_with(A);
    const Solver ksp = solver_on(one, space_on(one, columns, kind));
    (void)solve_on(ksp, one, b);
    const std::string alone = seen(view(ksp));
    EXPECT_NE(alone.find("dimension: 7\n"), std::string::npos) << alone;
    EXPECT_NE(alone.find("A Z: "), std::string::npos) << alone;
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      const Solver many = solver_on(d, space_on(d, columns, kind));
      (void)solve_on(many, d, b);
      const std::string text = view_on_first(many);
      EXPECT_TRUE(rank() || seen(text) == alone) << what << ":\n" << text << alone;
    });
  }
}

void expect_refused(const Distributed &d, Mat Z, const std::string &words) {
  const Vector rhs = vector_on(d, random_values(1000)), x = like(rhs);
  const Solver ksp = solver_on(d, Z);
  raised = {};
  EXPECT_TRUE(refused(KSPSolve(ksp, rhs, x))) << words;
  EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
}

TEST(DeflationUserRanks, RefuseMatricesTogether) {
  const Shape s{7, 6};
  reference::Matrix A = reference_of(uneven(s));
  const int n = A.size();
  const reference::Matrix good = A;
  A.row[40][41] *= 2;
  const reference::Matrix not_symmetric = A;
  A.row[40][40] = std::nan("");
  const reference::Dense columns = waves(n, 4);
  for (const Kind kind : kinds)
    for (const auto &[values, words] :
         {std::pair{not_symmetric, "it is not symmetric, as E"}, {A, "E = Z^T A Z is not finite"}}) {
      const Distributed d = by_rows(values, uneven_rows(n));
      expect_refused(d, space_on(d, columns, kind), words);
      const Distributed on = by_rows(good, uneven_rows(n)); // after good ones
      const Matrix Z = space_on(on, columns, kind);
      const Solver ksp = solver_on(on, Z);
      EXPECT_GT(solve_on(ksp, on, random_values(std::size_t(n))).reason, 0);
      set_new_values(on, values);
      const Vector rhs = vector_on(on, random_values(std::size_t(n))), x = like(rhs);
      raised = {};
      EXPECT_TRUE(refused(KSPSolve(ksp, rhs, x)));
      EXPECT_NE(raised.message.find(words), std::string::npos) << raised.message;
    }
}

TEST(DeflationUserRanks, FailTogetherWhereEIsIndefinite) {
  const Shape s{7, 6};
  reference::Matrix A = reference_of(uneven(s));
  for (int p = 0; p < A.size(); ++p) A.row[p][p] -= 1000;
  for (const Kind kind : kinds)
    each_distribution(A, s, [&](const Distributed &d, const std::string &what) {
      const Solver ksp = solver_on(d, space_on(d, waves(A.size(), 4), kind));
      EXPECT_EQ(solve_on(ksp, d, random_values(std::size_t(A.size()))).reason, KSP_DIVERGED_PC_FAILED) << what;
      const std::string view = view_on_first(ksp);
      EXPECT_TRUE(rank() || view.find("FAILED: E = Z^T A Z is not positive definite") != std::string::npos) << view;
    });
}

TEST(DeflationUserRanks, RefuseSpacesTogether) {
  const Shape s{7, 6};
  const reference::Matrix A = reference_of(uneven(s));
  const int n = A.size();
  const Distributed d = by_rows(A, uneven_rows(n));
  const Distributed longer = by_rows(reference_of(uneven({7, 7})), uneven_rows(49));
  expect_refused(d, space_on(longer, waves(49, 3), Kind::dense),
                 "has vectors of length 49, but the matrix has 42 rows");
  expect_refused(d, space_on(d, zeros(n, 8193), Kind::sparse), "has 8193 vectors, but must have from 1 to");
  expect_refused(d, space_of_type(d, waves(n, 3), MATBAIJ), "but must be aij or dense");
  if (ranks() == 1) return;
  const Distributed elsewhere = by_rows(A, rows_without_first(n));
  for (const Kind kind : kinds)
    expect_refused(d, space_on(elsewhere, waves(n, 3), kind), "their rows must be distributed in the same way");
  const Distributed one = alone_with(A);
  expect_refused(d, space_on(one, waves(n, 3), Kind::dense),
                 "The deflation space and the matrix are on different ranks");
}

} // namespace
