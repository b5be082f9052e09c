/* PCApplyRichardson() of PCBLOCKRELAX: the relaxation as a solver by itself, which sweeps over x in place. */
#include "blockrelax/pcblockrelax_impl.h"

#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

/* PCApplyRichardson() is not told that nobody wants norms, as no smoother's KSP does: only the KSP knows. */
PetscErrorCode PCPreSolve_BlockRelax(PC pc, KSP ksp, Vec, Vec) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  KSPNormType norm;
  PetscBool symmetric;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &norm));
  b->no_norm = (PetscBool)(norm == KSP_NORM_NONE);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &symmetric, KSPCG, KSPPIPECG, KSPPIPECGRR, KSPPIPELCG,
                                      KSPPIPEPRCG, KSPPIPECG2, KSPGROPPCG, KSPNASH, KSPSTCG, KSPGLTR, KSPQCG, KSPMINRES,
                                      KSPSYMMLQ, KSPCR, KSPPIPECR, ""));
  if (symmetric && !b->said && !PCBlockRelaxIsSymmetric(b)) {
    PetscCall(PetscInfo(pc, "The Krylov method needs a symmetric preconditioner, and block Gauss-Seidel is none: use "
                            "-pc_blockrelax_type jacobi, or -pc_blockrelax_type coloured -pc_blockrelax_symmetric\n"));
    b->said = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_BlockRelax(PC pc, KSP, Vec, Vec) {
  PetscFunctionBegin;
  ((PC_BlockRelax *)pc->data)->no_norm = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + M^-1 (b - A x), so many times. In place where A is what the blocks know all of: Pmat, and on one rank. */
static PetscErrorCode Iterate(PC pc, Vec b, Vec x, Vec w, PetscInt times, PetscBool from_zero) {
  const PC_BlockRelax *data = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = data->state;

  PetscFunctionBegin;
  if (times == 0 && from_zero) PetscCall(VecSet(x, 0));
  if (s->in_place) {
    if (times) PetscCall(s->backend->Sweep(pc, b, x, times * data->sweeps, from_zero));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < times; ++i) {
    if (i == 0 && from_zero) {
      PetscCall(s->backend->Sweep(pc, b, x, data->sweeps, PETSC_TRUE));
      continue;
    }
    if (!s->correction) PetscCall(VecDuplicate(x, &s->correction));
    PetscCall(MatResidual(pc->mat, b, x, w));
    PetscCall(s->backend->Sweep(pc, w, s->correction, data->sweeps, PETSC_TRUE));
    PetscCall(VecAXPY(x, 1, s->correction));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPConvergedDefault() would decide. */
struct Tolerances {
  PetscReal relative, absolute, divergence, reference;

  KSPConvergedReason Judge(PetscReal norm) const {
    if (!std::isfinite(norm)) return KSP_DIVERGED_NANORINF;
    if (norm <= std::max(relative * reference, absolute))
      return norm < absolute ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    return divergence > 0 && norm >= divergence * reference ? KSP_DIVERGED_DTOL : KSP_CONVERGED_ITERATING;
  }
};

static PetscErrorCode IterateUntil(PC pc, Vec b, Vec x, Vec w, Tolerances t, PetscInt most, PetscBool from_zero,
                                   PetscInt *its, KSPConvergedReason *reason) {
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(b, NORM_2, &t.reference));
  for (*its = 0;; ++*its) {
    norm = t.reference;
    if (*its > 0 || !from_zero) {
      PetscCall(MatResidual(pc->mat, b, x, w));
      PetscCall(VecNorm(w, NORM_2, &norm));
    }
    if (t.reference == 0) t.reference = norm;
    *reason = t.Judge(norm);
    if (!*reason && *its == most) *reason = KSP_DIVERGED_ITS;
    if (*reason) break;
    PetscCall(Iterate(pc, b, x, w, 1, (PetscBool)(from_zero && *its == 0)));
  }
  if (*its == 0 && from_zero) PetscCall(VecSet(x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPRICHARDSON takes the reason for one of its own, which have more to say. They are not all values of the enumeration,
   but of C's int that it is there. */
static void Tell(PCRichardsonConvergedReason *reason, KSPConvergedReason why) {
  const int value = (int)why;
  static_assert(sizeof(value) == sizeof(*reason), "an enumeration of C is an int");
  std::memcpy(reason, &value, sizeof(value));
}

PetscErrorCode PCApplyRichardson_BlockRelax(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol,
                                            PetscReal dtol, PetscInt most, PetscBool from_zero, PetscInt *its,
                                            PCRichardsonConvergedReason *reason) {
  const PC_BlockRelax *data = (PC_BlockRelax *)pc->data;
  KSPConvergedReason why = KSP_CONVERGED_ITS;

  PetscFunctionBegin;
  *its = 0;
  if (data->state->failed) {
    PetscCall(VecSet(x, PETSC_INFINITY));
    why = KSP_DIVERGED_PC_FAILED;
  } else if (data->no_norm) {
    PetscCall(Iterate(pc, b, x, w, most, from_zero));
    *its = most;
  } else
    PetscCall(IterateUntil(pc, b, x, w, {rtol, abstol, dtol, 0}, most, from_zero, its, &why));
  Tell(reason, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
