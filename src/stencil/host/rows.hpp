// Loops over rows on the host that find out about them.
#pragma once

#include "exec/host/host.hpp"
#include "stencil/facts.hpp"

namespace petscrrb {

// Adds what f(p) says of each row.
template <class F> void at_rows(PetscInt rows, const F &f, RowFacts &all) {
#pragma omp parallel if (rows >= rows_for_threads)
  {
    RowFacts mine;
#pragma omp for schedule(static)
    for (PetscInt p = 0; p < rows; ++p) mine.add(f(p));
#pragma omp critical(petscrrb_rows)
    all.add(mine);
  }
}

template <> class RowLoops<Host> {
public:
  explicit RowLoops(const Host &) {}
  void clear() { found_ = {}; }
  template <class F> void at_rows(PetscInt rows, const F &f) { petscrrb::at_rows(rows, f, found_); }
  const RowFacts &read() const { return found_; }
  template <class F> const RowFacts &read(const F &meanwhile) const { return meanwhile(), found_; }

private:
  RowFacts found_;
};

} // namespace petscrrb
