/* The sweeps of PCBLOCKRELAX, and PCApplyRichardson(): the relaxation as a solver by itself, which sweeps over x in place. */
#include "pc/blockrelax/pcblockrelax_data.h"
#include "petsc/ksp_manner.h"

#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <cmath>
#include <cstring>

/* x <- x + M^-1 (b - A x), so many times, with apply(r, z) for M^-1, which needs no residual of zero. w, *z: for residuals and corrections */
template <class Apply>
static PetscErrorCode Correct(Mat A, Vec b, Vec x, Vec w, Vec *z, PetscInt times, PetscBool from_zero,
                              const Apply &apply) {
  PetscFunctionBegin;
  for (PetscInt i = 0; i < times; ++i) {
    if (i == 0 && from_zero) {
      PetscCall(apply(b, x));
      continue;
    }
    PetscCall(PetscRRBWorkVec(x, z));
    PetscCall(MatResidual(A, b, x, w));
    PetscCall(apply(w, *z));
    PetscCall(VecAXPY(x, 1, *z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sweeps of an application. With several ranks each has the others' values as they were before a sweep. */
PetscErrorCode PCBlockRelaxSweeps(PC pc, Vec b, Vec x) {
  const PetscInt sweeps = ((PC_BlockRelax *)pc->data)->sweeps;
  PCBlockRelaxState *s = ((PC_BlockRelax *)pc->data)->state;
  const auto sweep = [&](Vec r, Vec z) { return s->backend->Sweep(pc, r, z, 1, PETSC_TRUE); };
  const auto sweep_on_ranks = [&](Vec r, Vec z) {
    PetscFunctionBegin;
    PetscCall(PetscRRBWorkVec(z, &s->work[0]));
    PetscCall(Correct(pc->pmat, r, z, s->work[0], &s->work[1], sweeps, PETSC_TRUE, sweep));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (s->one_rank || sweeps < 2)
    PetscCall(s->backend->Sweep(pc, b, x, sweeps, PETSC_TRUE));
  else
    PetscCall(s->there.Use(pc->pmat, pc, "PCBLOCKRELAX", b, x, sweep_on_ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With KSPConvergedDefault() and KSPConvergedSkip() only, KSPRICHARDSON comes here. */
static PCBlockRelaxTest TestOf(KSP ksp) {
  using Converged = decltype(ksp->converged);
  PCBlockRelaxTest test = {};

  test.no_norm = (PetscBool)(ksp->normtype == KSP_NORM_NONE || ksp->converged == (Converged)KSPConvergedSkip);
  test.untested = ksp->chknorm;
  test.least = PetscRRBLeastIterations(ksp, 0);
  if (ksp->converged == (Converged)KSPConvergedDefault) {
    const KSPConvergedDefaultCtx *options = (KSPConvergedDefaultCtx *)ksp->cnvP;
    test.to_initial = options->initialrtol;
    test.to_smaller = options->mininitialrtol;
    test.its_suffice = options->convmaxits;
  }
  return test;
}

PetscErrorCode PCPreSolve_BlockRelax(PC pc, KSP ksp, Vec rhs, Vec x) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  PetscRRBKSPManner manner;

  PetscFunctionBegin;
  b->test = TestOf(ksp);
  b->norm = -1;
  PetscCall(PetscRRBGetKSPManner(ksp, &manner));
  if (manner.needs != PETSCRRB_PC_ANY && !b->said && !PCBlockRelaxIsSymmetric(b)) {
    PetscCall(PetscInfo(
        pc, "The Krylov method needs a symmetric preconditioner, but block Gauss-Seidel is not symmetric: use "
            "-pc_blockrelax_type jacobi, or -pc_blockrelax_type coloured -pc_blockrelax_symmetric\n"));
    b->said = PETSC_TRUE;
  }
  PetscCall(b->known->PreSolve(pc, ksp, rhs, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_BlockRelax(PC pc, KSP ksp, Vec, Vec) {
  PC_BlockRelax *b = (PC_BlockRelax *)pc->data;

  PetscFunctionBegin;
  PetscCall(b->known->PostSolve(ksp));
  b->test = PCBlockRelaxNoKSP;
  if (b->norm >= 0) ksp->rnorm = b->norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + M^-1 (b - A x), so many times; w: for residuals. */
static PetscErrorCode Iterate(PC pc, Vec b, Vec x, Vec w, PetscInt times, PetscBool from_zero) {
  const PC_BlockRelax *data = (PC_BlockRelax *)pc->data;
  PCBlockRelaxState *s = data->state;
  PetscRRBMatrixState Amat;

  PetscFunctionBegin;
  if (times == 0 && from_zero) PetscCall(VecSet(x, 0));
  PetscCall(Amat.Take(pc->mat));
  if (s->one_rank && Amat == s->values) { /* -ksp_reuse_preconditioner keeps the blocks while Amat changes */
    if (times) PetscCall(s->backend->Sweep(pc, b, x, times * data->sweeps, from_zero));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Correct(pc->mat, b, x, w, &s->correction, times, from_zero,
                    [&](Vec r, Vec z) { return PCBlockRelaxSweeps(pc, r, z); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As KSPConvergedDefault() would decide of the residual's own norm. */
struct Tolerances {
  PetscReal relative, absolute, divergence, reference;

  void SetReference(const PCBlockRelaxTest &test, PetscReal right_side, PetscReal initial) {
    reference = test.to_initial || right_side == 0 ? initial : right_side;
    if (test.to_smaller) reference = std::min(reference, initial);
  }
  KSPConvergedReason Judge(const PCBlockRelaxTest &test, PetscInt its, PetscReal norm) const {
    if (its <= test.untested) return KSP_CONVERGED_ITERATING;
    if (!std::isfinite(norm)) return KSP_DIVERGED_NANORINF;
    if (its < test.least) return KSP_CONVERGED_ITERATING;
    if (norm <= std::max(relative * reference, absolute))
      return norm < absolute ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    return divergence > 0 && norm >= divergence * reference ? KSP_DIVERGED_DTOL : KSP_CONVERGED_ITERATING;
  }
};

static PetscErrorCode Norm(PC pc, Vec b, Vec x, Vec w, PetscReal *norm) {
  PetscFunctionBegin;
  PetscCall(MatResidual(pc->mat, b, x, w));
  PetscCall(VecNorm(w, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IterateUntil(PC pc, Vec b, Vec x, Vec w, Tolerances t, PetscInt most, PetscBool from_zero,
                                   PetscInt *its, KSPConvergedReason *reason) {
  PC_BlockRelax *data = (PC_BlockRelax *)pc->data;
  const PCBlockRelaxTest &test = data->test;
  PetscReal right_side;

  PetscFunctionBegin;
  PetscCall(VecNorm(b, NORM_2, &right_side));
  data->norm = right_side;
  if (!from_zero) PetscCall(Norm(pc, b, x, w, &data->norm));
  t.SetReference(test, right_side, data->norm);
  for (*its = 0;; ++*its) {
    if (*its > 0 && (*its > test.untested || *its == most)) PetscCall(Norm(pc, b, x, w, &data->norm));
    *reason = test.its_suffice && *its == most ? KSP_CONVERGED_ITS : t.Judge(test, *its, data->norm);
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
  PCBlockRelaxState *s = data->state;
  KSPConvergedReason why = KSP_CONVERGED_ITS;
  const auto iterate = [&](Vec r, Vec z) {
    Vec work = w;

    PetscFunctionBegin;
    if (z != x) {
      PetscCall(PetscRRBWorkVec(z, &s->residual));
      work = s->residual;
    }
    if (data->test.no_norm) {
      PetscCall(Iterate(pc, r, z, work, most, from_zero));
      *its = most;
    } else
      PetscCall(IterateUntil(pc, r, z, work, {rtol, abstol, dtol, 0}, most, from_zero, its, &why));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  *its = 0;
  if (s->failed) {
    PetscCall(PetscRRBSetInfinite(x));
    why = KSP_DIVERGED_PC_FAILED;
  } else
    PetscCall(s->iterated.Use(pc->mat, pc, "PCBLOCKRELAX", b, x, iterate, (PetscBool)!from_zero));
  Tell(reason, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
