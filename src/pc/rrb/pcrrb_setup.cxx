/* PCSetUp() of PCRRB: the grid, the values, the factorization, and what is said when they will not do. The levels are those of
   pcrrb_levels.cxx. */
#include "pc/rrb/pcrrb_data.h"
#include "pc/set_up.h"

using namespace petscrrb;

PetscErrorCode PCReset_RRB(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscRRBReset<PC_RRB>(pc));
  if (rrb->coarse_ksp) PetscCall(KSPReset(rrb->coarse_ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of Pmat into the stencil or the graph; anew: it may have other nonzeros; *rebuild where they are of another kind than at the last setup. */
static PetscErrorCode ReadValues(PC pc, PetscBool anew, PetscBool *rebuild) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  Vec near_null;

  PetscFunctionBegin;
  s->as_built = PETSC_FALSE;
  PetscCall(s->near_null.Take(pc));
  near_null = s->near_null.vector;
  if (near_null && s->everywhere) PetscCall(s->everywhere->ToAll(near_null, &near_null));
  PetscCall(s->backend->Read(pc, anew, near_null));
  PetscCheck(s->values.result != ReadResult::refused, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "PCRRB cannot use this matrix: %s", s->values.why.c_str());
  const bool simpler = s->core && !s->on_graph && s->values.facts.simpler(s->grid); /* than the grid */
  if (rebuild) *rebuild = (PetscBool)(s->values.result == ReadResult::rebuild || simpler);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many rows a graph may have, which each rank has all of: they share a machine's memory. ranks: on the machine that has most. */
static PetscErrorCode MostOnGraph(PC pc, PetscMPIInt *ranks, index_t *most) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  MPI_Comm machine;

  PetscFunctionBegin;
  *most = rrb::most_points_on_graph;
  PetscCallMPI(MPI_Comm_size(comm, ranks));
  if (*ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->ranks_on_machine) {
    PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    PetscCallMPI(MPI_Comm_size(machine, &s->ranks_on_machine));
    PetscCallMPI(MPI_Comm_free(&machine));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->ranks_on_machine, 1, MPI_INT, MPI_MAX, comm));
  }
  *ranks = s->ranks_on_machine;
  *most = rrb::most_points_of_ranks_on_graph / *ranks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRoomForAll(PC pc, PetscInt rows) {
  PetscMPIInt ranks;
  index_t most;

  PetscFunctionBegin;
  PetscCall(MostOnGraph(pc, &ranks, &most));
  PetscCheck(rows <= most, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCRRB on no 2D grid has all rows on each rank, and %" PetscInt_FMT
             " are too many for %d ranks on a machine, which may "
             "have %lld. Use -pc_type asm -pc_asm_type basic -sub_pc_type rrb, or another preconditioner, such as "
             "gridmg or gamg",
             rows, (int)ranks, (long long)most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MayBeOnGraph(PC pc, PetscBool *may) {
  const Grid &g = ((PC_RRB *)pc->data)->state->grid;
  const index_t points = g.n[0] * g.n[1];
  PetscMPIInt ranks;
  index_t most;

  PetscFunctionBegin;
  PetscCall(MostOnGraph(pc, &ranks, &most));
  *may = (PetscBool)(points <= most);
  if (!*may)
    PetscCall(PetscInfo(pc,
                        "Plain red nodes fail the test of support but are kept: %lld points are more than the %lld for "
                        "which auto chooses red nodes anew on %d ranks on a machine\n",
                        (long long)points, (long long)most, ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(PC pc, PetscReal omega, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  *ok = PETSC_FALSE;
  if (s->values.not_positive()) PetscFunctionReturn(PETSC_SUCCESS);
  const rrb::Lumping lumping = PCRRBLumpingOf(pc, omega);
  const bool schur = rrb->schur_wanted && !rrb->schur_wanted->expired() && s->grid.points == 5;
  PetscCall(PetscRRBTry("PCRRB", [&] { s->core->want_schur(schur); }));
  PetscCall(s->backend->Factor(*s->core, lumping, s->as_built));
  PetscCall(s->backend->FactorLastBlock(*s->core, lumping.null_inverse, &s->outcome, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In double precision alone, where a pivot may have been out of the range of single. */
static PetscErrorCode FactorInDouble(PC pc, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  if (*ok || s->values.not_positive() || s->core->precision() != rrb::Precision::mixed)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(
      pc, "A pivot is not positive, or out of the range of single precision: the factor is in double precision\n"));
  s->in_double = PETSC_TRUE;
  PetscCall(ReadValues(pc, PETSC_FALSE, nullptr)); /* which the first attempt overwrote */
  PetscCall(PCRRBBuildLevels(pc, rrb->lumping));
  PetscCall(Factor(pc, rrb->lumping, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With lumping as it was set, or without, where a pivot is not positive then. */
static PetscErrorCode FactorSafely(PC pc, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  s->omega_dropped = false;
  PetscCall(Factor(pc, rrb->lumping, ok));
  PetscCall(FactorInDouble(pc, ok));
  if (*ok || rrb->lumping == 0 || s->values.not_positive()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "A pivot is not positive: the factorization is repeated without lumping\n"));
  PetscCall(ReadValues(pc, PETSC_FALSE, nullptr)); /* the first attempt overwrote it */
  if (s->support) PetscCall(PCRRBBuildLevels(pc, 0.0));
  s->omega_dropped = true;
  PetscCall(Factor(pc, 0.0, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another choice of red nodes, where that in use does no justice to the values any more: by support, and from there to plain ones first. */
static PetscErrorCode ChooseAnew(PC pc, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  for (int tries = 0; tries < 2 && *ok && s->outcome.unsupported && (s->support || PCRRBMayChoose(pc)); ++tries) {
    const PetscBool support = (PetscBool)(!s->support || s->on_graph || rrb->red_nodes == PC_RRB_RED_NODES_SUPPORT);
    PetscBool may = PETSC_TRUE;

    if (!s->support) PetscCall(MayBeOnGraph(pc, &may));
    if (!may) break;
    if (s->support)
      PetscCall(PetscInfo(pc, "The choice of red nodes no longer holds: they are chosen anew\n"));
    else
      PetscCall(PetscInfo(pc, "%lld plain red nodes fail the test of support: red nodes are chosen by support\n",
                          (long long)s->outcome.unsupported));
    s->failing = s->support ? 0 : s->outcome.unsupported;
    s->support = support;
    PetscCall(ReadValues(pc, PETSC_FALSE, nullptr));
    PetscCall(PCRRBBuildLevels(pc, rrb->lumping));
    PetscCall(FactorSafely(pc, ok));
  }
  s->tested = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportFailure(PC pc) {
  const PCRRBState &s = *((PC_RRB *)pc->data)->state;
  const rrb::Outcome &o = s.outcome;
  const char after[] = "even without lumping: the matrix is not positive definite";
  char why[256];

  PetscFunctionBegin;
  if (s.values.not_positive())
    PetscCall(PetscSNPrintf(why, sizeof(why), "RRB: %s", s.values.why.c_str()));
  else if (!o.ok && o.failed_i < 0)
    PetscCall(PetscSNPrintf(why, sizeof(why), "RRB: a pivot is not positive on level %d, %s", o.failed_level, after));
  else if (o.ok)
    PetscCall(PetscSNPrintf(why, sizeof(why), "RRB: a pivot is not positive in the last block, %s", after));
  else
    PetscCall(PetscSNPrintf(why, sizeof(why), "RRB: a pivot is not positive at grid point (%lld, %lld), level %d, %s",
                            (long long)o.failed_i, (long long)o.failed_j, o.failed_level, after));
  PetscCall(PetscRRBFailed(pc, PETSC_ERR_MAT_CH_ZRPVT, "", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportWarnings(PC pc) {
  const PCRRBState *s = ((PC_RRB *)pc->data)->state;
  const double x = s->values.facts.weights[0], y = s->values.facts.weights[1];

  PetscFunctionBegin;
  if (s->support) PetscFunctionReturn(PETSC_SUCCESS);
  if (x > 50 * y || y > 50 * x)
    PetscCall(PetscInfo(pc,
                        "The couplings in %s are %.0f times stronger than in %s: RRB converges slowly on strongly "
                        "anisotropic problems\n",
                        x > y ? "x" : "y", x > y ? x / y : y / x, x > y ? "y" : "x"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseBackend(PC pc, PetscBool *rebuild) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  const PetscBool ranks = (PetscBool)(s->rows.on_ranks && !s->everywhere);
  const auto create = [&](PetscBool device, auto *b) { return PCRRBCreateBackend(device, ranks, b); };

  return PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCRRB", [&] {
    return PetscRRBChooseBackend(
        s, create, [&] { s->core.reset(); }, rebuild);
  });
}

/* From here on each rank works with the rows of all, as if it were alone. */
static PetscErrorCode TakeAllRows(PC pc, const std::vector<PetscInt> *places) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;

  PetscFunctionBegin;
  PetscCall(s->backend->GatherRows(pc, s->rows.on_ranks, places, &s->rows.csr));
  s->rows.on_ranks = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid, or none; on several ranks without one, they take all rows. */
static PetscErrorCode FindGrid(PC pc, PetscInt rows) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  std::vector<PetscInt> places;
  PetscBool rebuild;

  PetscFunctionBegin;
  PetscCall(s->backend->FindGrid(pc, s->rows, &s->grid));
  if (s->grid.n[0] || !s->rows.on_ranks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckRoomForAll(pc, rows));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCRRB",
                                [&] { s->everywhere = std::make_unique<PCRRBEverywhere>(); }));
  PetscCall(s->everywhere->Build(pc, s->rows.on_ranks, s->rows.on_device, &places));
  s->backend = nullptr;
  PetscCall(ChooseBackend(pc, &rebuild));
  PetscCall(TakeAllRows(pc, &places));
  PetscCall(s->backend->FindGrid(pc, s->rows, &s->grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFromRows(PC pc, PetscBool *rebuild, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  std::shared_ptr<const void> pool;
  PetscBool says = PETSC_FALSE;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS); /* there is nothing to factor, and nothing to apply */
  if (s->everywhere && s->backend->on_device() != s->rows.on_device)
    s->everywhere = nullptr; /* it is made where P is */
  PetscCall(ChooseBackend(pc, rebuild));
  if (s->everywhere) PetscCall(TakeAllRows(pc, nullptr));
  if (!*rebuild) {
    if (s->core) s->backend->ExpectFactor(*s->core, PCRRBLumpingOf(pc, rrb->lumping));
    PetscCall(ReadValues(pc, PETSC_FALSE, rebuild));
    if (*rebuild) PetscCall(PetscInfo(pc, "The couplings of the matrix have changed: the hierarchy is rebuilt\n"));
  }
  if (*rebuild) {
    s->core.reset();
    s->ready = PETSC_FALSE; /* if there is no grid this time, the next set-up starts from here again */
    s->on_graph = PETSC_FALSE;
    s->in_double = PETSC_FALSE;
    s->failing = 0;
    PetscCall(FindGrid(pc, rows));
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCRRB", [&] { pool = s->backend->pool(); }));
    s->on_graph = (PetscBool)(s->grid.dim == 3 || !s->grid.n[0]);
    if (!s->grid.n[0]) s->grid.n[0] = rows, s->grid.n[1] = 1;
    s->support = (PetscBool)(s->on_graph || rrb->red_nodes == PC_RRB_RED_NODES_SUPPORT);
    if (!s->support) PetscCall(PCRRBExpectLevels(pc));
    PetscCall(ReadValues(pc, PETSC_TRUE, nullptr));
    PetscCall(PCRRBBuildLevels(pc, rrb->lumping));
    s->ready = PETSC_TRUE;
  }
  PetscCall(FactorSafely(pc, ok));
  PetscCall(ChooseAnew(pc, ok));
  pool = nullptr;
  if (*ok) PetscCall(s->backend->EstimateForCycle(*s->core));
  if (*rebuild) PetscCall(ReportWarnings(pc));
  PetscCall(PetscInfoEnabled(PC_CLASSID, &says)); /* else nothing is put into words, which takes memory */
  if (says && *ok && s->cycle == PC_RRB_CYCLE_AMLI)
    PetscCall(PetscInfo(pc, "RRB cycle: %s\n", PCRRBDescribeCycle(*s).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_RRB(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscBool ok = PETSC_TRUE;

  PetscFunctionBegin;
  const PetscErrorCode code = PetscRRBSetUp<PC_RRB>(
      pc, PETSC_COMM_SELF, "PCRRB", [] { return PETSC_SUCCESS; },
      [&] { return PetscRRBMatrixGet(pc, pc->pmat, &rrb->state->rows); },
      [&](PetscBool *rebuild, PetscRRBTrouble *) { return SetUpFromRows(pc, rebuild, &ok); });
  if (code && rrb->state) rrb->state->core.reset(); /* of whatever is half made, on all ranks */
  PetscCall(code);
  rrb->state->failed = (PetscBool)!ok;
  if (!ok) PetscCall(ReportFailure(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
