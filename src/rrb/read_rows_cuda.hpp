// Reads the rows of a matrix on several ranks on a device: read_rows.hpp.
#pragma once

#include "backend/cuda.hpp"
#include "grid/stencil_cuda.hpp"
#include "rrb/read_rows.hpp"

namespace petscrrb::cuda {

// What does not change from one refresh to the next.
class RankRows {
public:
  // The rows of the host: own ones, then `behind` more. order: the place in natural order of each. on must outlive this.
  RankRows(const Cuda &on, const std::vector<PetscInt> &ia, const std::vector<PetscInt> &ja, PetscInt own,
           PetscInt behind, const rrb::RowPlaces &, const std::vector<PetscInt> &order, const Grid &);

  // Where the values of all rows are put, in their order; then mark_identity(), and then the rest.
  double *values() const { return a_.data(); }
  void mark_identity() const;
  const unsigned char *identity() const { return identity_.data(); } // a flag of own rows and of those behind
  // v = x at own rows, 1 at identity rows; whether all of it is finite and not 0. Waits.
  bool take_vector(const double *x, double *v) const;
  // v: of own rows and those behind, or NULL. to: of own rows; has its sizes. Waits.
  rrb::RowFacts read(const double *v, double rounding, Positive, const rrb::PreparedStencil &to) const;
  std::size_t bytes() const;

private:
  Csr rows() const { return {own_, ia_.data(), ja_.data(), a_.data()}; }

  const Cuda &on_;
  PetscInt own_, all_;
  index_t nx_, ny_;
  int points_;
  Buffer<PetscInt> ia_, ja_, transposed_, order_;
  Buffer<signed char> direction_;
  Buffer<double> a_;
  Buffer<unsigned char> identity_;
  Buffer<char> scratch_;
  Report<rrb::RowFacts> facts_;
  Report<int> useless_;
};

} // namespace petscrrb::cuda
