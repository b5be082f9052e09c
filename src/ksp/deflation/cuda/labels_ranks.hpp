// Labels of rows that are on devices of several ranks. The host finds them, in a copy of the rows.
#pragma once

#include "ksp/deflation/core/labels.hpp"

#include <cuda_runtime_api.h>

namespace petscrrb::deflation {

// What all ranks do together: each function.
class LabelsOnRanks {
public:
  explicit LabelsOnRanks(const Space &space) : space_(space) { space_.phi = nullptr; }

  // The reason why the matrix is refused, or an empty string. Waits.
  std::string find(const Csr &A, const double *phi, cudaStream_t stream) { return find(labels_, A, phi, stream); }
  // New values: whether they lead to others.
  std::string find_again(const Csr &, const double *phi, bool *others, cudaStream_t);
  // Of each subdomain; empty: there are no boxes.
  std::vector<int> boxes(PetscInt own) const;

  const Labels &labels() const { return labels_; }
  std::size_t bytes() const { return labels_.bytes() + again_.bytes(); }

private:
  std::string find(Labels &, const Csr &, const double *phi, cudaStream_t) const;

  Space space_;
  Labels labels_, again_;
};

} // namespace petscrrb::deflation
