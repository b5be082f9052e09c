/*
   The nonzeros of a matrix on several ranks, as find_grid() and check_grid() ask for them: all ranks hear the same answers.
*/
#pragma once

#include "grid/pattern.hpp"
#include "petsc/rank_rows.h"

#include <memory>

/* Rows go by their place in the natural order. Every method is collective, and throws where something fails. */
class PetscRRBPatternOnRanks final : public petscrrb::Pattern {
public:
  /* Of P, for which rows were built. on_device: this rank's answers, of rows that are there; NULL: they are looked at on
     the host, as for messages. All must outlive this. */
  PetscRRBPatternOnRanks(Mat P, const PetscRRBRankRows &rows, petscrrb::RankPattern *on_device);
  ~PetscRRBPatternOnRanks() override;

  petscrrb::index_t rows() const override { return size_; }
  std::string mark_identity() override;
  petscrrb::Distances distances(std::size_t most) override;
  petscrrb::Pair one_too_many(std::size_t most) override;
  petscrrb::Fit fit(const petscrrb::Grid &) override;
  bool is_complete(const petscrrb::Grid &, const petscrrb::Fit &) override;
  petscrrb::index_t coupled_rows() override;
  double coupling(PetscInt row, PetscInt column) override;

private:
  petscrrb::RankPattern &here() { return device_ ? *device_ : look(); }
  petscrrb::HostRankPattern &look();    /* own rows on the host */
  petscrrb::HostRankPattern &on_host(); /* the same, with what the ghosts are; collective */
  void exchange_identity(petscrrb::RankPattern &, PetscBool device);

  Mat P_;
  MPI_Comm comm_;
  const PetscRRBRankRows &rows_;
  PetscInt size_ = 0;
  petscrrb::RankPattern *device_;
  petscrrb::RankRows view_; /* of the host, once somebody asks */
  std::unique_ptr<petscrrb::HostRankPattern> host_;
  bool marked_ = false; /* the host's knows which rows and ghosts are identity rows */
};
