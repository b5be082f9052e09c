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

// That launches of a kernel on the current device may have so many bytes of dynamic shared memory: without asking it is 48 kB.
template <class Kernel> void allow_shared(Kernel *kernel, int bytes) {
  check(
      cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
      "cudaFuncSetAttribute");
}

// Waits for a stream: where it may have messages of other ranks in it, not for ever (watch.hpp).
void wait_for(cudaStream_t, const char *what);

template <class T> std::vector<T> to_host(const T *from, std::size_t n, cudaStream_t stream) {
  std::vector<T> to(n);
  if (!n) return to;
  check(cudaMemcpyAsync(to.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return to;
}

// Of the current device.
inline int attribute(cudaDeviceAttr of) {
  int device, value;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, of, device), "cudaDeviceGetAttribute");
  return value;
}

// While there is one, this thread's buffers come from the device's pool and go back to it in the order of a stream, without waiting: for a
// set-up that makes many. Nobody else uses them before its end, which waits.
class Pool : NotCopied {
public:
  explicit Pool(cudaStream_t stream) : stream_(stream), outer_(current) {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // other streams may still use what goes back now
    if (!attribute(cudaDevAttrMemoryPoolsSupported)) return;
    int device;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetDefaultMemPool(&pool_, device), "cudaDeviceGetDefaultMemPool");
    unsigned long long all = ~0ull; // it would give back all that is free whenever the host waits
    check(cudaMemPoolGetAttribute(pool_, kept, &usual_), "cudaMemPoolGetAttribute");
    check(cudaMemPoolSetAttribute(pool_, kept, &all), "cudaMemPoolSetAttribute");
    current = this;
  }
  ~Pool() {
    (void)cudaStreamSynchronize(stream_);
    if (!pool_) return;
    current = outer_;
    (void)cudaMemPoolSetAttribute(pool_, kept, &usual_);
    (void)cudaMemPoolTrimTo(pool_, std::size_t(usual_));
  }

  // While there is one they do not: other processes cannot open memory of a pool.
  class Pause : NotCopied {
  public:
    ~Pause() { current = outer_; }

  private:
    const Pool *outer_ = std::exchange(current, nullptr);
  };

  static const Pool *of_thread() { return current; }
  cudaStream_t stream() const { return stream_; }

private:
  static constexpr cudaMemPoolAttr kept = cudaMemPoolAttrReleaseThreshold;
  static inline thread_local const Pool *current = nullptr;

  cudaStream_t stream_;
  const Pool *outer_;
  cudaMemPool_t pool_ = nullptr;
  unsigned long long usual_ = 0;
};

// Zeroed device memory; not copyable. Construction and resize() allocate and wait for the zeroes, unless there is a pool, so they belong
// into a setup.
template <class T> class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t n) { resize(n); }
  explicit Buffer(const std::vector<T> &values) { assign(values); }
  Buffer(Buffer &&o) noexcept { *this = std::move(o); }
  Buffer &operator=(Buffer &&o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    std::swap(from_pool_, o.from_pool_);
    return *this;
  }
  ~Buffer() { release(); }

  void resize(std::size_t n) {
    allocate(n);
    if (!n) return;
    check(cudaMemsetAsync(p_, 0, bytes(), stream()), "cudaMemset");
    if (!from_pool_) wait();
  }
  void assign(const std::vector<T> &values) { assign(values.data(), values.size()); }
  void assign(const T *values, std::size_t n) {
    allocate(n);
    if (n_) put(p_, values, n_);
  }
  void set(std::size_t i, const T &value) { put(p_ + i, &value, 1); }
  T *data() const { return p_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }

private:
  cudaStream_t stream() const { return from_pool_ && Pool::of_thread() ? Pool::of_thread()->stream() : nullptr; }
  void wait() const { check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize"); }
  void put(T *to, const T *from, std::size_t n) const {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyHostToDevice, stream()), "cudaMemcpy");
    wait(); // from pageable memory it may still be on its way
  }
  void allocate(std::size_t n) {
    release();
    p_ = nullptr, n_ = 0, from_pool_ = Pool::of_thread();
    void **p = reinterpret_cast<void **>(&p_);
    if (n && from_pool_)
      check(cudaMallocAsync(p, n * sizeof(T), stream()), "cudaMallocAsync");
    else if (n)
      check(cudaMalloc(p, n * sizeof(T)), "cudaMalloc");
    n_ = n;
  }
  void release() {
    if (!p_ || !from_pool_) return (void)cudaFree(p_);
    if (!Pool::of_thread()) (void)cudaDeviceSynchronize(); // cudaFree() does
    (void)cudaFreeAsync(p_, stream());
  }

  T *p_ = nullptr;
  std::size_t n_ = 0;
  bool from_pool_ = false;
};

// Allocates only if there is less; what was in it is gone then.
template <class T> void at_least(Buffer<T> &buffer, std::size_t n) {
  if (buffer.size() < n) buffer.resize(n);
}

// A stream of its own, which no other one waits for. urgent: its thread blocks come before those of others.
class Stream : NotCopied {
public:
  explicit Stream(bool urgent = false) {
    int last = 0, first = 0;
    check(cudaDeviceGetStreamPriorityRange(&last, &first), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? first : last), "cudaStreamCreate");
  }
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

inline void keep_pages() {
  static const void *const piece = [] {
    void *p;
    check(cudaMallocHost(&p, 1), "cudaMallocHost");
    return p;
  }();
  (void)piece;
}

// Values in page-locked host memory. The driver locks pages for many small pieces at once and unlocks them after the last one, which takes
// longer than all else in the set-up of a small grid: the process keeps a piece.
template <class T> class Pinned : NotCopied {
public:
  explicit Pinned(std::size_t n = 1) {
    keep_pages();
    check(cudaMallocHost(reinterpret_cast<void **>(&p_), n * sizeof(T)), "cudaMallocHost");
  }
  ~Pinned() { (void)cudaFreeHost(p_); }
  T *data() const { return p_; }

private:
  T *p_ = nullptr;
};

// Few values, a multiple of four bytes, into page-locked memory, by a kernel: a copy has the work before it wait for the copy engine, and that
// after it, some 15 microseconds together.
void bring(void *to, const void *from, std::size_t bytes, cudaStream_t);
template <class T> void bring(const Pinned<T> &to, const T *from, std::size_t n, cudaStream_t stream) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0);
  bring(to.data(), from, n * sizeof(T), stream);
}

// A small value that kernels write and the host reads.
template <class T> class Report {
public:
  Report() : device_(1) {}

  T *device() const { return device_.data(); }
  void clear(cudaStream_t stream) const { check(cudaMemsetAsync(device(), 0, sizeof(T), stream), "cudaMemsetAsync"); }
  // waits for the stream, and for what meanwhile() enqueues
  template <class F> const T &read(cudaStream_t stream, const F &meanwhile) const {
    bring(host_, device(), 1, stream);
    meanwhile();
    wait_for(stream, "a report from the device");
    return *host_.data();
  }
  const T &read(cudaStream_t stream) const {
    return read(stream, [] {});
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
  class Branch;
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
    cuda::bring(report_, counts.data(), counts.size(), stream);
    cuda::wait_for(stream, "the counts of a set-up");
    return report_.data();
  }
  void copy(double *to, const double *from, std::size_t n) const {
    cuda::check(cudaMemcpyAsync(to, from, n * sizeof(double), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  }
  // for the host to look at; waits for the stream
  template <class T> std::vector<T> to_host(const T *from, std::size_t n) const {
    return cuda::to_host(from, n, stream);
  }
  template <class T> static void assign(Array<T> &to, const std::vector<T> &from) { to.assign(from); }

private:
  static constexpr std::size_t most_counts = 256; // four for each of up to 63 grids

  cuda::Pinned<NodeCounts> report_{most_counts};
};

// For work beside what follows on a stream, where either leaves a part of the device idle. It may be captured.
class Cuda::Branch : NotCopied {
public:
  Branch() { beside_.stream = own_.get(); }
  // What is enqueued here comes after all that is on the stream so far.
  const Cuda &after(const Cuda &on) const {
    begins_.let_wait(own_.get(), on.stream);
    return beside_;
  }
  // What follows on the stream comes after that.
  void join(const Cuda &on) const {
    after(on); // this is part of a capture then, if nothing has been enqueued
    ends_.let_wait(on.stream, own_.get());
  }

private:
  const cuda::Stream own_;
  const cuda::Event begins_, ends_;
  Cuda beside_;
};

} // namespace petscrrb
