// The distances between the coupled rows of a matrix on the host.
#include "grid/pattern.hpp"

#include <algorithm>
#include <cstdlib>

namespace petscrrb {
namespace {

// Whether there was room for it.
bool insert(std::vector<index_t> &set, index_t d, std::size_t most) {
  if (std::find(set.begin(), set.end(), d) != set.end()) return true;
  if (set.size() == most) return false;
  set.push_back(d);
  return true;
}

} // namespace

// Returns the first coupling for which there is no room, row -1 if there is none.
Pair HostPattern::collect(PetscInt first, PetscInt last, std::size_t most, std::vector<index_t> &all) const {
  for (PetscInt p = first; p < last; ++p) {
    if (identity[p]) continue;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q == p || A.a[e] == 0 || identity[q]) continue;
      if (!insert(all, std::abs(index_t(q) - p), most)) return {p, q};
    }
  }
  return {-1, -1};
}

Distances HostPattern::distances(std::size_t most) {
  constexpr PetscInt chunk = 1 << 16;
  const PetscInt chunks = A.n / chunk + 1;
  Distances all;
  bool too_many = false;
  std::vector<std::vector<index_t>> of_chunk(static_cast<std::size_t>(chunks));
  for (auto &set : of_chunk) set.reserve(most); // no exception may leave a parallel region
#pragma omp parallel for schedule(static) reduction(|| : too_many) if (A.n > chunk)
  for (PetscInt c = 0; c < chunks; ++c)
    too_many |= collect(c * chunk, c < A.n / chunk ? (c + 1) * chunk : A.n, most, of_chunk[std::size_t(c)]).row >= 0;
  for (const auto &set : of_chunk)
    for (index_t d : set) too_many |= !insert(all.all, d, most);
  all.too_many = too_many;
  std::sort(all.all.begin(), all.all.end());
  return all;
}

Pair HostPattern::one_too_many(std::size_t most) {
  std::vector<index_t> all;
  return collect(0, A.n, most, all);
}

double HostPattern::coupling(PetscInt row, PetscInt column) {
  PetscInt e = A.ia[row];
  while (A.ja[e] != column || A.a[e] == 0) ++e;
  return A.a[e];
}

} // namespace petscrrb
