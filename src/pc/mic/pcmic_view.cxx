/* PCView() of PCMIC: what was chosen, what the matrix turned out to be. */
#include "pc/mic/pcmic_data.h"

using namespace petscrrb;

/* Over all ranks. */
struct Totals {
  PetscMPIInt ranks;
  long long null_rows, shifted, identity_rows;
  double bytes;
};

static PetscErrorCode Add(PC pc, Totals *t) {
  const PCMICState *s = ((PC_MIC *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const double mine[4] = {(double)s->found.null_rows, (double)s->found.shifted, (double)s->found.read.identity_rows,
                          s->backend->bytes()};
  double all[4];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &t->ranks));
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, comm));
  t->null_rows = (long long)all[0];
  t->shifted = (long long)all[1];
  t->identity_rows = (long long)all[2];
  t->bytes = all[3];
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const Grid &g = s->grid;
  const int last = g.dim - 1;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid%s: %lld x %lld", several ? " of the first rank" : "",
                                   (long long)g.n[0], (long long)g.n[1]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (g.dim == 3) PetscCall(PetscViewerASCIIPrintf(viewer, " x %lld", (long long)g.n[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, ", %d-point, from the %s\n", g.points, g.source.c_str()));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  for (int d = 0; d < 3; ++d)
    if (g.periodic[d])
      PetscCall(PetscViewerASCIIPrintf(viewer, "periodic in %c: the couplings around it are left out\n", "xyz"[d]));
  if (mic->block_lines)
    PetscCall(PetscViewerASCIIPrintf(viewer, "blocks of %" PetscInt_FMT " %s, not coupled: %lld\n", mic->block_lines,
                                     last == 1 ? "lines" : "planes",
                                     (long long)((g.n[last] + mic->block_lines - 1) / mic->block_lines)));
  if (s->found.constant)
    PetscCall(PetscViewerASCIIPrintf(viewer, "constant couplings: an application reads only pivots\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  const PCMICState *s = mic->state;
  Totals t;

  PetscFunctionBegin;
  PetscCall(Add(pc, &t));
  if (t.ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "block Jacobi between %d ranks: couplings between them are left out\n",
                                     (int)t.ranks));
  if (s->grid.n[0]) PetscCall(ViewGrid(mic, t.ranks > 1, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (t.shifted)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pivots raised to %g of the diagonal entry: %lld\n", (double)mic->shift,
                                     t.shifted));
  if (t.null_rows) PetscCall(PetscViewerASCIIPrintf(viewer, "null directions: %lld\n", t.null_rows));
  if (t.identity_rows) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows, decoupled: %lld\n", t.identity_rows));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", t.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_MIC(PC pc, PetscViewer viewer) {
  const PC_MIC *mic = (PC_MIC *)pc->data;
  const PetscBool ready = (PetscBool)(mic->state && mic->state->ready);

  return PetscRRBView(
      viewer, [&] { return PetscViewerStringSPrintf(viewer, " %s", PCMICTypes[mic->type]); },
      [&] { return ViewChoices(mic, viewer); },
      [&] { return ready ? ViewState(pc, viewer) : PetscRRBViewNotSetUp(viewer); });
}
