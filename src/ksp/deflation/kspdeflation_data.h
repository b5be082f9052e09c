/* Deflation's data: what is chosen belongs to the KSP, what is made of it to the PC that stands around the user's. */
#pragma once

#include <petsc/private/kspimpl.h>

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

/* composed with a KSP; its destructor leaves the PC, which may live longer, without one */
struct KSPDeflation : KSPDeflationChoice {
  explicit KSPDeflation(KSP owner) : ksp(owner) {}
  KSPDeflation(const KSPDeflation &) = delete;
  KSPDeflation &operator=(const KSPDeflation &) = delete;
  ~KSPDeflation();

  KSP ksp; /* borrowed; NULL once it is gone */
  KSPDeflationVariant variant = KSP_DEFLATION_ADEF2;
  Vec phi = nullptr;
  Mat Z = nullptr;
  PetscInt64 version = 0; /* counts what was set */
  PCDeflationSolve solve; /* with any deflated PC */
};

/* What a matrix or vector was like when we looked at it last. */
struct PCDeflationSeen {
  PetscObjectId id = 0;
  PetscObjectState state = 0, pattern = 0;
};

typedef struct {
  std::shared_ptr<KSPDeflation> deflation;
  PC inner;             /* the user's */
  DM dm;                /* what it has been handed, which it holds */
  PetscOptions nothing; /* no options: -pc_type is for the inner PC */
  std::unique_ptr<PCDeflationBackend> backend;
  petscrrb::deflation::Result result;
  PCDeflationSeen A, space;
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
/* P A and P b in the place of A and b */
PETSC_INTERN PetscErrorCode PCDeflationReplace(PC, KSP, PCDeflationSolve *);

/* A solve begins: *solve is to know what it changes, before it does. One that an error ended is undone first. */
PETSC_INTERN PetscErrorCode PCDeflationBegin(PC, KSP, PCDeflationSolve **solve);
/* Its convergence test compares with the norms of the user's M and b. */
void PCDeflationCompareWithUsers(KSP);
/* See PetscRRBGetTest(). */
PETSC_INTERN PetscErrorCode PCDeflationTestBehind(KSP, PetscRRBTest *);
/* A solve ends. *def1, *transposed: what it was. */
PETSC_INTERN PetscErrorCode PCDeflationEnd(PC, KSP, PetscBool *def1, PetscBool *transposed);
/* No solve is in progress any more. */
PETSC_INTERN PetscErrorCode PCDeflationForgetSolves(PC);
