// PCBLOCKRELAX on several ranks: mpiexec -n 3 build/tests/petsc --gtest_filter='BlockRelaxRanks*'. On one rank the same
// must hold.
#include "blockrelax_support.hpp"

using namespace petsctest;

namespace {

// 12 x 10 points.
class System {
public:
  explicit System(MPI_Comm comm) {
    ok(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 12, 10, PETSC_DECIDE, PETSC_DECIDE, 1,
                    1, nullptr, nullptr, da.put()));
    ok(DMSetMatType(da, backend.mat));
    ok(DMSetVecType(da, backend.vec));
    ok(DMSetUp(da));
    ok(DMCreateMatrix(da, A.put()));
    fill(4.5);
  }
  void fill(double last) {
    DMDALocalInfo info;
    ok(DMDAGetLocalInfo(da, &info));
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        MatStencil row{}, near{};
        row.i = near.i = i, row.j = near.j = j;
        const auto set = [&](double a) { ok(MatSetValuesStencil(A, 1, &row, 1, &near, &a, INSERT_VALUES)); };
        set(i == 11 && j == 9 ? last : 4.5);
        if (i > 0) near.i = i - 1, set(-1);
        if (i < 11) near.i = i + 1, set(-1);
        near.i = i;
        if (j > 0) near.j = j - 1, set(-1);
        if (j < 9) near.j = j + 1, set(-1);
      }
    ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }

  Array da;
  Matrix A;
};

struct BlockRelaxRanks : testing::Test {
  System all{PETSC_COMM_WORLD};
  const Matrix &A = all.A;
};

// f(point in natural order, value) for each point of this rank.
template <class F> void at_points(DM da, Vec x, const F &f) {
  DMDALocalInfo info;
  PetscScalar **a;
  ok(DMDAGetLocalInfo(da, &info));
  ok(DMDAVecGetArray(da, x, &a));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) f(12 * j + i, a[j][i]);
  ok(DMDAVecRestoreArray(da, x, &a));
}

// M r by point, for the points of this rank; zero for others.
reference::Vector applied_by_point(const System &system, const std::string &options) {
  const reference::Vector r = random_values(120);
  reference::Vector z(120);
  const Preconditioner pc = relax_of(system.A, options);
  Vector x, y;
  ok(DMCreateGlobalVector(system.da, x.put()));
  ok(VecDuplicate(x, y.put()));
  at_points(system.da, x, [&](PetscInt p, PetscScalar &a) { a = r[std::size_t(p)]; });
  ok(PCApply(pc, x, y));
  at_points(system.da, y, [&](PetscInt p, PetscScalar &a) { z[std::size_t(p)] = a; });
  return z;
}

TEST_F(BlockRelaxRanks, TakeVectorsOfTheHost) {
  const Preconditioner pc = relax_of(A, "-pc_blockrelax_sweeps 3");
  Vector there, expected;
  ok(MatCreateVecs(A, there.put(), expected.put()));
  ok(VecSetRandom(there, nullptr));
  ok(PCApply(pc, there, expected));
  PetscInt own;
  ok(VecGetLocalSize(there, &own));
  const auto apply_twice = [&] {
    Vector x, y;
    ok(VecCreateMPI(PETSC_COMM_WORLD, own, PETSC_DETERMINE, x.put()));
    ok(VecDuplicate(x, y.put()));
    for (int times = 1; times <= 2; ++times) {
      ok(VecCopy(there, x));
      ok(VecScale(x, times));
      ok(PCApply(pc, x, y));
      ok(VecScale(y, 1.0 / times));
      EXPECT_LT(largest_difference(values_of(y), values_of(expected)), 1e-14) << times;
    }
  };
  EXPECT_LE(lost_at_each(apply_twice), 0);
}

// Blocks that no cut goes through, and values of neighbours as they were before each sweep.
TEST_F(BlockRelaxRanks, RelaxAsOneWithJacobi) {
  const System alone(PETSC_COMM_SELF);
  for (const std::string sweeps : {"1", "2", "4"}) {
    const std::string options = "-pc_blockrelax_block_size 2,1 -pc_blockrelax_sweeps " + sweeps;
    const reference::Vector one = applied_by_point(alone, options), mine = applied_by_point(all, options);
    DMDALocalInfo info;
    ok(DMDAGetLocalInfo(all.da, &info));
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
        EXPECT_NEAR(mine[std::size_t(12 * j + i)], one[std::size_t(12 * j + i)], 1e-14) << options;
  }
}

TEST_F(BlockRelaxRanks, RelaxTheirOwnBlocks) {
  for (const char *options : {"", "-pc_blockrelax_type coloured -pc_blockrelax_symmetric"}) {
    const std::string block = std::string(options) + " -pc_blockrelax_block_size 3,4";
    const Preconditioner pc = relax_of(A, block);
    Vector x, y;
    Mat own;
    ok(MatCreateVecs(A, y.put(), x.put()));
    const reference::Vector r = random_values(values_of(x).size());
    PetscScalar *a;
    ok(VecGetArrayWrite(x, &a));
    std::copy(r.begin(), r.end(), a);
    ok(VecRestoreArrayWrite(x, &a));
    ok(PCApply(pc, x, y));
    ok(MatGetDiagonalBlock(A, &own));
    EXPECT_EQ(values_of(y), applied(relax_of(own, block), r)) << options;
  }
}

TEST_F(BlockRelaxRanks, SolveTogether) {
  for (const char *options : {"jacobi", "chaotic", "coloured -pc_blockrelax_sweeps 2"}) {
    const Solver ksp = ksp_of(A, "-ksp_type richardson -ksp_rtol 1e-8 -pc_type blockrelax -pc_blockrelax_block_size "
                                 "3,4 -pc_blockrelax_type " +
                                     std::string(options));
    Vector x, b, r;
    ok(MatCreateVecs(A, x.put(), b.put()));
    ok(VecDuplicate(b, r.put()));
    ok(VecSet(b, 1));
    ok(KSPSolve(ksp, b, x));
    KSPConvergedReason reason;
    ok(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_CONVERGED_RTOL) << options;
    PetscReal norm, all;
    ok(MatResidual(A, b, x, r));
    ok(VecNorm(r, NORM_2, &norm));
    ok(VecNorm(b, NORM_2, &all));
    EXPECT_LT(norm, 1.001e-8 * all) << options;
  }
}

TEST_F(BlockRelaxRanks, FailTogether) {
  all.fill(-1);
  const Preconditioner pc = relax_of(A);
  PCFailedReason reason;
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
}

} // namespace
