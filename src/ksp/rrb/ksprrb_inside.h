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
  PetscRRBStateOfAll *(*state)(PC);              /* after the set-up */
  PetscInt64 (*build)(PC);                       /* which hierarchy this is, of those of all types; 0: none */
  PetscBool (*on_device)(PC);                    /* of a hierarchy that there is */
  PetscBool (*moved)(PC);                        /* positive couplings, to the diagonal */
  bool (*masked)(PC);                            /* in this solve (pc/known_values.h) */
  std::shared_ptr<const void> (*want_schur)(PC); /* held from before the set-up on; or NULL */
  KSP (*inner)(PC);                              /* which may fail in any application; or NULL */
  PetscErrorCode (*choose)(PC, KSPRRBForm *,
                           const char **why); /* the form that the hierarchy allows, each rank the same */
  PetscErrorCode (*create)(KSP, KSPRRBForm, std::unique_ptr<KSPRRBSolver> *); /* collective */
};

extern const KSPRRBInside KSPRRBOnRRB, KSPRRBOnGridMG;
/* Any preconditioner, by PCApply(): it has no type, and no state that this must know. */
extern const KSPRRBInside KSPRRBOnAnyPC;

/* NULL for types without a table of their own */
PetscErrorCode KSPRRBFindInside(PC, const KSPRRBInside **);
