/* Finds known values, and puts them into the guess. */
#include "pc/known_values.h"

#include <petsc/private/kspimpl.h>

#include "grid/known_rows.hpp"
#include "stencil/host/rows.hpp"
#include "petsc/compat.h"
#include "petsc/rank_rows.h"
#if PETSCRRB_ON_DEVICES
  #include "pc/known_values_cuda.hpp"
  #include "petsc/stream_cuda.h"
#endif

using namespace petscrrb;

PetscErrorCode PetscRRBKnownValues::Reset() {
  PetscFunctionBegin;
  for (Vec *v : {&fixed_, &free_, &work_[0], &work_[1]}) PetscCall(VecDestroy(v));
  operator_ = preconditioner_ = looked_at_ = PetscRRBMatrixState();
  there_ = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- which rows --- */

static PetscErrorCode OnHost(const FindKnownRows &f) {
#pragma omp parallel for schedule(static) if (f.A.n >= rows_for_threads)
  for (PetscInt row = 0; row < f.A.n; ++row) f(row);
  return PETSC_SUCCESS;
}

#if PETSCRRB_ON_DEVICES
static PetscErrorCode OnDevice(const FindKnownRows &f) {
  PetscRRBStream stream("known values");

  PetscFunctionBegin;
  PetscCall(stream.Start());
  PetscCall(stream.Run([&] { cuda::find_known_rows(f, stream.cuda.stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode OnDevice(const FindKnownRows &) { return PETSC_ERR_PLIB; }
#endif

static PetscErrorCode FindIn(PetscBool device, FindKnownRows f, Vec among, Vec fixed, Vec free, Vec probe) {
  const Vec vectors[] = {fixed, free, probe};
  PetscScalar **const arrays[] = {&f.fixed, &f.free, &f.probe};

  PetscFunctionBegin;
  if (among) PetscCall(device ? VecGetArrayReadAndMemType(among, &f.among, nullptr) : VecGetArrayRead(among, &f.among));
  for (int i = 0; i < 3; ++i)
    PetscCall(device ? VecGetArrayWriteAndMemType(vectors[i], arrays[i], nullptr)
                     : VecGetArrayWrite(vectors[i], arrays[i]));
  PetscCall((device ? OnDevice : OnHost)(f));
  for (int i = 0; i < 3; ++i)
    PetscCall(device ? VecRestoreArrayWriteAndMemType(vectors[i], arrays[i])
                     : VecRestoreArrayWrite(vectors[i], arrays[i]));
  if (among) PetscCall(device ? VecRestoreArrayReadAndMemType(among, &f.among) : VecRestoreArrayRead(among, &f.among));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of an AIJ, or of a BAIJ, which are copied for that. work_[0] becomes the probe. */
PetscErrorCode PetscRRBKnownValues::LookAtRows(Mat A, PetscBool device, Vec among) {
  FindKnownRows find = {};
  PetscBool aij;
  Mat rows = A;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!aij) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &rows));
  PetscCall(PetscRRBRankRowsGet(rows, device, &find.A));
  PetscCall(MatGetOwnershipRange(rows, &find.first, nullptr));
  PetscCall(FindIn(device, find, among, fixed_, free_, work_[0]));
  PetscCall(PetscRRBRankRowsRestore(rows, device, &find.A));
  if (!aij) PetscCall(MatDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Others than these have no such rows that we know of: an SBAIJ is symmetric. */
static PetscErrorCode IsReadable(Mat A, PetscBool *is) {
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* They stay for the next values: devices are slow at that. */
PetscErrorCode PetscRRBKnownValues::CreateVectors(Mat A, PetscBool device) {
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  if (fixed_ && id == operator_.id && device == device_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reset());
  PetscCall(MatCreateVecs(A, &fixed_, &free_));
  for (Vec &w : work_) PetscCall(VecDuplicate(fixed_, &w));
  device_ = device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that say a value in A, and in P, whose preconditioner decouples them; but none unless on some rank another row of A
   keeps the column of one of them. A product with A tells, of what they may be where b is 1 to 2: multiples of the irregular probe do
   not cancel. */
PetscErrorCode PetscRRBKnownValues::LookAt(Mat A, Mat P) {
  PetscBool readable[2], device[2];

  PetscFunctionBegin;
  PetscCall(IsReadable(A, &readable[0]));
  PetscCall(IsReadable(P, &readable[1]));
  if (!readable[0] || !readable[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBMatOnDevice(A, &device[0]));
  PetscCall(PetscRRBMatOnDevice(P, &device[1]));
  const PetscBool on_device = (PetscBool)(device[0] && device[1]);
  PetscCall(CreateVectors(A, device[0]));
  if (A != P) {
    PetscCall(LookAtRows(P, on_device, nullptr));
    PetscCall(VecCopy(fixed_, work_[1]));
  }
  PetscCall(LookAtRows(A, on_device, A != P ? work_[1] : nullptr));
  PetscCall(MatMult(A, work_[0], work_[1]));
  PetscCall(VecPointwiseMult(work_[1], work_[1], free_));
  PetscCall(VecNorm(work_[1], NORM_INFINITY, &residual_by_b_));
  there_ = (PetscBool) !(residual_by_b_ == 0); /* a huge entry times the probe is no number */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: all ranks look, or none. */
PetscErrorCode PetscRRBKnownValues::Find(PC pc, PetscBool maybe) {
  PetscRRBMatrixState A, P;
  int look = maybe ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(A.Take(pc->mat));
  PetscCall(P.Take(pc->pmat));
  if (A == operator_ && P == preconditioner_) PetscFunctionReturn(PETSC_SUCCESS);
  there_ = PETSC_FALSE;
  preconditioner_ = looked_at_ = PetscRRBMatrixState(); /* nothing is known until all of it is */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &look, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (look)
    PetscCall(LookAt(pc->mat, pc->pmat));
  else
    PetscCall(Reset());
  operator_ = A;
  preconditioner_ = P;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an application leaves known values zero: of what is not, in the rows that keep their columns. One that is of these
   values does. */
PetscErrorCode PetscRRBKnownValues::LookAtPC(PC pc) {
  const PetscRRBMatrixState &factored = factored_(pc);
  PetscReal most;

  PetscFunctionBegin;
  if (factored == looked_at_) PetscFunctionReturn(PETSC_SUCCESS);
  decoupled_ = PETSC_TRUE;
  if (!(factored == preconditioner_)) {
    PetscCall(MatMult(pc->mat, fixed_, work_[0]));
    PetscCall(VecPointwiseMult(work_[0], work_[0], free_));
    PetscCall(PCApply(pc, work_[0], work_[1]));
    PetscCall(VecPointwiseMult(work_[1], work_[1], fixed_));
    PetscCall(VecNorm(work_[1], NORM_INFINITY, &most));
    decoupled_ = (PetscBool)(most == 0);
  }
  looked_at_ = factored;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- before, in and after a solve --- */

PetscErrorCode PetscRRBSetUpForSolve(KSP ksp, PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  if (ksp->reason == KSP_DIVERGED_PC_FAILED && !pc->failedreason) ksp->reason = KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBKnollGuess(KSP ksp, PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  if (!ksp->guess_knoll) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCApply(pc, b, x));
  PetscCall(KSP_RemoveNullSpace(ksp, x));
  ksp->guess_zero = PETSC_FALSE;
  ksp->guess_knoll = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b and x may be in another memory than the matrix. */
PetscErrorCode PetscRRBKnownValues::Lift(PC pc, KSP ksp, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(PetscRRBKnollGuess(ksp, pc, b, x));
  PetscCall(VecCopy(b, work_[0]));
  PetscCall(VecPointwiseMult(work_[0], work_[0], fixed_));
  if (!ksp->guess_zero) {
    PetscCall(VecCopy(x, work_[1]));
    PetscCall(VecPointwiseMult(work_[1], work_[1], free_));
    PetscCall(VecAXPY(work_[0], 1.0, work_[1]));
  }
  PetscCall(VecCopy(work_[0], x));
  ksp->guess_zero = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those that began inside of it are over, too: PCPostSolve() does not come after an error. */
PetscErrorCode PetscRRBKnownValues::End(KSP ksp, PetscInt *ended) {
  PetscObjectId id;

  PetscFunctionBegin;
  *ended = 0;
  PetscCall(PetscObjectGetId((PetscObject)ksp, &id));
  for (std::size_t i = solves_.size(); i-- > 0;) {
    Solve s = solves_[i];
    if (s.ksp != id) continue;
    if (s.lifted) {
      s.limit.Restore(ksp);
      ksp->guess_zero = s.guess_zero;
      ksp->guess_knoll = s.guess_knoll;
    }
    *ended = (PetscInt)(solves_.size() - i);
    solves_.resize(i);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of A^T say nothing before the others are solved: its solves are left as they are. */
PetscErrorCode PetscRRBKnownValues::PreSolve(PC pc, KSP ksp, Vec b, Vec x) {
  PetscRRBKSPManner manner;
  PetscInt left;
  Solve s = {};

  PetscFunctionBegin;
  if (ksp->pc != pc) PetscFunctionReturn(PETSC_SUCCESS); /* inside of another PC, which has its own ways */
  PetscCall(End(ksp, &left));
  pc->presolvedone -= left; /* PETSc refuses a third one */
  PetscCall(PetscObjectGetId((PetscObject)ksp, &s.ksp));
  s.guess_zero = ksp->guess_zero;
  s.guess_knoll = ksp->guess_knoll;
  solves_.push_back(s);
  PetscCall(PetscRRBSetUpForSolve(ksp, pc));
  PetscCall(PetscRRBGetKSPManner(ksp, &manner));
  if (!manner.symmetric || manner.from_zero || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Find(pc, (PetscBool)(pc->reusepreconditioner || may_have_(pc))));
  if (!there_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LookAtPC(pc));
  solves_.back().lifted = PETSC_TRUE;
  solves_.back().limit.Raise(ksp, residual_by_b_);
  PetscCall(Lift(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z may be in another memory than the matrix. */
PetscErrorCode PetscRRBKnownValues::Mask(Vec z) {
  PetscFunctionBegin;
  if (!masks()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(z, work_[0]));
  PetscCall(VecPointwiseMult(work_[0], work_[0], free_));
  PetscCall(VecCopy(work_[0], z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBKnownValues::PostSolve(KSP ksp) {
  PetscInt ended;

  PetscFunctionBegin;
  PetscCall(End(ksp, &ended));
  PetscFunctionReturn(PETSC_SUCCESS);
}
