// E^+ on a device: by src/coarse where E is small and on a grid of boxes, otherwise dense, by cuSOLVER.
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "ksp/deflation/cuda/galerkin.hpp"

#include <memory>
#include <string>

namespace petscrrb::deflation {

// What a factorization found, once its stream was waited for.
struct InverseStatus {
  bool definite = true; // or semidefinite
  int bad_pivot = -1;   // the subdomain at which it is seen not to be, -1: not known
  int null_directions = 0;
};

class DeviceInverse {
public:
  virtual ~DeviceInverse() = default;

  // Only launches work, no allocation; and a copy of few bytes for status().
  virtual void refresh(const CoarseView &, cudaStream_t) = 0;
  virtual InverseStatus status() const = 0;
  // Returns where E^+ c is: in c or in other, which is as long. Only launches work.
  virtual double *solve(double *c, double *other, cudaStream_t) const = 0;
  virtual std::string description() const = 0;
  virtual double bytes() const = 0;
};

class DenseLibrary; // handles of cuSOLVER and cuBLAS

// Allocates, and waits. box: of each subdomain; empty: there are no boxes. count: boxes each way. library: made where it is
// needed first, as it takes long.
std::unique_ptr<DeviceInverse> make_inverse(const CoarsePattern &, const std::vector<int> &box, const int count[3],
                                            Inverse, std::shared_ptr<DenseLibrary> &library, cudaStream_t);

} // namespace petscrrb::deflation
