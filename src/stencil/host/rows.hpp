// Loops over rows on the host that find out about them.
#pragma once

#include "stencil/couplings.hpp"
#include "stencil/read_couplings.hpp"

namespace petscrrb {

inline void note(const RowFinding &r, PetscInt row, CouplingFindings &f) {
  f.identity_rows += r.identity;
  if (r.bad_pivot) f.bad_pivot = std::min<index_t>(f.bad_pivot, row);
  f.not_finite |= r.not_finite;
  f.foreign |= r.foreign;
  f.diagonal = std::max(f.diagonal, r.diagonal);
  f.asymmetry = std::max(f.asymmetry, r.asymmetry);
  f.norm = std::max(f.norm, r.norm);
  f.varies |= r.varies;
}

// Adds what f(p) says of each row.
template <class F> void at_rows(PetscInt rows, const F &f, CouplingFindings &all) {
#pragma omp parallel if (rows >= rows_for_threads)
  {
    CouplingFindings mine;
#pragma omp for schedule(static)
    for (PetscInt p = 0; p < rows; ++p) note(f(p), p, mine);
#pragma omp critical(petscrrb_rows)
    all.add(mine);
  }
}

} // namespace petscrrb
