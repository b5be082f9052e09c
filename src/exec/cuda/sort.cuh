// Sorting, counting and selecting on a device, by CUB, and scratch memory: for setups.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cuda.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace petscrrb::cuda {

// Memory for what a setup on one stream needs for a while, from few allocations, since each takes long.
class Scratch : NotCopied {
public:
  // bytes: of an allocation, at least
  Scratch(cudaStream_t stream, std::size_t bytes) : stream_(stream), block_bytes_(bytes) {}
  ~Scratch() { (void)cudaStreamSynchronize(stream_); } // before the memory goes

  // What is taken while a frame lives is free again after it: for later work of the stream.
  class Frame : NotCopied {
  public:
    explicit Frame(Scratch &s) : scratch_(s), block_(s.block_), used_(s.used_) {}
    ~Frame() { scratch_.block_ = block_, scratch_.used_ = used_; }

  private:
    Scratch &scratch_;
    std::size_t block_, used_;
  };

  // Never null, of any content.
  template <class T> T *take(std::size_t n) {
    constexpr std::size_t aligned = 256;
    const std::size_t bytes = (n * sizeof(T) + aligned) / aligned * aligned;
    while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size()) ++block_, used_ = 0;
    if (block_ == blocks_.size()) blocks_.emplace_back(std::max(bytes, block_bytes_));
    char *const at = blocks_[block_].data() + used_;
    used_ += bytes;
    return reinterpret_cast<T *>(at);
  }
  cudaStream_t stream() const { return stream_; }

private:
  cudaStream_t stream_;
  std::size_t block_bytes_, block_ = 0, used_ = 0;
  std::vector<Buffer<char>> blocks_;
};

template <class Call> void call_cub(const char *what, Scratch &scratch, const Call &call) {
  const Scratch::Frame frame(scratch);
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  check(call(scratch.take<char>(bytes), bytes), what);
}

// The same in memory that is kept for the next time.
template <class Call> void call_cub(const char *what, Buffer<char> &kept, const Call &call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  at_least(kept, bytes);
  check(call(kept.data(), bytes), what);
}

// Stable: of equal keys, what was first stays first. All keys are below `keys`.
template <class Key, class Value>
void sort(Scratch &s, const Key *key, Key *sorted, const Value *value, Value *with, int n, Key keys) {
  int bits = 1;
  while (bits < int(8 * sizeof(Key)) && (keys - 1) >> bits) ++bits;
  call_cub("sort", s, [&](void *p, std::size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(p, bytes, key, sorted, value, with, n, 0, bits, s.stream());
  });
}

// to[i] = from[0] + ... + from[i - 1]
inline void find_offsets(Scratch &s, const int *from, int *to, int n) {
  call_cub("offsets", s, [&](void *p, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveSum(p, bytes, from, to, n, s.stream());
  });
}

// the i < n for which flag[i] is not 0, in order, and how many they are
inline void find_places(Scratch &s, const int *flag, int *place, int *count, int n) {
  const thrust::counting_iterator<int> all(0);
  call_cub("places", s, [&](void *p, std::size_t &bytes) {
    return cub::DeviceSelect::Flagged(p, bytes, all, flag, place, count, n, s.stream());
  });
}

// runs of equal keys: the key and the length of each, and how many they are
template <class Key> void find_runs(Scratch &s, const Key *key, Key *of_run, int *length, int *count, int n) {
  call_cub("runs", s, [&](void *p, std::size_t &bytes) {
    return cub::DeviceRunLengthEncode::Encode(p, bytes, key, of_run, length, count, n, s.stream());
  });
}

} // namespace petscrrb::cuda
