// The values of the rows that a rank has itself, on a device.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <petscsystypes.h>

namespace petscrrb::cuda {

class OwnValues {
public:
  // Of each entry its Source.
  OwnValues(const PetscInt *source, std::size_t n) { source_.assign(source, n); }

  // The values of the blocks to a, on the default stream.
  void put(const PetscScalar *const from[2], PetscScalar *a) const;

private:
  Buffer<PetscInt> source_;
};

} // namespace petscrrb::cuda
