/* PCNEUMANN, the PETSc preconditioner: what PCApply(), PCView() and their kin do, and the type itself. */
#include "pc/neumann/pcneumann_data.h"
#include "petsc/about/citations.h"

using namespace petscrrb;

static PetscErrorCode Apply(PC pc, Vec x, Vec y) { return ((PC_Neumann *)pc->data)->state->form->Apply(pc, x, y); }
static constexpr auto PCApply_Neumann = PetscRRBApply<PC_Neumann, Apply>;

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PC_Neumann *neumann = (PC_Neumann *)pc->data;
  const PCNeumannState *s = neumann->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscLogDouble bytes;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (s->overlap)
    PetscCall(PetscViewerASCIIPrintf(viewer, "the same operator as on one rank, on %d ranks; order: %s\n", (int)ranks,
                                     s->overlap->source().c_str()));
  if (neumann->drop != PC_NEUMANN_DROP_NONE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "stored as one sparse matrix\n"));
  else if (s->overlap)
    PetscCall(PetscViewerASCIIPrintf(viewer, "products with sparse triangles\n"));
  else if (!s->grid.n[0])
    PetscCall(PetscViewerASCIIPrintf(viewer, "no grid: products with sparse triangles\n"));
  else
    PetscCall(PetscRRBViewGrid(viewer, "", s->grid, [](int) { return ""; }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "largest row sum of the scaled triangle: %g\n", s->found.norm));
  if (s->found.identity_rows)
    PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %lld\n", (long long)s->found.identity_rows));
  PetscCall(s->form->Bytes(&bytes));
  if (s->overlap) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscRRBEnqueued Enqueued(PCNeumannState *s) { return s->form->enqueued(); }

static PetscErrorCode ViewBriefly(const PC_Neumann *neumann, PetscViewer viewer) {
  return neumann->type == PC_NEUMANN_POISSON
             ? PetscViewerStringSPrintf(viewer, " poisson")
             : PetscViewerStringSPrintf(viewer, " terms %" PetscInt_FMT, neumann->terms);
}

static PetscErrorCode ViewChoices(const PC_Neumann *neumann, PetscViewer viewer) {
  PetscFunctionBegin;
  if (neumann->type == PC_NEUMANN_SERIES) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "Neumann series, terms: %" PetscInt_FMT "\n", neumann->terms));
    if (neumann->omega != 1) PetscCall(PetscViewerASCIIPrintf(viewer, "omega: %g\n", (double)neumann->omega));
  } else
    PetscCall(PetscViewerASCIIPrintf(viewer, "incomplete Poisson of the %s matrix\n",
                                     neumann->scale ? "diagonally scaled" : "unscaled"));
  if (neumann->drop == PC_NEUMANN_DROP_PATTERN)
    PetscCall(PetscViewerASCIIPrintf(viewer, "dropped: entries where the matrix has none\n"));
  if (neumann->drop == PC_NEUMANN_DROP_THRESHOLD)
    PetscCall(PetscViewerASCIIPrintf(viewer, "dropped: entries below %g\n", (double)neumann->threshold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MayHaveIdentityRows(PC pc) {
  return (PetscBool)(((PC_Neumann *)pc->data)->state->found.identity_rows > 0);
}

/*MC
   PCNEUMANN - Truncated Neumann series and incomplete Poisson preconditioners, which consist of stencil products only

   Options Database Keys:
+  -pc_neumann_terms <k>                        - terms after the first one in the series; default 2
.  -pc_neumann_omega <omega>                    - relaxation of the triangles of the series; default 1
.  -pc_neumann_type <series,poisson>            - the series, or incomplete Poisson; default series
.  -pc_neumann_scale <bool>                     - incomplete Poisson of the diagonally scaled matrix; default true
.  -pc_neumann_drop <none,pattern,threshold>    - entries dropped from incomplete Poisson; default none
.  -pc_neumann_drop_threshold <t>               - the threshold; default 0.1
-  -pc_neumann_grid <nx,ny[,nz]>                - unknowns in x, y and z, if neither a DM nor the matrix determines them

   Level: beginner

   Notes:
   With A~ = D^-1/2 A D^-1/2, D the diagonal of A, and L~ the strictly lower triangle of A~, M^-1 is D^-1/2 K^T K
   D^-1/2 with K = I - L~ + L~^2 - ... of k + 1 terms: Neu1 of the paper has k = 1, Neu2 has k = 2, and k = 0 is
   `PCJACOBI`. The scaling is part of M^-1, so this is a preconditioner of the unscaled system, and its iterations are
   those of the scaled one. Incomplete Poisson is D^-1/2 (I - L~)(I - L~^T) D^-1/2, or (I - L D^-1)(I - D^-1 L^T)
   unscaled.

   With omega, L~ is replaced by omega L~ and M^-1 is multiplied by omega (2 - omega). With one term that is the
   approximate inverse of SSOR, (2 - omega) (I - D'^-1 L^T) D'^-1 (I - L D'^-1) with D' = D / omega.

   The matrix must be symmetric with a positive diagonal. M is symmetric and positive definite for every such matrix and any k (also
   incomplete Poisson if nothing is dropped), so it can be used with `KSPCG`. On one MPI rank, on a 2D grid with 5 or 9 points or a 3D one
   with 7, of any size and with or without periodic sides, an application reads the vector and the couplings once. For other matrices, and
   on several ranks, PETSc multiplies by sparse triangles (cuSPARSE on a device). On several ranks M is the same as on one: the triangle is
   that of the natural order of the `DMDA` of the `PC` or of the matrix, or of the row numbers. Identity rows (Dirichlet conditions kept in
   the matrix, masked cells) are decoupled; if other rows keep their columns, their values are put into the initial guess of a `KSP` that
   needs a symmetric operator.

   It has one level only: iterations grow with the grid. It is meant for GPUs, combined with deflation or as a smoother.

   Errors:
   A matrix that is not finite or not symmetric is an error that names the row, the same on all ranks. A diagonal entry that is not positive
   makes the `KSP` diverge with `KSP_DIVERGED_PC_FAILED`, or is an error with `-ksp_error_if_not_converged`.

   References:
.  * - R. Gupta, M. van Gijzen, C. Vuik, Efficient two-level preconditioned conjugate gradient method on the GPU, 2013

.seealso: `PCNeumannSetTerms()`, `PCNeumannSetOmega()`, `PCNeumannSetType()`, `PCNeumannSetScale()`,
          `PCNeumannSetDrop()`, `PCNeumannSetDropThreshold()`, `PCNeumannSetGrid()`, `PCMIC`, `PCRRB`, `PCJACOBI`
M*/
PetscErrorCode PCCreate_Neumann(PC pc) {
  PC_Neumann *neumann;

  PetscFunctionBegin;
  PetscCall((PetscRRBCreate<PC_Neumann, PCNeumannComposeParameters>(
      pc,
      {PCSetUp_Neumann, PCApply_Neumann, PetscRRBMatApply<PCApply_Neumann>, PCSetFromOptions_Neumann,
       PetscRRBView<PC_Neumann, ViewBriefly, ViewChoices, ViewState>, MayHaveIdentityRows,
       PetscRRBGetEnqueued<PC_Neumann, PCNeumannState, Enqueued>},
      &neumann)));
  neumann->terms = 2;
  neumann->omega = 1;
  neumann->type = PC_NEUMANN_SERIES;
  neumann->scale = PETSC_TRUE;
  neumann->drop = PC_NEUMANN_DROP_NONE;
  neumann->threshold = 0.1;
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_TWO_LEVEL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
