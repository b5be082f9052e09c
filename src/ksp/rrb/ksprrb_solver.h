/* An iteration of KSPRRB: its own in the preconditioner's arrays (ksprrb_fused.h), or PETSc's operations (ksprrb_unfused.cxx). */
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
  /* where the vectors of the first Schur complement are, for views */
  virtual const char *schur() const { return ""; }
  /* All steps are enqueued as one graph. */
  virtual bool captured() const { return false; }
  /* The product is that of Eisenstat's form. */
  virtual bool eisenstat() const { return false; }
  /* of a matrix that is multiplied by its diagonals; else 0 */
  virtual int diagonals() const { return 0; }
  /* Its rows are of few kinds, and a byte says which. */
  virtual bool by_kinds() const { return false; }

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
