/* What the backend of PCRRB has besides where the matrix is on several ranks: how the grid is dealt out to them, and what each reads of its
   rows. A Mat is Pmat as a MATMPIAIJ. */
#pragma once

#include "pc/rrb/pcrrb_where.h"
#include "pc/rrb/ranks/distributed.hpp"
#include "pc/rrb/ranks/graph_on_ranks.hpp"
#include "petsc/box_vectors.h"
#include "petsc/overlap.h"
#include "petsc/rank_rows.h"

/* Where: PCRRBHostWork or PCRRBDeviceWork, which must outlive it */
template <class Where> class PCRRBOnRanks final : public PCRRBDistribution {
public:
  using Core = PCRRBBackend::Core;

  explicit PCRRBOnRanks(Where &where)
      : where_(where), own_(petscrrb::rrb::make_stencil_reader(where.on())), vectors_(Where::device) {}

  std::unique_ptr<petscrrb::rrb::Ranks> ranks; /* to be set before Build() */

  PetscErrorCode FindGrid(PC, Mat, petscrrb::Grid *);
  /* The stencil of the rank's box. */
  PetscErrorCode Read(PC, Mat, Vec near_null, petscrrb::rrb::StencilReader *);
  PetscErrorCode ReadForSolver(PC, Mat, const petscrrb::Grid &, double rounding, petscrrb::rrb::StencilReader *,
                               petscrrb::rrb::PreparedStencil *, petscrrb::RowFacts *) override;

  /* The factorization of a grid of all ranks. Plans are made by each rank alone, so that none waits for one that has no memory;
     may throw. */
  std::unique_ptr<Core> Build(PC, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &,
                              petscrrb::rrb::Precision);
  /* The same with red nodes chosen by support, of what the boxes have; in PetscRRBTryTogether(). Collective. */
  std::unique_ptr<Core> BuildOnGraph(PC, const petscrrb::rrb::Extent &all, const petscrrb::rrb::Options &, bool single,
                                     const petscrrb::rrb::PreparedStencil &, petscrrb::rrb::Lumping);

  const PetscRRBBoxVectors &vectors() const override { return vectors_; }
  /* work(r, z) with arrays of the box: those of the rows, r and z, where it has just these. Exchanges are not on our stream. */
  template <class Work> PetscErrorCode OnBox(const PetscScalar *r, PetscScalar *z, const Work &work) {
    PetscFunctionBegin;
    if (vectors_.as_rows()) {
      PetscCall(work(r, z));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(vectors_.ToBoxes(r, r_.data()));
    where_.Ready();
    PetscCall(work(r_.data(), z_.data()));
    where_.HandOver();
    PetscCall(vectors_.ToRows(z_.data(), z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void Lend(PCRRBParts *parts) {
    parts->black = black_;
    parts->ranks = ranks.get();
    parts->matrix = this;
  }
  PetscErrorCode View(PetscViewer) const;
  double bytes() const;

private:
  using Array = typename Where::template Array<double>;

  PetscErrorCode FollowPattern(PC, Mat);
  void Prepare(const petscrrb::Grid &);
  PetscErrorCode ExchangeRows(PC, Mat, const petscrrb::Grid &);
  PetscErrorCode LookAtPattern(PC, Mat, bool told, const char *option, petscrrb::Grid *, std::string *why);
  PetscErrorCode FindCuts(PC, petscrrb::Grid *);
  PetscErrorCode Connect(Mat);
  PetscErrorCode TakeVector(Vec near_null, PetscMPIInt *usable);
  PetscErrorCode ReadNearNullVector(PC, Vec);
  PetscErrorCode ExchangeVector();
  PetscErrorCode ReadRows(PC, Mat, const petscrrb::Grid &, double rounding, petscrrb::Positive,
                          petscrrb::rrb::StencilReader *, petscrrb::rrb::PreparedStencil *box, petscrrb::RowFacts *);
  PetscErrorCode WhyRefused(PC, Mat, const petscrrb::Grid &, PCRRBValues *);
  PetscErrorCode MoveToBoxes(const petscrrb::rrb::PreparedStencil &from,
                             const petscrrb::rrb::PreparedStencil &to) const;
  void SetBoxes(PC, const petscrrb::rrb::Extent &all, int levels);
  void MakeRoom(const Core &);

  Where &where_;
  PetscRRBRankRows rows_;
  PetscRRBMatrixState pattern_; /* of the matrix that they are of */
  petscrrb::RankRows got_;      /* the matrix's arrays, while they are read */
  std::unique_ptr<typename Where::RankReader> reader_;
  bool prepared_ = false; /* it is for their pattern and for the grid */
  Array v_;               /* V of own rows, and room for the ghosts' */
  bool scaled_ = false;   /* V is not I */
  PetscRRBCuts cuts_;
  std::size_t rank_ = 0;
  petscrrb::BoxPlaces places_;
  const std::unique_ptr<petscrrb::rrb::StencilReader> own_; /* of own rows, where these are not the box's points */
  petscrrb::rrb::PreparedStencil box_; /* of the last Read(), with what was read, unless others were read since */
  PetscRRBMatrixState read_;
  bool corners_ = false; /* of what was read: the grid has 9 points */

  std::unique_ptr<petscrrb::rrb::Boxes> boxes_;
  int gathered_ = 0; /* the grid that all of them have */
  PetscRRBBoxVectors vectors_;
  petscrrb::rrb::BlackRanks *black_ = nullptr; /* the core */
  Array r_, z_;                                /* of the box */
};
