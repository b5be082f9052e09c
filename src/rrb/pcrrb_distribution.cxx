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

/* The rows of on_ranks and their ghosts, as they are now. grid: NULL where it is not known yet. */
PetscErrorCode PCRRBDistribution::BringRows(PC pc, const Grid *grid) {
  const Mat P = ((PC_RRB *)pc->data)->state->on_ranks;
  PetscObjectId id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(MatGetNonzeroState(pc->pmat, &pattern));
  const bool other = id != source_ || pattern != pattern_;
  if (other) PetscCall(overlap_.Build(pc, pc->pmat, P, 1));
  source_ = id;
  pattern_ = pattern;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory, [&] {
    a_.resize((std::size_t)overlap_.entries());
    if (other && grid) places_.find(overlap_.rows(a_.data()), overlap_.order(), *grid);
  }));
  PetscCall(overlap_.Bring(P, PETSC_FALSE, a_.data()));
  if (!grid) PetscFunctionReturn(PETSC_SUCCESS);
  Csr all = overlap_.rows(a_.data());
  all.n += overlap_.ghosts();
  (void)mark_identity(all, identity_);
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
  PetscCall(BringRows(pc, nullptr));
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

void PCRRBDistribution::SetBoxes(PC pc, const rrb::Extent &all, int levels) {
  boxes_ = std::make_unique<rrb::Boxes>(cuts_.x, cuts_.y, all.x.periodic, all.y.periodic);
  gathered_ = rrb::gathered_grid(*boxes_, levels, PCRRBGatherSize((const PC_RRB *)pc->data));
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
static PetscErrorCode Agree(PC pc, rrb::RowFacts &f) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  double sums[] = {f.identity, f.positive, f.weights[0], f.weights[1], f.zero_rows, f.decoupled};
  double most[] = {f.diagonal,        f.asymmetry,          (double)f.not_finite, (double)f.foreign,
                   (double)f.corners, (double)f.crosses[0], (double)f.crosses[1]};

  PetscFunctionBegin;
  if (f.not_finite) most[0] = most[1] = 0; /* a maximum with NaN is anything */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 7, MPI_DOUBLE, MPI_MAX, comm));
  f.identity = sums[0], f.positive = sums[1], f.weights[0] = sums[2], f.weights[1] = sums[3];
  f.zero_rows = sums[4], f.decoupled = sums[5];
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

PetscErrorCode PCRRBDistribution::ToBoxes(const PetscScalar *rows, PetscScalar *box) const {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(lines_, MPIU_SCALAR, rows, box, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(lines_, MPIU_SCALAR, rows, box, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::ToRows(const PetscScalar *box, PetscScalar *rows) const {
  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(lines_, MPIU_SCALAR, box, rows, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(lines_, MPIU_SCALAR, box, rows, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::MoveToBoxes(Stencil &stencil) const {
  PetscFunctionBegin;
  PetscCall(ToBoxes(rows_.C.data(), stencil.C.data()));
  PetscCall(ToBoxes(rows_.E.data(), stencil.E.data()));
  PetscCall(ToBoxes(rows_.N.data(), stencil.N.data()));
  if (corners_) PetscCall(ToBoxes(rows_.NE.data(), stencil.NE.data()));
  if (corners_) PetscCall(ToBoxes(rows_.NW.data(), stencil.NW.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BringRows() has brought them. The stencil is the box's if they are as they should be. */
PetscErrorCode PCRRBDistribution::ReadRows(PC pc, const Grid &grid, double rounding, Positive positive,
                                           Stencil &stencil, rrb::RowFacts *facts, ReadResult *result) {
  const std::size_t own = (std::size_t)overlap_.own();

  PetscFunctionBegin;
  corners_ = grid.points == 9;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory, [&] {
    const auto size = [&](Stencil &s, std::size_t n) {
      for (auto *a : {&s.C, &s.E, &s.N}) a->resize(n);
      for (auto *a : {&s.NE, &s.NW}) a->resize(corners_ ? n : 0);
    };
    PetscMPIInt rank;
    (void)MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank);
    const std::size_t r = (std::size_t)rank;
    size(stencil, lines_ ? (std::size_t)((cuts_.y[r + 1] - cuts_.y[r]) * grid.n[0]) : own);
    if (lines_) size(rows_, own);
    *facts = rrb::read_rows({overlap_.rows(a_.data()), places_.direction.data(), places_.transposed.data(),
                             overlap_.order().data(), identity_.data(), v_.empty() ? nullptr : v_.data(), grid.n[0],
                             grid.n[1], grid.points, rounding, positive, rrb::prepared(lines_ ? rows_ : stencil)});
  }));
  PetscCall(Agree(pc, *facts));
  const bool asymmetric = facts->asymmetry > symmetric * facts->diagonal;
  *result = facts->not_finite ? ReadResult::refused
            : facts->foreign  ? ReadResult::rebuild
            : asymmetric      ? ReadResult::refused
                              : ReadResult::ok;
  if (*result == ReadResult::ok && lines_) PetscCall(MoveToBoxes(stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::Read(PC pc, const Grid &grid, Vec near_null, double rounding, Stencil &stencil,
                                       PCRRBValues *values) {
  const rrb::RowFacts &f = facts_;

  PetscFunctionBegin;
  *values = PCRRBValues();
  PetscCall(BringRows(pc, &grid));
  PetscCall(ReadNearNullVector(pc, near_null));
  PetscCall(ReadRows(pc, grid, rounding, Positive::moves, stencil, &facts_, &values->result));
  if (values->result == ReadResult::refused) PetscCall(WhyRefused(pc, grid, values));
  if (values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  values->identity_rows = (index_t)f.identity;
  values->positive = (index_t)f.positive;
  values->simpler = (PetscBool)((grid.periodic[0] && !f.crosses[0]) || (grid.periodic[1] && !f.crosses[1]) ||
                                (corners_ && !f.corners));
  values->scaled = (PetscBool)!v_.empty();
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory,
                                [&] { stencil.v.resize(v_.empty() ? 0 : stencil.C.size()); }));
  if (v_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (lines_)
    PetscCall(ToBoxes(v_.data(), stencil.v.data()));
  else
    std::copy_n(v_.data(), stencil.v.size(), stencil.v.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::ReadForSolver(PC pc, const Grid &grid, double rounding, Stencil &stencil,
                                                std::vector<KnownRow> *known, rrb::RowFacts *facts,
                                                ReadResult *result) {
  PetscFunctionBegin;
  PetscCall(BringRows(pc, &grid));
  if (!v_.empty()) { /* the ghosts may be others */
    v_.resize((std::size_t)(overlap_.own() + overlap_.ghosts()));
    PetscCall(overlap_.BringRows(v_.data()));
  }
  PetscCall(ReadRows(pc, grid, rounding, Positive::stays, stencil, facts, result));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), SayNoMemory, [&] {
    const std::vector<double> &diagonal = lines_ ? rows_.C : stencil.C;
    known->clear();
    for (PetscInt p = 0; facts->decoupled > 0 && p < overlap_.own(); ++p)
      if (identity_[(std::size_t)p]) known->push_back({p, diagonal[(std::size_t)p]});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
