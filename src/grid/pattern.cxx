// The distances between the coupled rows of a matrix on the host.
#include "pattern.hpp"

#include <algorithm>
#include <cstdlib>

namespace petscrrb {
namespace {

bool insert(std::vector<index_t> &set, index_t d) {
  if (std::find(set.begin(), set.end(), d) == set.end()) set.push_back(d);
  return set.size() <= most_distances;
}

} // namespace

Distances HostPattern::distances_in(PetscInt first, PetscInt last) const {
  Distances d;
  for (PetscInt p = first; p < last; ++p) {
    if (identity[p]) continue;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q == p || A.a[e] == 0 || identity[q]) continue;
      if (insert(d.all, std::abs(index_t(q) - p))) continue;
      d.row = p;
      d.column = q;
      return d;
    }
  }
  return d;
}

Distances HostPattern::distances() {
  constexpr PetscInt chunk = 1 << 16;
  Distances all;
  bool too_many = false;
#pragma omp parallel for schedule(static) if (A.n > chunk)
  for (PetscInt c = 0; c < A.n / chunk + 1; ++c) {
    const Distances d = distances_in(c * chunk, c < A.n / chunk ? (c + 1) * chunk : A.n);
#pragma omp critical(petscrrb_distances)
    for (index_t x : d.all) too_many |= !insert(all.all, x);
  }
  if (too_many) return distances_in(0, A.n); // from the start, for the first such row
  std::sort(all.all.begin(), all.all.end());
  return all;
}

double HostPattern::coupling(PetscInt row, PetscInt column) {
  PetscInt e = A.ia[row];
  while (A.ja[e] != column || A.a[e] == 0) ++e;
  return A.a[e];
}

} // namespace petscrrb
