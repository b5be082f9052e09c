// Reads the rows of a matrix on several ranks on a device: read_rows.hpp.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "stencil/cuda/stencil.hpp"
#include "pc/rrb/ranks/read_rows.hpp"

namespace petscrrb::cuda {

class RankReader {
public:
  // ghosts: their places; other_entries: with ghosts. on must outlive this.
  RankReader(const Cuda &on, PetscInt own, const std::vector<PetscInt> &ghosts, PetscInt other_entries, const Grid &);

  // The rows, on the device, until they are set again; marks own identity rows. ghost_places do not matter.
  void set(const RankRows &);
  // What others are to fill then: transposed entries, no numbers where there are none, and the ghosts' flags behind the own ones.
  double *transposed() const { return transposed_.data(); }
  unsigned char *identity() const { return identity_.data(); }

  // v = x at own rows, 1 at identity rows; whether all of it is finite and not 0. Waits.
  bool take_vector(const double *x, double *v) const;
  // v: of own rows and ghosts, or NULL. to: of own rows; has its sizes. Waits.
  RowFacts read(const double *v, double rounding, Positive, const rrb::PreparedStencil &to) const;
  std::size_t bytes() const;

private:
  const Cuda &on_;
  const Grid grid_;
  RankRows rows_;
  Buffer<PetscInt> ghost_places_;
  Buffer<double> transposed_;
  Buffer<unsigned char> identity_;
  Buffer<RowFacts> of_blocks_;
  Report<RowFacts> facts_;
  Report<int> useless_;
};

} // namespace petscrrb::cuda
