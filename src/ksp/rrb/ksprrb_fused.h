/* KSPRRB's own iteration on arrays, where those of PCRRB's factorization are: what is the same on the host (ksprrb_host.cxx)
   and on a device (ksprrb_cuda.cxx), on one rank and on the boxes of several. */
#pragma once

#include "ksp/rrb/ksprrb_solver.h"
#include "pc/rrb/pcrrb_on_ranks.h"

/* Kept: Stencil or cuda::DeviceStencil; Array: an array of such memory */
template <class Kept, class Array> class KSPRRBFused : public KSPRRBSolver {
public:
  PetscErrorCode Refresh(PC pc, const PetscRRBMatrix &A, const petscrrb::Grid &grid, const double *v,
                         KSPRRBValues *values) override {
    PetscFunctionBegin;
    if (with_.matrix)
      PetscCall(RefreshOnRanks(pc, A.on_ranks, grid, values));
    else
      PetscCall(RefreshFrom(A.csr, grid, v, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Start(Vec r0, Norm norm, Numbers *numbers) override {
    const PetscScalar *r;

    PetscFunctionBegin;
    PetscCall(VecGetArrayReadAndMemType(r0, &r, nullptr));
    if (lines()) PetscCall(with_.matrix->ToBoxes(r, r0_.data()));
    PetscCall(PCRRBTogether([&] { return StartFrom(lines() ? r0_.data() : r, norm, numbers); }));
    PetscCall(VecRestoreArrayReadAndMemType(r0, &r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Solution(Vec r0, Vec x, PetscBool add) override {
    return PetscRRBUseArrays(PETSC_TRUE, r0, x, add, [&](const PetscScalar *r, PetscScalar *to) -> PetscErrorCode {
      PetscFunctionBegin;
      if (lines() && add) PetscCall(with_.matrix->ToBoxes(to, x_.data()));
      PetscCall(PutSolution(lines() ? r0_.data() : r, lines() ? x_.data() : to, add));
      if (lines()) PetscCall(with_.matrix->ToRows(x_.data(), to));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }

protected:
  explicit KSPRRBFused(const PCRRBParts &with)
      : with_(with), r0_(lines() ? (std::size_t)with.core->extent().nodes() : 0), x_(r0_.size()) {}

  /* with the arrays of the core's points */
  virtual PetscErrorCode StartFrom(const PetscScalar *r0, Norm, Numbers *) = 0;
  virtual PetscErrorCode PutSolution(const PetscScalar *r0, PetscScalar *x, PetscBool add) = 0;
  virtual PetscErrorCode RefreshFrom(const petscrrb::Csr &, const petscrrb::Grid &, const double *v,
                                     KSPRRBValues *) = 0;
  /* the iteration's matrix, as it was read; may throw */
  virtual void Take(const petscrrb::rrb::PreparedStencil &) = 0;
  virtual bool positive() const = 0;

  double bytes_of_arrays() const { return stencil_.bytes() + 8.0 * (double)(r0_.size() + x_.size()); }

  const PCRRBParts with_;
  const PetscRRBSay say_{"KSPRRB", with_.stream ? PETSC_ERR_GPU : PETSC_ERR_LIB};
  Kept stencil_; /* of the matrix */

private:
  bool lines() const { return with_.matrix && with_.matrix->lines(); }
  PetscErrorCode RefreshOnRanks(PC pc, Mat A, const petscrrb::Grid &grid, KSPRRBValues *values) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    PCRRBStencilArrays read;
    petscrrb::RowFacts facts;
    petscrrb::ReadResult result;
    PetscBool ok = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(with_.matrix->ReadForSolver(pc, A, grid, rounding, PCRRBRoomIn(stencil_), &read, &facts, &result));
    *values = KSPRRBValuesOf(result, facts.zero_rows);
    if (*values != KSP_RRB_VALUES_OK) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscRRBTryTogether(comm, say_, [&] {
      read.of.v = read.v;
      Take(read.of);
      ok = (PetscBool)positive();
    }));
    PetscCall(PCRRBAgree(comm, &ok));
    if (!ok) *values = KSP_RRB_VALUES_NOT_POSITIVE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Array r0_, x_; /* of the box, where vectors are not what it has */
};
