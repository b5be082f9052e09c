/* Solves with the last block on a device, as CoarseSolver does on the host: by a dense inverse, or there. */
#pragma once

#include "pc/rrb/pcrrb_coarse.h"
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "dense/cuda/inverse.hpp"
  #include "petsc/stream_cuda.h"

  #include <future>

class PCRRBLastBlockOnDevice {
public:
  using Core = petscrrb::rrb::Factorization;

  explicit PCRRBLastBlockOnDevice(PetscRRBStream *stream) : stream_(*stream) {}

  void Expect(const petscrrb::rrb::Extent &, int levels);
  PetscErrorCode Reset();
  PetscErrorCode SetUp(PC, Core &, PCRRBCoarse, KSP);
  void Enqueue(Core &, const petscrrb::rrb::Lumping &); /* after a refresh of the core, where it can be */
  PetscErrorCode Refresh(Core &, double null_inverse, PetscBool *spd);
  PetscErrorCode Solve(Core &, petscrrb::rrb::Part);
  bool only_enqueues() const { return inverse_ != nullptr; }
  PetscInt null_directions() const { return inverse_ ? null_directions_ : solver_.null_directions(); }
  double bytes() const { return inverse_ ? (double)inverse_->bytes() : solver_.bytes(); }

private:
  PetscErrorCode ToHost(std::vector<double> &to, const double *from);

  PetscRRBStream &stream_;
  petscrrb::cuda::Buffer<int> ia_, ja_;                     /* of a block on a graph */
  std::future<void> expected_;                              /* SubstructureOf() it */
  std::unique_ptr<petscrrb::dense::DeviceInverse> inverse_; /* or */
  petscrrb::rrb::CoarseSolver solver_;
  std::vector<double> r_, z_; /* the block's vectors, for those solvers of it that are the host's */
  PetscInt null_directions_ = 0;
};

#endif
