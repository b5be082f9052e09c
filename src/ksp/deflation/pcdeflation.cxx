/* The PC that deflation puts around the user's: what PCApply(), PCView() and the like do. */
#include "ksp/deflation/kspdeflation_data.h"
#include "pc/pc.h"
#include "petsc/about/citations.h"

using petscrrb::deflation::Report;
using petscrrb::deflation::Result;

/* KSP talks to the wrapper, which hands on what the inner PC must know. */
static PetscErrorCode HandOn(PC pc) {
  PC inner = Data(pc)->inner;

  PetscFunctionBegin;
  if (pc->dm != Data(pc)->dm) PetscCall(PCSetDM(inner, pc->dm)); /* one that the inner PC has got itself stays */
  Data(pc)->dm = pc->dm;
  if (pc->pmat) PetscCall(PCSetOperators(inner, PCDeflationOperator(pc), pc->pmat));
  PetscCall(PCSetReusePreconditioner(inner, pc->reusepreconditioner));
  PetscCall(PCSetErrorIfFailure(inner, pc->erroriffailure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeFailedReason(PC pc) {
  PCFailedReason reason = Data(pc)->inner->failedreason;

  PetscFunctionBegin;
  if (reason != PC_NOERROR) PetscCall(PCSetFailedReason(pc, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_SubdomainDeflation(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCheck(d->inner, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The type %s is not a preconditioner on its own: -ksp_deflation and KSPSetDeflation() wrap one in it",
             PCSUBDOMAINDEFLATION);
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(HandOn(pc));
  PetscCall(PCSetUp(d->inner));
  PetscCall(TakeFailedReason(pc));
  PetscCall(PCDeflationUpdate(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUpOnBlocks_SubdomainDeflation(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetUpOnBlocks(Data(pc)->inner));
  PetscCall(TakeFailedReason(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = M^-1 x or M^-T x. PCApply() sets up what is not to be reused. */
static PetscErrorCode ApplyInner(PC pc, PetscBool transposed, Vec x, Vec y) {
  PC inner = Data(pc)->inner;

  PetscFunctionBegin;
  PetscCall(PCSetReusePreconditioner(inner, pc->reusepreconditioner));
  PetscCall(transposed ? PCApplyTranspose(inner, x, y) : PCApply(inner, x, y));
  PetscCall(TakeFailedReason(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M^-1 without a coupling to identity rows */
static PetscErrorCode ApplyDecoupled(PC pc, PetscBool transposed, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(ApplyInner(pc, transposed, x, y));
  PetscCall(PCDeflationFix(pc, transposed, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = P x */
static PetscErrorCode Project(PC pc, Vec x, Vec *w) {
  PetscFunctionBegin;
  PetscCall(PCDeflationGetWork(pc, 0, w));
  PetscCall(VecCopy(x, *w));
  PetscCall(Data(pc)->backend->Project(*w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = P^T M^-1 x + Q x, with M^-T where A^T takes the place of A; with w = P x in the place of M^-1's x that is symmetric. */
static PetscErrorCode ApplyProjected(PC pc, PetscBool transposed, Vec x, Vec y, const PCDeflationSolve *solve) {
  Vec r = x, w;

  PetscFunctionBegin;
  if (!solve || !solve->fixed) PetscCall(PCDeflationEliminate(pc, transposed, x, &r));
  w = r;
  if (solve && solve->symmetric) PetscCall(Project(pc, r, &w));
  PetscCall(ApplyDecoupled(pc, transposed, w, y));
  PetscCall(Data(pc)->backend->Correct(r, y, y, true));
  if (r != x || transposed) PetscCall(PCDeflationFix(pc, transposed, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (P^T M^-1 + Q)^T = M^-T P + Q */
static PetscErrorCode ApplyTransposeOfProjected(PC pc, PetscBool transposed, Vec x, Vec y) {
  Vec w;

  PetscFunctionBegin;
  PetscCall(Project(pc, x, &w));
  PetscCall(ApplyInner(pc, transposed, w, y));
  PetscCall(PCDeflationFix(pc, PETSC_FALSE, x, y));
  PetscCall(Data(pc)->backend->Correct(x, y, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where E could not be factored y is infinite: that is how a KSP notices, and then it looks at the failed reason. A solve
   with A^T is one with A, which is symmetric, so that its preconditioner has the same form; the transpose of that one is
   asked for by what multiplies with A^T in a solve with A, or the other way round. */
static PetscErrorCode ApplyThere(PC pc, PetscBool transposed, Vec x, Vec y) {
  PC_SubdomainDeflation *d = Data(pc);
  const PCDeflationSolve *solve = d->solves.empty() ? nullptr : &d->solves.back()->solve;

  PetscFunctionBegin;
  if (!solve || !solve->PA) PetscCall(PCDeflationUpdate(pc));
  if (!d->backend || d->reference)
    PetscCall(ApplyInner(pc, transposed, x, y));
  else if (d->result != Result::ok)
    PetscCall(PetscRRBSetInfinite(y));
  else if (d->deflation->variant == KSP_DEFLATION_DEF1)
    PetscCall(ApplyDecoupled(pc, transposed, x, y));
  else if (transposed == (solve ? solve->transposed : PETSC_FALSE))
    PetscCall(ApplyProjected(pc, transposed, x, y, solve));
  else
    PetscCall(ApplyTransposeOfProjected(pc, transposed, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See PetscRRBGetEnqueued(): as Apply(), in a solve with conjugate gradients. What is enqueued is the same until a set-up or a refresh. */
static PetscErrorCode GetEnqueued(PC pc, PetscRRBEnqueued *enqueued) {
  PC_SubdomainDeflation *d = Data(pc);
  const PCDeflationSolve *solve = d->solves.empty() ? nullptr : &d->solves.back()->solve;
  PetscErrorCode (*get)(PC, PetscRRBEnqueued *);
  PetscRRBEnqueued inner, around;

  PetscFunctionBegin;
  *enqueued = {};
  PetscCall(PetscObjectQueryFunction((PetscObject)d->inner, PetscRRBEnqueuedKey, &get));
  if (!get || !solve || solve->symmetric || solve->transposed || solve->PA || d->free || !d->backend || d->reference ||
      d->result != Result::ok)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*get)(d->inner, &inner));
  around = d->backend->enqueued();
  if (!inner.apply || !around.apply) PetscFunctionReturn(PETSC_SUCCESS);
  enqueued->apply = [inner, around](const petscrrb::Cuda &on, const PetscScalar *r, PetscScalar *z, double *terms) {
    inner.apply(on, r, z, nullptr); /* whose (r, z) is not that of the sum */
    around.apply(on, r, z, terms);
  };
  enqueued->terms = around.terms;
  enqueued->check = inner.check;
  enqueued->version = [inner, d] { return (inner.version ? inner.version() : 0) + d->setups + d->refreshes; };
  enqueued->build = (inner.build << 32) + around.build; /* both are far below 2^31 */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With vectors where the matrix is, as PETSc's preconditioners need them, too: those that PCMatApply() makes of a dense matrix
   may be elsewhere. */
static PetscErrorCode Apply(PC pc, PetscBool transposed, Vec x, Vec y) {
  PC_SubdomainDeflation *d = Data(pc);
  const auto apply = [&](Vec r, Vec z) { return ApplyThere(pc, transposed, r, z); };

  PetscFunctionBegin;
  if (!d->there) d->there.emplace();
  PetscCall(d->there->Use(pc->pmat, pc, "KSP deflation", x, y, apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The prefix is the wrapper's, which is what KSPSetOptionsPrefix() sets. */
static PetscErrorCode PCSetFromOptions_SubdomainDeflation(PC pc, PetscRRBOptionItems) {
  PC_SubdomainDeflation *d = Data(pc);
  const char *prefix;

  PetscFunctionBegin;
  if (!d->inner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HandOn(pc));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(d->inner, prefix));
  PetscCall(PCSetFromOptions(d->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewState(PC pc, PetscViewer viewer) {
  const PC_SubdomainDeflation *d = Data(pc);
  const Report &r = d->backend->report();
  double all[] = {(double)r.stored, r.bytes}; /* over all ranks */
  std::string subdomains, dimension;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("deflation"), [&] {
    subdomains = d->backend->subdomains();
    dimension = std::to_string(r.subdomains);
    if (r.empty) dimension += ", " + std::to_string(r.empty) + " of them without rows";
    if (r.null_directions) dimension += ", null directions: " + std::to_string(r.null_directions);
    if (r.identity_rows) dimension += ", identity rows: " + std::to_string(r.identity_rows);
  }));
  PetscCall(PetscViewerASCIIPrintf(viewer, "subdomains: %s\n", subdomains.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "dimension: %s\n", dimension.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "E^-1: %s, on the %s\n", r.inverse.c_str(),
                                   d->backend->on_device() ? "device" : "host"));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "A Z: %.0f entries\n", all[0]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory: %.0f bytes\n", all[1]));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "setup: %.3g seconds, %" PetscInt_FMT " from scratch, %" PetscInt_FMT " with new values\n",
      (double)d->seconds, d->setups, d->refreshes));
  if (d->result != Result::ok) PetscCall(PetscViewerASCIIPrintf(viewer, "FAILED: %s\n", r.why.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_SubdomainDeflation(PC pc, PetscViewer viewer) {
  const PC_SubdomainDeflation *d = Data(pc);
  PetscBool ascii, string;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (!d->inner) PetscFunctionReturn(PETSC_SUCCESS);
  const char *variant = KSPDeflationVariants[d->deflation->variant];
  if (string) PetscCall(PetscViewerStringSPrintf(viewer, " %s", variant));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBViewVersion(viewer));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "deflation: %s, variant %s\n", KSPDeflationTypes[d->deflation->type], variant));
  if (d->backend)
    PetscCall(ViewState(pc, viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, pc->setupcalled ? "nothing to deflate\n" : "not set up yet\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "the wrapped preconditioner M^-1:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PCView(d->inner, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Clear(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);

  PetscFunctionBegin;
  PetscCall(PCDeflationForgetSolves(pc));
  d->backend.reset();
  d->there.reset();
  for (Vec &w : d->work) PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&d->free));
  PetscCall(VecDestroy(&d->fixed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCDestroy() comes here, too; the inner PC may then have others that use it. */
static PetscErrorCode PCReset_SubdomainDeflation(PC pc) {
  PetscFunctionBegin;
  PetscCall(Clear(pc));
  if (Data(pc)->inner && ((PetscObject)pc)->refct > 0) PetscCall(PCReset(Data(pc)->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An application that asked for its KSP's PC got the wrapper. Where it sets the type of that (and so has not destroyed it)
   it becomes the inner PC of another wrapper. */
static PetscErrorCode PCDestroy_SubdomainDeflation(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);
  std::shared_ptr<KSPDeflation> deflation = d->deflation;

  PetscFunctionBegin;
  PetscCall(Clear(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PetscRRBEnqueuedKey, nullptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PetscRRBTestKey, nullptr));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, nullptr));
  PetscCall(PetscOptionsDestroy(&d->nothing));
  PetscCall(PCDestroy(&d->inner));
  delete d;
  pc->data = nullptr;
  if (((PetscObject)pc)->refct < 1 || !deflation || !deflation->ksp || deflation->ksp->pc != pc)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, nullptr));
  PetscCall(KSPDeflationWrap(deflation->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SubdomainDeflation(PC pc) {
  PC_SubdomainDeflation *d = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PetscRRBSay("deflation"), [&] {
    auto made = std::make_unique<PC_SubdomainDeflation>();
    made->solves.reserve(8); /* so that a solve begins without */
    d = made.release();
  }));
  pc->data = (void *)d;
  PetscCall(PetscOptionsCreate(&d->nothing));
  pc->ops->setup = PCSetUp_SubdomainDeflation;
  pc->ops->setuponblocks = PCSetUpOnBlocks_SubdomainDeflation;
  pc->ops->apply = [](PC of, Vec x, Vec y) { return Apply(of, PETSC_FALSE, x, y); };
  pc->ops->applytranspose = [](PC of, Vec x, Vec y) { return Apply(of, PETSC_TRUE, x, y); };
  pc->ops->presolve = PCPreSolve_SubdomainDeflation;
  pc->ops->postsolve = PCPostSolve_SubdomainDeflation;
  pc->ops->setfromoptions = PCSetFromOptions_SubdomainDeflation;
  pc->ops->view = PCView_SubdomainDeflation;
  pc->ops->reset = PCReset_SubdomainDeflation;
  pc->ops->destroy = PCDestroy_SubdomainDeflation;
  PetscCall(PetscRRBCompose((PetscObject)pc, PETSC_TRUE, PetscRRBEnqueuedKey, GetEnqueued));
  PetscCall(PetscRRBCompose((PetscObject)pc, PETSC_TRUE, PetscRRBTestKey, PCDeflationTestBehind));
  PetscCall(PetscRRBCite(PETSCRRB_PAPER_TWO_LEVEL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
