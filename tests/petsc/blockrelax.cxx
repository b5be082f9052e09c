// What PCBLOCKRELAX applies, against PETSc's block Jacobi with LU inside, and what it promises.
#include "blockrelax_support.hpp"

using namespace petsctest;
using mic_support::uneven;

namespace {

// Blocks of whole planes (lines in 2D) are PETSc's blocks, too.
reference::Vector block_jacobi(const reference::Matrix &A, const std::vector<PetscInt> &rows,
                               const reference::Vector &r) {
  const OnTheHost host;
  const Matrix P = matrix_of(A);
  const Solver ksp = ksp_of(P, "-ksp_type preonly -pc_type bjacobi -sub_pc_type lu");
  ok(PCBJacobiSetTotalBlocks(pc_of(ksp), PetscInt(rows.size()), rows.data()));
  ok(KSPSetUp(ksp));
  return applied(pc_of(ksp), r);
}

std::vector<PetscInt> chunks(PetscInt n, PetscInt chunk) {
  std::vector<PetscInt> sizes(std::size_t(n / chunk), chunk);
  if (n % chunk) sizes.push_back(n % chunk);
  return sizes;
}

struct Slabs {
  Shape shape;
  int lines; // of a block, in the last direction
};
const std::vector<Slabs> slabs{{{9, 7}, 1},
                               {{9, 7}, 2},
                               {{9, 7}, 7},
                               {{8, 5, 1, false, false, false, 9}, 2},
                               {{4, 5, 6, false, false, false, 7}, 1},
                               {{4, 5, 6, false, false, false, 7}, 4}};

std::string block_option(const Slabs &s) {
  const std::string last = std::to_string(s.lines);
  return " -pc_blockrelax_block_size 1000," + (s.shape.points == 7 ? "1000," + last : last);
}
std::vector<PetscInt> rows_of(const Slabs &s) {
  return chunks(s.shape.size(), s.lines * s.shape.nx * (s.shape.points == 7 ? s.shape.ny : 1));
}

TEST(BlockRelax, JacobiIsPETScsBlockJacobiOnSlabs) {
  for (const Slabs &s : slabs) {
    const reference::Matrix A = reference_of(uneven(s.shape));
    const Matrix P = matrix_of(A);
    const reference::Vector r = random_values(std::size_t(s.shape.size())), z = block_jacobi(A, rows_of(s), r);
    EXPECT_LT(largest_difference(applied(relax_of(P, "-pc_blockrelax_omega 1" + block_option(s)), r), z), 1e-11)
        << words(s.shape);
    const reference::Vector damped = applied(relax_of(P, block_option(s)), r);
    EXPECT_LT(largest_difference(damped, plus(reference::Vector(r.size()), 0.8, z)), 1e-11) << words(s.shape);
  }
}

TEST(BlockRelax, SweepsFollowEachOther) {
  for (const Slabs &s : slabs)
    for (const char *type : {"jacobi", "coloured", "coloured -pc_blockrelax_symmetric"}) {
      const reference::Matrix A = reference_of(uneven(s.shape));
      const Matrix P = matrix_of(A);
      const std::string options = "-pc_blockrelax_type " + std::string(type) + block_option(s);
      const reference::Vector r = random_values(std::size_t(s.shape.size()));
      const Preconditioner one = relax_of(P, options), three = relax_of(P, options + " -pc_blockrelax_sweeps 3");
      reference::Vector x(r.size());
      for (int i = 0; i < 3; ++i) x = plus(x, 1, applied(one, minus(r, A.multiply(x))));
      EXPECT_LT(largest_difference(applied(three, r), x), 1e-11) << words(s.shape) << options;
    }
}

// Odd slabs see what the even ones have become.
TEST(BlockRelax, ColouredIsGaussSeidelOfTwoHalves) {
  const Slabs s{{4, 5, 6, false, false, false, 7}, 2};
  const reference::Matrix A = reference_of(uneven(s.shape));
  const Matrix P = matrix_of(A);
  const reference::Vector r = random_values(120);
  const auto half = [&](const reference::Vector &x, int parity) {
    const reference::Vector z = block_jacobi(A, rows_of(s), minus(r, A.multiply(x)));
    reference::Vector next = x;
    for (std::size_t p = 0; p < 120; ++p)
      if (int(p / 40) % 2 == parity) next[p] += z[p];
    return next;
  };
  const reference::Vector forth = half(half(reference::Vector(120), 0), 1);
  const std::string options = "-pc_blockrelax_type coloured" + block_option(s);
  EXPECT_LT(largest_difference(applied(relax_of(P, options), r), forth), 1e-11);
  EXPECT_LT(largest_difference(applied(relax_of(P, options + " -pc_blockrelax_symmetric"), r), half(half(forth, 1), 0)),
            1e-11);
}

TEST(BlockRelax, OfOneBlockSolves) {
  for (const char *type : {"jacobi -pc_blockrelax_omega 1", "chaotic", "coloured"})
    for (const Shape &s : {Shape{7, 6}, Shape{5, 4, 3, false, false, false, 7}}) {
      const reference::Matrix A = reference_of(uneven(s));
      const Matrix P = matrix_of(A);
      const reference::Vector x = random_values(std::size_t(s.size()));
      const Preconditioner pc = relax_of(P, "-pc_blockrelax_block_size 9,9,9 -pc_blockrelax_type " + std::string(type));
      EXPECT_LT(largest_difference(applied(pc, A.multiply(x)), x), 1e-10) << type;
    }
}

// Two lattices of planes that are coupled plane to plane are two patches of one grid.
TEST(BlockRelax, BlocksDoNotCrossPatches) {
  const Shape s{4, 5, 6, false, false, false, 7};
  const reference::Matrix A = reference_of(uneven(s));
  const Matrix P = matrix_of(A);
  const reference::Vector r = random_values(120);
  const Preconditioner pc = relax_of(P, "-pc_blockrelax_omega 1 -pc_blockrelax_block_size 8,8,2");
  const PetscInt sizes[] = {4, 5, 1, 4, 5, 5};
  ok(PCBlockRelaxSetPatches(pc, 2, sizes));
  EXPECT_LT(largest_difference(applied(pc, r), block_jacobi(A, {20, 40, 40, 20}, r)), 1e-11);
  EXPECT_NE(view(pc).find("patches: 2, 7-point\n"), std::string::npos) << view(pc);
  ok(PCBlockRelaxSetPatches(pc, 0, nullptr));
  EXPECT_LT(largest_difference(applied(pc, r), block_jacobi(A, {40, 40, 40}, r)), 1e-11);
}

TEST(BlockRelax, PatchesMayHaveCorners) {
  const Shape s{6, 7, 1, false, false, false, 9};
  const reference::Matrix A = reference_of(uneven(s));
  const Matrix P = matrix_of(A);
  const reference::Vector r = random_values(42);
  const Preconditioner pc = relax_of(P, "-pc_blockrelax_omega 1 -pc_blockrelax_block_size 8,2");
  const PetscInt sizes[] = {6, 3, 1, 6, 4, 1};
  ok(PCBlockRelaxSetPatches(pc, 2, sizes));
  EXPECT_LT(largest_difference(applied(pc, r), block_jacobi(A, {12, 6, 12, 12}, r)), 1e-11);
  EXPECT_NE(view(pc).find("patches: 2, 9-point\n"), std::string::npos) << view(pc);
}

TEST(BlockRelax, OnePatchIsAGridOf27Points) {
  reference::Matrix A(120);
  for (int p = 0; p < 120; ++p)
    for (int q = 0; q < 120; ++q) {
      const int far[3] = {q % 4 - p % 4, q / 4 % 5 - p / 4 % 5, q / 20 - p / 20};
      if (std::max({std::abs(far[0]), std::abs(far[1]), std::abs(far[2])}) < 2)
        A.add(p, q, p == q ? 27 : -1 + 0.01 * ((p + q) % 7));
    }
  const Matrix P = matrix_of(A);
  const reference::Vector r = random_values(120);
  const PetscInt sizes[] = {4, 5, 6};
  const Preconditioner pc = relax_of(P, "-pc_blockrelax_omega 1 -pc_blockrelax_block_size 8,8,2"),
                       coloured = relax_of(P, "-pc_blockrelax_type coloured -pc_blockrelax_block_size 2,2,2");
  for (PC each : {PC(pc), PC(coloured)}) ok(PCBlockRelaxSetPatches(each, 1, sizes));
  EXPECT_LT(largest_difference(applied(pc, r), block_jacobi(A, {40, 40, 40}, r)), 1e-11);
  PetscInt colours;
  ok(PCSetUp(coloured));
  ok(PCBlockRelaxGetColours(coloured, &colours));
  EXPECT_EQ(colours, 8);
}

TEST(BlockRelax, IsItsTransposeWhereItIsSymmetric) {
  const Matrix P = matrix_of(reference_of(uneven({9, 7})));
  const reference::Vector x = reference::random_vector(63, 1), y = reference::random_vector(63, 2);
  const std::string block = " -pc_blockrelax_block_size 2,3";
  for (const char *options : {"-pc_blockrelax_type jacobi", "-pc_blockrelax_sweeps 3",
                              "-pc_blockrelax_type coloured -pc_blockrelax_symmetric -pc_blockrelax_sweeps 2"}) {
    const Preconditioner pc = relax_of(P, options + block);
    EXPECT_NEAR(reference::dot(applied(pc, x), y), reference::dot(x, applied(pc, y)), 1e-12) << options;
    const Vector b = vector_of(x), z = like(b);
    ok(PCApplyTranspose(pc, b, z));
    EXPECT_EQ(values_of(z), applied(pc, x)) << options;
  }
  for (const char *type : {"chaotic", "coloured"}) {
    const Preconditioner pc = relax_of(P, "-pc_blockrelax_type " + std::string(type));
    ok(PCSetUp(pc));
    const Vector b = vector_of(x), z = like(b);
    EXPECT_TRUE(refused(PCApplyTranspose(pc, b, z)));
    EXPECT_EQ(raised.code, PETSC_ERR_SUP);
  }
}

TEST(BlockRelax, AppliesToSeveralColumns) {
  const Matrix P = matrix_of(reference_of(uneven({9, 7})));
  const Preconditioner pc = relax_of(P);
  const reference::Vector x = reference::random_vector(189, 3);
  const Matrix X = dense_of(63, 3, x), Y = dense_of(63, 3);
  ok(PCMatApply(pc, X, Y));
  const reference::Vector z = values_of_dense(Y);
  for (int j = 0; j < 3; ++j)
    EXPECT_EQ(reference::Vector(z.begin() + 63 * j, z.begin() + 63 * (j + 1)),
              applied(pc, reference::Vector(x.begin() + 63 * j, x.begin() + 63 * (j + 1))));
}

TEST(BlockRelax, TakesOtherTypesOfMatrices) {
  const Slabs s{{9, 7}, 2};
  const reference::Matrix A = reference_of(uneven(s.shape));
  const reference::Vector r = random_values(63), z = block_jacobi(A, rows_of(s), r);
  for (MatType type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATSEQSBAIJ}) {
    const Matrix P = matrix_of(A, type);
    EXPECT_LT(largest_difference(applied(relax_of(P, "-pc_blockrelax_omega 1" + block_option(s)), r), z), 1e-11)
        << type;
  }
}

TEST(BlockRelax, FollowsNewValues) {
  const Slabs s{{4, 5, 6, false, false, false, 7}, 2};
  const reference::Matrix first = reference_of(uneven(s.shape, 1)), second = reference_of(uneven(s.shape, 2));
  const Matrix P = matrix_of(first);
  const Preconditioner pc = relax_of(P, "-pc_blockrelax_omega 1" + block_option(s));
  const reference::Vector r = random_values(120);
  ok(PCSetUp(pc));
  for (const reference::Matrix *A : {&second, &first}) {
    set_values(P, *A);
    ok(PCSetUp(pc));
    EXPECT_LT(largest_difference(applied(pc, r), block_jacobi(*A, rows_of(s), r)), 1e-11);
  }
}

// A block that is singular has M = A + a_nn e_n e_n^T, positive definite.
TEST(BlockRelax, SingularBlocksHaveTheirLastDiagonalEntryForAPivot) {
  for (const reference::Problem &problem : {reference::neumann(9, 7), reference::neumann(23, 21)})
    for (const std::string more : {"", " -pc_blockrelax_inverse dense", " -pc_blockrelax_memory 1"}) {
      const Matrix P = matrix_of(problem.A);
      reference::Vector last(problem.b.size());
      last.back() = problem.A.row.back().at(problem.A.size() - 1);
      for (const double z : applied(relax_of(P, "-pc_blockrelax_omega 1 -pc_blockrelax_block_size 64,64" + more), last))
        ASSERT_NEAR(z, 1, 1e-10) << more;
    }
}

// A pond within a block, and a sea around it.
reference::Problem pond() {
  reference::Problem problem = reference::poisson(24);
  for (int p = 0; p < problem.A.size(); ++p)
    for (const int q : {p + 1, p + 24}) {
      const auto inside = [](int cell) { return cell % 24 < 5 && cell / 24 < 5; };
      if (q >= problem.A.size() || inside(p) == inside(q) || !problem.A.row[p].count(q)) continue;
      problem.A.row[p].erase(q), problem.A.row[q].erase(p);
    }
  for (int p = 0; p < problem.A.size(); ++p)
    if (p % 24 < 5 && p / 24 < 5) problem.A.row[p][p] = double(problem.A.row[p].size()) - 1;
  return problem;
}

TEST(BlockRelax, SystemsWithoutASolutionAreNotCalledSolved) {
  reference::Problem problem = pond();
  const Matrix A = matrix_of(problem.A);
  const reference::Vector good = problem.A.multiply(random_values(problem.b.size())), bad = plus(good, 1, problem.b);
  for (const std::string norm : {"natural", "preconditioned", "unpreconditioned"})
    for (const std::string more : {"", " -pc_blockrelax_inverse dense"}) {
      const Solver ksp = ksp_of(A, "-ksp_type cg -ksp_rtol 1e-8 -pc_type blockrelax -pc_blockrelax_block_size 8,8 "
                                   "-ksp_norm_type " +
                                       norm + more);
      problem.b = good;
      const Solve done = solve(ksp, good);
      EXPECT_EQ(done.reason, KSP_CONVERGED_RTOL) << norm << more;
      EXPECT_LT(relative_residual(problem, done.x), 1e-6) << norm << more;
      EXPECT_LT(solve(ksp, bad).reason, 0) << norm << more;
    }
}

// Constant couplings and dense inverses: on a device products of matrices, which have no kernel of their own to ask.
TEST(BlockRelax, ChaoticDenseBlocksSmooth) {
  const reference::Problem problem = cube(16, 3, 0);
  const Matrix P = matrix_of(problem.A);
  const Solver ksp = ksp_of(P, "-ksp_type richardson -ksp_max_it 1000 -ksp_rtol 1e-6 -pc_type blockrelax "
                               "-pc_blockrelax_type chaotic -pc_blockrelax_inverse dense");
  for (int times = 0; times < 2; ++times) {
    const Solve s = solve(ksp, problem.b);
    EXPECT_GT(s.reason, 0);
    if (times == 0) {
      EXPECT_LT(relative_residual(problem, s.x), 1e-5);
    }
    ok(MatScale(P, 2));
  }
}

} // namespace
