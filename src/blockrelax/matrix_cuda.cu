// Reads a matrix row by row: to find out about it, and to store what is not the same everywhere.
#include "matrix_cuda.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace petscrrb::blockrelax {

__device__ inline double entry_of(const Csr &A, PetscInt row, PetscInt column) {
  for (PetscInt e = A.ia[row]; e < A.ia[row + 1]; ++e)
    if (A.ja[e] == column) return A.a[e];
  return 0;
}

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

namespace {

struct FindIdentity {
  Csr A;
  unsigned char *identity;
  __device__ void operator()(int p) const { identity[p] = is_identity(A, p); }
};

// What rows that were chosen have with each other, and the first diagonal.
struct ReadCommon {
  Csr A;
  const PetscInt *pair;
  Couplings *to;
  __device__ void operator()(int m) const {
    if (m == most_neighbours) {
      to->diagonal = entry_of(A, 0, 0);
      return;
    }
    const PetscInt p = pair[2 * m], q = pair[2 * m + 1];
    to->ahead[m] = p < 0 ? 0 : 0.5 * (entry_of(A, p, q) + entry_of(A, q, p));
  }
};

// What a row is; diagonal and ahead may be null.
template <int steps> struct Survey {
  DeviceRows<steps> rows;
  const Couplings *common;
  double *diagonal, *ahead[steps];
  int *count;
  unsigned long long *cells, *links;

  __device__ static void raise(double &most, double value) {
    if (most < value) most = value;
  }

  __device__ RowFinding operator()(index_t p) const {
    const PetscInt row = static_cast<PetscInt>(p);
    const Csr &A = rows.A;
    const PlaceOfRow place(rows.patches, row);
    RowFinding found;
    double check = 0, value[steps] = {}, d = 0;
    int links_here = 0;
    found.identity = rows.identity[row];
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
        raise(found.asymmetry, fabs(a - entry_of(A, q, row)));
      }
      if (same_patch) found.varies |= PlaceOfRow(rows.patches, q).block == place.block;
      ++links_here;
    }
    found.not_finite = check != 0;
    found.bad_pivot = !(d > 0) && !(found.identity && d == 0);
    found.varies |= found.identity || d != common->diagonal;
    if (!found.identity) found.diagonal = fabs(d);
#pragma unroll
    for (int m = 0; m < steps; ++m) {
      const Step s = rows.near.step[m];
      const bool inside = within(place.patch, place.at, s);
      const PetscInt q = row + offset(place.patch.n, s);
      if (inside && !found.identity && !rows.identity[q]) {
        const double there = entry_of(A, q, row);
        raise(found.asymmetry, fabs(value[m] - there));
        value[m] = 0.5 * (value[m] + there);
      }
      found.varies |= inside && value[m] != common->ahead[m];
      if (diagonal) ahead[m][row] = value[m];
    }
    if (diagonal) diagonal[row] = d;
    count[row] = links_here;
    if (links_here) {
      atomicAdd(cells, 1ull);
      atomicAdd(links, static_cast<unsigned long long>(links_here));
    }
    return found;
  }
};

struct FindKeys { // of the rows with links
  DevicePatches patches;
  const int *row, *place;
  int *key;
  __device__ void operator()(int i) const { key[i] = place[PlaceOfRow(patches, row[i]).block]; }
};
struct CountLinks {
  const PetscInt *row;
  const int *count, *key;
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
  const PetscInt *row;
  const int *key, *index;
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
  const PetscInt *row;
  const int *first;
  DeviceLink *link;
  __device__ void operator()(int i) const {
    const PlaceOfRow place(rows.patches, row[i]);
    int next = first[i];
    rows.at_links(place, row[i], [&](PetscInt q, double a) {
      const bool same_patch = place.has(q);
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

template <class T> void at_least(cuda::Buffer<T> &b, std::size_t n) {
  if (b.size() < n) b.resize(n);
}

} // namespace

DeviceMatrix::DeviceMatrix(const Layout &layout, const BlockOrder &order, const std::vector<index_t> &bounds)
    : l_(layout), bounds_(bounds), patch_(l_.patches), first_block_(l_.first_block),
      identity_(static_cast<std::size_t>(l_.rows)), linked_at_(bounds.size() + 1),
      count_(static_cast<std::size_t>(l_.rows)), bound_(bounds) {
  std::vector<PetscInt> pair(2 * most_neighbours, -1);
  for (const Patch &p : l_.patches) {
    for (int m = 0; m < l_.neighbours.count; ++m) { // of the first cell with a neighbour
      const Step s = l_.neighbours.step[m];
      const PetscInt at[3] = {s.x < 0 ? 1 : 0, s.y < 0 ? 1 : 0, 0};
      if (pair[2 * m] >= 0 || at[0] >= p.n[0] || at[1] >= p.n[1] || !within(p, at, s)) continue;
      pair[2 * m] = row_at(p, at[0], at[1], at[2]);
      pair[2 * m + 1] = pair[2 * m] + offset(p.n, s);
    }
    slack_ = std::max(slack_, offset(p.n, Step{1, 1, l_.neighbours.halo[2]}));
  }
  pair_.assign(pair);
  set_up_blocks(order);
}

void DeviceMatrix::set_up_blocks(const BlockOrder &order) {
  std::vector<DeviceBlock> blocks(static_cast<std::size_t>(l_.blocks()));
  std::vector<int> place(blocks.size());
  for (index_t t = 0; t < l_.blocks(); ++t) {
    const index_t b = order[t];
    place[b] = static_cast<int>(t);
    blocks[t] = device_block(l_, b);
  }
  blocks_.assign(blocks);
  place_.assign(place);
}

template <class Call> void DeviceMatrix::by_cub(const char *what, const Call &call) {
  std::size_t bytes = 0;
  cuda::check(call(nullptr, bytes), what);
  at_least(cub_, bytes);
  cuda::check(call(cub_.data(), bytes), what);
}

template <int steps> DeviceRows<steps> DeviceMatrix::rows_of(const Csr &A) const {
  return {A, patches(), l_.neighbours, {l_.periodic[0], l_.periodic[1], l_.periodic[2]}, identity_.data()};
}

template <int steps> void DeviceMatrix::survey(const Csr &A, bool store, cudaStream_t stream) {
  Survey<steps> f{
      rows_of<steps>(A),        read_common_.device(),   store ? diagonal_.data() : nullptr, {}, count_.data(),
      &totals_.device()->cells, &totals_.device()->links};
  for (int m = 0; store && m < steps; ++m) f.ahead[m] = ahead_[m].data() + slack_;
  found_.clear(stream);
  totals_.clear(stream);
  at_rows(l_.rows, f, found_, stream);
}
void DeviceMatrix::survey(const Csr &A, bool store, cudaStream_t stream) {
  switch (l_.points) {
  case 5: return survey<2>(A, store, stream);
  case 7: return survey<3>(A, store, stream);
  case 9: return survey<4>(A, store, stream);
  default: return survey<13>(A, store, stream);
  }
}

CouplingFindings DeviceMatrix::read(const Csr &A, cudaStream_t stream) {
  if (l_.rows == 0) return {};
  cuda::for_rows("identity rows", int(l_.rows), FindIdentity{A, identity_.data()}, stream);
  cuda::for_rows("common couplings", most_neighbours + 1, ReadCommon{A, pair_.data(), read_common_.device()}, stream);
  const bool room = diagonal_.size() > 0;
  survey(A, room, stream); // stores at once what was not constant before
  CouplingFindings all = petscrrb::read(found_, stream);
  constant_ = !all.varies;
  if (all.result() != ReadResult::ok) return all;
  common_ = read_common_.read(stream);
  if (!constant_ && !room) {
    diagonal_.resize(static_cast<std::size_t>(l_.rows));
    for (int m = 0; m < l_.neighbours.count; ++m) ahead_[m].resize(static_cast<std::size_t>(l_.rows + slack_));
    survey(A, true, stream);
  }
  const Totals t = totals_.read(stream);
  make_links(A, static_cast<int>(t.cells), static_cast<int>(t.links), stream);
  return all;
}

void DeviceMatrix::make_links(const Csr &A, int cells, int links, cudaStream_t stream) {
  const int blocks = static_cast<int>(l_.blocks()), bounds = static_cast<int>(bounds_.size());
  if (cells == 0 && linked_ > 0)
    cuda::for_rows("blocks with links", blocks, MarkBlocks{nullptr, nullptr, blocks_.data()}, stream);
  linked_ = cells, link_count_ = links;
  if (cells == 0) return;
  for (auto *b : {&row_unsorted_, &key_, &key_sorted_}) at_least(*b, std::size_t(cells));
  at_least(row_, std::size_t(cells));
  at_least(sum_at_, std::size_t(cells));
  for (auto *b : {&counts_, &first_}) at_least(*b, std::size_t(cells) + 1);
  for (auto *b : {&has_, &index_, &first_cell_}) at_least(*b, std::size_t(blocks) + 1);
  at_least(found_at_, std::size_t(bounds) + 1);
  at_least(link_, std::size_t(links));
  at_least(ghost_, std::size_t(links));

  const thrust::counting_iterator<int> all(0);
  int *const selected = found_at_.data(); // how many, known already
  by_cub("rows with links", [&](void *p, std::size_t &bytes) {
    return cub::DeviceSelect::Flagged(p, bytes, all, count_.data(), row_unsorted_.data(), selected, int(l_.rows),
                                      stream);
  });
  cuda::for_rows("blocks of rows", cells, FindKeys{patches(), row_unsorted_.data(), place_.data(), key_.data()},
                 stream);
  by_cub("order of links", [&](void *p, std::size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(p, bytes, key_.data(), key_sorted_.data(), row_unsorted_.data(), row_.data(),
                                           cells, 0, 32, stream);
  });
  cuda::check(cudaMemsetAsync(has_.data(), 0, has_.bytes(), stream), "cudaMemsetAsync");
  cuda::for_rows("numbers of links", cells + 1,
                 CountLinks{row_.data(), count_.data(), key_sorted_.data(), counts_.data(), has_.data(), cells},
                 stream);
  by_cub("places of links", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, counts_.data(), first_.data(), cells + 1, stream);
  });
  by_cub("blocks with links", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, has_.data(), index_.data(), blocks + 1, stream);
  });
  cuda::for_rows("blocks with links", blocks, MarkBlocks{has_.data(), index_.data(), blocks_.data()}, stream);
  cuda::for_rows("cells with links", cells + 1,
                 FindCells{patches(), row_.data(), key_sorted_.data(), index_.data(), cells, int(l_.most_cells()),
                           sum_at_.data(), first_cell_.data()},
                 stream);
  cuda::for_rows("ranges of links", bounds + 1,
                 FindRanges{bound_.data(), bounds, cells, blocks, key_sorted_.data(), index_.data(), found_at_.data()},
                 stream);
  switch (l_.points) {
  case 5: fill_links<2>(A, stream); break;
  case 7: fill_links<3>(A, stream); break;
  case 9: fill_links<4>(A, stream); break;
  default: fill_links<13>(A, stream);
  }
  linked_at_ = cuda::to_host(found_at_.data(), std::size_t(bounds) + 1, stream);
  at_least(sum_, std::size_t(linked_at_.back()) * l_.most_cells());
  cuda::check(cudaMemsetAsync(sum_.data(), 0, sum_.bytes(), stream), "cudaMemsetAsync");
}

template <int steps> void DeviceMatrix::fill_links(const Csr &A, cudaStream_t stream) {
  cuda::for_rows("links", linked_, FillLinks<steps>{rows_of<steps>(A), row_.data(), first_.data(), link_.data()},
                 stream);
}

DeviceValues DeviceMatrix::values() const {
  DeviceValues v{};
  v.constant = constant_;
  v.diagonal = common_.diagonal;
  v.diagonals = diagonal_.data();
  for (int m = 0; m < l_.neighbours.count; ++m) {
    v.ahead[m] = common_.ahead[m];
    if (!constant_) v.aheads[m] = ahead_[m].data() + slack_;
  }
  return v;
}

void DeviceMatrix::keep_ghosts(const double *x, cudaStream_t stream) {
  if (l_.patches.size() == 1) return;
  cuda::for_rows("ghosts", link_count_, KeepGhosts{link_.data(), x, ghost_.data()}, stream);
}

void DeviceMatrix::sum_links(int range, const double *x, bool kept, cudaStream_t stream) {
  if (!linked_) return;
  const int first = linked_at_[range];
  cuda::for_rows("sums of links", linked_at_[range + 1] - first,
                 SumLinks{links(), first, x, kept ? ghost_.data() : nullptr, sum_.data()}, stream);
}

double DeviceMatrix::bytes() const {
  std::size_t sum = patch_.bytes() + first_block_.bytes() + blocks_.bytes() + place_.bytes() + identity_.bytes() +
                    diagonal_.bytes() + count_.bytes() + row_.bytes() + bound_.bytes() + sum_at_.bytes() +
                    link_.bytes() + ghost_.bytes() + sum_.bytes() + cub_.bytes();
  for (const auto *b :
       {&row_unsorted_, &key_, &key_sorted_, &counts_, &first_, &has_, &index_, &first_cell_, &found_at_})
    sum += b->bytes();
  for (const auto &a : ahead_) sum += a.bytes();
  return static_cast<double>(sum);
}

} // namespace petscrrb::blockrelax
