/* An iteration of KSPRRB: its own on PCRRB's factorization (ksprrb_fused.h), or PETSc's operations (ksprrb_unfused.cxx). */
#pragma once

#include <petscksp.h>

#include "grid/grid.hpp"
#include "stencil/stencil.hpp"
#include "pc/rrb/pcrrb_backend.h"
#include "ksp/rrb/core/iteration.hpp"

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
  using Core = petscrrb::rrb::Factorization;
  using Norm = petscrrb::rrbsolver::Norm;
  using Numbers = petscrrb::rrbsolver::Numbers;
  using Limits = petscrrb::rrbsolver::Limits;

  static constexpr double rounding = 1e-14; /* of a row's sum, see prepare.hpp */

  virtual ~KSPRRBSolver() = default;
  /* The matrix's values as they are now. v: of the preconditioner's V A V, where the matrix is; NULL: V = I. Of rows that have
     become identity rows it is 1, whatever it was. */
  virtual PetscErrorCode Refresh(PC, const PetscRRBMatrix &, const petscrrb::Grid &, const double *v,
                                 KSPRRBValues *) = 0;

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

/* full: on all nodes, where there is no Schur complement to iterate on. They refer to what PCRRB lends them. May throw. */
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnHost(const PCRRBParts &, bool full);
std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnDevice(const PCRRBParts &, bool full);
