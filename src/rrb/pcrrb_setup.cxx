/* PCSetUp() of PCRRB: the grid, the values, the factorization, and what is said when they will not do. */
#include "glue/findgrid.h"
#include "rrb/pcrrb_impl.h"
#include "rrb/prepare.hpp"

#include <cmath>

using namespace petscrrb;

/* The vector that M shares with A: the near null space's first one, else any of the null space; the constant one is not
   stored. A null space of several vectors is one of a matrix in several parts, and each of them may be zero on most
   parts: what we take must be zero on none. */
static PetscErrorCode GetNearNullVector(PC pc, const Csr &csr) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  MatNullSpace near, null;
  PetscBool has_constant;
  PetscInt vectors, size;
  const Vec *basis;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(pc->pmat, &near));
  PetscCall(MatGetNullSpace(pc->pmat, &null));
  s->rounding = null ? 1e-10 : 1e-14; /* where the application says that A v = 0, small row sums are errors */
  const MatNullSpace space = near ? near : null;
  if (space) PetscCall(MatNullSpaceGetVecs(space, &has_constant, &vectors, &basis));
  if (!space || has_constant || vectors < 1) {
    s->stencil.v.clear();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->stencil.v.assign(csr.n, 0.0);
  for (PetscInt k = 0; k < (near ? 1 : vectors); ++k) {
    PetscCall(VecGetLocalSize(basis[k], &size));
    PetscCheck(size == csr.n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
               "The near null space has vectors of length %" PetscInt_FMT ", the matrix has %" PetscInt_FMT " rows",
               size, csr.n);
    PetscCall(VecGetArrayRead(basis[k], &x));
    for (PetscInt i = 0; i < size; ++i)
      s->stencil.v[i] += (1.0 + 0.6180339887 * k) * x[i]; /* uneven, so that hardly a sum vanishes */
    PetscCall(VecRestoreArrayRead(basis[k], &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that is 0 or not finite at a row with couplings says nothing about it: then 1 everywhere. Identity rows: 1. */
static PetscErrorCode CheckNearNullVector(PC pc) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  std::vector<double> &v = s->stencil.v;

  PetscFunctionBegin;
  for (size_t i = 0; i < v.size(); ++i) {
    if (s->facts.identity[i]) v[i] = 1.0;
    if (v[i] != 0.0 && std::isfinite(v[i])) continue;
    PetscCall(
        PetscInfo(pc, "The near null space is %g at row %zu: the constant vector is taken in its place\n", v[i], i));
    v.clear();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A periodic side that no value crosses any more: another grid than before. */
static bool RingIsCut(const Stencil &s, const Grid &g) {
  const index_t nx = g.n[0], ny = g.n[1];
  const auto at = [](const std::vector<double> &a, index_t p) { return !a.empty() && a[p] != 0.0; };
  bool x = !g.periodic[0], y = !g.periodic[1];

  for (index_t j = 0; j < ny && !x; ++j) x = at(s.E, j * nx + nx - 1) || at(s.NE, j * nx + nx - 1) || at(s.NW, j * nx);
  for (index_t p = (ny - 1) * nx; p < ny * nx && !y; ++p) y = at(s.N, p) || at(s.NE, p) || at(s.NW, p);
  return !x || !y;
}

/* Values of Pmat into the stencil; *rebuild where they are of another kind than at the last setup. */
static PetscErrorCode ReadValues(PC pc, const Csr &csr, PetscBool *rebuild) {
  PCRRBState *s = ((PC_RRB *)pc->data)->state;
  std::string why;

  PetscFunctionBegin;
  PetscCall(GetNearNullVector(pc, csr));
  ReadResult result = ReadResult::refused;
  try {
    result = read_stencil(csr, s->grid, s->stencil, s->facts, why);
  } catch (const std::bad_alloc &) {
    s->stencil = Stencil();
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the stencil of a matrix of %" PetscInt_FMT " rows", csr.n);
  }
  PetscCheck(result != ReadResult::refused, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "PCRRB cannot use this matrix: %s", why.c_str());
  *rebuild = (PetscBool)(result == ReadResult::rebuild || (s->core && RingIsCut(s->stencil, s->grid)));
  if (result == ReadResult::ok) {
    PetscCall(CheckNearNullVector(pc));
    rrb::prepare(s->stencil, s->grid, s->rounding);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything that depends on the grid and on the options, but not on values. */
static PetscErrorCode Build(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  const Grid &g = s->grid;
  rrb::Options o;

  PetscFunctionBegin;
  o.levels = rrb->levels == PETSC_DECIDE ? rrb::default_levels(g.n[0], g.n[1], 1024)
                                         : (int)PetscMin(rrb->levels, (PetscInt)rrb::max_levels(g.n[0], g.n[1]));
  o.block = (int)rrb->compute_block;
  if (rrb->storage == PC_RRB_STORAGE_NAIVE)
    o.storage_grids = 0;
  else if (rrb->storage_grids == PETSC_DECIDE)
    o.storage_grids = rrb::max_storage_grids(g.n[0], g.n[1], o.block, o.levels);
  else
    o.storage_grids = (int)rrb->storage_grids;
  PetscCheck(2 * o.storage_grids <= o.levels, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_rrb_storage_grids %d needs %d levels, there are %d", o.storage_grids, 2 * o.storage_grids, o.levels);
  const rrb::Extent extent{{0, g.n[0], g.n[0], g.periodic[0]}, {0, g.n[1], g.n[1], g.periodic[1]}};
  PetscCall(s->coarse.Reset());
  s->core.reset();
  try {
    s->core = rrb::make_factorization<PetscInt>(s->host, extent, o, false);
  } catch (const std::bad_alloc &) {
    s->core.reset();
  }
  PetscCheck(s->core, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the RRB factor of a grid of %lld x %lld points",
             (long long)g.n[0], (long long)g.n[1]);
  if (rrb->coarse == PC_RRB_COARSE_KSP) {
    PetscCall(PCRRBCreateCoarseKSP(pc));
    PetscCall(KSPReset(rrb->coarse_ksp));
  }
  PetscCall(s->coarse.SetUp(&s->core->last_block(), rrb->coarse, rrb->coarse_ksp));
  if (rrb->coarse == PC_RRB_COARSE_KSP) PetscCall(KSPSetFromOptions(rrb->coarse_ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(PC pc, PetscReal omega, PetscBool *ok) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;

  PetscFunctionBegin;
  s->core->refresh(rrb::prepared(s->stencil), {omega, rrb->lump_nodes == PC_RRB_LUMP_BOTH});
  s->outcome = s->core->outcome();
  *ok = s->outcome.ok ? PETSC_TRUE : PETSC_FALSE;
  if (*ok) PetscCall(s->coarse.Refresh(ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportFailure(PC pc) {
  const rrb::Outcome &o = ((PC_RRB *)pc->data)->state->outcome;
  char where[128];

  PetscFunctionBegin;
  if (o.ok)
    PetscCall(PetscSNPrintf(where, sizeof(where), "in the last block"));
  else
    PetscCall(PetscSNPrintf(where, sizeof(where), "at grid point (%lld, %lld), level %d", (long long)o.failed_i,
                            (long long)o.failed_j, o.failed_level));
  PetscCheck(!pc->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT,
             "RRB: a pivot is not positive %s, not even without lumping: the matrix is not positive definite", where);
  PetscCall(PetscInfo(
      pc, "RRB: a pivot is not positive %s, not even without lumping: the matrix is not positive definite\n", where));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_NUMERIC_ZEROPIVOT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportWarnings(PC pc) {
  const PCRRBState *s = ((PC_RRB *)pc->data)->state;
  double x = 0, y = 0;

  PetscFunctionBegin;
  for (const double e : s->stencil.E) x += PetscAbsReal(e);
  for (const double n : s->stencil.N) y += PetscAbsReal(n);
  if (x > 50 * y || y > 50 * x)
    PetscCall(PetscInfo(pc,
                        "The couplings in %s are %.0f times stronger than in %s: RRB converges slowly on strongly "
                        "anisotropic problems\n",
                        x > y ? "x" : "y", x > y ? x / y : y / x, x > y ? "y" : "x"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFromRows(PC pc, const Csr &csr, PetscBool rebuild) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  PCRRBState *s = rrb->state;
  PetscBool ok = PETSC_FALSE;

  PetscFunctionBegin;
  if (!rebuild) {
    PetscCall(ReadValues(pc, csr, &rebuild));
    if (rebuild) PetscCall(PetscInfo(pc, "The matrix has other couplings than before: the hierarchy is built again\n"));
  }
  if (rebuild) {
    s->stencil = Stencil();
    PetscCall(PetscRRBFindGrid(pc, pc->pmat, 2, rrb->grid, "-pc_rrb_grid", csr, &s->grid));
    PetscCall(ReadValues(pc, csr, &ok));
    PetscCall(Build(pc));
  }
  if (rebuild && pc->setupcalled == PETSC_FALSE) PetscCall(ReportWarnings(pc));
  s->omega_dropped = false;
  PetscCall(Factor(pc, rrb->lumping, &ok));
  if (!ok && rrb->lumping > 0) {
    PetscCall(PetscInfo(pc, "A pivot is not positive: the factorization is done again without lumping\n"));
    PetscCall(ReadValues(pc, csr, &rebuild)); /* the first attempt overwrote it */
    s->omega_dropped = true;
    PetscCall(Factor(pc, 0.0, &ok));
  }
  s->failed = !ok;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_RRB(PC pc) {
  PC_RRB *rrb = (PC_RRB *)pc->data;
  const PetscBool rebuild =
      (PetscBool)(!rrb->state || !rrb->state->core || !pc->setupcalled || pc->flag == DIFFERENT_NONZERO_PATTERN);

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  if (rebuild) PetscCall(PCReset_RRB(pc));
  if (!rrb->state) rrb->state = new PCRRBState;
  PCRRBState *s = rrb->state;
  PetscCall(PetscRRBMatrixGet(pc, pc->pmat, &s->rows));
  const PetscErrorCode result = SetUpFromRows(pc, s->rows.csr, rebuild);
  PetscCall(PetscRRBMatrixRestore(&s->rows)); /* of a refused matrix too: it may be gone at the next call */
  PetscCall(result);
  if (s->failed) PetscCall(ReportFailure(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
