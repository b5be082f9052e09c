/* The grid of all ranks, its boxes, and what comes to them. */
#include "pc/gridmg/pcgridmg_ranks.h"

#include "pc/gridmg/pcgridmg_data.h"
#include "petsc/ghosts.h"
#include "petsc/pattern_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace petscrrb;
using gridmg::Cuts;
using gridmg::Shape;

static const PetscRRBSay say("PCGRIDMG");

/* --- rows and points --- */

PCGridMGDistribution::Point PCGridMGDistribution::point(index_t row) const {
  const auto in_order = [](index_t i, const gridmg::Sizes &n) -> Point {
    return {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
  };
  if (natural_) return in_order(row, rows_of_.whole().n);
  const auto has = [&](int rank) { return row >= ranges_[(std::size_t)rank] && row < ranges_[(std::size_t)rank + 1]; };
  const int rank =
      has(rank_) ? rank_ : int(std::upper_bound(ranges_.begin(), ranges_.end(), (PetscInt)row) - ranges_.begin()) - 1;
  Point p = in_order(row - ranges_[(std::size_t)rank], rows_of_.sizes(rank));
  for (std::size_t q = 0; q < 3; ++q) p[q] += rows_of_.first(rank, (int)q);
  return p;
}

PetscInt PCGridMGDistribution::row(const Point &p) const {
  const gridmg::Sizes all = rows_of_.whole().n;
  if (natural_) return (PetscInt)((p[2] * all[1] + p[1]) * all[0] + p[0]);
  std::array<int, 3> part;
  for (std::size_t q = 0; q < 3; ++q) part[q] = rows_of_.part_with((int)q, p[q]);
  const int rank = rows_of_.rank_of(part);
  const gridmg::Sizes n = rows_of_.sizes(rank);
  index_t here = 0;
  for (std::size_t q = 3; q-- > 0;) here = here * n[q] + p[q] - rows_of_.first(rank, (int)q);
  return (PetscInt)(ranges_[(std::size_t)rank] + here);
}

std::string PCGridMGDistribution::words(index_t row) const {
  const Point p = point(row);
  return "row " + std::to_string(row) + " at (" + std::to_string(p[0]) + ", " + std::to_string(p[1]) + ", " +
         std::to_string(p[2]) + ")";
}

/* --- the grid --- */

/* Planes, or lines in 2D, to whom their first row is nearest. */
PetscErrorCode PCGridMGDistribution::TakeCutsOfRows(Mat P) {
  const gridmg::Sizes n = rows_of_.whole().n;
  const int q = n[2] > 1 ? 2 : 1;
  const index_t plane = q == 2 ? n[0] * n[1] : n[0];

  PetscFunctionBegin;
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)P), say, [&] {
    rows_of_.at[(std::size_t)q].clear();
    for (const PetscInt first : ranges_) rows_of_.at[(std::size_t)q].push_back((first + plane / 2) / plane);
    rows_of_.at[(std::size_t)q].back() = n[(std::size_t)q];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGDistribution::AskPattern(PC pc, Mat P, bool told, Grid *grid) const {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscRRBRankRows rows;
  BoxPlaces places;
  std::string why, option;

  PetscFunctionBegin;
  PetscCall(PetscRRBCallTogether(comm, say, [&] { return PetscRRBFullName(pc, "-pc_gridmg_grid", &option); }));
  PetscCall(MatGetOwnershipRange(P, &places.first, nullptr));
  PetscCall(rows.Build(P, places));
  PetscCall(PetscRRBTryTogether(comm, say, [&] {
    PetscRRBPatternOnRanks pattern(P, rows, nullptr);
    why = told ? check_grid(pattern, Widest::star, option.c_str(), *grid)
               : find_grid(pattern, Widest::star, option.c_str(), *grid);
  }));
  PetscCheck(why.empty(), comm, told ? PETSC_ERR_ARG_INCOMP : PETSC_ERR_ARG_WRONG,
             "%s. With several ranks and no DMDA, rows must be numbered in natural order, with the first planes or "
             "lines on the first rank",
             why.c_str());
  PetscRRBTrouble trouble;
  PetscCall(PetscRRBRefuseNinePoints(pc, *grid, "-pc_type rrb", &trouble));
  PetscCheck(!trouble, comm, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which sides the rows of a block couple around; without values: whose pattern has a place for that. */
std::array<int, 3> PCGridMGDistribution::RingsOf(const Csr &rows, const PetscInt others[], const Grid &grid) const {
  const PetscInt first = ranges_[(std::size_t)rank_];
  int x = 0, y = 0, z = 0;

#pragma omp parallel for schedule(static) reduction(max : x, y, z) if (rows.n >= rows_for_threads)
  for (PetscInt p = 0; p < rows.n; ++p) {
    const Point here = point(first + p);
    bool end = false; /* of a side that may go around */
    for (std::size_t q = 0; q < 3; ++q) end |= here[q] == 0 && grid.n[q] > 2;
    if (!end) continue;
    for (PetscInt e = rows.ia[p]; e < rows.ia[p + 1]; ++e) {
      const Point there = point(others ? others[rows.ja[e]] : first + rows.ja[e]);
      int around = -1, elsewhere = 0;
      for (std::size_t q = 0; q < 3; ++q) {
        if (there[q] == here[q]) continue;
        if (here[q] == 0 && there[q] == grid.n[q] - 1 && grid.n[q] > 2)
          around = (int)q;
        else
          ++elsewhere;
      }
      if (around < 0 || elsewhere || (rows.a && rows.a[e] == 0.0)) continue;
      (around == 0 ? x : around == 1 ? y : z) = 1;
    }
  }
  return {x, y, z};
}

/* A side is periodic if a nonzero couples its ends. Values are looked at where the pattern has such a place. */
PetscErrorCode PCGridMGDistribution::FindRings(PC pc, Mat P, Grid *grid) const {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const PetscInt *columns;
  PetscMPIInt rings[3] = {}, all[3];
  Mat block[2];
  Csr of;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], &columns));
  for (int b = 0; b < 2; ++b) {
    PetscCall(PetscRRBPatternGet(block[b], &of));
    std::array<int, 3> found = RingsOf(of, b ? columns : nullptr, *grid);
    if (found[0] || found[1] || found[2]) {
      PetscCall(MatSeqAIJGetArrayRead(block[b], &of.a));
      found = RingsOf(of, b ? columns : nullptr, *grid);
      PetscCall(MatSeqAIJRestoreArrayRead(block[b], &of.a));
    }
    for (std::size_t q = 0; q < 3; ++q) rings[q] |= found[q];
    PetscCall(PetscRRBPatternRestore(block[b], &of));
  }
  PetscCallMPI(MPI_Allreduce(rings, all, 3, MPI_INT, MPI_MAX, comm));
  for (int q = 0; q < 3; ++q) grid->periodic[q] = all[q] != 0;
  grid->points = grid->n[2] > 1 ? 7 : 5;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGDistribution::FindGrid(PC pc, Mat P, Grid *grid) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  const PetscInt *given = ((PC_GridMG *)pc->data)->grid, *ranges;
  PetscRRBCuts cuts;
  PetscMPIInt ranks;
  PetscBool on_dmda;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank_));
  PetscCall(MatGetOwnershipRanges(P, &ranges));
  PetscCall(PetscRRBCutsOfDMDA(pc, pc->pmat, PETSC_FALSE, grid, &cuts, &on_dmda));
  natural_ = !on_dmda;
  if (on_dmda) {
    PetscCheck(given[0] <= 0 || std::equal(given, given + 3, grid->n), comm, PETSC_ERR_ARG_INCOMP,
               "-pc_gridmg_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
               " is not the grid of the %s, %lld x %lld x %lld points, by which the rows are numbered: omit the option",
               given[0], given[1], given[2], grid->source.c_str(), (long long)grid->n[0], (long long)grid->n[1],
               (long long)grid->n[2]);
  } else {
    *grid = Grid();
    for (int q = 0; q < 3; ++q) grid->n[q] = given[0] > 0 ? given[q] : 0;
    grid->dim = given[0] > 0 && given[2] > 1 ? 3 : 2;
    PetscCall(AskPattern(pc, P, given[0] > 0, grid));
    PetscCall(PetscRRBTryTogether(comm, say, [&] { grid->source = given[0] > 0 ? "option" : "matrix pattern"; }));
  }
  PetscCall(PetscRRBTryTogether(comm, say, [&] {
    ranges_.assign(ranges, ranges + ranks + 1);
    rows_of_ = Cuts();
    for (int q = 0; q < 3; ++q) rows_of_.at[(std::size_t)q] = {0, grid->n[q]};
    if (on_dmda) rows_of_.at = {cuts.x, cuts.y, cuts.z};
  }));
  if (on_dmda)
    PetscCall(FindRings(pc, P, grid));
  else
    PetscCall(TakeCutsOfRows(P));
  for (int q = 0; q < 3; ++q) rows_of_.ring[(std::size_t)q] = grid->periodic[q];
  PetscCall(PetscInfo(pc, "Grid of %lld x %lld x %lld points, from the %s\n", (long long)grid->n[0],
                      (long long)grid->n[1], (long long)grid->n[2], grid->source.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- boxes --- */

/* Cuts at points that stay whole numbers on all grids that are dealt out, so near to those of the rows that boxes keep their sizes. */
void PCGridMGDistribution::CutBoxes(index_t gather) {
  const Shape whole = rows_of_.whole();
  int thick = 0;
  for (const index_t n : whole.n) thick += n > 2;
  const double halvings =
      thick ? std::ceil(std::log2(double(whole.points()) / double(std::max<index_t>(gather, 1))) / thick) : 0.0;
  boxes_ = rows_of_;
  for (std::size_t q = 0; q < 3; ++q) {
    std::vector<index_t> &cuts = boxes_.at[q];
    const index_t n = cuts.back(), parts = index_t(cuts.size()) - 1;
    if (parts == 1) continue;
    index_t step = 2; /* the smallest that is needed, but boxes keep two coarse points */
    for (double i = 1; i < halvings && 4 * step * parts <= n; ++i) step *= 2;
    const index_t tolerance = std::max(step / 2, n / parts / 16);
    for (std::size_t i = 1; i + 1 < cuts.size(); ++i) {
      const index_t cut = cuts[i];
      index_t to = index_t(1) << 30;
      while (to > 2 && std::abs((cut + to / 2) / to * to - cut) > tolerance) to /= 2;
      cuts[i] = (cut + to / 2) / to * to;
      if (rows_of_.ring[q] && n % 2) cuts[i] = n; /* it is not cut */
      cuts[i] = std::min(std::max(cuts[i], cuts[i - 1]), n);
      if (n - cuts[i] < 2) cuts[i] = n;
    }
  }
}

/* The place of a global row among those that are wanted, all points of the box and around it in natural order; -1 if it is none. */
PetscRRBBoxRows::Number PCGridMGDistribution::NumberInBox() const {
  const Shape box = this->box(), whole = boxes_.whole();
  Point begin;

  for (std::size_t q = 0; q < 3; ++q) begin[q] = boxes_.first(rank_, (int)q) - box.more_before[q];
  return [this, box, whole, begin](PetscInt column) {
    const Point p = point(column);
    index_t here = 0;
    for (std::size_t q = 3; q-- > 0;) {
      const index_t n = box.around((int)q);
      index_t at = p[q] - begin[q];
      if (whole.ring[q] && at < 0) at += whole.n[q];
      if (whole.ring[q] && at >= n) at -= whole.n[q];
      if (at < 0 || at >= n) return (PetscInt)-1;
      here = here * n + at;
    }
    return (PetscInt)here;
  };
}

PetscErrorCode PCGridMGDistribution::FollowPattern(PC pc, Mat P, bool *changed) {
  PetscRRBBoxRows::Number number;
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.TakePattern(pc->pmat));
  *changed = !(now == pattern_);
  if (!*changed) PetscFunctionReturn(PETSC_SUCCESS);
  pattern_ = {};
  PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), say, [&] { number = NumberInBox(); }));
  PetscCall(rows_.Build(P, wanted_, number));
  pattern_ = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGDistribution::Build(PC pc, Mat P, const Grid &grid, index_t gather) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::vector<PetscInt> own;
  PetscMPIInt same = 1, all_same;
  PetscLayout layout;
  bool changed;

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&around_));
  PetscCall(vectors_.Clear());
  PetscCall(MatGetLayouts(P, &layout, nullptr));
  PetscCall(PetscLayoutDestroy(&layout_));
  PetscCall(PetscLayoutReference(layout, &layout_));
  PetscCall(PetscRRBTryTogether(comm, say, [&] {
    CutBoxes(gather);
    TakeBox(grid, &own);
  }));
  pattern_ = {};
  PetscCall(FollowPattern(pc, P, &changed));
  const PetscInt first = ranges_[(std::size_t)rank_];
  same = (PetscInt)own.size() == ranges_[(std::size_t)rank_ + 1] - first;
  for (std::size_t i = 0; same && i < own.size(); ++i) same = own[i] == first + (PetscInt)i;
  PetscCallMPI(MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, comm));
  if (!all_same) PetscCall(vectors_.Build(layout_, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the box's points and of those around it, and of the box's alone. */
void PCGridMGDistribution::TakeBox(const Grid &grid, std::vector<PetscInt> *own) {
  const Shape box = this->box();
  const index_t nx = box.around(0), ny = box.around(1), nz = box.around(2);

  wanted_.clear();
  if (!box.points()) return;
  wanted_.resize((std::size_t)(nx * ny * nz));
  own->resize((std::size_t)box.points());
#pragma omp parallel for schedule(static) if (box.points() >= rows_for_threads)
  for (index_t line = 0; line < ny * nz; ++line) {
    Point at = {0, line % ny - box.more_before[1], line / ny - box.more_before[2]}, p;
    for (index_t i = 0; i < nx; ++i) {
      at[0] = i - box.more_before[0];
      bool mine = true;
      for (std::size_t q = 0; q < 3; ++q) {
        p[q] = (boxes_.first(rank_, (int)q) + at[q] + grid.n[q]) % grid.n[q];
        mine &= at[q] >= 0 && at[q] < box.n[q];
      }
      const PetscInt number = wanted_[(std::size_t)(line * nx + i)] = row(p);
      if (mine) (*own)[(std::size_t)((at[2] * box.n[1] + at[1]) * box.n[0] + at[0])] = number;
    }
  }
}

PetscErrorCode PCGridMGDistribution::ToWanted(const PetscScalar *rows, PetscScalar *wanted) {
  PetscFunctionBegin;
  if (!around_) {
    PetscCall(PetscSFCreate(layout_->comm, &around_));
    PetscCall(
        PetscSFSetGraphLayout(around_, layout_, (PetscInt)wanted_.size(), nullptr, PETSC_COPY_VALUES, wanted_.data()));
    PetscCall(PetscSFSetUp(around_));
  }
  PetscCall(PetscRRBExchange(around_, device_, MPIU_SCALAR, rows, wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- what is said --- */

PetscErrorCode PCGridMGDistribution::WhyForeign(PC pc, Mat P, std::string *why) const {
  const Shape whole = boxes_.whole();
  const PetscInt first = ranges_[(std::size_t)rank_], *columns;
  PetscRRBTrouble trouble;
  RankRows rows;
  Mat block[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(P, &block[0], &block[1], &columns));
  PetscCall(PetscRRBRankRowsGet(P, PETSC_FALSE, &rows));
  PetscRRBCatch(say, &trouble, [&]() -> PetscErrorCode {
    for (PetscInt p = 0; p < rows.n && !trouble; ++p)
      (void)rows.each(p, [&](PetscInt column, double value) {
        const PetscInt q = column < rows.n ? first + column : columns[column - rows.n];
        if (value == 0.0 || q == first + p) return true;
        const Point here = point(first + p), there = point(q);
        index_t steps = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const index_t away = std::abs(here[d] - there[d]);
          steps += whole.ring[d] ? std::min(away, whole.n[d] - away) : away;
        }
        if (steps == 1) return true;
        trouble = {words(first + p) + " is coupled with " + words(q) + ", which is not its neighbour",
                   PETSC_ERR_ARG_WRONG};
        return false;
      });
    return PETSC_SUCCESS;
  });
  PetscCall(PetscRRBRankRowsRestore(P, PETSC_FALSE, &rows));
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), &trouble));
  *why = trouble.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGDistribution::View(PetscViewer viewer) const {
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "the same operator as on one rank, on %d ranks: %d x %d x %d boxes%s\n",
                                   boxes_.count(), boxes_.parts(0), boxes_.parts(1), boxes_.parts(2),
                                   vectors_.as_rows() ? "" : "; some rows are on a different rank from their point"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
