/* PCView() of PCBLOCKRELAX: what was chosen, what the matrix turned out to be. */
#include "pc/blockrelax/pcblockrelax_data.h"

using namespace petscrrb;

static const char *MethodOf(const PC_BlockRelax *b) {
  if (b->type == PC_BLOCKRELAX_TYPE_JACOBI) return "block Jacobi";
  if (b->type == PC_BLOCKRELAX_TYPE_CHAOTIC) return "chaotic block Gauss-Seidel";
  return b->symmetric ? "symmetric coloured block Gauss-Seidel" : "coloured block Gauss-Seidel";
}

static PetscErrorCode ViewChoices(const PC_BlockRelax *b, PetscViewer viewer) {
  const bool ready = b->state && b->state->ready;

  PetscFunctionBegin;
  if (ready || b->omega != PETSC_DECIDE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: %g%s\n", MethodOf(b),
                                     ready ? b->state->options.omega : (double)b->omega,
                                     b->omega == PETSC_DECIDE ? " (the default)" : ""));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s, omega: the default\n", MethodOf(b)));
  if (b->sweeps != 1) PetscCall(PetscViewerASCIIPrintf(viewer, "sweeps: %" PetscInt_FMT "\n", b->sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewShape(const PCBlockRelaxState *s, const char *where, PetscViewer viewer) {
  const Grid &g = s->grid;

  PetscFunctionBegin;
  if (g.n[0] == 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "patches%s: %lld, %d-point\n", where, (long long)s->shape.patches.size(),
                                     s->shape.points));
  else if (g.dim == 3)
    PetscCall(PetscViewerASCIIPrintf(viewer, "grid%s: %lld x %lld x %lld, %d-point, from the %s\n", where,
                                     (long long)g.n[0], (long long)g.n[1], (long long)g.n[2], g.points,
                                     g.source.c_str()));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "grid%s: %lld x %lld, %d-point, from the %s\n", where, (long long)g.n[0],
                                     (long long)g.n[1], g.points, g.source.c_str()));
  for (int d = 0; d < 3; ++d)
    if (g.periodic[d]) PetscCall(PetscViewerASCIIPrintf(viewer, "periodic in %c\n", "xyz"[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewBlocks(const PCBlockRelaxState *s, const char *where, PetscViewer viewer) {
  const blockrelax::Options &o = s->options;
  const blockrelax::Cut cut{{o.block[0], o.block[1], o.block[2]}};
  long long blocks = 0;

  PetscFunctionBegin;
  for (const blockrelax::Patch &p : s->shape.patches) blocks += cut.blocks(p);
  PetscCall(PetscViewerASCIIPrintf(viewer, "blocks%s: %d x %d x %d, %lld of them\n", where, o.block[0], o.block[1],
                                   o.block[2], blocks));
  if (o.order == blockrelax::Order::coloured) PetscCall(PetscViewerASCIIPrintf(viewer, "colours: %d\n", o.colours));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients: %s\n", s->found.constant ? "constant" : "variable"));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "inverses: %s, %lld held\n", s->found.used.c_str(), (long long)s->found.shapes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PCBlockRelaxState *s = ((PC_BlockRelax *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double here[2] = {(double)s->found.read.identity_rows, s->backend->bytes()}, all[2];
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Allreduce(here, all, 2, MPI_DOUBLE, MPI_SUM, comm));
  const char *where = ranks > 1 ? " of the first rank" : "";
  if (ranks > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "Jacobi between %d ranks\n", (int)ranks));
  if (!s->shape.patches.empty()) {
    PetscCall(ViewShape(s, where, viewer));
    PetscCall(ViewBlocks(s, where, viewer));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s\n", s->backend->on_device() ? "cuda" : "host"));
  if (all[0] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows: %.0f\n", all[0]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", all[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_BlockRelax(PC pc, PetscViewer viewer) {
  const PC_BlockRelax *b = (PC_BlockRelax *)pc->data;
  const PetscBool ready = (PetscBool)(b->state && b->state->ready);

  return PetscRRBView(
      viewer, [&] { return PetscViewerStringSPrintf(viewer, " %s", PCBlockRelaxTypes[b->type]); },
      [&] { return ViewChoices(b, viewer); },
      [&] { return ready ? ViewState(pc, viewer) : PetscRRBViewNotSetUp(viewer); });
}
