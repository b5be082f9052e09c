// Reads the stencil of a matrix that lies on a device, and prepares it for the factorization, in one pass over the rows.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "grid/grid.hpp"
#include "stencil/stencil.hpp"
#include "stencil/weights.hpp"

#include <functional>

namespace petscrrb::cuda {

// What is factored (docs/numerics.md, "The matrix that is factored"), in natural order: the excess of each row in C,
// the weights of its couplings in E, N, NE and NW. Arrays as in Stencil.
struct DeviceStencil {
  Buffer<double> C, E, N;
  Buffer<double> NE, NW; // empty for a 5-point matrix
  Buffer<double> v;      // near-null-space vector, if `scaled`; otherwise it is 1, whatever is here
  bool scaled = false;
  Buffer<unsigned char> identity; // a flag a row

  double bytes() const {
    return static_cast<double>(C.bytes() + E.bytes() + N.bytes() + NE.bytes() + NW.bytes() + v.bytes() +
                               identity.bytes());
  }
};

// The scratch for one grid. All work goes to the stream; the host waits for it once a refresh, to read what was found.
class StencilReader {
public:
  explicit StencilReader(const Grid &, Positive = Positive::moves);

  // As read_stencil() and then rrb::prepare(): the same bits in the stencil. `near_null` (on the device, or null) is
  // copied, with 1 on identity rows. Allocates only what does not have its size yet. Unless ok, the stencil is not to be
  // used, and why_not() has the reason; so it has where there is a bad pivot.
  // meanwhile(): enqueues work on what is read, before anybody knows whether that is to be used.
  ReadResult read(
      const Csr &device_rows, const double *near_null, double rounding, DeviceStencil &, RowFacts &, cudaStream_t,
      const std::function<void()> &meanwhile = [] {});

private:
  RowFacts pass(const Csr &, const double *near_null, double rounding, DeviceStencil &, cudaStream_t,
                const std::function<void()> &meanwhile) const;
  bool is_foreign(const Csr &, const DeviceStencil &, cudaStream_t) const;

  Grid grid_;
  Positive positive_;
  PetscInt lines_; // that a warp reads, one by one
  Buffer<RowFacts> partial_;
  Report<RowFacts> total_;
  Report<int> foreign_;
};

// The reason, from a copy of the matrix on the host.
std::string why_not(const Csr &device_rows, const Grid &, cudaStream_t);

} // namespace petscrrb::cuda
