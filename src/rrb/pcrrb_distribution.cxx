/* What PCRRB on several ranks reads of the matrix: its grid, the boxes of the ranks, the values of their rows. */
#include "rrb/pcrrb_distribution.h"

#include "grid/refusal.hpp"
#include "grid/text.hpp"

using namespace petscrrb;

static PetscErrorCode NoMemory(const std::exception &e) {
  const PetscRRBTrouble trouble = PCRRBSayNoMemoryForRows(e);
  SETERRQ(PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
}

PCRRBDistribution::~PCRRBDistribution() { (void)PetscSFDestroy(&lines_); }

/* --- the grid --- */

PetscErrorCode PCRRBDistribution::FollowPattern(PC pc) {
  PetscObjectId id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(MatGetNonzeroState(pc->pmat, &pattern));
  if (id == source_ && pattern == pattern_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(overlap_.Build(pc, pc->pmat, ((PC_RRB *)pc->data)->state->on_ranks, 1));
  source_ = id;
  pattern_ = pattern;
  prepared_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For what is asked once, or about an error: the values of on_ranks' rows and their ghosts, wherever they are. */
PetscErrorCode PCRRBDistribution::BringToHost(PC pc, std::vector<PetscScalar> *a) {
  PetscFunctionBegin;
  PetscCall(FollowPattern(pc));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PCRRBSayNoMemoryForRows,
                                [&] { a->resize((std::size_t)overlap_.entries()); }));
  PetscCall(overlap_.Bring(((PC_RRB *)pc->data)->state->on_ranks, PETSC_FALSE, a->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of on_ranks and their ghosts, as they are now. */
PetscErrorCode PCRRBDistribution::BringRows(PC pc, const Grid &grid) {
  PetscFunctionBegin;
  PetscCall(FollowPattern(pc));
  if (!prepared_)
    PetscCall(
        PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), values_->say, [&] { values_->Prepare(overlap_, grid); }));
  prepared_ = true;
  PetscCall(values_->Bring(overlap_, ((PC_RRB *)pc->data)->state->on_ranks));
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
  std::vector<PetscScalar> a;

  PetscFunctionBegin;
  PetscCall(BringToHost(pc, &a));
  prepared_ = false;
  PetscCall(FindCuts(pc, grid));
  PetscCall(PetscRRBFullName(pc, "-pc_rrb_grid", &option));
  PetscCall(MatGetSize(pc->pmat, &rows, nullptr));
  const bool told = grid->n[0] > 0;
  source = told ? grid->source : "matrix pattern";
  PetscCall(PetscRRBTry(NoMemory, [&] {
    PetscRRBPatternOnRanks pattern(comm, overlap_, a.data(), rows);
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
  return values_->bytes() + (double)sizeof(PetscInt) * (double)(overlap_.ja().size() + overlap_.ia().size());
}

/* --- values --- */

PetscErrorCode PCRRBDistribution::BringVectorToGhosts() {
  return values_->vector() ? overlap_.BringRows(values_->on_device, values_->vector()) : PETSC_SUCCESS;
}

/* A vector that is 0 or not finite at a row with couplings says nothing about it: then 1 everywhere. Identity rows: 1. */
PetscErrorCode PCRRBDistribution::ReadNearNullVector(PC pc, Vec near_null) {
  PetscMPIInt usable = 0;

  PetscFunctionBegin;
  if (near_null) {
    PetscCall(values_->TakeVector(near_null, &usable));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
    if (!usable)
      PetscCall(PetscInfo(
          pc, "The near null space is 0 or not finite somewhere: the constant vector is taken in its place\n"));
  }
  if (!usable) values_->DropVector();
  PetscCall(BringVectorToGhosts());
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
  std::vector<PetscScalar> a;
  const auto words = [&](PetscInt row, PetscInt column) {
    const auto at = [&](PetscInt p) {
      return text(index_t(overlap_.global(p))) + " at " + place(g, overlap_.order()[(std::size_t)p]);
    };
    return "row " + at(row) + ", column " + at(column);
  };

  PetscFunctionBegin;
  PetscCall(BringToHost(pc, &a));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), PCRRBSayNoMemoryForRows, [&] {
    const Csr rows = overlap_.rows(a.data());
    Csr all = rows;
    Flags identity;
    all.n += overlap_.ghosts();
    (void)mark_identity(all, identity);
    trouble.why =
        facts_.not_finite ? where_not_finite(rows, words) : where_asymmetric(rows, identity, facts_.diagonal, words);
  }));
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), &trouble));
  values->why = trouble.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::ToBoxes(const PetscScalar *rows, PetscScalar *box) const {
  const PetscMemType here = values_->on_device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(lines_, MPIU_SCALAR, here, rows, here, box, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(lines_, MPIU_SCALAR, rows, box, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::ToRows(const PetscScalar *box, PetscScalar *rows) const {
  const PetscMemType here = values_->on_device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceWithMemTypeBegin(lines_, MPIU_SCALAR, here, box, here, rows, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(lines_, MPIU_SCALAR, box, rows, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::MoveToBoxes(const PCRRBStencilArrays &box) const {
  PetscFunctionBegin;
  PetscCall(ToBoxes(own_.of.X, box.of.X));
  PetscCall(ToBoxes(own_.of.E, box.of.E));
  PetscCall(ToBoxes(own_.of.N, box.of.N));
  if (corners_) PetscCall(ToBoxes(own_.of.NE, box.of.NE));
  if (corners_) PetscCall(ToBoxes(own_.of.NW, box.of.NW));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BringRows() has brought them. The stencil is the box's if they are as they should be. */
PetscErrorCode PCRRBDistribution::ReadRows(PC pc, const Grid &grid, double rounding, Positive positive,
                                           bool with_vector, const PCRRBStencilRoom &room, rrb::RowFacts *facts,
                                           ReadResult *result) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const std::size_t own = (std::size_t)overlap_.own();
  PCRRBStencilArrays box;
  PetscMPIInt rank;

  PetscFunctionBegin;
  corners_ = grid.points == 9;
  with_vector = with_vector && values_->vector();
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscRRBTryTogether(comm, values_->say, [&] {
    const std::size_t r = (std::size_t)rank;
    box = room(lines_ ? (std::size_t)((cuts_.y[r + 1] - cuts_.y[r]) * grid.n[0]) : own, corners_, with_vector);
    own_ = lines_ ? values_->own_room()(own, corners_, false) : box;
    *facts = values_->Read(rounding, positive, own_);
  }));
  PetscCall(Agree(pc, *facts));
  const bool asymmetric = facts->asymmetry > symmetric * facts->diagonal;
  *result = facts->not_finite ? ReadResult::refused
            : facts->foreign  ? ReadResult::rebuild
            : asymmetric      ? ReadResult::refused
                              : ReadResult::ok;
  if (*result != ReadResult::ok || !lines_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MoveToBoxes(box));
  if (with_vector) PetscCall(ToBoxes(values_->vector(), box.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::Read(PC pc, const Grid &grid, Vec near_null, double rounding,
                                       const PCRRBStencilRoom &room, PCRRBValues *values) {
  const rrb::RowFacts &f = facts_;

  PetscFunctionBegin;
  *values = PCRRBValues();
  PetscCall(BringRows(pc, grid));
  PetscCall(ReadNearNullVector(pc, near_null));
  PetscCall(ReadRows(pc, grid, rounding, Positive::moves, true, room, &facts_, &values->result));
  if (values->result == ReadResult::refused) PetscCall(WhyRefused(pc, grid, values));
  if (values->result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  values->identity_rows = (index_t)f.identity;
  values->positive = (index_t)f.positive;
  values->simpler = (PetscBool)((grid.periodic[0] && !f.crosses[0]) || (grid.periodic[1] && !f.crosses[1]) ||
                                (corners_ && !f.corners));
  values->scaled = (PetscBool)(values_->vector() != nullptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBDistribution::ReadForSolver(PC pc, const Grid &grid, double rounding, const PCRRBStencilRoom &room,
                                                PCRRBKnownRows *known, rrb::RowFacts *facts, ReadResult *result) {
  PetscFunctionBegin;
  PetscCall(BringRows(pc, grid));
  PetscCall(BringVectorToGhosts()); /* which may be others */
  PetscCall(ReadRows(pc, grid, rounding, Positive::stays, false, room, facts, result));
  *known = {overlap_.own(), values_->identity(), own_.of.X};
  PetscFunctionReturn(PETSC_SUCCESS);
}
