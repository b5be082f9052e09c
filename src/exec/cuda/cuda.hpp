// The CUDA runtime as the rest of the library uses it: errors as exceptions, and memory. No kernels: any compiler can
// read this.
#pragma once

#include "exec/counts.hpp"
#include "exec/not_copied.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace petscrrb::cuda {

class Error : public std::runtime_error {
public:
  Error(cudaError_t code, const char *what)
      : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code)), code_(code) {}
  cudaError_t code() const { return code_; }
  bool out_of_memory() const { return code_ == cudaErrorMemoryAllocation; }

private:
  cudaError_t code_;
};

// Throws on failure. An error of an earlier kernel may be reported here too, as always in CUDA.
inline void check(cudaError_t code, const char *what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError(); // it must not be found again by someone else
  throw Error(code, what);
}
inline void check_launch(const char *kernel) { check(cudaGetLastError(), kernel); }

// Waits for a stream: where it may have messages of other ranks in it, not for ever (watch.hpp).
void wait_for(cudaStream_t, const char *what);

// Of the current device.
inline int attribute(cudaDeviceAttr of) {
  int device, value;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, of, device), "cudaDeviceGetAttribute");
  return value;
}

// Zeroed device memory; not copyable. Construction and resize() allocate and wait for the zeroes, so they belong into a
// setup.
template <class T> class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t n) { resize(n); }
  explicit Buffer(const std::vector<T> &values) { assign(values); }
  Buffer(Buffer &&o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
  Buffer &operator=(Buffer &&o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  ~Buffer() { (void)cudaFree(p_); }

  void resize(std::size_t n) {
    allocate(n);
    if (!n) return;
    check(cudaMemset(p_, 0, bytes()), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  void assign(const std::vector<T> &values) {
    allocate(values.size());
    if (!n_) return;
    check(cudaMemcpy(p_, values.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); // from pageable memory it may still be on its way
  }
  void set(std::size_t i, const T &value) {
    check(cudaMemcpy(p_ + i, &value, sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  T *data() const { return p_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }

private:
  void allocate(std::size_t n) {
    (void)cudaFree(std::exchange(p_, nullptr));
    n_ = 0;
    if (n) check(cudaMalloc(reinterpret_cast<void **>(&p_), n * sizeof(T)), "cudaMalloc");
    n_ = n;
  }

  T *p_ = nullptr;
  std::size_t n_ = 0;
};

// Allocates only if there is less; what was in it is gone then.
template <class T> void at_least(Buffer<T> &buffer, std::size_t n) {
  if (buffer.size() < n) buffer.resize(n);
}

// A stream of its own, which no other one waits for.
class Stream : NotCopied {
public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

private:
  cudaStream_t stream_ = nullptr;
};

// A point in a stream's work that another stream waits for.
class Event : NotCopied {
public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~Event() { (void)cudaEventDestroy(event_); }
  void let_wait(cudaStream_t waits, cudaStream_t first) const {
    check(cudaEventRecord(event_, first), "cudaEventRecord");
    check(cudaStreamWaitEvent(waits, event_, 0), "cudaStreamWaitEvent");
  }

private:
  cudaEvent_t event_ = nullptr;
};

// Values in page-locked host memory.
template <class T> class Pinned : NotCopied {
public:
  explicit Pinned(std::size_t n = 1) {
    check(cudaMallocHost(reinterpret_cast<void **>(&p_), n * sizeof(T)), "cudaMallocHost");
  }
  ~Pinned() { (void)cudaFreeHost(p_); }
  T *data() const { return p_; }

private:
  T *p_ = nullptr;
};

// A small value that kernels write and the host reads.
template <class T> class Report {
public:
  Report() : device_(1) {}

  T *device() const { return device_.data(); }
  void clear(cudaStream_t stream) const { check(cudaMemsetAsync(device(), 0, sizeof(T), stream), "cudaMemsetAsync"); }
  // waits for the stream
  const T &read(cudaStream_t stream) const {
    check(cudaMemcpyAsync(host_.data(), device(), sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    wait_for(stream, "a report of the device");
    return *host_.data();
  }

private:
  Buffer<T> device_;
  Pinned<T> host_;
};

} // namespace petscrrb::cuda

namespace petscrrb {

// Where loops run on a device: in order on `stream`, which the owner sets before each use. The loops are in cuda.cuh.
class Cuda {
public:
  template <class T> using Array = cuda::Buffer<T>;
  static constexpr bool on_device = true;

  cudaStream_t stream = nullptr;

  template <class F, class G> void for_each(Range2 box, Range2 inner, const F &f, const G &g) const;
  template <class F> void for_each(Range2 box, const F &f) const;
  template <class F> void for_each_point(const Range3 &box, const F &f) const;
  template <class F, class G>
  void count_each(Range2 box, Range2 inner, const F &f, const G &g, NodeCounts *counts) const; // adds to *counts
  void clear(const Array<NodeCounts> &counts) const;
  // the counts as the host may read them, until the next call; waits for the stream
  const NodeCounts *read(const Array<NodeCounts> &counts) const {
    if (counts.size() > most_counts) throw std::length_error("more counts than there is room for");
    const auto copied = cudaMemcpyAsync(report_.data(), counts.data(), counts.bytes(), cudaMemcpyDeviceToHost, stream);
    cuda::check(copied, "cudaMemcpyAsync");
    cuda::wait_for(stream, "the counts of a set-up");
    return report_.data();
  }
  void copy(double *to, const double *from, std::size_t n) const {
    cuda::check(cudaMemcpyAsync(to, from, n * sizeof(double), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  }
  template <class T> static void assign(Array<T> &to, const std::vector<T> &from) { to.assign(from); }

private:
  static constexpr std::size_t most_counts = 256; // four for each of up to 63 grids

  cuda::Pinned<NodeCounts> report_{most_counts};
};

} // namespace petscrrb
