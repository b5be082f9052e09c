/* Deflation's data: what is chosen belongs to the KSP, what is made of it to the PC that stands around the user's. */
#pragma once

#include <petsc/private/kspimpl.h>

#include "exec/not_copied.hpp"
#include "ksp/deflation/pcdeflation_backend.h"
#include "pc/vectors.h"
#include "petsc/ksp_manner.h"

#include <optional>
#include <vector>

/* What a solve has changed in its KSP and in its PC, to be undone after it. */
struct PCDeflationSolve {
  PC pc = nullptr; /* borrowed; NULL outside of a solve */
  PetscBool guess_zero = PETSC_TRUE, guess_knoll = PETSC_FALSE;
  PetscRRBTest converged = nullptr;
  decltype(_p_PC::presolvedone) presolves = {}; /* of the inner PC, before this one */
  PetscBool symmetric = PETSC_FALSE;            /* the preconditioner must be */
  PetscBool transposed = PETSC_FALSE;           /* A^T x = b */
  PetscBool fixed = PETSC_FALSE;                /* residuals are zero on identity rows from the start */
  PetscRRBDivergenceLimit limit;
  Mat A = nullptr, PA = nullptr; /* def1: P A stands for A in the PC */
  Vec b = nullptr, Pb = nullptr; /* and P b for b in the KSP */
};

/* Composed with a KSP. A PC that lives longer has its share, and is destroyed before PETSc ends, too. */
struct KSPDeflation : KSPDeflationChoice, petscrrb::NotCopied {
  explicit KSPDeflation(KSP owner) : ksp(owner) {}
  ~KSPDeflation() {
    (void)VecDestroy(&phi);
    (void)MatDestroy(&Z);
  }

  KSP ksp; /* borrowed; NULL once it is gone */
  KSPDeflationVariant variant = KSP_DEFLATION_ADEF2;
  Vec phi = nullptr;
  Mat Z = nullptr;
  PetscInt64 version = 0; /* counts what was set */
  PCDeflationSolve solve; /* with any deflated PC */
};

/* What the matrix and the space were like when we looked at them last. */
struct PCDeflationSeen {
  PetscRRBMatrixState A, A_pattern;
  PetscObjectState space = 0, space_pattern = 0;
};

typedef struct {
  std::shared_ptr<KSPDeflation> deflation;
  PC inner;             /* the user's */
  DM dm;                /* what it has been handed, which it holds */
  PetscOptions nothing; /* no options: -pc_type is for the inner PC */
  std::unique_ptr<PCDeflationBackend> backend;
  petscrrb::deflation::Result result;
  PCDeflationSeen seen;
  PetscInt64 version;
  PetscBool reference; /* the norm that residuals are compared with is being made: M^-1 alone */
  std::vector<std::shared_ptr<KSPDeflation>> solves; /* each inside of the one before it */
  Vec work[4];                                       /* made when they are needed first */
  std::optional<PetscRRBProductVectors> there;       /* where the matrix is */
  PetscReal residual_by_b; /* that identity rows may make in other rows, where they keep their columns */
  Vec free, fixed;         /* NULL without identity rows; else 1 on the other rows, and the inverse diagonal on these */
  PetscLogDouble seconds;
  PetscInt setups, refreshes;
} PC_SubdomainDeflation;

static inline PC_SubdomainDeflation *Data(PC pc) { return (PC_SubdomainDeflation *)pc->data; }

PETSC_INTERN PetscErrorCode PCCreate_SubdomainDeflation(PC);

/* From the KSP, or made for it; NULL where there is none and create is false. */
PetscErrorCode KSPDeflationFind(KSP, PetscBool create, std::shared_ptr<KSPDeflation> *);
/* The wrapper around the KSP's PC there, or gone, as the chosen type wants it. */
PETSC_INTERN PetscErrorCode KSPDeflationWrap(KSP);
PETSC_INTERN PetscErrorCode KSPDeflationSetFromOptions(PetscObject, PetscRRBOptionItems, void *);
PETSC_INTERN PetscErrorCode KSPDeflationStartHook(void);
PETSC_INTERN PetscErrorCode KSPDeflationStopHook(void);

/* A, also where P A stands for it during a solve with def1 */
Mat PCDeflationOperator(PC);
/* E and AZ for A as it is now, unless they are already. */
PETSC_INTERN PetscErrorCode PCDeflationUpdate(PC);
/* Dirichlet rows that are kept in A, perhaps with their columns */
PETSC_INTERN PetscErrorCode PCDeflationFindIdentityRows(PC, Mat A);
/* What they say of y where A y = r, or A^T y = r, is right on the others */
PETSC_INTERN PetscErrorCode PCDeflationFix(PC, PetscBool transposed, Vec r, Vec y);
/* r less what their values give; 0 there */
PETSC_INTERN PetscErrorCode PCDeflationEliminate(PC, PetscBool transposed, Vec r, Vec *rest);
PETSC_INTERN PetscErrorCode PCDeflationGetWork(PC, PetscInt, Vec *);
PETSC_INTERN PetscErrorCode PCPreSolve_SubdomainDeflation(PC, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode PCPostSolve_SubdomainDeflation(PC, KSP, Vec, Vec);
/* See PetscRRBGetTest(). */
PETSC_INTERN PetscErrorCode PCDeflationTestBehind(KSP, PetscRRBTest *);
/* The solves from that one on are over, without PCPostSolve(): they are undone. */
PetscErrorCode PCDeflationForgetSolves(PC, std::size_t from = 0);
