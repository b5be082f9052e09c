/*
   The nonzeros of a matrix on several ranks, as find_grid() and check_grid() ask for them: all ranks hear the same answers.
*/
#pragma once

#include "../grid/pattern.hpp"
#include "overlap.h"

/* Rows go by their place in the natural order. Every method is collective, and throws where MPI fails. */
class PetscRRBPatternOnRanks final : public petscrrb::Pattern {
public:
  /* a: the values of overlap's rows; both must outlive this. n: rows of all ranks */
  PetscRRBPatternOnRanks(MPI_Comm comm, const PetscRRBOverlap &overlap, const PetscScalar *a, PetscInt n)
      : comm_(comm), overlap_(overlap), A_(overlap.rows(a)), rows_(n) {}

  petscrrb::index_t rows() const override { return rows_; }
  std::string mark_identity() override;
  petscrrb::Distances distances(std::size_t most) override;
  petscrrb::Pair one_too_many(std::size_t most) override;
  petscrrb::Fit fit(const petscrrb::Grid &) override;
  bool is_complete(const petscrrb::Grid &, const petscrrb::Fit &) override;
  double coupling(PetscInt row, PetscInt column) override;

private:
  using index_t = petscrrb::index_t;
  struct Seen { /* a distance, and the first coupling with it */
    index_t distance, row, column;
  };

  index_t at(PetscInt row) const { return overlap_.order()[(std::size_t)row]; }
  template <class F> void each_coupling(PetscInt row, const F &) const;
  std::vector<Seen> first_seen(std::size_t most) const;
  const std::vector<index_t> &identity_rows();

  MPI_Comm comm_;
  const PetscRRBOverlap &overlap_;
  const petscrrb::Csr A_;
  PetscInt rows_;
  petscrrb::Flags identity_;           /* of own rows and ghosts */
  std::vector<index_t> identity_rows_; /* of all, sorted, once somebody asks */
  bool asked_ = false;
};
