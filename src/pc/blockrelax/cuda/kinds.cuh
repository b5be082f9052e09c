// Blocks that are alike are found on a device.
#pragma once

#include "pc/blockrelax/cuda/inverses.cuh"

namespace petscrrb::blockrelax {
namespace inverse_kernels {

constexpr int threads = 128;

__host__ __device__ inline unsigned long long mixed(unsigned long long x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Of 128 bits: blocks that have the same are taken to be alike. Sums, so that couplings come in any order.
template <int size>
__global__ void __launch_bounds__(threads) hash_blocks(const DeviceBlock *blocks, int count, DeviceInverses all,
                                                       std::uint64_t *hash, int *width, int *linked, int *most) {
  const Group<size> g;
  const int t = int(blockIdx.x) * (threads / size) + g.number();
  if (t >= count) return;
  const DeviceBlock block = blocks[t];
  unsigned long long h[2] = {};
  int far = 0, by_links = 0;
  within_block(g, all, block, [&](int i, int j, double a) {
    const unsigned long long where = mixed((static_cast<unsigned long long>(i) << 32 | unsigned(j)) + 1);
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(a));
    h[0] += mixed(where ^ bits);
    h[1] += mixed(0x9e3779b97f4a7c15u * where + bits);
    if (a != 0) far = max(far, i > j ? i - j : j - i);
    if (a != 0 && i > j) by_links = 1; // what is not one leads ahead
  });
  for (int k = size / 2; k; k /= 2) {
    h[0] += __shfl_xor_sync(g.mask(), h[0], k);
    h[1] += __shfl_xor_sync(g.mask(), h[1], k);
    far = max(far, __shfl_xor_sync(g.mask(), far, k));
    by_links |= __shfl_xor_sync(g.mask(), by_links, k);
  }
  if (g.rank()) return;
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 2; ++k) h[k] = mixed(h[k] + unsigned(2 * block.n[d] + k));
  hash[block.number] = h[0];
  hash[count + block.number] = h[1];
  width[block.number] = far;
  linked[block.number] = by_links;
  if (far > *const_cast<volatile int *>(most)) atomicMax(most, far);
}

struct Count {
  int *to;
  __device__ void operator()(int i) const { to[i] = i; }
};
struct FindFirsts { // in the order of hashes
  const std::uint64_t *hash;
  const int *number;
  int blocks, *starts, *is_first;
  __device__ void operator()(int s) const {
    const int b = number[s], before = s ? number[s - 1] : 0;
    const bool first = s == 0 || hash[b] != hash[before] || hash[blocks + b] != hash[blocks + before];
    starts[s] = is_first[b] = first;
  }
};
struct NameFirsts {
  const int *number, *starts, *run;
  int *first_of_run;
  __device__ void operator()(int s) const {
    if (starts[s]) first_of_run[run[s] - 1] = number[s];
  }
};
// Kinds are numbered as their first blocks are.
struct MakeKinds {
  const DeviceBlock *blocks;
  const int *place, *number, *run, *first_of_run, *is_first, *kind_at, *width, *linked;
  int count;
  Method method;
  int *kind_of;
  DeviceKind *kinds;
  index_t *size;
  MadeInverses *made;
  __device__ void operator()(int s) const {
    const int b = number[s], k = kind_at[b];
    kind_of[b] = kind_at[first_of_run[run[s] - 1]];
    if (b == count - 1) made->kinds = k + is_first[b];
    if (!is_first[b]) return;
    const DeviceBlock block = blocks[place[b]];
    const bool chunked = method == Method::factored && !linked[b] && Chunks::suit(width[b]);
    kinds[k] = {-1, place[b], width[b], chunked, {}, {}};
    size[k] = kinds[k].size(method, block.cells());
  }
};
struct PlaceKinds {
  DeviceKind *kinds;
  const index_t *size, *at;
  double memory;
  MadeInverses *made;
  __device__ void operator()(int k) const {
    if (k >= made->kinds) return;
    const index_t end = at[k] + size[k];
    const bool fits = memory <= 0 || double(end) * sizeof(double) <= memory;
    kinds[k].at = fits ? at[k] : -1;
    const bool next_fits = k + 1 < made->kinds && (memory <= 0 || double(end + size[k + 1]) * sizeof(double) <= memory);
    if (fits && !next_fits) made->size = end; // those that fit are the first ones
    if (!fits) atomicAdd(&made->without, 1);
    if (!fits || !kinds[k].chunked)
      made->banded = 1;
    else if (kinds[k].width > *const_cast<volatile int *>(&made->chunk))
      atomicMax(&made->chunk, kinds[k].width);
  }
};

} // namespace inverse_kernels
} // namespace petscrrb::blockrelax
