// The rows of a matrix that one of several ranks has, as PETSc stores them, borrowed: their couplings among one another, and
// those with ghosts, which are other ranks' rows. For loops on the host and on a device.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

namespace petscrrb {

// The place of each own row in the natural order of all: a box of points, line by line. The default: consecutive places.
struct BoxPlaces {
  PetscInt first = 0;  // the place of row 0
  PetscInt width = 1;  // rows of a line
  PetscInt stride = 1; // from one line to the next

  PETSCRRB_HD PetscInt operator()(PetscInt row) const {
    return stride == 1 ? first + row : first + row / width * stride + row % width;
  }
  // -1 if it is none of the n rows
  PetscInt row_at(PetscInt place, PetscInt n) const {
    const PetscInt line = (place - first) / stride, at = (place - first) % stride;
    const PetscInt row = line * width + at;
    return place >= first && at < width && row < n ? row : -1;
  }
};

// The grid of the own rows alone, on which they are neighbours where they are on the whole one, and the point of row 0 there:
// differences of rows are those of points. A side goes around if it is whole.
struct OwnGrid {
  Grid grid;
  PetscInt first = 0;

  OwnGrid(const Grid &all, const BoxPlaces &places, PetscInt rows) : grid(all) {
    if (places.stride == 1) { // a part of the whole one
      first = places.first;
      return;
    }
    grid.n[0] = places.width;
    grid.n[1] = rows / places.width;
    for (int x = 0; x < 2; ++x) grid.periodic[x] = all.periodic[x] && grid.n[x] == all.n[x];
  }
};

struct RankRows {
  PetscInt n = 0; // own rows
  // Couplings with own rows; with ghosts, whose numbers start from 0. ia null: there are none. a null: none of the entries is 0, and their values
  // are not asked for.
  Csr own, others;
  BoxPlaces places;
  const PetscInt *ghost_places = nullptr; // in ascending order of their global numbers

  RankRows() = default;
  explicit RankRows(const Csr &all) : n(all.n), own(all) {} // of a matrix on one rank

  // Rows are numbered from 0, ghosts from n.
  PETSCRRB_HD PetscInt place(PetscInt row) const { return row < n ? places(row) : ghost_places[row - n]; }

  // visit(column, value) for the entries of an own row, until it returns false; whether all were visited
  template <class Visit> PETSCRRB_HD bool each(PetscInt row, const Visit &visit) const {
    const auto value = [](const Csr &of, PetscInt e) { return of.a ? of.a[e] : 1.0; };
    if (own.ia)
      for (PetscInt e = own.ia[row]; e < own.ia[row + 1]; ++e)
        if (!visit(own.ja[e], value(own, e))) return false;
    if (others.ia)
      for (PetscInt e = others.ia[row]; e < others.ia[row + 1]; ++e)
        if (!visit(n + others.ja[e], value(others, e))) return false;
    return true;
  }
  // visit(column, index) for the couplings of an own row, but those with identity rows, until it returns false. index: among
  // all entries of the row. identity: of each row, or null where none is
  template <class Visit>
  PETSCRRB_HD void each_coupling(const unsigned char *identity, PetscInt row, const Visit &visit) const {
    PetscInt index = 0;
    const auto is_one = [identity](PetscInt p) { return identity && identity[p]; };
    if (!is_one(row))
      each(row, [&](PetscInt column, double a) {
        const PetscInt here = index++;
        if (a == 0 || column == row || is_one(column)) return true;
        return visit(column, here);
      });
  }
  // Without nonzeros off its diagonal.
  PETSCRRB_HD bool is_identity(PetscInt row) const {
    return each(row, [row](PetscInt column, double a) { return column == row || a == 0; });
  }
};

} // namespace petscrrb
