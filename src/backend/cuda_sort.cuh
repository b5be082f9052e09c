// Sorting, counting and selecting on a device, by CUB: for setups, since scratch memory may be allocated.
#pragma once

#include "backend/cuda.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace petscrrb::cuda {

class Sorter {
public:
  explicit Sorter(cudaStream_t stream) : stream_(stream) {}
  Sorter(const Sorter &) = delete;
  Sorter &operator=(const Sorter &) = delete;
  ~Sorter() { (void)cudaStreamSynchronize(stream_); } // before the scratch memory goes

  // Stable: of equal keys, what was first stays first. All keys are below `keys`.
  template <class Key, class Value>
  void sort(const Key *key, Key *sorted, const Value *value, Value *with, int n, Key keys) {
    int bits = 1;
    while (bits < int(8 * sizeof(Key)) && (keys - 1) >> bits) ++bits;
    run("sort", [&](void *p, std::size_t &bytes) {
      return cub::DeviceRadixSort::SortPairs(p, bytes, key, sorted, value, with, n, 0, bits, stream_);
    });
  }
  // to[i] = from[0] + ... + from[i - 1]
  void offsets(const int *from, int *to, int n) {
    run("offsets",
        [&](void *p, std::size_t &bytes) { return cub::DeviceScan::ExclusiveSum(p, bytes, from, to, n, stream_); });
  }
  // the i < n for which flag[i] is not 0, in order, and how many they are
  void places(const int *flag, int *place, int *count, int n) {
    const thrust::counting_iterator<int> all(0);
    run("places", [&](void *p, std::size_t &bytes) {
      return cub::DeviceSelect::Flagged(p, bytes, all, flag, place, count, n, stream_);
    });
  }
  // runs of equal keys: the key and the length of each, and how many they are
  template <class Key> void runs(const Key *key, Key *of_run, int *length, int *count, int n) {
    run("runs", [&](void *p, std::size_t &bytes) {
      return cub::DeviceRunLengthEncode::Encode(p, bytes, key, of_run, length, count, n, stream_);
    });
  }

private:
  template <class Call> void run(const char *what, const Call &call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), what);
    if (bytes > scratch_.size()) {
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
      scratch_.resize(bytes);
    }
    check(call(scratch_.data(), bytes), what);
  }

  cudaStream_t stream_;
  Buffer<char> scratch_{1};
};

} // namespace petscrrb::cuda
