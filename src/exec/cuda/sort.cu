// CUB takes long to compile, and does so once.
#include "exec/cuda/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <cstdint>

namespace petscrrb::cuda {

template <class Key> void sort(Room room, const Key *key, Key *sorted, const int *value, int *with, int n, Key keys) {
  int bits = 1;
  while (bits < int(8 * sizeof(Key)) && (keys - 1) >> bits) ++bits;
  room.use("sort", [&](void *p, std::size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(p, bytes, key, sorted, value, with, n, 0, bits, room.stream);
  });
}
template void sort(Room, const int *, int *, const int *, int *, int, int);
template void sort(Room, const unsigned *, unsigned *, const int *, int *, int, unsigned);
template void sort(Room, const std::uint64_t *, std::uint64_t *, const int *, int *, int, std::uint64_t);

template <class T> void find_offsets(Room room, const T *from, T *to, int n) {
  room.use("offsets", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, from, to, n, room.stream);
  });
}
template void find_offsets(Room, const int *, int *, int);
template void find_offsets(Room, const index_t *, index_t *, int);

void add_up(Room room, const int *from, int *to, int n) {
  room.use("sums", [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(p, bytes, from, to, n, room.stream);
  });
}

void find_places(Room room, const int *flag, int *place, int *count, int n) {
  const thrust::counting_iterator<int> all(0);
  room.use("places", [&](void *p, std::size_t &bytes) {
    return cub::DeviceSelect::Flagged(p, bytes, all, flag, place, count, n, room.stream);
  });
}

template <class Key> void find_runs(Room room, const Key *key, Key *of_run, int *length, int *count, int n) {
  room.use("runs", [&](void *p, std::size_t &bytes) {
    return cub::DeviceRunLengthEncode::Encode(p, bytes, key, of_run, length, count, n, room.stream);
  });
}
template void find_runs(Room, const std::uint64_t *, std::uint64_t *, int *, int *, int);

} // namespace petscrrb::cuda
