// PCBLOCKRELAX on several ranks: mpiexec -n 3 build/tests/petsc --gtest_filter='BlockRelaxRanks*'. On one rank the same
// must hold.
#include "blockrelax_support.hpp"

using namespace petsctest;

namespace {

class BlockRelaxRanks : public testing::Test {
protected:
  void SetUp() override {
    ok(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 12, 10, PETSC_DECIDE,
                    PETSC_DECIDE, 1, 1, nullptr, nullptr, da.put()));
    ok(DMSetMatType(da, backend.mat));
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

TEST_F(BlockRelaxRanks, RelaxTheirOwnBlocks) {
  for (const char *options : {"", "-pc_blockrelax_type coloured -pc_blockrelax_sweeps 2"}) {
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
  fill(-1);
  const Preconditioner pc = relax_of(A);
  PCFailedReason reason;
  ok(PCSetUp(pc));
  ok(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
}

} // namespace
