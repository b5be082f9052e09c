// The values of a series that is on no grid, as PCNeumann uses it: one implementation on the host, one on a CUDA
// device.
#pragma once

#include "grid/couplings.hpp"
#include "sparse.hpp"

#include <memory>

namespace petscrrb {
class Cuda;
}

namespace petscrrb::neumann {

class SparseValues {
public:
  virtual ~SparseValues() = default;

  // From a matrix of the same pattern, which lies where this does, as s and the values do. lower: those of the first
  // triangle, null where only the product is kept or where there are none. Allocates nothing.
  virtual CouplingFindings refresh(const Csr &, double *s, double *lower, double *second) = 0;
  virtual double bytes() const = 0;
};

std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &);
std::unique_ptr<SparseValues> make_sparse_values(const Cuda &, PetscInt rows, const SparsePlan &);

} // namespace petscrrb::neumann
