/* What the backend of PCGRIDMG has besides, where the matrix is on several ranks. */
#pragma once

#include "comm/ranks_mpi.h"
#include "pc/backend.h"
#include "pc/gridmg/pcgridmg_data.h"
#include "pc/gridmg/pcgridmg_ranks.h"
#include "petsc/mpi_throws.h"
#include "petsc/rank_rows.h"

#if PETSCRRB_ON_DEVICES
  #include "comm/ranks_cuda.h"
#endif

template <class Where> class PCGridMGOnRanks {
public:
  explicit PCGridMGOnRanks(Where &where) : where_(where) {}

  PCGridMGDistribution distribution{Where::device};

  /* After distribution.Build(): room for the box's rows and vectors. Collective; may throw. */
  void Prepare(PC pc) {
    TakePattern(pc);
    Together(pc, [&] {
      points_ = (std::size_t)distribution.box().points();
      const std::size_t n = vectors().as_rows() ? 0 : points_;
      r_.resize(n), z_.resize(n);
    });
  }
  /* Who work together. Multigrid that was made with the last ones has to be gone. Collective; may throw. */
  petscrrb::gridmg::Dealt MakeRanks(PC pc) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
    ranks_ = nullptr;
    if constexpr (!Where::device) Together(pc, [&] { ranks_ = std::make_unique<PetscRRBRanks>(comm); });
#if PETSCRRB_ON_DEVICES
    if constexpr (Where::device) {
      PetscRRBCheckSent(PetscRRBChooseTransport((PetscObject)pc, "-pc_gridmg_transport",
                                                ((PC_GridMG *)pc->data)->transport, where_.stream.cuda, &transport_));
      ranks_ = std::move(transport_.ranks);
    }
#endif
    return {ranks_.get(), distribution.cuts(), PCGridMGGatherSize((const PC_GridMG *)pc->data),
            [comm, say = where_.say](const std::function<void()> &f) { PetscRRBThrowTogether(comm, say, f); },
            [comm, this](petscrrb::RowFacts &f) {
              if (f.bad_pivot != petscrrb::no_row) f.bad_pivot = distribution.global(f.bad_pivot);
              PetscRRBCheckSent(PetscRRBAgreeOnFacts(comm, &f));
            }};
  }

  /* The rows of the box, and of what is around it, of P, Pmat as it is now. Collective; may throw. */
  petscrrb::Csr Rows(PC pc, Mat P) {
    bool changed;
    PetscRRBCheckSent(distribution.FollowPattern(pc, P, &changed));
    if (changed) TakePattern(pc);
    PetscRRBCheckSent(distribution.rows().Exchange(P, Where::device, a_.data()));
    return {(PetscInt)ia_.size() - 1, ia_.data(), ja_.data(), a_.data()};
  }
  const PetscRRBBoxVectors &vectors() const { return distribution.vectors(); }
  std::size_t points() const { return points_; } /* of the box */
  /* A vector of rows, which some ranks have none of, with what is around the box. Collective; may throw. */
  petscrrb::gridmg::NearNull OfBox(PC pc, petscrrb::gridmg::NearNull near) {
    Together(pc, [&] { near_.resize(distribution.rows().ia().size()); });
    PetscRRBCheckSent(distribution.ToWanted(near.x, near_.data()));
    near.x = near_.data();
    return near;
  }
  /* apply(r, z) with arrays of the box: those of the rows where it has just these. Collective; may throw. */
  template <class Apply> void OnBox(const PetscScalar *r, PetscScalar *z, const Apply &apply) {
    ranks_->check(false);
    if (vectors().as_rows()) return apply(r, z);
    PetscRRBCheckSent(vectors().ToBoxes(r, r_.data()));
    apply(r_.data(), z_.data());
    PetscRRBCheckSent(vectors().ToRows(z_.data(), z));
  }

  PetscErrorCode View(PetscViewer viewer) const {
    PetscFunctionBegin;
    PetscCall(distribution.View(viewer));
#if PETSCRRB_ON_DEVICES
    if constexpr (Where::device) PetscCall(transport_.View(viewer));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double bytes() const {
    return distribution.bytes() +
           (double)(ia_.bytes() + ja_.bytes() + a_.bytes() + r_.bytes() + z_.bytes() + near_.bytes());
  }

private:
  template <class T> using Array = typename Where::template Array<T>;

  template <class F> void Together(PC pc, const F &f) const {
    PetscRRBThrowTogether(PetscObjectComm((PetscObject)pc), where_.say, f);
  }
  void TakePattern(PC pc) {
    Together(pc, [&] {
      const PetscRRBBoxRows &rows = distribution.rows();
      ia_.assign(rows.ia()), ja_.assign(rows.ja().data(), rows.ja().size());
      a_.resize(rows.ja().size());
      a_.set(rows.ja().size() - 1, 1.0);
    });
  }

  Where &where_;
  std::size_t points_ = 0;
  std::unique_ptr<petscrrb::rrb::Ranks> ranks_;
#if PETSCRRB_ON_DEVICES
  PetscRRBTransport transport_; /* of ranks_ */
#endif
  Array<PetscInt> ia_, ja_;
  Array<PetscScalar> a_, r_, z_, near_;
};
