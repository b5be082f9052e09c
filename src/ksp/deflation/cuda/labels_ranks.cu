// Labels of rows that are on devices of several ranks.
#include "ksp/deflation/cuda/labels_ranks.hpp"

#include "exec/cuda/rows.cuh"
#include "ksp/deflation/core/on_all.hpp"
#include "grid/cuda/csr.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace petscrrb::deflation {

std::string LabelsOnRanks::find(Labels &labels, const Csr &A, const double *phi, cudaStream_t stream) const {
  Csr all = A; // with ghosts
  all.n += space_.ranks->ghosts();
  std::unique_ptr<cuda::HostCopy> copy;
  std::vector<double> values;
  on_all(space_.ranks, [&] {
    copy = std::make_unique<cuda::HostCopy>(all, stream);
    if (phi) values = cuda::to_host(phi, std::size_t(A.n), stream);
  });
  Csr own = copy->csr();
  own.n = A.n;
  return labels.find(own, space_, !phi || values.empty() ? phi : values.data()); // without rows, not read
}

std::string LabelsOnRanks::find_again(const Csr &A, const double *phi, bool *others, cudaStream_t stream) {
  const std::string why = find(again_, A, phi, stream);
  *others = why.empty() && space_.ranks->largest(!again_.same_as(labels_)) > 0;
  return why;
}

std::vector<int> LabelsOnRanks::boxes(PetscInt own) const {
  const Boxes &boxes = space_.boxes;
  std::vector<int> box(boxes.none() ? 0 : labels_.count());
  std::iota(box.begin(), box.end(), 0);
  if (box.empty() || !space_.phases) return box;
  std::fill(box.begin(), box.end(), -1);
  for (PetscInt i = 0; i < own; ++i)
    if (labels_.of_row()[i] >= 0) box[labels_.of_row()[i]] = box_of(boxes, space_.ranks->point(i));
  const std::uint64_t count = std::uint64_t(boxes.size());
  std::vector<std::uint64_t> mine;
  for (std::size_t s = 0; s < box.size(); ++s)
    if (box[s] >= 0) mine.push_back(s * count + std::uint64_t(box[s]));
  for (std::uint64_t each : space_.ranks->unite(mine)) box[each / count] = int(each % count);
  return box;
}

} // namespace petscrrb::deflation
