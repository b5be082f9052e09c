/* Deflation by subdomains: from Mat and Vec to the arrays that the projection works on. */
#include "ksp/deflation/pcdeflation_subdomains.h"

using namespace petscrrb::deflation;

PCDeflationSubdomains::~PCDeflationSubdomains() {
  PetscBool up = PETSC_FALSE;
  if (PetscInitialized(&up) == PETSC_SUCCESS && up) (void)PetscRRBMatrixReset(&rows_);
}

/* Another pattern than before has new ghosts. */
PetscErrorCode PCDeflationSubdomains::GetRows(PC pc, Mat A, PetscBool *rebuild) {
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(PetscRRBMatrixGet(pc, A, &rows_));
  Mat P = rows_.on_ranks;
  if (!P) {
    csr_ = rows_.csr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscBool build = (PetscBool)(*rebuild || !ranks_);
  if (build) {
    PetscCall(PetscRRBTryTogether(
        comm, Says(), [&] { ranks_ = std::make_unique<PCDeflationRanks>(PetscObjectComm((PetscObject)pc), Says()); }));
    PetscCall(ranks_->Build(pc, A, P));
    *rebuild = PETSC_TRUE;
  }
  PetscCall(ExchangeRows(ranks_->overlap(), P, build, &csr_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::Read(PC pc, Mat A, const KSPDeflationChoice &choice, const double *phi,
                                           PetscBool rebuild, Result *result) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const auto run_together = [&](const PCDeflationWork &work) {
    return Run([&] { PetscRRBThrowTogether(comm, Says(), work); });
  };

  PetscFunctionBegin;
  if (!rebuild) {
    PetscCall(run_together([&] { *result = projection_->refresh(csr_, phi); }));
    if (*result != Result::rebuild) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCDeflationDescribe(pc, A, choice, Rows(csr_), &space_));
  PetscCall(PetscRRBTryTogether(comm, Says(),
                                [&] { words_ = PCDeflationWords(choice, (PetscBool)(phi != nullptr), space_); }));
  if (ranks_ && on_device() && space_.phases)
    PetscCall(PetscInfo(pc,
                        "The matrix is on devices of several ranks: its rows are copied to the host for each set of "
                        "values, where the phases of a level set are found\n"));
  inverse_ = choice.inverse_set ? choice.inverse : PCDeflationDefaultInverse(choice.type, on_device());
  space_.phi = phi;
  space_.ranks = ranks_.get();
  const auto type = inverse_ == KSP_DEFLATION_EXPLICIT ? Inverse::explicit_inverse : Inverse::cholesky;
  PetscCall(run_together([&] { *result = projection_->setup(csr_, space_, type); }));
  space_.phi = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::SetUp(PC pc, Mat A, const KSPDeflationChoice &choice, PetscObject space,
                                            PetscBool rebuild, Result *result) {
  Vec phi = nullptr;
  const PetscScalar *values = nullptr, no_rows = 0;

  PetscFunctionBegin;
  if (space) {
    PetscCall(Near((Vec)space, 0, PETSC_TRUE, &phi));
    PetscCall(GetRead(phi, &values));
  }
  PetscErrorCode code = GetRows(pc, A, &rebuild);
  /* a rank without rows may have no array: it has a level set all the same */
  if (!code) code = Read(pc, A, choice, phi && !values ? &no_rows : values, rebuild, result);
  PetscCall(PetscRRBMatrixRestore(&rows_)); /* of a refused matrix too: it may be gone at the next call */
  if (phi) PetscCall(RestoreRead(phi, &values));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::Restrict(Vec r, Vec y) {
  const PetscScalar *from = nullptr, *minus = nullptr;
  PetscInt n = 0;

  PetscFunctionBegin;
  if (r) {
    PetscCall(Near(r, 0, PETSC_TRUE, &r));
    PetscCall(GetRead(r, &from));
    PetscCall(VecGetLocalSize(r, &n));
  }
  if (y) {
    PetscCall(Near(y, 1, PETSC_TRUE, &y));
    PetscCall(GetRead(y, &minus));
  }
  PetscCall(Run([&] { projection_->restrict_residual(from, minus); }));
  if (y) PetscCall(RestoreRead(y, &minus));
  if (r) PetscCall(RestoreRead(r, &from));
  PetscCall(Log((PetscLogDouble)n + (y ? 2.0 * (PetscLogDouble)report().stored : 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::Solve() {
  PetscFunctionBegin;
  PetscCall(Run([&] { projection_->solve(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::Prolong(Vec y, Vec z) {
  const PetscBool in_place = (PetscBool)(y == z);
  const PetscScalar *from = nullptr;
  PetscScalar *to;
  PetscInt n;
  Vec near;

  PetscFunctionBegin;
  PetscCall(Near(z, 0, in_place, &near));
  if (y && !in_place) {
    PetscCall(Near(y, 1, PETSC_TRUE, &y));
    PetscCall(GetRead(y, &from));
  }
  PetscCall(Get(near, in_place, &to));
  PetscCall(Run([&] { projection_->prolong(in_place ? to : from, to); }));
  PetscCall(Restore(near, in_place, &to));
  if (y && !in_place) PetscCall(RestoreRead(y, &from));
  if (near != z) PetscCall(VecCopy(near, z));
  PetscCall(VecGetLocalSize(z, &n));
  PetscCall(Log((PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationSubdomains::Subtract(Vec w) {
  PetscScalar *to;
  Vec near;

  PetscFunctionBegin;
  PetscCall(Near(w, 0, PETSC_TRUE, &near));
  PetscCall(Get(near, PETSC_TRUE, &to));
  PetscCall(Run([&] { projection_->subtract(to); }));
  PetscCall(Restore(near, PETSC_TRUE, &to));
  if (near != w) PetscCall(VecCopy(near, w));
  PetscCall(Log(2.0 * (PetscLogDouble)report().stored));
  PetscFunctionReturn(PETSC_SUCCESS);
}
