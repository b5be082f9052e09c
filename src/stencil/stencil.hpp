// Reads the symmetric 5- or 9-point stencil of a matrix on a 2D grid: first time and at each change of values.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <vector>

namespace petscrrb {

// The symmetric matrix of a 2D grid, in natural order: one array a direction, each grid.n[0] * grid.n[1] long.
// E couples (i,j) with (i+1,j), N with (i,j+1), NE with (i+1,j+1), NW with (i-1,j+1), indices taken around a periodic
// side. A coupling that leaves the grid is zero.
struct Stencil {
  std::vector<double> C, E, N;
  std::vector<double> NE, NW; // empty for a 5-point matrix
  std::vector<double> v;      // near-null-space vector; empty means 1

  double bytes() const {
    return 8.0 * static_cast<double>(C.size() + E.size() + N.size() + NE.size() + NW.size() + v.size());
  }
};

// What the rows turned out to be. An identity row has no nonzero off its diagonal.
struct StencilFacts {
  index_t identity_rows = 0;   // with the zero rows
  index_t zero_rows = 0;       // no nonzeros at all; their diagonal is taken as 1
  index_t decoupled = 0;       // couplings that a row has with an identity row; dropped
  index_t positive = 0;        // positive couplings, each pair of rows once
  bool corners = false;        // some coupling in NE or NW is not zero
  bool not_positive = false;   // some diagonal entry is not, of a row with nonzeros
  double largest_diagonal = 0; // max |a_ii| of the rows that are no identity rows
  double asymmetry = 0;        // max |a_ij - a_ji| between such rows

  std::vector<unsigned char> identity; // a flag a row
};

constexpr double symmetric = 1e-10; // of the largest diagonal entry: what a_ij and a_ji may differ by

enum class ReadResult {
  ok,
  rebuild, // a coupling that the grid has no place for: a corner at 5 points, a seam that is not periodic
  refused  // not finite, or not symmetric
};

// Fills C, E, N (and NE, NW if grid.points is 9) with the means of a_ij and a_ji, and `facts`. Identity rows are
// decoupled both ways. Allocates only what does not have its size yet. Unless ok, `why` names the smallest row that is
// the reason, its column and the values, and the stencil is not to be used. Where it is ok and facts.not_positive, `why`
// names the first such row. Same bits for any number of threads.
ReadResult read_stencil(const Csr &, const Grid &, Stencil &, StencilFacts &, std::string &why);

} // namespace petscrrb
