/* What PCRRB on several ranks reads of the matrix: its grid, the boxes of the ranks, the values of their rows. PetscSF's part is on the default
   stream of a device. */
#include "pc/rrb/pcrrb_on_ranks.h"

#include "petsc/ghosts.h"
#include "petsc/pattern_ranks.h"
#include "stencil/refusal.hpp"
#include "grid/text.hpp"

#include <algorithm>

using namespace petscrrb;

/* --- the grid --- */

template <class Where> PetscErrorCode PCRRBOnRanks<Where>::FollowPattern(PC pc, Mat P) {
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.TakePattern(pc->pmat));
  if (now == pattern_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rows_.Build(P, places_));
  pattern_ = now;
  prepared_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For another pattern or grid; may throw. V of own rows stays; the number of ghosts may be another one. */
template <class Where> void PCRRBOnRanks<Where>::Prepare(const Grid &grid) {
  const std::size_t own = (std::size_t)rows_.own(), all = own + (std::size_t)rows_.ghosts();

  reader_ = nullptr; /* its memory goes first */
  where_.Ready();
  reader_ = std::make_unique<typename Where::RankReader>(where_.on(), rows_.own(), rows_.ghost_places(),
                                                         rows_.other_entries(), grid);
  if (!scaled_ || v_.size() == all) return;
  Array v(all);
  where_.on().copy(v.data(), v_.data(), own);
  where_.Wait();
  v_ = std::move(v);
}

/* The rows of P as they are now, and what comes from other ranks; the caller restores got_. */
template <class Where> PetscErrorCode PCRRBOnRanks<Where>::ExchangeRows(PC pc, Mat P, const Grid &grid) {
  PetscFunctionBegin;
  PetscCall(FollowPattern(pc, P));
  PetscCall(rows_.Get(P, Where::device, &got_));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say, [&] {
    if (!prepared_) Prepare(grid);
    where_.Do([&] {
      reader_->set(got_);
      if (scaled_) (void)reader_->take_vector(v_.data(), v_.data()); /* rows that have become identity rows: 1 */
    });
  }));
  prepared_ = true;
  PetscCall(rows_.ExchangeTransposed(Where::device, got_, reader_->transposed()));
  PetscCall(
      rows_.ExchangeRows(Where::device, MPI_UNSIGNED_CHAR, reader_->identity(), reader_->identity() + rows_.own()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows to the boxes, where a box's lines are not all on its rank. */
template <class Where> PetscErrorCode PCRRBOnRanks<Where>::Connect(Mat P) {
  PetscLayout layout;
  std::vector<PetscInt> row;

  PetscFunctionBegin;
  PetscCall(MatGetLayouts(P, &layout, nullptr));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), "PCRRB", [&] {
    for (index_t p = cuts_.y[rank_] * cuts_.x[1]; p < cuts_.y[rank_ + 1] * cuts_.x[1]; ++p) row.push_back((PetscInt)p);
  }));
  PetscCall(vectors_.Build(layout, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes, and the grid where somebody tells it, also a 3D one where plain red nodes are not asked for. Sizes that the user gave must be
   those of the DMDA that numbers the rows, if there is one. Sizes of 0 where nobody tells it. */
template <class Where> PetscErrorCode PCRRBOnRanks<Where>::FindCuts(PC pc, Grid *grid) {
  const PetscInt *given = ((PC_RRB *)pc->data)->grid;
  const PetscBool needed = (PetscBool)(((PC_RRB *)pc->data)->red_nodes == PC_RRB_RED_NODES_PLAIN);
  PetscMPIInt rank;
  PetscBool on_dmda;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  rank_ = (std::size_t)rank;
  PetscCall(vectors_.Clear());
  PetscCall(PetscRRBCutsOfDMDA(pc, pc->pmat, needed, grid, &cuts_, &on_dmda));
  pattern_ = {}; /* places may be others than before */
  if (!on_dmda) {
    PetscCall(MatGetOwnershipRange(pc->pmat, &places_.first, nullptr));
    places_.width = places_.stride = 1;
    *grid = Grid();
    grid->n[0] = given[0], grid->n[1] = given[1];
    if (given[0] > 0) grid->source = "option";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(given[0] <= 0 || (given[0] == grid->n[0] && given[1] == grid->n[1]), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_INCOMP,
             "-pc_rrb_grid %" PetscInt_FMT ",%" PetscInt_FMT
             " is not the grid of the %s, %lld x %lld points, by which the rows are numbered: omit the option",
             given[0], given[1], grid->source.c_str(), (long long)grid->n[0], (long long)grid->n[1]);
  const std::size_t columns = cuts_.x.size() - 1, i = rank_ % columns, j = rank_ / columns;
  places_.first = (PetscInt)(cuts_.y[j] * grid->n[0] + cuts_.x[i]);
  places_.width = (PetscInt)std::max<index_t>(cuts_.x[i + 1] - cuts_.x[i], 1);
  places_.stride = (PetscInt)grid->n[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whoever told it, the nonzeros must fit. why: empty if they do */
template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::LookAtPattern(PC pc, Mat P, bool told, const char *option, Grid *grid,
                                                  std::string *why) {
  std::unique_ptr<RankPattern> on_device;

  PetscFunctionBegin;
  PetscCall(FollowPattern(pc, P));
  PetscCall(rows_.Get(P, Where::device, &got_));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), where_.say,
                                [&] { on_device = where_.Pattern(got_, rows_.ghosts()); }));
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), "PCRRB", [&] {
    PetscRRBPatternOnRanks pattern(P, rows_, on_device.get());
    *why = told ? check_grid(pattern, Widest::flat, option, *grid) : find_grid(pattern, Widest::flat, option, *grid);
  }));
  PetscCall(rows_.Restore(P, Where::device, &got_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> PetscErrorCode PCRRBOnRanks<Where>::FindGrid(PC pc, Mat P, Grid *grid) {
  PetscBool whole;
  std::string why, option;
  const bool needed = ((PC_RRB *)pc->data)->red_nodes == PC_RRB_RED_NODES_PLAIN;

  PetscFunctionBegin;
  prepared_ = false;
  PetscCall(FindCuts(pc, grid));
  if (grid->dim == 3) {
    *grid = Grid();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBCallTogether(PetscObjectComm((PetscObject)pc), "PCRRB",
                                 [&] { return PetscRRBFullName(pc, "-pc_rrb_grid", &option); }));
  const bool told = grid->n[0] > 0;
  const std::string source = told ? grid->source : "matrix pattern";
  PetscCall(LookAtPattern(pc, P, told, option.c_str(), grid, &why));
  grid->source = source;
  if (!why.empty() && !needed && source != "option") {
    PetscCall(PetscInfo(pc, "There is no 2D grid. %s\n", why.c_str()));
    *grid = Grid();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool by_rows = source == "option" || source == "matrix pattern";
  PetscCheck(why.empty(), PetscObjectComm((PetscObject)pc), told ? PETSC_ERR_ARG_INCOMP : PETSC_ERR_ARG_WRONG, "%s%s",
             why.c_str(),
             by_rows ? ". With several ranks and no DMDA, rows must be numbered in natural order, with the first lines "
                       "on the first rank"
                     : "");
  if (by_rows) {
    PetscCall(PetscRRBCutsOfRows(pc->pmat, *grid, &cuts_, &whole));
    if (!whole) PetscCall(Connect(pc->pmat));
  }
  PetscCall(PetscInfo(pc, "Grid of %lld x %lld points, from the %s\n", (long long)grid->n[0], (long long)grid->n[1],
                      source.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> void PCRRBOnRanks<Where>::SetBoxes(PC pc, const rrb::Extent &all, int levels) {
  boxes_ = std::make_unique<rrb::Boxes>(cuts_.x, cuts_.y, all.x.periodic, all.y.periodic);
  gathered_ = rrb::gathered_grid(*boxes_, levels, PCRRBGatherSize((const PC_RRB *)pc->data));
}

template <class Where> PetscErrorCode PCRRBOnRanks<Where>::View(PetscViewer viewer) const {
  const rrb::Extent x = boxes_->all(gathered_);

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the same operator as on one rank, on %d ranks: %d x %d boxes%s\n",
                                   boxes_->count(), (int)cuts_.x.size() - 1, (int)cuts_.y.size() - 1,
                                   vectors_.as_rows() ? "" : "; some rows are on a different rank from their line"));
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

template <class Where> double PCRRBOnRanks<Where>::bytes() const {
  return own_->bytes() + 2.0 * sizeof(PetscInt) * (double)rows_.ghosts() +
         (double)(v_.bytes() + (reader_ ? reader_->bytes() : 0) + r_.bytes() + z_.bytes());
}

/* --- the factorization --- */

template <class Where> void PCRRBOnRanks<Where>::MakeRoom(const Core &core) {
  const std::size_t n = vectors_.as_rows() ? 0 : (std::size_t)core.extent().nodes();
  r_.resize(n);
  z_.resize(n);
}

template <class Where>
auto PCRRBOnRanks<Where>::Build(PC pc, const rrb::Extent &all, const rrb::Options &o, rrb::Precision precision)
    -> std::unique_ptr<Core> {
  SetBoxes(pc, all, o.levels);
  auto made = rrb::make_distributed(where_.on(), *ranks, *boxes_, o, gathered_, precision);
  black_ = made.get();
  MakeRoom(*made);
  return made;
}

template <class Where>
auto PCRRBOnRanks<Where>::BuildOnGraph(PC pc, const rrb::Extent &all, const rrb::Options &o, bool single,
                                       const rrb::PreparedStencil &s, rrb::Lumping lumping) -> std::unique_ptr<Core> {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::unique_ptr<rrb::GraphOnRanks> made;

  PetscRRBThrowTogether(comm, where_.say, [&] {
    SetBoxes(pc, all, 0);
    made = rrb::make_graph_on_ranks(where_.on(), *ranks, *boxes_, corners_);
    MakeRoom(*made);
  });
  made->gather(s);
  PetscRRBThrowTogether(comm, where_.say,
                        [&] { made->choose(o, single, lumping, PCRRBGatherSize((const PC_RRB *)pc->data)); });
  made->prepare_exchanges();
  black_ = nullptr;
  return made;
}

/* --- values --- */

template <class Where> PetscErrorCode PCRRBOnRanks<Where>::ExchangeVector() {
  if (!scaled_) return PETSC_SUCCESS;
  return rows_.ExchangeRows(Where::device, MPIU_SCALAR, v_.data(), v_.data() + rows_.own());
}

/* V of own rows; usable: it is finite and not 0, here */
template <class Where> PetscErrorCode PCRRBOnRanks<Where>::TakeVector(Vec near_null, PetscMPIInt *usable) {
  const std::size_t all = (std::size_t)(rows_.own() + rows_.ghosts());
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(where_.Get(near_null, &x));
  const PetscErrorCode taken = PetscRRBTryTogether(PetscObjectComm((PetscObject)near_null), where_.say, [&] {
    if (v_.size() != all) v_.resize(all);
    where_.Ready();
    *usable = reader_->take_vector(x, v_.data());
  });
  PetscCall(where_.Restore(near_null, &x));
  PetscCall(taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that is 0 or not finite at a row with couplings says nothing about it: then 1 everywhere. Identity rows: 1. */
template <class Where> PetscErrorCode PCRRBOnRanks<Where>::ReadNearNullVector(PC pc, Vec near_null) {
  PetscMPIInt usable = 0;

  PetscFunctionBegin;
  if (near_null) {
    PetscCall(TakeVector(near_null, &usable));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
    if (!usable)
      PetscCall(
          PetscInfo(pc, "The near null space is 0 or not finite somewhere: the constant vector is used instead\n"));
  }
  scaled_ = usable != 0;
  PetscCall(ExchangeVector());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From a copy of all rows that matter. */
template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::WhyRefused(PC pc, Mat P, const Grid &g, PCRRBValues *values) {
  PetscRRBTrouble trouble;
  PetscRRBOverlap overlap;
  const auto at = [&](PetscInt p) {
    return text(index_t(overlap.global(p))) + " at " + place(g, overlap.order()[(std::size_t)p]);
  };
  const auto words = [&](PetscInt row, PetscInt column) { return "row " + at(row) + ", column " + at(column); };
  const auto explain = [&](const Csr &rows, const Flags &identity) -> std::string {
    if (values->facts.not_finite) return where_not_finite(RankRows(rows), words);
    if (values->result == ReadResult::refused) return where_asymmetric(rows, identity, words);
    for (PetscInt p = 0; p < rows.n; ++p)
      if (overlap.global(p) == values->facts.bad_pivot) return not_positive("row " + at(p));
    return "";
  };

  PetscFunctionBegin;
  PetscCall(overlap.Build(pc, pc->pmat, P, 1));
  PetscCall(PetscRRBExplain("PCRRB", overlap, P, &trouble, explain));
  if (!trouble && values->result == ReadResult::refused)
    trouble = {"The matrix is not symmetric: a coupling between rows on two ranks is stored on only one of them",
               PETSC_ERR_ARG_WRONG};
  PetscCheck(trouble.code == PETSC_ERR_ARG_WRONG, PetscObjectComm((PetscObject)pc), trouble.code, "%s",
             trouble.why.c_str());
  values->why = trouble.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::MoveToBoxes(const rrb::PreparedStencil &from,
                                                const rrb::PreparedStencil &to) const {
  using Arrays = rrb::PreparedStencil;
  static constexpr double *Arrays::*all[] = {&Arrays::X, &Arrays::E, &Arrays::N, &Arrays::NE, &Arrays::NW};

  PetscFunctionBegin;
  for (int k = 0; k < (corners_ ? 5 : 3); ++k) PetscCall(vectors_.ToBoxes(from.*all[k], to.*all[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ExchangeRows() has brought them. The stencil is the box's if they are as they should be. */
template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::ReadRows(PC pc, Mat P, const Grid &grid, double rounding, Positive positive,
                                             rrb::StencilReader *stencil, rrb::PreparedStencil *box, RowFacts *facts) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const std::size_t own = (std::size_t)rows_.own();
  const bool same = vectors_.as_rows();
  rrb::PreparedStencil to; /* of own rows */

  PetscFunctionBegin;
  corners_ = grid.points == 9;
  PetscCall(PetscRRBTryTogether(comm, where_.say, [&] {
    const std::size_t lines = (std::size_t)(cuts_.y[rank_ + 1] - cuts_.y[rank_]);
    *box = stencil->room(same ? own : lines * (std::size_t)grid.n[0], corners_, scaled_);
    to = same ? *box : own_->room(own, corners_, false);
    where_.Ready();
    if (same && scaled_) where_.on().copy(stencil->v(), v_.data(), own);
    *facts = reader_->read(scaled_ ? v_.data() : nullptr, rounding, positive, to);
  }));
  PetscCall(rows_.Restore(P, Where::device, &got_));
  if (facts->bad_pivot != no_row) facts->bad_pivot = rows_.global((PetscInt)facts->bad_pivot);
  PetscCall(PetscRRBAgreeOnFacts(comm, facts));
  if (facts->result() != ReadResult::ok || same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MoveToBoxes(to, *box));
  if (scaled_) PetscCall(vectors_.ToBoxes(v_.data(), stencil->v()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::Read(PC pc, Mat P, Vec near_null, rrb::StencilReader *stencil) {
  PCRRBState &s = *((PC_RRB *)pc->data)->state;

  PetscFunctionBegin;
  read_ = {};
  PetscCall(ExchangeRows(pc, P, s.grid));
  PetscCall(ReadNearNullVector(pc, near_null));
  PetscCall(ReadRows(pc, P, s.grid, s.near_null.rounding, s.positive(), stencil, &box_, &s.values.facts));
  s.values.result = s.values.facts.result();
  s.values.scaled = (PetscBool)scaled_;
  if (s.values.result == ReadResult::refused || (s.values.result == ReadResult::ok && s.values.not_positive()))
    PetscCall(WhyRefused(pc, P, s.grid, &s.values));
  if (s.values.result != ReadResult::ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(read_.Take(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where>
PetscErrorCode PCRRBOnRanks<Where>::ReadForSolver(PC pc, Mat A, const Grid &grid, double rounding,
                                                  rrb::StencilReader *stencil, rrb::PreparedStencil *box,
                                                  RowFacts *facts) {
  const RowFacts &found = ((PC_RRB *)pc->data)->state->values.facts;
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.Take(A));
  if (now == read_ && !found.rounded && found.positive == 0) {
    *box = box_;
    *facts = found;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  read_ = {};
  PetscCall(ExchangeRows(pc, A, grid));
  PetscCall(ExchangeVector()); /* which may be others */
  PetscCall(ReadRows(pc, A, grid, rounding, Positive::stays, stencil, box, facts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template class PCRRBOnRanks<PCRRBHostWork>;
#if PETSCRRB_ON_DEVICES
template class PCRRBOnRanks<PCRRBDeviceWork>;
#endif
