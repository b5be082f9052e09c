// Links on a device: found, put in the order of blocks, and summed.
#pragma once

#include "pc/blockrelax/cuda/rows.cuh"

namespace petscrrb::blockrelax {

struct FindKeys { // of the rows with links
  DevicePatches patches;
  const int *row, *place;
  int *key;
  __device__ void operator()(int i) const { key[i] = place[PlaceOfRow(patches, row[i]).block]; }
};
struct CountLinks {
  const int *row, *count, *key;
  int *counts, *has, cells;
  __device__ void operator()(int i) const {
    counts[i] = i < cells ? count[row[i]] : 0;
    if (i < cells && (i == 0 || key[i] != key[i - 1])) has[key[i]] = 1;
  }
};
struct MarkBlocks {
  const int *has, *index;
  DeviceBlock *blocks;
  __device__ void operator()(int t) const { blocks[t].links = has && has[t] ? index[t] : -1; }
};
struct FindCells { // where the cells of blocks and ranges begin
  DevicePatches patches;
  const int *row, *key, *index;
  int cells, most_cells;
  index_t *sum_at;
  int *first_cell;
  __device__ void operator()(int i) const {
    if (i < cells) sum_at[i] = index_t(index[key[i]]) * most_cells + PlaceOfRow(patches, row[i]).cell;
    if (i == cells)
      first_cell[index[key[i - 1]] + 1] = cells;
    else if (i == 0 || key[i] != key[i - 1])
      first_cell[index[key[i]]] = i;
  }
};
struct FindRanges { // and, behind them, how many blocks have links
  const index_t *bound;
  int bounds, cells, blocks;
  const int *key, *index;
  int *at;
  __device__ void operator()(int k) const {
    if (k == bounds) at[k] = index[blocks];
    if (k == bounds) return;
    int low = 0, high = cells;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (key[middle] < bound[k])
        low = middle + 1;
      else
        high = middle;
    }
    at[k] = low;
  }
};

template <int steps> struct FillLinks {
  DeviceRows<steps> rows;
  const int *row, *first;
  DeviceLink *link;
  __device__ void operator()(int i) const {
    const PlaceOfRow place(rows.patches, row[i]);
    int next = first[i];
    rows.at_links(place.patch, place.at, row[i], [&](PetscInt q, double a) {
      const bool same_patch = has(place.patch, q);
      int other = -1;
      if (same_patch && !rows.identity[q]) {
        const PlaceOfRow to(rows.patches, q);
        if (to.block == place.block) other = to.cell;
      }
      link[next++] = {same_patch ? q : ~q, other, a};
    });
  }
};

struct KeepGhosts {
  const DeviceLink *link;
  const double *x;
  double *ghost;
  __device__ void operator()(int l) const {
    if (link[l].to < 0) ghost[l] = x[~link[l].to];
  }
};

struct SumLinks {
  DeviceLinks links;
  int first;
  const double *x, *ghost;
  double *sums;
  __device__ void operator()(int i) const {
    const int c = first + i;
    double sum = 0;
    for (int l = links.first[c]; l < links.first[c + 1]; ++l) {
      const DeviceLink link = links.link[l];
      sum += link.a * (link.to >= 0 ? __ldcg(x + link.to) : ghost ? ghost[l] : __ldcg(x + ~link.to));
    }
    sums[links.sum[c]] = sum;
  }
};

} // namespace petscrrb::blockrelax
