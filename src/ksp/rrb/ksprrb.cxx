/* KSPRRB as PETSc sees it: everything but the solve, which is in ksprrb_solve.cxx. */
#include "ksp/rrb/ksprrb_data.h"
#include "petsc/about/citations.h"

#include <petscblaslapack.h>

static PetscErrorCode KSPReset_RRB(KSP ksp) {
  KSPRRBState *s = KSPRRBStateOf(ksp);

  PetscFunctionBegin;
  PetscCall(PetscRRBMatrixReset(&s->rows));
  PetscCall(VecDestroy(&s->copy));
  PetscCall(VecDestroy(&s->solution));
  *s = KSPRRBState();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_RRB(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(KSPReset_RRB(ksp));
  delete KSPRRBStateOf(ksp);
  ksp->data = nullptr;
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPFUSEDCG leaves the preconditioner to PETSc. */
static PetscErrorCode KSPSetUp_RRB(KSP ksp) {
  PetscBool rrb;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPRRB, &rrb));
  if (rrb) PetscCall(KSPRRBChoosePC(ksp));
  PetscCall(KSPRRBTakePC(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_RRB(KSP ksp, PetscViewer viewer) {
  static const char *const forms[] = {"on the first Schur complement, ", "on all nodes, fused",
                                      "on all nodes, by PETSc's products and vector operations"};
  const KSPRRBState *s = KSPRRBStateOf(ksp);
  PetscBool ascii, string;
  double bytes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (string && s->solver)
    PetscCall(PetscViewerStringSPrintf(viewer, " %s", s->form == KSP_RRB_SCHUR ? "schur" : "full"));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->solver) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  conjugate gradients: not set up yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const KSPRRBSolver::Report report = s->solver->report();
  const char *kinds = report.by_kinds ? ", of few kinds of rows" : "";
  PetscCall(PetscViewerASCIIPrintf(viewer, "  conjugate gradients: %s%s\n", forms[s->form],
                                   s->form == KSP_RRB_SCHUR ? report.schur : ""));
  if (s->form != KSP_RRB_SCHUR && s->why) PetscCall(PetscViewerASCIIPrintf(viewer, "  because %s\n", s->why));
  if (report.captured) PetscCall(PetscViewerASCIIPrintf(viewer, "  iterations: as a graph on the device\n"));
  if (report.eisenstat) PetscCall(PetscViewerASCIIPrintf(viewer, "  product: in Eisenstat's form%s\n", kinds));
  if (report.diagonals)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  product: by %d diagonals%s\n", report.diagonals, kinds));
  bytes = s->solver->bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  memory: %.0f bytes, without the preconditioner's\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* During a solve the solution is vec_sol and the correction so far. */
static PetscErrorCode KSPBuildSolution_RRB(KSP ksp, Vec v, Vec *V) {
  const KSPRRBState *s = KSPRRBStateOf(ksp);
  const Vec built = ksp->work ? ksp->work[2] : nullptr; /* where the iteration is */

  PetscFunctionBegin;
  if (!s->started) {
    PetscCall(KSPBuildSolutionDefault(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->add) PetscCall(VecCopy(ksp->vec_sol, built));
  PetscCall(KSPRRBCorrect(ksp, built));
  if (v) PetscCall(VecCopy(built, v));
  *V = v ? v : built;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The eigenvalues of the Lanczos matrix, in increasing order. */
static PetscErrorCode LanczosEigenvalues(KSP ksp, PetscReal values[]) {
  KSPRRBState *s = KSPRRBStateOf(ksp);
  const PetscInt n = s->kept;
  PetscBLASInt size, one = 1, info;
  PetscReal none;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(values, s->d.data(), n));
  PetscCall(PetscArraycpy(s->work.data(), s->e.data() + 1, n - 1));
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  LAPACKREALsteqr_("N", &size, values, s->work.data(), &none, &one, &none, &info);
  PetscCall(PetscFPTrapPop());
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "Error in LAPACK's xSTEQR: info %d", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPComputeEigenvalues_RRB(KSP ksp, PetscInt most, PetscReal *r, PetscReal *c, PetscInt *n) {
  const PetscInt kept = KSPRRBStateOf(ksp)->kept; /* which may be less than the iterations: a solve may break down */

  PetscFunctionBegin;
  PetscCheck(most >= kept, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_SIZ,
             "Not enough room in work space r and c for eigenvalues");
  *n = kept;
  PetscCall(PetscArrayzero(c, most));
  if (kept) PetscCall(LanczosEigenvalues(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPComputeExtremeSingularValues_RRB(KSP ksp, PetscReal *largest, PetscReal *smallest) {
  const PetscInt kept = KSPRRBStateOf(ksp)->kept;
  PetscReal *values;

  PetscFunctionBegin;
  *largest = *smallest = 1.0;
  if (!kept) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(kept, &values));
  PetscCall(LanczosEigenvalues(ksp, values));
  *smallest = values[0];
  *largest = values[kept - 1];
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPRRB - The RRB-solver: conjugate gradients with `PCRRB` in 2D and `PCGRIDMG` in 3D, written as one method

   Level: beginner

   Notes:
   `-ksp_type rrb` is all that an application needs: the preconditioner defaults to `PCRRB`, or to `PCGRIDMG` on a 3D grid; any other type
   is an error. Its options, such as `-pc_rrb_levels`, apply. The matrix must be symmetric and positive (semi)definite, with one unknown per
   grid point.

   On a 3D grid with coefficients that jump, on one rank, the first set-up tries up to 16 iterations with `PCGRIDMG`. If it converges slowly,
   `PCRRB` takes its place. `-pc_type` decides otherwise.

   The red nodes of a 5- or 7-point matrix, half of all nodes, are eliminated exactly, and CG works on the others, in few passes over
   memory. The solution is computed on all nodes. CG works on all nodes if red nodes cannot be exact (9 points, triangles), if there is an
   odd number of points around a periodic side, or if `PCGRIDMG` does not smooth by red-black points. PETSc's own products and vector operations are used if the
   preconditioner is built from another matrix, and with `PCRRB` on several ranks if CG works on all nodes or the finest grid is on every
   rank. `KSPView()` shows which is in use.

   Norms: natural (default), preconditioned, unpreconditioned and none, with the same meaning as in `KSPCG`. The residual before the first
   iteration is that of the initial guess on all nodes; from the first iteration on it is zero on red nodes. If the initial guess satisfies
   the red nodes' equations, iterations are those of `KSPCG`; otherwise they rarely differ by more than one.

   Rows whose only nonzero is on the diagonal (Dirichlet conditions) make a matrix nonsymmetric if other rows keep their columns. Their
   values are put into the initial guess, so that the iteration is on a symmetric matrix.

   References:
+  * - M. de Jong, A. van der Ploeg, A. Ditzel, K. Vuik, Fine-grain parallel RRB-solver for 5-/9-point stencil problems suitable for GPU-type processors, ETNA, 2017
-  * - M. de Jong, C. Vuik, GPU implementation of the RRB-solver, report 16-06, Delft University of Technology, 2016

.seealso: `KSPFUSEDCG`, `PCRRB`, `PCGRIDMG`, `KSPCG`, `PCRRBSetLevels()`, `PCRRBSetCycle()`, `PCRRBSetPrecision()`
M*/
PetscErrorCode KSPCreate_RRB(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(KSPCreate_FusedCG(ksp));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_RRB));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPFUSEDCG - Conjugate gradients in few passes over memory, with any preconditioner

   Level: beginner

   Notes:
   The iterations are those of `KSPCG`. Its vector operations, sums and convergence test are fused, and on a device the host sees one number
   an iteration. A symmetric matrix with few diagonals, as on grids with up to 27 points, is multiplied without column numbers: half of the
   bytes of AIJ. `-ksp_type fusedcg` in the place of `-ksp_type cg` is all that an application changes.

   With `PCRRB` and `PCGRIDMG` it is `KSPRRB`, which iterates on the first Schur complement where there is one.

   The matrix must be symmetric and positive (semi)definite. PETSc's own products and vector operations are used on several ranks, with
   matrices that are not of type `MATAIJ`, and if the matrix and the vectors are not in the same memory. `KSPView()` shows which is in use.

   Norms: preconditioned (default), unpreconditioned, natural and none, as in `KSPCG`.

.seealso: `KSPRRB`, `KSPCG`, `PCMIC`, `PCNEUMANN`, `PCBLOCKRELAX`, `KSPSetDeflation()`
M*/
PetscErrorCode KSPCreate_FusedCG(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)ksp), "KSPRRB", [&] { ksp->data = new KSPRRBState; }));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = KSPSetUp_RRB;
  ksp->ops->solve = KSPSolve_RRB;
  ksp->ops->reset = KSPReset_RRB;
  ksp->ops->destroy = KSPDestroy_RRB;
  ksp->ops->view = KSPView_RRB;
  ksp->ops->buildsolution = KSPBuildSolution_RRB;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->computeeigenvalues = KSPComputeEigenvalues_RRB;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_RRB;
  PetscFunctionReturn(PETSC_SUCCESS);
}
