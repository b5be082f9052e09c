// What the rows of a symmetric matrix turned out to be, and why they are refused.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"
#include "stencil/stencil.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace petscrrb {

constexpr index_t no_row = std::numeric_limits<index_t>::max();

// Maxima, minima and sums of integers only, so that it does not matter who adds what.
struct CouplingFindings {
  index_t identity_rows = 0;                // with no nonzero off the diagonal; they are decoupled both ways
  index_t bad_pivot = no_row;               // the first row whose diagonal is not positive
  bool not_finite = false, foreign = false; // foreign: a coupling that the grid has no place for
  double diagonal = 0;                      // the largest of the other rows'
  double asymmetry = 0;                     // max |a_ij - a_ji|
  double norm = 0;                          // the largest of rows' norms, where a loop computes them
  bool varies = false;                      // couplings of a direction are not all alike, where a loop looks

  void add(const CouplingFindings &f) {
    identity_rows += f.identity_rows;
    bad_pivot = std::min(bad_pivot, f.bad_pivot);
    not_finite |= f.not_finite;
    foreign |= f.foreign;
    diagonal = std::max(diagonal, f.diagonal);
    asymmetry = std::max(asymmetry, f.asymmetry);
    norm = std::max(norm, f.norm);
    varies |= f.varies;
  }
  ReadResult result() const {
    if (not_finite) return ReadResult::refused;
    if (foreign) return ReadResult::rebuild;
    return asymmetry > symmetric * diagonal ? ReadResult::refused : ReadResult::ok;
  }
};

// Loops over rows, at_rows(rows, f), that find out together: stencil/host/rows.hpp, stencil/cuda/rows.cuh
template <class Backend> class RowLoops;

// Of a matrix that is not finite or not symmetric, on the host: names the first such entry.
std::string why_refused(const Csr &);

} // namespace petscrrb
