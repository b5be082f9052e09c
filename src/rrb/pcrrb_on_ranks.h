/* PCRRB on several ranks, on the host: its set-up is in pcrrb_on_ranks.cxx, what is read of the matrix in pcrrb_on_ranks_read.cxx. */
#pragma once

#include "glue/overlap.h"
#include "glue/pattern_ranks.h"
#include "rrb/distributed.hpp"
#include "rrb/pcrrb_host.h"
#include "rrb/pcrrb_ranks.h"
#include "rrb/read_rows.hpp"

class PCRRBOnRanks final : public PCRRBHost {
public:
  ~PCRRBOnRanks() override;

  PetscErrorCode FindGrid(PC, const petscrrb::Csr &, petscrrb::Grid *) override;
  PetscErrorCode Read(PC, const petscrrb::Csr &, const petscrrb::Grid &, Vec, double, PCRRBValues *) override;
  void weights(double *x, double *y) const override { *x = facts_.weights[0], *y = facts_.weights[1]; }

  PetscErrorCode Build(PC, const petscrrb::rrb::Extent &, const petscrrb::rrb::Options &, PetscBool,
                       std::unique_ptr<Core> *) override;
  PetscErrorCode Factor(Core &, petscrrb::rrb::Lumping) override;
  PetscErrorCode FactorLastBlock(Core &, petscrrb::rrb::Outcome *, PetscBool *) override;
  PetscErrorCode EstimateForCycle(Core &) override;
  PetscErrorCode Apply(PC, Core &, Vec, Vec, petscrrb::rrb::Part) override;
  PetscErrorCode ViewRanks(PetscViewer) override;
  double bytes() const override;

private:
  /* of the rows */
  PetscErrorCode BuildOverlap(PC);
  PetscErrorCode FindCuts(PC, petscrrb::Grid *);
  PetscErrorCode Connect(Mat);
  PetscErrorCode ReadNearNullVector(PC, Vec);
  PetscErrorCode Agree(PC);
  PetscErrorCode WhyRefused(PC, const petscrrb::Grid &, PCRRBValues *);
  PetscErrorCode MoveToBoxes();

  PetscErrorCode ApplyOnBoxes(PC, Core &, Vec, Vec, petscrrb::rrb::Part);

  PetscRRBOverlap overlap_;
  bool built_ = false;
  std::vector<PetscScalar> a_; /* the values of the overlap's rows */
  petscrrb::Flags identity_;   /* of the same */
  std::vector<double> v_;      /* likewise; empty: 1 */
  petscrrb::rrb::RowPlaces places_;
  petscrrb::rrb::RowFacts facts_;
  PetscRRBCuts cuts_;
  /* Where parts of lines are on another rank than their line: own rows are the roots, points of the box the leaves. */
  PetscSF lines_ = nullptr;
  petscrrb::Stencil rows_;    /* of own rows, then; stencil_ is the box's */
  std::vector<double> r_, z_; /* of the box, then */
  bool corners_ = false;      /* the grid has 9 points */

  std::unique_ptr<PCRRBRanks> ranks_;
  std::unique_ptr<petscrrb::rrb::Boxes> boxes_;
  int gathered_ = 0;
};
