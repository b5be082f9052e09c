// The (pseudo-)inverse of a small symmetric matrix on a device: what substructured and dense ones have in common.
#pragma once

#include "dense/inverse.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace petscrrb::dense {

// In device memory.
struct SparseView {
  int n;
  const int *ia, *ja;       // sorted columns, symmetric, diagonal present
  const double *a, *excess; // excess: row sums, exact where they are 0

#ifdef __CUDACC__
  __device__ double diagonal(int i) const {
    for (int p = ia[i]; p < ia[i + 1]; ++p)
      if (ja[p] == i) return a[p];
    return 0.0;
  }
#endif
};

// What a refresh found, once its stream was waited for.
struct Status {
  bool definite = true; // or semidefinite
  int bad_pivot = -1;   // the unknown at which it is seen not to be, -1: not known
  int null_directions = 0;
};

class DeviceInverse {
public:
  virtual ~DeviceInverse() = default;

  // New values, in device memory, in the order of the pattern, and the row sums, exact where they are 0; what null vectors get
  // (inverse.hpp). Only launches work, no allocation; and a copy of few bytes for status().
  virtual void refresh(const double *a, const double *excess, double null_inverse, cudaStream_t) = 0;
  virtual Status status() const = 0;
  // Returns where the inverse times r is: in r or in other, which is as long. Only launches work.
  virtual double *solve(double *r, double *other, cudaStream_t) const = 0;
  virtual const char *description() const = 0;
  virtual std::size_t bytes() const = 0;
};

} // namespace petscrrb::dense
