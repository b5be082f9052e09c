/* The order of the rows of all ranks, and vectors in it. */
#include "pc/rrb/pcrrb_everywhere.h"

#include "petsc/agree.h"
#include "petsc/overlap.h"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <string>
#include <vector>

PCRRBEverywhere::~PCRRBEverywhere() {
  (void)VecScatterDestroy(&to_all_);
  (void)VecScatterDestroy(&to_own_);
  (void)VecScatterDestroy(&to_part_);
  (void)VecDestroy(&x_);
  (void)VecDestroy(&r_);
  (void)VecDestroy(&z_);
  (void)ISDestroy(&order_);
  (void)ISDestroy(&own_);
}

/* place: of own rows in that order. Equal parts, where own rows do not follow one another in it. */
PetscErrorCode PCRRBEverywhere::FindCuts(Mat P, const std::vector<PetscInt> &place) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *first;
  PetscInt rows;
  PetscMPIInt rank, ranks, follow = 1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetOwnershipRanges(P, &first));
  PetscCall(MatGetSize(P, &rows, nullptr));
  for (std::size_t i = 0; i < place.size(); ++i) follow = follow && place[i] == first[rank] + (PetscInt)i;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &follow, 1, MPI_INT, MPI_MIN, comm));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] {
    cuts_.clear();
    for (PetscMPIInt r = 0; r <= ranks; ++r) cuts_.push_back(follow ? first[r] : (petscrrb::index_t)rows * r / ranks);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::FindOrder(PC pc, Mat P, std::vector<PetscInt> *places) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  std::vector<PetscInt> place;
  std::string source;
  const PetscInt *of_all;
  PetscInt n;
  IS all;

  PetscFunctionBegin;
  PetscCall(PetscRRBNaturalOrder(pc, pc->pmat, &place, &source));
  PetscCall(FindCuts(P, place));
  PetscCall(ISCreateGeneral(comm, (PetscInt)place.size(), place.data(), PETSC_COPY_VALUES, &own_));
  PetscCall(ISAllGather(own_, &all));
  PetscCall(ISSetPermutation(all));
  PetscCall(ISInvertPermutation(all, PETSC_DECIDE, &order_));
  PetscCall(ISGetLocalSize(all, &n));
  PetscCall(ISGetIndices(all, &of_all));
  PetscCall(PetscRRBTryTogether(comm, "PCRRB", [&] { places->assign(of_all, of_all + n); }));
  PetscCall(ISRestoreIndices(all, &of_all));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Connect() {
  PetscInt first, last;
  IS rows;

  PetscFunctionBegin;
  if (to_all_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOwnershipRange(x_, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, last - first, first, 1, &rows));
  PetscCall(VecScatterCreate(z_, own_, x_, rows, &to_own_));
  PetscCall(ISDestroy(&rows));
  PetscCall(VecScatterCreate(x_, order_, r_, nullptr, &to_all_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Build(PC pc, Mat P, PetscBool on_device, std::vector<PetscInt> *places) {
  PetscInt rows;
  VecType type = VECSTANDARD;

  PetscFunctionBegin;
  PetscCall(FindOrder(pc, P, places));
  PetscCall(MatCreateVecs(P, &x_, nullptr));
  PetscCall(MatGetSize(P, &rows, nullptr));
  if (on_device) PetscCall(MatGetVecType(P, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &r_));
  PetscCall(VecSetSizes(r_, rows, rows));
  PetscCall(VecSetType(r_, type));
  PetscCall(VecDuplicate(r_, &z_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::ToAll(Vec x, Vec *all) {
  PetscFunctionBegin;
  PetscCall(Connect());
  PetscCall(Move(to_all_, x, r_, SCATTER_FORWARD));
  *all = r_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBEverywhere::Share(PetscBool shared) {
  const PetscInt *order;
  PetscMPIInt rank;
  IS rows, part;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)x_), &rank));
  const PetscInt from = (PetscInt)cuts_[(std::size_t)rank], n = (PetscInt)cuts_[(std::size_t)rank + 1] - from;
  shared_ = shared;
  mine_ = shared ? n : cuts_.back();
  if (!shared || to_part_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetIndices(order_, &order));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order + from, PETSC_COPY_VALUES, &rows));
  PetscCall(ISRestoreIndices(order_, &order));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, from, 1, &part));
  PetscCall(VecScatterCreate(x_, rows, r_, part, &to_part_));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
