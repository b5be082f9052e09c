// Reads a matrix that is on no grid, as make_on_graph() takes it. PETSc's half of PCRRB sees this; how it is done is in matrix_rows.hpp.
#pragma once

#include "comm/ranks.hpp"
#include "exec/host/host.hpp"
#include "pc/rrb/core/views.hpp"
#include "pc/rrb/graph/couplings.hpp"
#include "stencil/facts.hpp"

#include <memory>
#include <vector>

namespace petscrrb::rrb {

class MatrixReader {
public:
  virtual ~MatrixReader() = default;

  // The nonzeros, of any values. grid: a 3D one whose points the rows are, which suggests the red nodes; or not of three dimensions. Throws
  // std::length_error where they are too many.
  virtual void set(const Csr &, const Grid &grid) = 0;
  // The values of a matrix with the same nonzeros; near_null, where the matrix is, may be NULL. Waits for it.
  virtual RowFacts read(const Csr &, const double *near_null, double rounding) = 0;
  // What was read last. Its v is NULL where there is no near null vector, or no useful one.
  virtual PreparedStencil prepared() const = 0;
  virtual index_t couplings() const = 0; // off the diagonal, zeros among them
  virtual std::size_t bytes() const = 0;
};

// `on` must outlive it.
template <class Backend> std::unique_ptr<MatrixReader> make_matrix_reader(const Backend &on);

// Brings the values of all nonzeros to each of several ranks, of which each has some.
class ValuesOfRanks {
public:
  virtual ~ValuesOfRanks() = default;

  virtual double *mine() = 0;           // where the matrix is, as is `all`: this rank's own, to be filled
  virtual void gather(double *all) = 0; // collective
  virtual std::size_t bytes() const = 0;
};

// n: how many each rank has. from: of each nonzero, its number among these, those of one rank behind another's. `on` and `ranks` must
// outlive it. Local.
template <class Backend>
std::unique_ptr<ValuesOfRanks> make_values_of_ranks(const Backend &on, Ranks &ranks, const std::vector<index_t> &n,
                                                    const host::Buffer<node_t> &from);

} // namespace petscrrb::rrb
