// What is found out about a row of a matrix on patches, on a device.
#pragma once

#include "pc/blockrelax/cuda/matrix.cuh"

namespace petscrrb::blockrelax {

struct PlaceOfRow {
  Patch patch;
  PetscInt at[3];
  index_t block;
  int cell;

  __device__ PlaceOfRow(const DevicePatches &p, PetscInt row) {
    int low = 0, high = p.count; // patches are numbered one after the other
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (p.patch[middle].first <= row ? low : high) = middle;
    }
    patch = p.patch[low];
    point_of(patch, row, at);
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
};

template <int steps> struct DeviceRows : PatchRows<steps> { DevicePatches patches; };

struct FindIdentity {
  Csr A;
  unsigned char *identity;
  __device__ void operator()(int p) const { identity[p] = is_identity(A, p); }
};

// What a row is; diagonal and ahead may be null.
template <int steps> struct Survey {
  DeviceRows<steps> rows;
  const Couplings *common;
  double *diagonal, *ahead[steps];
  unsigned char *varying; // of each block
  int *count;
  unsigned long long *cells, *links;

  __device__ RowFacts operator()(index_t p) const {
    const PetscInt row = static_cast<PetscInt>(p);
    const PlaceOfRow place(rows.patches, row);
    double value[steps], d;
    int links_here = 0;
    bool varies = false;
    RowFacts found = rows.read(place.patch, place.at, row, d, value, [&](PetscInt q, double) {
      if (has(place.patch, q)) varies |= PlaceOfRow(rows.patches, q).block == place.block;
      ++links_here;
    });
    found.varies = varies || found.identity_rows || d != common->diagonal;
#pragma unroll
    for (int m = 0; m < steps; ++m) {
      const Step s = rows.near.step[m];
      if (value[m] != common->ahead[m] && within(place.patch, place.at, s)) {
        found.varies = true;
        const PetscInt q = row + offset(place.patch.n, s);
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
