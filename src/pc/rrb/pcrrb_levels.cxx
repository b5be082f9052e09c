/* The levels of PCRRB: what of them depends on the grid and the options, the last block, and the cycle in use. */
#include "pc/rrb/pcrrb_data.h"
#include "pc/set_up.h"
#include "stencil/scales.hpp"

#include <limits>

using namespace petscrrb;

/* Every rank has all of it. */
static PetscErrorCode SetUpLastBlock(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  s->coarse = rrb->coarse;
  if (!rrb->coarse_set && s->backend->on_device() && s->core->last_block().size() <= rrb::largest_device_inverse)
    s->coarse = PC_RRB_COARSE_INVERSE;
  if (s->coarse == PC_RRB_COARSE_KSP) {
    PetscCall(PCRRBCreateCoarseKSP(pc));
    PetscCall(KSPReset(rrb->coarse_ksp));
  }
  PetscCall(s->backend->SetUpLastBlock(pc, *s->core, s->coarse, rrb->coarse_ksp));
  if (s->coarse == PC_RRB_COARSE_KSP) PetscCall(KSPSetFromOptions(rrb->coarse_ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TellLevels(PC pc) {
  const rrb::Factorization &core = *((PC_RRB *)pc->data)->state->core;
  rrb::GraphReport graph;
  std::vector<index_t> unknowns;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry("PCRRB", [&] { graph = core.graph(), unknowns = core.unknowns_by_level(); }));
  if (!graph.halvings.empty()) {
    PetscCall(PetscInfo(pc, "The direction of strong couplings is halved before plain red nodes are used: %s\n",
                        graph.halvings.c_str()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int l = 0; l < core.options().levels; ++l)
    PetscCall(PetscInfo(pc, "Level %d: %lld unknowns, %.1f couplings each, %s red nodes: %lld\n", l,
                        (long long)unknowns[l], graph.couplings[l], l < graph.plain ? "plain" : "chosen",
                        (long long)(unknowns[l] - unknowns[l + 1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PCRRBMayChoose(PC pc) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  return (PetscBool)(rrb->red_nodes == PC_RRB_RED_NODES_AUTO && rrb->lump_nodes == PC_RRB_LUMP_RED);
}

rrb::Lumping PCRRBLumpingOf(PC pc, PetscReal omega) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  const PCRRBState *s = rrb->state;
  const double *sums = s->values.facts.weights;
  const double weight = (sums[0] + sums[1]) / (double)(s->grid.n[0] * s->grid.n[1] * s->grid.n[2]);
  return {omega, rrb->lump_nodes == PC_RRB_LUMP_BOTH, !s->tested && PCRRBMayChoose(pc), rrb::worth_a_choice,
          Scales::of(weight).to};
}

/* Each of several ranks has the whole factor. */
static PetscErrorCode ShareApplications(PC pc) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  PetscBool shared;

  PetscFunctionBegin;
  PetscCall(s->everywhere->Share(PETSC_FALSE));
  PetscCall(s->backend->Share(pc, *s->core, s->everywhere->cuts(), PCRRBGatherSize(rrb), &shared));
  PetscCall(s->everywhere->Share(shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels on a graph, chosen by the values that were read. */
static PetscErrorCode BuildOnGraph(PC pc, const rrb::Extent &extent, PetscReal omega) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  rrb::Options o;

  PetscFunctionBegin;
  PetscCheck(rrb->lump_nodes == PC_RRB_LUMP_RED, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_rrb_red_nodes support lumps red nodes only: use -pc_rrb_lump_nodes red");
  o.levels = rrb->levels == PETSC_DECIDE ? std::numeric_limits<int>::max() : (int)rrb->levels;
  if (rrb->levels != PETSC_DECIDE) o.last_unknowns = 1;
  o.amli_grid = !rrb->cycle_set || rrb->cycle == PC_RRB_CYCLE_AMLI;
  PetscCall(s->backend->BuildOnGraph(pc, extent, o, rrb->precision == PC_RRB_PRECISION_SINGLE,
                                     PCRRBLumpingOf(pc, omega), &s->core));
  if (s->everywhere) PetscCall(ShareApplications(pc));
  s->cycle = rrb->cycle_set ? rrb->cycle : s->core->options().amli_grid ? PC_RRB_CYCLE_AMLI : PC_RRB_CYCLE_V;
  PetscCall(TellLevels(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with plain red nodes */
static int LevelsOf(const PC_RRB *rrb) {
  const Grid &g = rrb->state->grid;

  if (rrb->levels != PETSC_DECIDE) return (int)PetscMin(rrb->levels, (PetscInt)rrb::max_levels(g.n[0], g.n[1]));
  return rrb->state->backend->on_device() ? rrb::default_device_levels(g.n[0], g.n[1])
                                          : rrb::default_levels(g.n[0], g.n[1], 1024);
}

static rrb::Extent ExtentOf(const Grid &g) {
  return {{0, g.n[0], g.n[0], g.periodic[0]}, {0, g.n[1], g.n[1], g.periodic[1]}};
}

PetscErrorCode PCRRBExpectLevels(PC pc) {
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (!rrb->coarse_set || rrb->coarse == PC_RRB_COARSE_INVERSE)
    rrb->state->backend->ExpectLevels(ExtentOf(rrb->state->grid), LevelsOf(rrb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static_assert((int)rrb::Precision::in_double == PC_RRB_PRECISION_DOUBLE &&
              (int)rrb::Precision::in_single == PC_RRB_PRECISION_SINGLE &&
              (int)rrb::Precision::mixed == PC_RRB_PRECISION_MIXED);

static PetscErrorCode BuildOnGrids(PC pc, const rrb::Extent &extent) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  const Grid &g = s->grid;
  rrb::Options o;

  PetscFunctionBegin;
  const PetscBool device = s->backend->on_device();
  o.levels = LevelsOf(rrb);
  o.block = (int)rrb->compute_block;
  PetscCheck(rrb->storage == PC_RRB_STORAGE_NAIVE || rrb->storage_grids <= o.levels / 2,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_rrb_storage_grids %" PetscInt_FMT " needs %lld levels, but there are %d", rrb->storage_grids,
             2 * (long long)rrb->storage_grids, o.levels);
  if (rrb->storage == PC_RRB_STORAGE_NAIVE)
    o.storage_grids = 0;
  else if (rrb->storage_grids != PETSC_DECIDE)
    o.storage_grids = (int)rrb->storage_grids;
  else if (device) /* where a loop in another order is a launch more */
    o.storage_grids = o.levels / 2;
  else
    o.storage_grids = rrb::max_storage_grids(g.n[0], g.n[1], o.block, o.levels);
  s->cycle = rrb->cycle;
  if (!rrb->cycle_set) { /* a device that solves the last block on the host does not want to do so twice */
    const bool waits = device && rrb->coarse_set && rrb->coarse != PC_RRB_COARSE_INVERSE;
    s->cycle = o.levels >= rrb::amli_from_levels && !waits ? PC_RRB_CYCLE_AMLI : PC_RRB_CYCLE_V;
  }
  if (s->cycle == PC_RRB_CYCLE_AMLI)
    o.amli_grid = rrb::default_amli_grid(o.levels), o.amli_apart = rrb::default_amli_apart(o.levels);
  const bool in_double = s->in_double && rrb->precision == PC_RRB_PRECISION_MIXED;
  PetscCall(s->backend->Build(pc, extent, o, in_double ? rrb::Precision::in_double : (rrb::Precision)rrb->precision,
                              &s->core));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBBuildLevels(PC pc, PetscReal omega) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  const Grid &g = s->grid;
  const index_t points = g.n[0] * g.n[1] * g.n[2];
  const rrb::Extent all{{0, points, points, false}, {0, 1, 1, false}}, extent = s->on_graph ? all : ExtentOf(g);

  PetscFunctionBegin;
  s->build = PetscRRBNewBuild();
  s->tested = PETSC_FALSE;
  if (s->support)
    PetscCall(BuildOnGraph(pc, extent, omega));
  else
    PetscCall(BuildOnGrids(pc, extent));
  s->as_built = s->support;
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCRRB", [&] { return SetUpLastBlock(pc); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where AMLI's steps are, and lambda_max of each: of those that are taken, or of all where none is. */
std::string PCRRBDescribeCycle(const PCRRBState &s) {
  const bool used = rrb::Cycle(*s.core).used() != 0;
  std::string where, lambdas;

  if (s.cycle == PC_RRB_CYCLE_V) return "v";
  if (!s.core->steps()) return "v (too few levels for amli)";
  for (int k = 0; k < s.core->steps(); ++k) {
    const rrb::AmliReport a = s.core->step(k).amli();
    const char *comma = where.empty() ? "" : ", ";
    char lambda[32];

    if (used && !a.used) continue;
    (void)PetscSNPrintf(lambda, sizeof(lambda), used ? "%s%.2f" : "%s%.3g", comma, a.lambda_max);
    lambdas += lambda;
    if (where.empty() && !s.support) where = "grid ";
    where += comma + std::to_string(a.nx) + (s.support ? "" : " x " + std::to_string(a.ny));
  }
  if (s.support) where += " unknowns";
  return used ? "amli at " + where + ", lambda_max " + lambdas
              : "v (amli would not help at " + where + ": lambda_max " + lambdas + ")";
}
