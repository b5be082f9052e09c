/* PCMIC, the PETSc preconditioner: what PCApply(), PCView() and their kin do, and the type itself. */
#include "pc/mic/pcmic_data.h"
#include "petsc/about/citations.h"

using namespace petscrrb;

template <PCMICPart part> static PetscErrorCode ApplyPart(PC pc, Vec x, Vec y) {
  return ((PC_MIC *)pc->data)->state->backend->Apply(pc, part, x, y);
}
static constexpr auto PCApply_MIC = PetscRRBApply<PC_MIC, ApplyPart<PCMICPart::all>>;

static PetscErrorCode ViewBriefly(const PC_MIC *mic, PetscViewer viewer) {
  return PetscViewerStringSPrintf(viewer, " %s", PCMICTypes[mic->type]);
}

static const char *MethodOf(const PC_MIC *mic) {
  if (mic->type == PC_MIC_TYPE_SSOR) return "SSOR";
  return mic->omega == 0 ? "incomplete Cholesky" : "modified incomplete Cholesky";
}

static PetscErrorCode ViewChoices(const PC_MIC *mic, PetscViewer viewer) {
  const bool by_default = mic->omega == PETSC_DECIDE;

  PetscFunctionBegin;
  if (mic->state && mic->state->ready)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: %g%s\n", MethodOf(mic), mic->state->options.omega,
                                     by_default ? " (the default)" : ""));
  else if (by_default)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: the default\n", MethodOf(mic)));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: %g\n", MethodOf(mic), (double)mic->omega));
  PetscCall(PetscViewerASCIIPrintf(viewer, "precision: %s\n", PCMICPrecisions[mic->precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewGrid(const PC_MIC *mic, bool several, PetscViewer viewer) {
  const PCMICState *s = mic->state;
  const int last = s->grid.dim - 1;

  PetscFunctionBegin;
  PetscCall(PetscRRBViewGrid(viewer, several ? " of the first rank" : "", s->grid,
                             [](int) { return ": the couplings across this side are left out"; }));
  if (mic->block_lines)
    PetscCall(PetscViewerASCIIPrintf(viewer, "blocks of %" PetscInt_FMT " %s, not coupled: %lld\n", mic->block_lines,
                                     last == 1 ? "lines" : "planes",
                                     (long long)((s->grid.n[last] + mic->block_lines - 1) / mic->block_lines)));
  if (s->found.constant)
    PetscCall(PetscViewerASCIIPrintf(viewer, "constant couplings: an application reads only pivots\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  const PCMICState *s = mic->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double null_shifted_identity_bytes[] = {(double)s->found.null_rows, (double)s->found.shifted,
                                          (double)s->found.read.identity_rows, s->backend->bytes()};
  const auto &[null, shifted, identity, bytes] = null_shifted_identity_bytes; /* of all ranks */
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, null_shifted_identity_bytes, 4, MPI_DOUBLE, MPI_SUM, comm));
  if (ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "block Jacobi between %d ranks: couplings between them are left out\n",
                                     (int)ranks));
  if (s->grid.n[0]) PetscCall(ViewGrid(mic, ranks > 1, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (shifted > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pivots raised to %g of the diagonal entry: %.0f\n", (double)mic->shift,
                                     shifted));
  if (null > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "null directions: %.0f\n", null));
  if (identity > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %.0f\n", identity));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MayHaveIdentityRows(PC pc) {
  return (PetscBool)(((PC_MIC *)pc->data)->state->found.read.identity_rows > 0);
}

static PetscRRBEnqueued Enqueued(PCMICState *s) { return s->backend->enqueued(); }

/* All columns at once where they lie in one array; otherwise one by one. */
static PetscErrorCode PCMatApply_MIC(PC pc, Mat X, Mat Y) {
  const PCMICState *s = ((PC_MIC *)pc->data)->state;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  if (!s->failed) PetscCall(s->backend->MatApply(X, Y, &done));
  if (!done) PetscCall(PetscRRBMatApply<PCApply_MIC>(pc, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMIC - Modified incomplete Cholesky and SSOR on structured grids, by pipelined wavefronts

   Options Database Keys:
+  -pc_mic_type <mic,ssor>         - incomplete Cholesky, or symmetric successive overrelaxation; default mic
.  -pc_mic_omega <omega>           - mic: from 0, IC(0), to 1, MIC(0); ssor: the relaxation parameter. The default of mic grows with
                                     the grid, that of ssor is 1
.  -pc_mic_precision <double,single> - the precision in which the factor is stored; default double
.  -pc_mic_shift <s>               - pivots below s times the diagonal entry are raised to that; default 0: a pivot that
                                     is not positive is a failure
.  -pc_mic_block_lines <m>         - couplings are dropped between blocks of m lines; default 0: none are dropped
-  -pc_mic_grid <nx,ny[,nz]>       - unknowns in x, y and z, if neither a DM nor the matrix determines them

   Level: beginner

   Notes:
   M = (D + L) D^-1 (D + L^T), with L the strictly lower triangle of the matrix in its natural order and
   d_i = a_ii - sum over lower neighbours j of (a_ij / d_j) (a_ij + omega sum over j's other upper neighbours k of a_jk).
   With omega = 1 the row sums of M are those of A. Usually a slightly smaller omega is better, and is the default. For SSOR, D is
   the diagonal of A divided by omega, and M is divided by 2 - omega. Both triangular solves give the result of the sequential
   loop, bit for bit, in wavefronts that threads or a GPU pipeline.

   The matrix must be symmetric, with 5 points on a 2D grid or 7 on a 3D one, of any size and with any coefficients. Identity rows
   (Dirichlet conditions kept in the matrix, masked cells) are decoupled; if other rows keep their columns, their values are put into the
   initial guess of a `KSP` that needs a symmetric operator. Couplings around a periodic side are left out of M. The matrix may be singular.
   All pivots are positive if no coupling is positive and the matrix is diagonally dominant (with omega 0 it need only be positive
   definite). Other matrices may fail: set a shift, or a smaller omega.

   With several ranks this is block Jacobi: each rank factors its own diagonal block, which must be on a grid. With a
   `DMDA` it is the rank's box.

   `PCApplySymmetricLeft()` and `PCApplySymmetricRight()` apply the two halves. `PCMatApply()` applies M^-1 to all columns
   at once.

   Errors:
   A matrix that is not finite or not symmetric, or not on such a grid, is an error that names the row. A pivot that is not positive makes
   the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`.

   References:
+  * - I. Gustafsson, A class of first order factorization methods, BIT 18, 1978
-  * - J. Meijerink and H. van der Vorst, An iterative solution method for linear systems of which the coefficient matrix is
       a symmetric M-matrix, Math. Comp. 31, 1977

.seealso: `PCMICSetType()`, `PCMICSetOmega()`, `PCMICSetPrecision()`, `PCMICSetShift()`, `PCMICSetBlockLines()`,
          `PCMICSetGrid()`, `PCICC`, `PCRRB`, `PCNEUMANN`
M*/
PetscErrorCode PCCreate_MIC(PC pc) {
  PC_MIC *mic;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_MIC, PCMICComposeParameters>(
      pc,
      {PCSetUp_MIC, PCApply_MIC, PCMatApply_MIC, PCSetFromOptions_MIC,
       PetscRRBView<PC_MIC, ViewBriefly, ViewChoices, ViewState>, MayHaveIdentityRows,
       PetscRRBGetEnqueued<PC_MIC, PCMICState, Enqueued>},
      &mic)));
  mic->type = PC_MIC_TYPE_MIC;
  mic->omega = PETSC_DECIDE;
  mic->precision = PC_MIC_PRECISION_DOUBLE;
  pc->ops->applysymmetricleft = PetscRRBApply<PC_MIC, ApplyPart<PCMICPart::left>, false>;
  pc->ops->applysymmetricright = PetscRRBApply<PC_MIC, ApplyPart<PCMICPart::right>, false>;
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_MIC));
  PetscFunctionReturn(PETSC_SUCCESS);
}
