// The values of a series that is on no grid, as PCNeumann uses it: one implementation on the host, one on a CUDA
// device.
#pragma once

#include "stencil/facts.hpp"
#include "pc/neumann/core/sparse.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

// The values of a pattern in two parts; null where there are none.
struct SparseArrays {
  double *own = nullptr, *ghost = nullptr;
};

class SparseValues {
public:
  virtual ~SparseValues() = default;

  // From a matrix of the same pattern, which lies where this does, as s (of own rows) and the values do. lower: those of
  // the first triangle, none where only the product is kept. Allocates nothing.
  virtual RowFacts refresh(const Csr &, double *s, SparseArrays lower, SparseArrays second) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &);
std::unique_ptr<SparseValues> make_sparse_values(const Cuda &, PetscInt rows, const SparsePlan &);

} // namespace petscrrb::neumann
