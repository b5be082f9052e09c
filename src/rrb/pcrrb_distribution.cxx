/* What PCRRB on several ranks reads of the matrix: its grid, the boxes of the ranks, the values of their rows. */
#include "rrb/pcrrb_distribution.h"

#include "grid/refusal.hpp"
#include "grid/text.hpp"
#include "rrb/prepare.hpp"

#include <cmath>

using namespace petscrrb;

static PetscRRBTrouble SayNoMemory(const std::exception &e) {
  return {std::string("No memory for the rows of the matrix: ") + e.what(), PETSC_ERR_MEM};
}

static PetscErrorCode NoMemory(const std::exception &e) {
  const PetscRRBTrouble trouble = SayNoMemory(e);
  SETERRQ(PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
}

PCRRBDistribution::~PCRRBDistribution() { (void)PetscSFDestroy(&lines_); }

/* --- the grid --- */

PetscErrorCode PCRRBDistribution::BuildOverlap(PC pc) {
  const Mat P = ((PC_RRB *)pc->data)->state->on_ranks;

  PetscFunctionBegin;
  if (!built_) PetscCall(overlap_.Build(pc, pc->pmat, P, 1));
  built_ = true;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory,
                                [&] { a_.resize((std::size_t)overlap_.entries()); }));
  PetscCall(overlap_.Bring(P, PETSC_FALSE, a_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows to the boxes, where a box's lines are not all on its rank. */
PetscErrorCode PCRRBDistribution::Connect(Mat P) {
  PetscLayout layout;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, nullptr));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)P), &rank));
  std::vector<PetscInt> row;
  for (index_t p = cuts_.y[(std::size_t)rank] * cuts_.x[1]; p < cuts_.y[(std::size_t)rank + 1] * cuts_.x[1]; ++p)
    row.push_back((PetscInt)p);
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)P), &lines_));
  PetscCall(PetscSFSetGraphLayout(lines_, layout, (PetscInt)row.size(), nullptr, PETSC_COPY_VALUES, row.data()));
  PetscCall(PetscSFSetUp(lines_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes, and the grid where somebody tells it: sizes that the user gave must be those of the DMDA that numbers the rows,
   if there is one. Sizes of 0 where nobody does. */
PetscErrorCode PCRRBDistribution::FindCuts(PC pc, Grid *grid) {
  const PetscInt *given = ((PC_RRB *)pc->data)->grid;
  PetscBool on_dmda;

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&lines_));
  PetscCall(PetscRRBCutsOfDMDA(pc, pc->pmat, grid, &cuts_, &on_dmda));
  if (!on_dmda) {
    *grid = Grid();
    grid->n[0] = given[0], grid->n[1] = given[1];
    if (given[0] > 0) grid->source = "option";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(given[0] <= 0 || (given[0] == grid->n[0] && given[1] == grid->n[1]), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_INCOMP,
             "-pc_rrb_grid %" PetscInt_FMT ",%" PetscInt_FMT
             " is not the grid of the %s, %lld x %lld points, which numbers "
             "the rows: leave the option out",
             given[0], given[1], grid->source.c_str(), (long long)grid->n[0], (long long)grid->n[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::FindGrid(PC pc, Grid *grid) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt rows;
  PetscBool whole;
  std::string why, source, option;

  PetscFunctionBegin;
  PetscCall(BuildOverlap(pc));
  PetscCall(FindCuts(pc, grid));
  PetscCall(PetscRRBFullName(pc, "-pc_rrb_grid", &option));
  PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
  const bool told = grid->n[0] > 0;
  source = told ? grid->source : "matrix pattern";
  PetscCall(PetscRRBTry(NoMemory, [&] {
    PetscRRBPatternOnRanks pattern(comm, overlap_, a_.data(), rows);
    why = told ? check_grid(pattern, Widest::flat, option.c_str(), *grid)
               : find_grid(pattern, Widest::flat, option.c_str(), *grid);
  }));
  grid->source = source;
  const bool by_rows = source == "option" || source == "matrix pattern";
  PetscCheck(why.empty(), comm, told ? PETSC_ERR_ARG_INCOMP : PETSC_ERR_ARG_WRONG, "%s%s", why.c_str(),
             by_rows
                 ? ". With several ranks and without a DMDA rows are numbered in natural order, the first lines on the "
                   "first rank"
                 : "");
  if (by_rows) {
    PetscCall(PetscRRBCutsOfRows(pc->pmat, *grid, &cuts_, &whole));
    if (!whole) PetscCall(Connect(pc->pmat));
  }
  PetscCall(
      PetscRRBTryTogether(comm, SayNoMemory, [&] { places_.find(overlap_.rows(a_.data()), overlap_.order(), *grid); }));
  PetscCall(PetscInfo(pc, "Grid of %lld x %lld points, from the %s\n", (long long)grid->n[0], (long long)grid->n[1],
                      source.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the user says nothing: what an exchange costs on hosts, and on devices (docs/design_ranks.md, "The gather"). */
void PCRRBDistribution::SetBoxes(PC pc, const rrb::Extent &all, int levels) {
  const PC_RRB *rrb = (const PC_RRB *)pc->data;
  const PetscInt size = rrb->gather_size != PETSC_DECIDE   ? rrb->gather_size
                        : rrb->state->backend->on_device() ? PCRRBDefaultGatherSizeOnDevices
                                                           : PCRRBDefaultGatherSize;

  boxes_ = std::make_unique<rrb::Boxes>(cuts_.x, cuts_.y, all.x.periodic, all.y.periodic);
  gathered_ = rrb::gathered_grid(*boxes_, levels, size);
}

PetscErrorCode PCRRBDistribution::View(PetscViewer viewer) const {
  const rrb::Extent x = boxes_->all(gathered_);

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the same as on one rank, on %d: %d x %d boxes%s\n", boxes_->count(),
                                   (int)cuts_.x.size() - 1, (int)cuts_.y.size() - 1,
                                   lines_ ? "; some rows are on another rank than their line" : ""));
  if (gathered_ > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "grids 0 to %d are distributed, ", gathered_ - 1));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s is distributed, ", gathered_ ? "grid 0" : "no grid"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid %d (%lld x %lld) is on every rank\n", gathered_, (long long)x.x.n,
                                   (long long)x.y.n));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double PCRRBDistribution::bytes() const {
  return 8.0 * (double)(rows_.C.size() + rows_.E.size() + rows_.N.size() + rows_.NE.size() + rows_.NW.size() +
                        a_.size() + v_.size()) +
         (double)(identity_.size() + places_.bytes()) +
         (double)sizeof(PetscInt) * (double)(overlap_.ja().size() + overlap_.ia().size());
}

/* --- values --- */

/* A vector that is 0 or not finite at a row with couplings says nothing about it: then 1 everywhere. Identity rows: 1. */
PetscErrorCode PCRRBDistribution::ReadNearNullVector(PC pc, Vec near_null) {
  const std::size_t own = (std::size_t)overlap_.own();
  const PetscScalar *x;
  PetscMPIInt usable = 1;

  PetscFunctionBegin;
  v_.resize(near_null ? own + (std::size_t)overlap_.ghosts() : 0);
  if (!near_null) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(near_null, &x));
  for (std::size_t i = 0; i < own; ++i) {
    v_[i] = identity_[i] ? 1.0 : x[i];
    if (v_[i] == 0.0 || !std::isfinite(v_[i])) usable = 0;
  }
  PetscCall(VecRestoreArrayRead(near_null, &x));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (usable)
    PetscCall(overlap_.BringRows(v_.data()));
  else {
    PetscCall(
        PetscInfo(pc, "The near null space is 0 or not finite somewhere: the constant vector is taken in its place\n"));
    v_.clear();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all ranks together have found. */
PetscErrorCode PCRRBDistribution::Agree(PC pc) {
  rrb::RowFacts &f = facts_;
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double sums[] = {f.identity, f.positive, f.weights[0], f.weights[1]};
  double most[] = {f.diagonal,        f.asymmetry,          (double)f.not_finite, (double)f.foreign,
                   (double)f.corners, (double)f.crosses[0], (double)f.crosses[1]};

  PetscFunctionBegin;
  if (f.not_finite) most[0] = most[1] = 0; /* a maximum with NaN is anything */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 7, MPI_DOUBLE, MPI_MAX, comm));
  f.identity = sums[0], f.positive = sums[1], f.weights[0] = sums[2], f.weights[1] = sums[3];
  f.diagonal = most[0], f.asymmetry = most[1];
  f.not_finite = most[2] > 0, f.foreign = most[3] > 0, f.corners = most[4] > 0;
  f.crosses[0] = most[5] > 0, f.crosses[1] = most[6] > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::WhyRefused(PC pc, const Grid &g, PCRRBValues *values) {
  PetscRRBTrouble trouble;
  const auto words = [&](PetscInt row, PetscInt column) {
    const auto at = [&](PetscInt p) {
      return text(index_t(overlap_.global(p))) + " at " + place(g, overlap_.order()[(std::size_t)p]);
    };
    return "row " + at(row) + ", column " + at(column);
  };

  PetscFunctionBegin;
  const Csr rows = overlap_.rows(a_.data());
  trouble.why =
      facts_.not_finite ? where_not_finite(rows, words) : where_asymmetric(rows, identity_, facts_.diagonal, words);
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), &trouble));
  values->why = trouble.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::MoveToBoxes(Stencil &stencil) {
  PetscFunctionBegin;
  const auto field = [this](const double *from, std::vector<double> &to) {
    PetscFunctionBegin;
    PetscCall(PetscSFBcastBegin(lines_, MPIU_SCALAR, from, to.data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(lines_, MPIU_SCALAR, from, to.data(), MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(field(rows_.C.data(), stencil.C));
  PetscCall(field(rows_.E.data(), stencil.E));
  PetscCall(field(rows_.N.data(), stencil.N));
  if (corners_) PetscCall(field(rows_.NE.data(), stencil.NE));
  if (corners_) PetscCall(field(rows_.NW.data(), stencil.NW));
  if (!v_.empty()) PetscCall(field(v_.data(), stencil.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::Read(PC pc, const Grid &grid, Vec near_null, double rounding, Stencil &stencil,
                                       PCRRBValues *values) {
  const std::size_t own = (std::size_t)overlap_.own();

  PetscFunctionBegin;
  *values = PCRRBValues();
  PetscCall(BuildOverlap(pc));
  Csr all = overlap_.rows(a_.data());
  all.n += overlap_.ghosts();
  (void)mark_identity(all, identity_);
  PetscCall(ReadNearNullVector(pc, near_null));
  corners_ = grid.points == 9;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory, [&] {
    const auto size = [&](Stencil &s, std::size_t n) {
      for (auto *a : {&s.C, &s.E, &s.N}) a->resize(n);
      for (auto *a : {&s.NE, &s.NW}) a->resize(corners_ ? n : 0);
    };
    PetscMPIInt rank;
    (void)MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank);
    const std::size_t r = (std::size_t)rank;
    const std::size_t box = lines_ ? (std::size_t)((cuts_.y[r + 1] - cuts_.y[r]) * grid.n[0]) : own;
    size(stencil, box);
    stencil.v.resize(v_.empty() ? 0 : box);
    if (lines_) size(rows_, own);
    facts_ =
        rrb::read_rows({overlap_.rows(a_.data()), places_.direction.data(), places_.transposed.data(),
                        overlap_.order().data(), identity_.data(), v_.empty() ? nullptr : v_.data(), grid.n[0],
                        grid.n[1], grid.points, rounding, Positive::moves, rrb::prepared(lines_ ? rows_ : stencil)});
  }));
  PetscCall(Agree(pc));
  const rrb::RowFacts &f = facts_;
  const bool asymmetric = f.asymmetry > symmetric * f.diagonal;
  values->result = f.not_finite ? ReadResult::refused
                   : f.foreign  ? ReadResult::rebuild
                   : asymmetric ? ReadResult::refused
                                : ReadResult::ok;
  if (values->result == ReadResult::refused) PetscCall(WhyRefused(pc, grid, values));
  if (values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  values->identity_rows = (index_t)f.identity;
  values->positive = (index_t)f.positive;
  values->simpler = (PetscBool)((grid.periodic[0] && !f.crosses[0]) || (grid.periodic[1] && !f.crosses[1]) ||
                                (corners_ && !f.corners));
  values->scaled = (PetscBool)!v_.empty();
  if (lines_)
    PetscCall(MoveToBoxes(stencil));
  else if (!v_.empty())
    std::copy_n(v_.data(), own, stencil.v.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}
