// Waits that end: what kernels that wait for messages (wait.cuh) share with the host, and how the host waits for them.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cuda.hpp"
#include "exec/timeout.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace petscrrb::cuda {

// In page-locked memory, so that the host can look without waiting. A kernel looks at it only when it has waited for long.
struct Watch {
  static constexpr int tick = 17; // 2^17 ns

  unsigned limit;   // of a wait, in ticks; 0: none
  unsigned gave_up; // a wait has ended without what it waited for
  // of several devices: where this one hears that another one gave up, and where it tells each of them; or NULL
  const unsigned *heard;
  unsigned *const *tell;
  int told;
};

// The watch over the kernels of one owner.
class Watcher {
public:
  // what: that the kernels wait for, in words
  explicit Watcher(const char *what) : what_(what) { *watch_.data() = {}; }

  // hears of others, and tells them
  void connect(const unsigned *heard, const std::vector<unsigned *> &tell);

  // For a kernel that waits, from now on for as long as is set now.
  Watch *begin() const;
  bool gave_up() const { return *const_cast<const volatile unsigned *>(&watch_.data()->gave_up) != 0; }
  // Throws if a kernel gave up, or one of another device. Where no kernel here has waited since, that is known a while after
  // the last call, or if `at_once`. Waits for no other work.
  void check(bool at_once);
  // For waits of one device, which leave nothing behind: whether a kernel on the stream gave up. All others there do so
  // soon, and the next ones wait again.
  bool forget(cudaStream_t) const;
  void check_and_forget(cudaStream_t) const; // throws if so

private:
  void hear();

  const char *what_;
  Pinned<Watch> watch_;
  Pinned<unsigned> heard_;
  Buffer<unsigned *> tell_;
  std::unique_ptr<Stream> stream_;
  std::chrono::steady_clock::time_point checked_ = std::chrono::steady_clock::now();
};

// What keeps a stream from its end when other ranks fail: the host asks all of them while it waits.
class Messenger : NotCopied {
public:
  Messenger();
  virtual ~Messenger();
  virtual void check_messages() = 0; // throws what became of them
  virtual void abandon() = 0;        // no message is waited for any more, on the device either
};

// Waits for a stream. Once the timeout has gone by twice, and again each time after that, moved() says whether the work goes
// on; if not, or where a messenger has failed, this throws.
void wait_for(cudaStream_t, const char *what, const std::function<bool()> &moved);

} // namespace petscrrb::cuda
