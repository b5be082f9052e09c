// What is found out about a row of a matrix on patches, on a device.
#pragma once

#include "pc/blockrelax/cuda/matrix.cuh"

namespace petscrrb::blockrelax {

struct PlaceOfRow {
  Patch patch;
  PetscInt at[3], end;
  index_t block;
  int cell;

  __device__ PlaceOfRow(const DevicePatches &p, PetscInt row) {
    int low = 0, high = p.count; // patches are numbered one after the other
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (p.patch[middle].first <= row ? low : high) = middle;
    }
    patch = p.patch[low];
    const PetscInt q = row - patch.first;
    end = patch.first + patch.n[0] * patch.n[1] * patch.n[2];
    at[0] = q % patch.n[0], at[1] = q / patch.n[0] % patch.n[1], at[2] = q / patch.n[0] / patch.n[1];
    PetscInt number = 0;
    cell = 0;
    for (int d = 2; d >= 0; --d) {
      const PetscInt b = at[d] / p.cut.size[d], first = b * p.cut.size[d], left = patch.n[d] - first;
      number = number * p.cut.blocks(patch, d) + b;
      cell = cell * int(left < p.cut.size[d] ? left : p.cut.size[d]) + int(at[d] - first);
    }
    block = p.first_block[low] + number;
  }
  // Whether a step leads to another block.
  __device__ bool leaves(const Cut &cut, const Step &s) const {
    const int step[3] = {s.x, s.y, s.z};
    bool other = false;
    for (int d = 0; d < 3; ++d) other |= step[d] && (at[d] + step[d]) / cut.size[d] != at[d] / cut.size[d];
    return other;
  }
  __device__ bool has(PetscInt row) const { return row >= patch.first && row < end; }
};

// A row as its patch sees it. steps: the number of neighbours ahead
template <int steps> struct DeviceRows {
  Csr A;
  DevicePatches patches;
  Neighbours near;
  bool periodic[3];
  const unsigned char *identity;

  // Which neighbour within the patch, 1 + m ahead, -(1 + m) back; or 0
  __device__ int direction(const PlaceOfRow &p, PetscInt difference) const {
    int found = 0;
#pragma unroll
    for (int m = 0; m < steps; ++m) {
      const Step s = near.step[m];
      const PetscInt far = offset(p.patch.n, s);
      if (difference == far && within(p.patch, p.at, s)) found = m + 1;
      if (difference == -far && within(p.patch, p.at, Step{-s.x, -s.y, -s.z})) found = -(m + 1);
    }
    return found;
  }

  // Whether a row of the same patch is a neighbour over the seam of a periodic side.
  __device__ bool around(const PlaceOfRow &p, PetscInt row) const {
    const PetscInt *n = p.patch.n, q = row - p.patch.first, to[3] = {q % n[0], q / n[0] % n[1], q / n[0] / n[1]};
    int step[3];
    bool is_near = true;
    for (int d = 0; d < 3; ++d) {
      PetscInt far = to[d] - p.at[d];
      if (periodic[d] && n[d] > 2 && (far == n[d] - 1 || far == 1 - n[d])) far = far > 0 ? -1 : 1;
      is_near = is_near && far <= 1 && far >= -1;
      step[d] = static_cast<int>(far);
    }
    return is_near && near.find(Step{step[0], step[1], step[2]}) >= 0;
  }

  // f(column, a) for each link.
  template <class F> __device__ void at_links(const PlaceOfRow &p, PetscInt row, const F &f) const {
    for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q != row && A.a[e] != 0 && (identity[q] || direction(p, q - row) == 0)) f(q, A.a[e]);
    }
  }
};

struct FindIdentity {
  Csr A;
  unsigned char *identity;
  __device__ void operator()(int p) const { identity[p] = is_identity(A, p); }
};

// What rows that were chosen have with each other, and the diagonal of one.
struct ReadCommon {
  Csr A;
  PetscInt middle;
  const PetscInt *pair;
  Couplings *to;
  __device__ void operator()(int m) const {
    if (m == most_neighbours) {
      to->diagonal = entry(A, middle, middle);
      return;
    }
    const PetscInt p = pair[2 * m], q = pair[2 * m + 1];
    to->ahead[m] = p < 0 ? 0 : 0.5 * (entry(A, p, q) + entry(A, q, p));
  }
};

// What a row is; diagonal and ahead may be null.
template <int steps> struct Survey {
  DeviceRows<steps> rows;
  const Couplings *common;
  double *diagonal, *ahead[steps];
  unsigned char *varying; // of each block
  int *count;
  unsigned long long *cells, *links;

  __device__ static void raise(double &most, double value) {
    if (most < value) most = value;
  }

  __device__ RowFacts operator()(index_t p) const {
    const PetscInt row = static_cast<PetscInt>(p);
    const Csr &A = rows.A;
    const PlaceOfRow place(rows.patches, row);
    RowFacts found;
    double check = 0, value[steps] = {}, d = 0;
    int links_here = 0;
    const bool identity = rows.identity[row];
    found.identity_rows = identity;
    for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e) {
      const PetscInt q = A.ja[e];
      const double a = A.a[e];
      check += a * 0.0;
      if (q == row) d = a;
      if (q == row || a == 0) continue;
      const bool other = rows.identity[q];
      const int to = other ? 0 : rows.direction(place, q - row);
#pragma unroll
      for (int m = 0; m < steps; ++m)
        if (to == m + 1) value[m] = a;
      if (to != 0) continue;
      const bool same_patch = place.has(q);
      if (!other) {
        found.foreign |= same_patch && !rows.around(place, q);
        raise(found.asymmetry, fabs(a - entry(A, q, row)));
      }
      if (same_patch) found.varies |= PlaceOfRow(rows.patches, q).block == place.block;
      ++links_here;
    }
    found.not_finite = check != 0;
    if (!(d > 0) && !(identity && d == 0)) found.bad_pivot = row;
    found.varies |= identity || d != common->diagonal;
    if (!identity) found.diagonal = fabs(d);
#pragma unroll
    for (int m = 0; m < steps; ++m) {
      const Step s = rows.near.step[m];
      const bool inside = within(place.patch, place.at, s);
      const PetscInt q = row + offset(place.patch.n, s);
      if (inside && !identity && !rows.identity[q]) {
        const double there = entry(A, q, row);
        raise(found.asymmetry, fabs(value[m] - there));
        value[m] = 0.5 * (value[m] + there);
      }
      if (inside && value[m] != common->ahead[m]) {
        found.varies = true;
        if (place.leaves(rows.patches.cut, s)) varying[PlaceOfRow(rows.patches, q).block] = 1;
      }
      if (diagonal) ahead[m][row] = value[m];
    }
    if (found.varies) varying[place.block] = 1;
    if (diagonal) diagonal[row] = d;
    count[row] = links_here;
    if (links_here) {
      atomicAdd(cells, 1ull);
      atomicAdd(links, static_cast<unsigned long long>(links_here));
    }
    return found;
  }
};

} // namespace petscrrb::blockrelax
