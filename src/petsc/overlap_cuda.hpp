// The values of the rows that a rank has itself, on a device.
#pragma once

#include "exec/cuda/cuda.hpp"

#include <petscsystypes.h>

namespace petscrrb::cuda {

class OwnValues {
public:
  // Of each of the first n entries: its place in a block, and in which of the two.
  OwnValues(const std::vector<PetscInt> &place, const std::vector<unsigned char> &block, PetscInt n)
      : place_({place.begin(), place.begin() + n}), block_({block.begin(), block.begin() + n}) {}
  // to: where it goes; else they go one after the other
  OwnValues(const std::vector<PetscInt> &place, const std::vector<unsigned char> &block,
            const std::vector<PetscInt> &to)
      : place_(place), to_(to), block_(block) {}

  // The values of the blocks to a, on the default stream.
  void put(const PetscScalar *const from[2], PetscScalar *a) const;

private:
  Buffer<PetscInt> place_, to_;
  Buffer<unsigned char> block_;
};

} // namespace petscrrb::cuda
