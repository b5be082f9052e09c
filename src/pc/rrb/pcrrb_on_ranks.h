/* What a backend of PCRRB has besides where the matrix is on several ranks. */
#pragma once

#include "comm/ranks.hpp"
#include "pc/rrb/graph/matrix_reader.hpp"
#include "pc/rrb/pcrrb_distribution.h"
#include "petsc/matrix.h"
#include "petsc/mpi_throws.h"
#include "petsc/rank_rows.h"

#include <limits>
#include <numeric>

/* work() may be done with other ranks; what goes wrong with the messages comes as an exception. */
template <class Work> PetscErrorCode PCRRBTogether(const Work &work) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  const PetscRRBTrouble trouble = PetscRRBTroubleOf("RRB on several ranks", [&] { code = work(); });
  PetscCheck(!trouble, PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(code);
}

/* Whether it is so on all ranks: they may differ where their processors do. Collective. */
inline PetscErrorCode PCRRBAgree(MPI_Comm comm, PetscBool *yes) {
  PetscMPIInt all = *yes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  *yes = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *shared: whether they do, else *ranks goes; see Factorization::share(). All ranks have room for what they need before they exchange it.
   Collective. */
inline PetscErrorCode PCRRBShare(MPI_Comm comm, const PetscRRBSay &say, PCRRBBackend::Core &core,
                                 std::unique_ptr<petscrrb::rrb::Ranks> *ranks,
                                 const std::vector<petscrrb::index_t> &cuts, PetscInt gather_size, PetscBool *shared) {
  return PCRRBTogether([&] {
    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(comm, say, [&] { *shared = (PetscBool)core.share(**ranks, cuts, gather_size); }));
    if (*shared)
      core.prepare_exchanges();
    else
      *ranks = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

/* *rows: what brings the rows of all ranks to each. ranks: of its own. Collective; may throw. */
template <class On>
PetscErrorCode PCRRBGatherPattern(Mat P, const petscrrb::RankRows &mine, const std::vector<PetscInt> &places,
                                  const PetscRRBSay &say, const On &on, std::unique_ptr<petscrrb::rrb::Ranks> ranks,
                                  std::unique_ptr<petscrrb::rrb::RowsOfRanks> *rows) {
  using petscrrb::index_t;
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  const PetscInt *ranges, *of_others;
  PetscInt ghosts;
  MatInfo info[2];
  Mat parts[2];

  PetscFunctionBegin;
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
  PetscCall(PetscRRBTryTogether(comm, say, [&] {
    std::vector<index_t> n;
    for (std::size_t r = 0; r < nonzeros.size(); ++r) n.push_back(ranges[r + 1] - ranges[r]);
    const auto rank = (std::size_t)ranks->rank();
    *rows = petscrrb::rrb::make_rows_of_ranks(on, std::move(ranks), n, nonzeros);
    (*rows)->pack(mine, own, ranges[rank], {of_others, of_others + ghosts}, places);
  }));
  (*rows)->gather();
  PetscCall(PetscRRBTryTogether(comm, say, [&] { (*rows)->put_together(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCRRBBackend::GatherRows(), where P is. ranks: of its own, where there are places. */
template <class On>
PetscErrorCode PCRRBGatherRows(Mat P, const std::vector<PetscInt> *places, const PetscRRBSay &say, const On &on,
                               std::unique_ptr<petscrrb::rrb::Ranks> ranks,
                               std::unique_ptr<petscrrb::rrb::RowsOfRanks> *rows, petscrrb::Csr *csr) {
  petscrrb::RankRows mine;

  PetscFunctionBegin;
  PetscCall(PetscRRBRankRowsGet(P, (PetscBool)On::on_device, &mine));
  const PetscErrorCode code = PCRRBTogether([&] {
    PetscFunctionBegin;
    if (places) PetscCall(PCRRBGatherPattern(P, mine, *places, say, on, std::move(ranks), rows));
    *csr = (*rows)->gather_values(mine);
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  PetscCall(PetscRRBRankRowsRestore(P, (PetscBool)On::on_device, &mine));
  PetscFunctionReturn(code);
}

/* Array: where the matrix is */
template <class Array> class PCRRBOnRanks {
public:
  explicit PCRRBOnRanks(std::unique_ptr<PCRRBRowValues> values) : matrix(std::move(values)) {}

  PCRRBDistribution matrix;
  std::unique_ptr<petscrrb::rrb::Ranks> ranks; /* to be set before Build() */
  petscrrb::rrb::BlackRanks *black = nullptr;  /* the core */

  /* The factorization of a grid of all ranks. Plans are made by each rank alone, so that none waits for one that has no memory;
     may throw. */
  template <class On>
  void Build(PC pc, const On &on, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &o,
             petscrrb::rrb::Precision precision, std::unique_ptr<PCRRBBackend::Core> *core) {
    matrix.SetBoxes(pc, all, o.levels);
    auto made = petscrrb::rrb::make_distributed(on, *ranks, matrix.boxes(), o, matrix.gathered(), precision);
    black = made.get();
    *core = std::move(made);
    MakeRoom(**core);
  }
  /* The same with red nodes chosen by support, of what the boxes have; in PetscRRBTryTogether(). Collective. */
  template <class On>
  void BuildOnGraph(PC pc, const On &on, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &o,
                    PetscBool single, const petscrrb::rrb::PreparedStencil &s, petscrrb::rrb::Lumping lumping,
                    const PetscRRBSay &say, std::unique_ptr<PCRRBBackend::Core> *core) {
    std::unique_ptr<petscrrb::rrb::GraphOnRanks> made;

    PetscRRBThrowTogether(PetscObjectComm((PetscObject)pc), say, [&] {
      matrix.SetBoxes(pc, all, 0);
      made = petscrrb::rrb::make_graph_on_ranks(on, *ranks, matrix.boxes(), matrix.corners());
      MakeRoom(*made);
    });
    made->gather(s);
    PetscRRBThrowTogether(PetscObjectComm((PetscObject)pc), say, [&] {
      made->choose(o, single != PETSC_FALSE, lumping, PCRRBGatherSize((const PC_RRB *)pc->data));
    });
    made->prepare_exchanges();
    black = nullptr;
    *core = std::move(made);
  }
  /* work(r, z) with arrays of the box: those of the rows, r and z, where it has just these */
  template <class Work> PetscErrorCode OnBox(const PetscScalar *r, PetscScalar *z, const Work &work) {
    PetscFunctionBegin;
    if (matrix.vectors().as_rows()) {
      PetscCall(work(r, z));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(matrix.vectors().ToBoxes(r, r_.data()));
    PetscCall(work(r_.data(), z_.data()));
    PetscCall(matrix.vectors().ToRows(z_.data(), z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void Lend(PCRRBParts *parts) {
    parts->black = black;
    parts->ranks = ranks.get();
    parts->matrix = &matrix;
  }
  double bytes() const { return matrix.bytes() + 8.0 * (double)(r_.size() + z_.size()); }

private:
  void MakeRoom(const PCRRBBackend::Core &core) {
    const std::size_t n = matrix.vectors().as_rows() ? 0 : (std::size_t)core.extent().nodes();
    r_.resize(n);
    z_.resize(n);
  }

  Array r_, z_;
};

/* By one rank, where on_ranks is NULL, or by several. */
template <class Array, class On>
void PCRRBBuild(PCRRBOnRanks<Array> *on_ranks, PC pc, const On &on, const petscrrb::rrb::Extent &all,
                const petscrrb::rrb::Options &o, petscrrb::rrb::Precision precision,
                std::unique_ptr<PCRRBBackend::Core> *core) {
  if (on_ranks)
    on_ranks->Build(pc, on, all, o, precision, core);
  else
    *core = petscrrb::rrb::make_factorization(on, all, o, precision);
}
template <class Array, class On>
void PCRRBBuildOnGraph(PCRRBOnRanks<Array> *on_ranks, PC pc, const On &on, const petscrrb::rrb::Extent &all,
                       const petscrrb::rrb::Options &o, PetscBool single, const petscrrb::rrb::PreparedStencil &s,
                       petscrrb::rrb::Lumping lumping, const PetscRRBSay &say,
                       std::unique_ptr<PCRRBBackend::Core> *core) {
  if (on_ranks)
    on_ranks->BuildOnGraph(pc, on, all, o, single, s, lumping, say, core);
  else
    *core = petscrrb::rrb::make_by_support(on, all, o, single != PETSC_FALSE, s, lumping);
}
