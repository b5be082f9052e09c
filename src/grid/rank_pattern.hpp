// What the rows of one of several ranks say about the nonzeros of a matrix. All of them together tell its grid (pattern.hpp).
#pragma once

#include "grid/pattern.hpp"
#include "grid/rank_rows.hpp"

namespace petscrrb {

class RankPattern {
public:
  virtual ~RankPattern() = default;

  // To be asked first: tells which own rows are identity rows, and whether all entries are finite.
  virtual bool mark_identity() = 0;
  // A flag a row, where the rows are; those of the ghosts are to be put behind before anything else is asked.
  virtual unsigned char *identity() = 0;
  virtual Distances distances(std::size_t most) = 0; // of places
  virtual Fit fit(const Grid &) = 0;                 // its row and column are places
};

// A distance, and the places of the first coupling with it.
struct Seen {
  PetscInt distance, row, column;
};

class HostRankPattern final : public RankPattern {
public:
  HostRankPattern(const RankRows &rows, PetscInt ghosts) : A(rows), flags(std::size_t(rows.n + ghosts)) {}

  bool mark_identity() override;
  unsigned char *identity() override { return flags.data(); }
  Distances distances(std::size_t most) override;
  Fit fit(const Grid &) override;

  // All distances if there are no more than `most`, else one more than that, each with its first coupling.
  std::vector<Seen> first_seen(std::size_t most) const;
  // The places of neighbours on other ranks that own rows should be coupled with and are not: this is an error unless
  // those are identity rows. *complete: own neighbours are all coupled.
  std::vector<PetscInt> missing(const Grid &, const Fit &, bool *complete) const;
  bool has_coupled(PetscInt place) const;               // an own row that is no identity row
  double coupling(PetscInt row, PetscInt column) const; // of places; 0 where there is none
  const RankRows &rows() const { return A; }

private:
  template <class F> void each_coupling(PetscInt row, const F &) const;

  const RankRows A;
  Flags flags;
};

} // namespace petscrrb
