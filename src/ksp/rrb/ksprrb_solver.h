/* An iteration of KSPRRB: its own in the preconditioner's arrays (ksprrb_fused.h), or PETSc's operations (ksprrb_unfused.cxx). And what it may
   be on, for each type of preconditioner a table. */
#pragma once

#include <petscksp.h>

#include "ksp/rrb/core/iteration.hpp"
#include "pc/pc.h"
#include "stencil/facts.hpp"

#include <functional>

/* What the values of the matrix allow, of its rows in order of their importance. */
enum KSPRRBValues {
  KSP_RRB_VALUES_OK,
  KSP_RRB_VALUES_NO_GRID,     /* other couplings than the preconditioner's grid has, or not symmetric */
  KSP_RRB_VALUES_ZERO_ROWS,   /* rows without nonzeros: the system may have no solution */
  KSP_RRB_VALUES_NOT_POSITIVE /* a red node's diagonal is not */
};

/* of what a reader found, before a red node is looked at */
inline KSPRRBValues KSPRRBValuesOf(petscrrb::ReadResult result, petscrrb::index_t zero_rows) {
  if (result != petscrrb::ReadResult::ok) return KSP_RRB_VALUES_NO_GRID;
  return zero_rows ? KSP_RRB_VALUES_ZERO_ROWS : KSP_RRB_VALUES_OK;
}

class KSPRRBSolver {
public:
  using Norm = petscrrb::rrbsolver::Norm;
  using Numbers = petscrrb::rrbsolver::Numbers;
  using Limits = petscrrb::rrbsolver::Limits;

  static constexpr double rounding = petscrrb::zero_sum; /* of a row's sum, see prepare.hpp */

  virtual ~KSPRRBSolver() = default;
  /* The matrix's values as they are now, in that state. */
  virtual PetscErrorCode Refresh(PC, const PetscRRBMatrix &, const PetscRRBMatrixState &, KSPRRBValues *) = 0;
  /* The matrix's arrays are used where they are. They may have moved since the last solve. */
  virtual bool borrows() const { return false; }
  /* for views */
  struct Report {
    const char *schur = ""; /* where the vectors of the first Schur complement are */
    bool captured = false;  /* all steps are enqueued as one graph */
    bool eisenstat = false; /* the product is that of Eisenstat's form, */
    int diagonals = 0;      /* or of so many of the matrix's diagonals; */
    bool by_kinds = false;  /* its rows are of few kinds, and a byte says which */
  };
  virtual Report report() const { return {}; }

  /* From the residual of the whole system, which must stay what it is. */
  virtual PetscErrorCode Start(Vec r0, Norm, Numbers *) = 0;
  /* one at least, and as many as the limits allow where the host need not look at each */
  virtual PetscErrorCode Steps(Norm, const Limits &, std::vector<Numbers> *) = 0;
  /* Somebody else has used the preconditioner since the last Start() or Steps(): a convergence test, a monitor. */
  virtual PetscErrorCode Resume() = 0;
  virtual PetscErrorCode Settle() = 0; /* the correction is that of the red nodes alone */
  virtual void DropStep() = 0;         /* the last one is no part of the solution */
  /* x = or += the correction of the solution so far */
  virtual PetscErrorCode Solution(Vec r0, Vec x, PetscBool add) = 0;
  virtual double bytes() const = 0;
};

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
