/* The rows of all ranks, by PETSc's own means. */
#include "pc/rrb/pcrrb_everywhere.h"

#include "petsc/overlap.h"

#include <petsc/private/pcimpl.h>

#include <string>
#include <vector>

PCRRBEverywhere::~PCRRBEverywhere() {
  (void)VecScatterDestroy(&to_all_);
  (void)VecScatterDestroy(&to_own_);
  (void)VecDestroy(&r_);
  (void)VecDestroy(&z_);
  if (rows_) (void)MatDestroySubMatrices(1, &rows_);
  (void)ISDestroy(&order_);
}

/* own: the places of own rows in that order */
PetscErrorCode PCRRBEverywhere::FindOrder(PC pc, Mat P, IS *own) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscInt> place;
  std::string source;
  const PetscInt *of_all;
  PetscInt *order, n;
  IS all;

  PetscFunctionBegin;
  PetscCall(PetscRRBNaturalOrder(pc, pc->pmat, &place, &source));
  PetscCall(ISCreateGeneral(comm, (PetscInt)place.size(), place.data(), PETSC_COPY_VALUES, own));
  PetscCall(ISAllGather(*own, &all));
  PetscCall(ISGetLocalSize(all, &n));
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(ISGetIndices(all, &of_all));
  for (PetscInt row = 0; row < n; ++row) order[of_all[row]] = row;
  PetscCall(ISRestoreIndices(all, &of_all));
  PetscCall(ISDestroy(&all));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, &order_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Connect(Mat P, IS own) {
  PetscInt first, last;
  Vec x;
  IS rows;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(rows_[0], &r_, &z_));
  PetscCall(MatCreateVecs(P, &x, nullptr));
  PetscCall(VecScatterCreate(x, order_, r_, nullptr, &to_all_));
  PetscCall(MatGetOwnershipRange(P, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &rows));
  PetscCall(VecScatterCreate(z_, own, x, rows, &to_own_));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Build(PC pc, Mat P) {
  IS own;

  PetscFunctionBegin;
  PetscCall(FindOrder(pc, P, &own));
  PetscCall(MatCreateSubMatrices(P, 1, &order_, &order_, MAT_INITIAL_MATRIX, &rows_));
  PetscCall(Connect(P, own));
  PetscCall(ISDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Refresh(Mat P) {
  PetscFunctionBegin;
  PetscCall(MatCreateSubMatrices(P, 1, &order_, &order_, MAT_REUSE_MATRIX, &rows_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::ToAll(Vec x, Vec *all) {
  PetscFunctionBegin;
  PetscCall(VecScatterBegin(to_all_, x, r_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(to_all_, x, r_, INSERT_VALUES, SCATTER_FORWARD));
  *all = r_;
  PetscFunctionReturn(PETSC_SUCCESS);
}
