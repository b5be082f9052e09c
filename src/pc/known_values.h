/*
   Known values: those of identity rows (Dirichlet conditions kept in the matrix) whose columns other rows keep. A is symmetric
   only on what is left once they are right. So they are put into the initial guess of methods that need a symmetric operator;
   their residuals stay zero, since our preconditioners decouple such rows; one that is kept for another matrix than it was made of
   may not, and is masked while the solve lasts.
*/
#pragma once

#include "exec/not_copied.hpp"
#include "petsc/agree.h"
#include "petsc/ksp_manner.h"
#include "petsc/matrix.h"
#include "petsc/compat.h"

#include <petsc/private/pcimpl.h>

#include <vector>

/* What a preconditioner keeps for it, from its creation to its destruction; PCReset() calls Reset(). */
class PetscRRBKnownValues : petscrrb::NotCopied {
public:
  /* may_have: whether, by its last PCSetUp(), this rank may have identity rows. factored: the matrix at that time */
  PetscRRBKnownValues(PetscBool (*may_have)(PC), const PetscRRBMatrixState &(*factored)(PC))
      : may_have_(may_have), factored_(factored) {
    solves_.reserve(8);
  }

  PetscErrorCode Reset();

  /* the PC's methods of these names */
  PetscErrorCode PreSolve(PC, KSP, Vec b, Vec x);
  PetscErrorCode PostSolve(KSP);

  /* The solve is one whose known values M does not decouple. */
  bool masks() const { return !solves_.empty() && solves_.back().lifted && !decoupled_; }
  /* z = M r is then 0 at known values */
  PetscErrorCode Mask(Vec z);

private:
  struct Solve {
    PetscObjectId ksp;
    PetscBool guess_zero, guess_knoll; /* the user's */
    PetscBool lifted;
    PetscRRBDivergenceLimit limit;
  };

  PetscErrorCode End(KSP, PetscInt *ended);
  PetscErrorCode Find(PC, PetscBool maybe);
  PetscErrorCode CreateVectors(Mat A, PetscBool device);
  PetscErrorCode LookAt(Mat A, Mat P);
  PetscErrorCode LookAtRows(Mat, PetscBool device, Vec among);
  PetscErrorCode LookAtPC(PC);
  PetscErrorCode Lift(PC, KSP, Vec b, Vec x);

  PetscBool (*may_have_)(PC);
  const PetscRRBMatrixState &(*factored_)(PC);
  PetscRRBMatrixState operator_, preconditioner_; /* the matrices that the following is about */
  PetscBool there_ = PETSC_FALSE;                 /* there are known values */
  PetscRRBMatrixState looked_at_;                 /* what the preconditioner was made of */
  PetscBool decoupled_ = PETSC_TRUE;              /* by it, if there are known values */
  PetscReal residual_by_b_ = 0;    /* that they may make in other rows; NaN where there is no number for it */
  PetscBool device_ = PETSC_FALSE; /* where the vectors are */
  Vec fixed_ = nullptr;            /* 1 / a_ii where a value is known, else 0 */
  Vec free_ = nullptr;             /* 0 where a value is known, else 1 */
  Vec work_[2] = {};
  std::vector<Solve> solves_; /* Chebyshev's estimate of eigenvalues is a solve inside of a solve */
};

/* x = M^-1 b where the KSP is to start from that, as KSPSolve() does it later on; M is pc's */
PetscErrorCode PetscRRBKnollGuess(KSP, PC, Vec b, Vec x);

/* PCSetUp() at the beginning of a solve: KSPSetUp() of PETSc 3.18 does not look for new values, while PCApply() in the middle of
   a solve does; and the solve would end for a set-up before this one that failed. */
PetscErrorCode PetscRRBSetUpForSolve(KSP, PC);
