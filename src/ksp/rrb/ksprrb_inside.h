/* What KSPRRB may iterate on, for each type of preconditioner a table. */
#pragma once

#include "ksp/rrb/ksprrb_solver.h"

typedef enum {
  KSP_RRB_SCHUR,  /* conjugate gradients on the first Schur complement */
  KSP_RRB_FULL,   /* on all nodes */
  KSP_RRB_UNFUSED /* the same by PETSc's products and vector operations */
} KSPRRBForm;

struct KSPRRBInside {
  PCType type;
  PetscInt64 (*build)(PC);    /* which hierarchy this is, of those of all types; 0: none */
  PetscBool (*on_device)(PC); /* of a hierarchy that there is */
  /* the form that the hierarchy allows, each rank the same */
  PetscErrorCode (*choose)(PC, KSPRRBForm *, const char **why);
  PetscErrorCode (*create)(KSP, KSPRRBForm, std::unique_ptr<KSPRRBSolver> *); /* collective */

  /* after the set-up; NULL: there is none that this must know */
  PetscRRBStateOfAll *(*state)(PC) = [](PC) -> PetscRRBStateOfAll * { return nullptr; };
  bool (*moved)(PC) = [](PC) { return false; };            /* positive couplings, to the diagonal */
  bool (*masked)(PC) = [](PC) { return false; };           /* in this solve (pc/known_values.h) */
  KSP (*inner)(PC) = [](PC) -> KSP { return nullptr; };    /* which may fail in any application; or NULL */
  std::shared_ptr<const void> (*want_schur)(PC) = nullptr; /* held from before the set-up on; or NULL */
};

extern const KSPRRBInside KSPRRBOnRRB, KSPRRBOnGridMG;
/* Any preconditioner, by PCApply(). */
extern const KSPRRBInside KSPRRBOnAnyPC;

/* NULL for types without a table of their own */
PetscErrorCode KSPRRBFindInside(PC, const KSPRRBInside **);
