// Sorting, counting and selecting on a device, by CUB, and scratch memory: for setups. sort.cu names the types.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cuda.hpp"

#include <algorithm>
#include <vector>

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

// Where such a step finds its temporary memory, and its stream.
class Room {
public:
  Room(Scratch &s) : stream(s.stream()), scratch_(&s) {}
  Room(Buffer<char> &kept, cudaStream_t on) : stream(on), kept_(&kept) {} // for the next time

  // call(p, bytes), which first says how many
  template <class Call> void use(const char *what, const Call &call) const {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), what);
    if (kept_) {
      at_least(*kept_, bytes);
      return check(call(kept_->data(), bytes), what);
    }
    const Scratch::Frame frame(*scratch_);
    check(call(scratch_->take<char>(bytes), bytes), what);
  }
  const cudaStream_t stream;

private:
  Scratch *scratch_ = nullptr;
  Buffer<char> *kept_ = nullptr;
};

// Stable: of equal keys, what was first stays first. All keys are at least 0 and below `keys`.
template <class Key> void sort(Room, const Key *key, Key *sorted, const int *value, int *with, int n, Key keys);

// to[i] = from[0] + ... + from[i - 1]
template <class T> void find_offsets(Room, const T *from, T *to, int n);
// to[i] = from[0] + ... + from[i]
void add_up(Room, const int *from, int *to, int n);

// the i < n for which flag[i] is not 0, in order, and how many they are
void find_places(Room, const int *flag, int *place, int *count, int n);

// runs of equal keys: the key and the length of each, and how many they are
template <class Key> void find_runs(Room, const Key *key, Key *of_run, int *length, int *count, int n);

} // namespace petscrrb::cuda
