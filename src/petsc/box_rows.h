/*
   The rows of a MATMPIAIJ that a rank works with where these are not its own: those of a box of grid points and of what is around it,
   numbered as that box is.
*/
#pragma once

#include "exec/host/host.hpp"
#include "petsc/ghosts.h"

#include <functional>

class PetscRRBBoxRows {
public:
  using Number = std::function<PetscInt(PetscInt)>;
  /* For the pattern of P. rows: the global numbers of those that are wanted, all points of a box in natural order; number(column): the
     place among them of a global column, -1 where it is none of them; threads call it, and it does not throw. Behind the last row is one more, for all that are
     none of them: it is no identity row. Collective. */
  PetscErrorCode Build(Mat P, const std::vector<PetscInt> &rows, const Number &number);
  /* The values of P, of that pattern, to a, which is on the device, where P is there, or on the host: all but the last one, which the
     caller puts there and is not 0. Collective. */
  PetscErrorCode Exchange(Mat P, PetscBool device, PetscScalar *a);

  /* columns in the order of the box's numbers */
  const std::vector<PetscInt> &ia() const { return ia_; }
  const petscrrb::host::Buffer<PetscInt> &ja() const { return ja_; }
  double bytes() const { return (double)source_.bytes(); }

private:
  struct Entries { /* of rows, one after the other: global columns, and petscrrb::Source on the owner */
    std::vector<PetscInt> start, column, source;
  };
  class Blocks;
  PetscErrorCode TakeWanted(const Blocks &, PetscSF of_rows, Entries *) const;
  void PutInOrder(const std::vector<PetscInt> &rows, const Number &, const Blocks &, Entries *theirs,
                  std::vector<PetscInt> *to);
  bool is_own(PetscInt row) const { return row >= first_ && row < first_ + own_rows_; }

  PetscInt first_ = 0, own_rows_ = 0;
  std::vector<PetscInt> ia_;
  petscrrb::host::Buffer<PetscInt> ja_, source_; /* source_: petscrrb::Source of each entry */
  PetscRRBRowValues values_{"rows of a box"};
};
