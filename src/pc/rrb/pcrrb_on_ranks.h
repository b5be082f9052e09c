/* What the backend of PCRRB has besides where the matrix is on several ranks. */
#pragma once

#include "pc/rrb/graph/matrix_reader.hpp"
#include "pc/rrb/pcrrb_distribution.h"
#include "pc/rrb/pcrrb_where.h"

#include <numeric>

/* *rows: what brings the rows of all ranks to each, of ranks of its own. Collective; may throw. */
template <class Where>
PetscErrorCode PCRRBGatherPattern(Mat P, const petscrrb::RankRows &mine, const std::vector<PetscInt> &places,
                                  Where &where, std::unique_ptr<petscrrb::rrb::Ranks> ranks,
                                  std::unique_ptr<petscrrb::rrb::RowsOfRanks> *rows) {
  using petscrrb::index_t;
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *ranges, *of_others;
  PetscMPIInt rank;
  PetscInt ghosts;
  MatInfo info[2];
  Mat parts[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGetOwnershipRanges(P, &ranges));
  PetscCall(MatMPIAIJGetSeqAIJ(P, &parts[0], &parts[1], &of_others));
  PetscCall(MatGetSize(parts[1], nullptr, &ghosts));
  for (int b = 0; b < 2; ++b) PetscCall(MatGetInfo(parts[b], MAT_LOCAL, &info[b]));
  const auto own = (index_t)info[0].nz_used;
  const std::vector<index_t> nonzeros =
      PetscRRBAllGather(comm, MPIU_INT64, std::vector<index_t>{own + (index_t)info[1].nz_used});
  const index_t all = std::accumulate(nonzeros.begin(), nonzeros.end(), index_t(0));
  PetscCheck(all <= std::numeric_limits<petscrrb::rrb::node_t>::max(), comm, PETSC_ERR_SUP,
             "PCRRB on no 2D grid has all rows on each rank, and %lld nonzeros are too many", (long long)all);
  PetscCall(PetscRRBTryTogether(comm, where.say, [&] {
    std::vector<index_t> n;
    for (std::size_t r = 0; r < nonzeros.size(); ++r) n.push_back(ranges[r + 1] - ranges[r]);
    where.MakeRanks(comm, &ranks);
    *rows = petscrrb::rrb::make_rows_of_ranks(where.on(), std::move(ranks), n, nonzeros);
    (*rows)->pack(mine, own, ranges[rank], {of_others, of_others + ghosts}, places);
  }));
  (*rows)->gather();
  PetscCall(PetscRRBTryTogether(comm, where.say, [&] { (*rows)->put_together(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Where> class PCRRBOnRanks {
public:
  using Core = PCRRBBackend::Core;

  explicit PCRRBOnRanks(Where &where) : matrix(PCRRBMakeRowValues(where)), where_(where) {}

  PCRRBDistribution matrix;
  std::unique_ptr<petscrrb::rrb::Ranks> ranks; /* to be set before Build() */

  /* The factorization of a grid of all ranks. Plans are made by each rank alone, so that none waits for one that has no memory;
     may throw. */
  std::unique_ptr<Core> Build(PC pc, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &o,
                              petscrrb::rrb::Precision precision) {
    matrix.SetBoxes(pc, all, o.levels);
    auto made = petscrrb::rrb::make_distributed(where_.on(), *ranks, matrix.boxes(), o, matrix.gathered(), precision);
    black_ = made.get();
    MakeRoom(*made);
    return made;
  }
  /* The same with red nodes chosen by support, of what the boxes have; in PetscRRBTryTogether(). Collective. */
  std::unique_ptr<Core> BuildOnGraph(PC pc, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &o,
                                     bool single, const petscrrb::rrb::PreparedStencil &s,
                                     petscrrb::rrb::Lumping lumping) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    std::unique_ptr<petscrrb::rrb::GraphOnRanks> made;

    PetscRRBThrowTogether(comm, where_.say, [&] {
      matrix.SetBoxes(pc, all, 0);
      made = petscrrb::rrb::make_graph_on_ranks(where_.on(), *ranks, matrix.boxes(), matrix.corners());
      MakeRoom(*made);
    });
    made->gather(s);
    PetscRRBThrowTogether(comm, where_.say,
                          [&] { made->choose(o, single, lumping, PCRRBGatherSize((const PC_RRB *)pc->data)); });
    made->prepare_exchanges();
    black_ = nullptr;
    return made;
  }
  /* work(r, z) with arrays of the box: those of the rows, r and z, where it has just these. Exchanges are not on our stream. */
  template <class Work> PetscErrorCode OnBox(const PetscScalar *r, PetscScalar *z, const Work &work) {
    PetscFunctionBegin;
    if (matrix.vectors().as_rows()) {
      PetscCall(work(r, z));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(matrix.vectors().ToBoxes(r, r_.data()));
    where_.Ready();
    PetscCall(work(r_.data(), z_.data()));
    where_.HandOver();
    PetscCall(matrix.vectors().ToRows(z_.data(), z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void Lend(PCRRBParts *parts) {
    parts->black = black_;
    parts->ranks = ranks.get();
    parts->matrix = &matrix;
  }
  double bytes() const { return matrix.bytes() + (double)(r_.bytes() + z_.bytes()); }

private:
  using Array = typename Where::template Array<double>;

  void MakeRoom(const Core &core) {
    const std::size_t n = matrix.vectors().as_rows() ? 0 : (std::size_t)core.extent().nodes();
    r_.resize(n);
    z_.resize(n);
  }

  Where &where_;
  petscrrb::rrb::BlackRanks *black_ = nullptr; /* the core */
  Array r_, z_;
};
