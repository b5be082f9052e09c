/* PCRRB where the matrix is on the host. */
#include "pc/rrb/pcrrb_host.h"

#include <cmath>
#include <numeric>

using namespace petscrrb;

PetscErrorCode PCRRBHost::FindGrid(PC pc, const Csr &csr, Grid *grid) {
  PetscErrorCode found = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("PCRRB"),
                        [&] { found = PCRRBFindGridOfRows(pc, PetscRRBRowsOnHost(csr, PetscRRBSay("PCRRB")), grid); }));
  PetscCall(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCRRBHost::weights(double *x, double *y) const {
  *x = std::accumulate(stencil_.E.begin(), stencil_.E.end(), 0.0);
  *y = std::accumulate(stencil_.N.begin(), stencil_.N.end(), 0.0);
}

/* A vector that is 0 or not finite at a row with couplings says nothing about it: then 1 everywhere. Identity rows: 1. */
PetscErrorCode PCRRBHost::ReadNearNullVector(PC pc, Vec near_null) {
  std::vector<double> &v = stencil_.v;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay("PCRRB"), [&] { v.resize(near_null ? stencil_.C.size() : 0); }));
  if (!near_null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(near_null, &x));
  std::copy_n(x, v.size(), v.data());
  PetscCall(VecRestoreArrayRead(near_null, &x));
  for (size_t i = 0; i < v.size(); ++i) {
    if (facts_.identity[i]) v[i] = 1.0;
    if (v[i] != 0.0 && std::isfinite(v[i])) continue;
    PetscCall(
        PetscInfo(pc, "The near null space is %g at row %zu: the constant vector is taken in its place\n", v[i], i));
    v.clear();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool ring_is_cut(const Stencil &s, const Grid &g) {
  const index_t nx = g.n[0], ny = g.n[1];
  const auto at = [](const std::vector<double> &a, index_t p) { return !a.empty() && a[p] != 0.0; };
  bool x = !g.periodic[0], y = !g.periodic[1];

  for (index_t j = 0; j < ny && !x; ++j) x = at(s.E, j * nx + nx - 1) || at(s.NE, j * nx + nx - 1) || at(s.NW, j * nx);
  for (index_t p = (ny - 1) * nx; p < ny * nx && !y; ++p) y = at(s.N, p) || at(s.NE, p) || at(s.NW, p);
  return !x || !y;
}

PetscErrorCode PCRRBHost::Read(PC pc, const Csr &csr, const Grid &grid, Vec near_null, double rounding,
                               PCRRBValues *values) {
  PetscFunctionBegin;
  *values = PCRRBValues();
  PetscCall(PetscRRBTry(PetscRRBSay("PCRRB"),
                        [&] { values->result = read_stencil(csr, grid, stencil_, facts_, values->why); }));
  if (values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  values->identity_rows = facts_.identity_rows;
  values->positive = facts_.positive;
  values->not_positive = (PetscBool)facts_.not_positive;
  values->simpler = (PetscBool)(ring_is_cut(stencil_, grid) || (grid.points == 9 && !facts_.corners));
  PetscCall(ReadNearNullVector(pc, near_null));
  values->scaled = (PetscBool)!stencil_.v.empty();
  rrb::prepare(stencil_, grid, rounding);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBHost::Build(PC, const rrb::Extent &extent, const rrb::Options &o, PetscBool single,
                                std::unique_ptr<Core> *core) {
  PetscFunctionBegin;
  PetscCall(coarse_.Reset());
  core->reset();
  PetscCall(PetscRRBTry(PetscRRBSay("PCRRB"),
                        [&] { *core = rrb::make_factorization<PetscInt>(host_, extent, o, single != PETSC_FALSE); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBHost::Factor(Core &core, rrb::Lumping lumping) {
  core.refresh(rrb::prepared(stencil_), lumping);
  return PETSC_SUCCESS;
}

PetscErrorCode PCRRBHost::SetUpLastBlock(PC, Core &core, PCRRBCoarse type, KSP ksp) {
  return coarse_.SetUp(&core.last_block(), type, ksp);
}

PetscErrorCode PCRRBHost::FactorLastBlock(Core &core, rrb::Outcome *outcome, PetscBool *spd) {
  *outcome = core.outcome();
  *spd = outcome->ok ? PETSC_TRUE : PETSC_FALSE;
  return outcome->ok ? coarse_.Refresh(spd) : PETSC_SUCCESS;
}

PetscErrorCode PCRRBHost::EstimateForCycle(Core &core) { return rrb::Cycle(core).estimate(LastBlockSolver(core)); }

PetscErrorCode PCRRBHost::Apply(PC pc, Core &core, Vec x, Vec y, rrb::Part part) {
  const PetscScalar *r;
  PetscScalar *z;

  PetscFunctionBegin;
  PetscCall(vectors_.Say(pc, "PCRRB", x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(VecGetArrayWrite(y, &z));
  PetscCall(rrb::Cycle(core).apply(r, z, part, LastBlockSolver(core)));
  PetscCall(VecRestoreArrayWrite(y, &z));
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(PetscLogFlops(PCRRBFlops(pc, part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBHost::CreateSolver(PC, Core &core, PetscBool full, std::unique_ptr<KSPRRBSolver> *solver) {
  return KSPRRBCreateHost(host_, core, full, LastBlockSolver(core), solver);
}

PetscErrorCode PCRRBCreateHost(std::unique_ptr<PCRRBBackend> *backend) {
  return PetscRRBTry(PetscRRBSay("PCRRB"), [&] { *backend = std::make_unique<PCRRBHost>(); });
}
