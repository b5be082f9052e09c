// Reads a matrix that is on no grid, as make_on_graph() takes it. PETSc's half of PCRRB sees this; how it is done is in matrix_rows.hpp.
#pragma once

#include "comm/ranks.hpp"
#include "grid/rank_rows.hpp"
#include "pc/rrb/core/views.hpp"
#include "pc/rrb/graph/couplings.hpp"
#include "stencil/facts.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace petscrrb::rrb {

class MatrixReader {
public:
  virtual ~MatrixReader() = default;

  // The nonzeros, of any values. grid: a 3D one whose points the rows are, which suggests the red nodes; or not of three dimensions. Throws
  // std::length_error where they are too many.
  virtual void set(const Csr &, const Grid &grid) = 0;
  // The values of a matrix with the same nonzeros; near_null, where the matrix is, may be NULL. Waits for it, and for what meanwhile() enqueues
  // of what is prepared().
  virtual RowFacts read(
      const Csr &, const double *near_null, double rounding, const std::function<void()> &meanwhile = [] {}) = 0;
  // What was read last. Its v is NULL where there is no near null vector, or no useful one.
  virtual PreparedStencil prepared() const = 0;
  virtual index_t couplings() const = 0; // off the diagonal, zeros among them
  virtual std::size_t bytes() const = 0;
};

// `on` must outlive it.
template <class Backend> std::unique_ptr<MatrixReader> make_matrix_reader(const Backend &on);

// The rows of all ranks on each of them. Where the matrix is, in the order that is wanted.
class RowsOfRanks {
public:
  virtual ~RowsOfRanks() = default;

  // Once, one after the other. The first and the last are local.
  // mine: this rank's rows, of which row 0 is row `first` of all, and whose own columns have `own` nonzeros; ghosts: their global numbers.
  // place: of each row of all ranks, in the order that is wanted.
  virtual void pack(const RankRows &mine, index_t own, PetscInt first, const std::vector<PetscInt> &ghosts,
                    const std::vector<PetscInt> &place) = 0;
  virtual void gather() = 0; // collective
  virtual void put_together() = 0;
  // Then their values, of the same nonzeros. Collective; allocates nothing here.
  virtual Csr gather_values(const RankRows &mine) = 0;
  virtual std::size_t bytes() const = 0;
};

// How many rows and nonzeros each rank has; of all there are fewer than 2^31. `on` must outlive it. Local.
template <class Backend>
std::unique_ptr<RowsOfRanks> make_rows_of_ranks(const Backend &on, std::unique_ptr<Ranks> ranks,
                                                const std::vector<index_t> &rows, const std::vector<index_t> &nonzeros);

} // namespace petscrrb::rrb
