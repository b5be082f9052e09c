// Waits that end: of kernels for messages, of the host for a stream; and captures that fail.
#include "exec/cuda/graph.hpp"
#include "exec/cuda/loop.cuh"
#include "exec/cuda/wait.cuh"
#include "pc/mic/cuda/mail.cuh"

#include <gtest/gtest.h>

#include <cmath>

namespace {

namespace cuda = petscrrb::cuda;
using petscrrb::Cuda;
using petscrrb::mic::device::Inbox;
using petscrrb::mic::device::Message;

constexpr int steps = 4;

__global__ void receive(const Message *from, unsigned sweep, cuda::Watch *watch, double *to) {
  Inbox<steps> inbox(threadIdx.x < 3 ? from + threadIdx.x : nullptr, 3, steps, sweep, watch);
  double value[steps];
  inbox.receive(0, value);
  for (int k = 0; k < steps; ++k) to[k * 32 + threadIdx.x] = value[k];
}
__global__ void wait_for_nothing(cuda::Watch *watch) {
  cuda::Patience<false> patience(watch);
  patience.begin();
  while (patience.lasts()) {
  }
}
__global__ void send_all(Message *to, unsigned sweep) { send(to + threadIdx.x, 1.0 + threadIdx.x, sweep); }

__global__ void spend(unsigned long long ns) {
  const unsigned long long begin = cuda::nanoseconds();
  while (cuda::nanoseconds() - begin < ns) {
  }
}
__global__ void count(int *n, int most, cuda::Condition repeat) { repeat.set(++*n < most); }

class Waits : public testing::Test {
protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) GTEST_SKIP() << "no device";
  }
  void TearDown() override { petscrrb::timeout = 60; }

  static std::vector<double> read(const cuda::Buffer<double> &x) {
    std::vector<double> values(x.size());
    cuda::check(cudaMemcpy(values.data(), x.data(), x.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }
  static double seconds_since(std::chrono::steady_clock::time_point t) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
  }
};

TEST_F(Waits, SmallMessagesThatDoNotComeAreNaN) {
  petscrrb::timeout = 0.1;
  const cuda::Watcher watcher("a message");
  const cuda::Buffer<Message> mail(3 * steps);
  const cuda::Buffer<double> values(32 * steps);
  send_all<<<1, 5>>>(mail.data(), 7); // of steps 0 and 1, but for one
  const auto begin = std::chrono::steady_clock::now();
  receive<<<100, 32>>>(mail.data(), 7, watcher.begin(), values.data());
  cuda::check(cudaDeviceSynchronize(), "receive");
  EXPECT_GT(seconds_since(begin), 0.09);
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_TRUE(watcher.gave_up());
  const std::vector<double> got = read(values);
  for (int i = 0; i < 3 * steps; ++i) {
    const double value = got[std::size_t(i / 3 * 32 + i % 3)];
    if (i < 5)
      EXPECT_EQ(value, 1.0 + i);
    else
      EXPECT_TRUE(std::isnan(value)) << i;
  }
  EXPECT_THROW(watcher.check_and_forget(nullptr), petscrrb::TimedOut);
  EXPECT_NO_THROW(watcher.check_and_forget(nullptr));
  send_all<<<1, 3 * steps>>>(mail.data(), 8);
  receive<<<1, 32>>>(mail.data(), 8, watcher.begin(), values.data());
  cuda::check(cudaDeviceSynchronize(), "receive");
  EXPECT_FALSE(watcher.gave_up());
  EXPECT_EQ(read(values)[3 * 32 + 2], 12.0);
}

TEST_F(Waits, SmallWordsOfOtherDevicesEndThem) {
  cuda::Watcher watcher("a message");
  const cuda::Buffer<unsigned> heard(std::vector<unsigned>{1}), other(1);
  watcher.connect(heard.data(), {other.data()});
  const auto begin = std::chrono::steady_clock::now();
  wait_for_nothing<<<20, 100>>>(watcher.begin());
  cuda::check(cudaDeviceSynchronize(), "wait_for_nothing");
  EXPECT_LT(seconds_since(begin), 5); // not 60
  unsigned told = 0;
  cuda::check(cudaMemcpy(&told, other.data(), sizeof told, cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(told, 1u);
  EXPECT_THROW(watcher.check(false), petscrrb::TimedOut);
}

TEST_F(Waits, SmallWordsAreHeardWithoutAKernel) {
  cuda::Watcher watcher("a message");
  const cuda::Buffer<unsigned> heard(std::vector<unsigned>{1});
  watcher.connect(heard.data(), {});
  EXPECT_NO_THROW(watcher.check(false)); // it has just looked
  EXPECT_THROW(watcher.check(true), petscrrb::TimedOut);
  EXPECT_THROW(watcher.check(false), petscrrb::TimedOut);
}

TEST_F(Waits, SmallHostDoesNotWaitForEver) {
  petscrrb::timeout = 0.1;
  const cuda::Stream stream;
  spend<<<1, 1, 0, stream.get()>>>(600'000'000);
  EXPECT_THROW(cuda::wait_for(stream.get(), "a kernel", [] { return false; }), petscrrb::TimedOut);
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaErrorNotReady);
  (void)cudaGetLastError();
  EXPECT_NO_THROW(cuda::wait_for(stream.get(), "a kernel", [] { return true; }));
  EXPECT_EQ(cudaStreamQuery(stream.get()), cudaSuccess);
}

// Whatever ends a capture: the stream is the caller's again, there is no graph, and the next one works.
template <class Captured, class Capture> void expect_safe(const Capture &capture) {
  Cuda on;
  const cuda::Buffer<int> n(1);
  const cudaStream_t before = on.stream;
  Captured captured;
  const auto good = [&](auto... repeat) {
    count<<<1, 1, 0, on.stream>>>(n.data(), 5, cuda::Condition(repeat...));
    cuda::check_launch("count");
    return 0;
  };
  const auto thrown = [&](auto... repeat) -> int {
    (void)good(repeat...);
    throw std::out_of_range("of the work");
  };
  const auto failed = [&](auto... repeat) { return good(repeat...) + 73; };
  for (int again = 0; again < 2; ++again) {
    EXPECT_THROW(capture(captured, on, thrown), std::out_of_range);
    EXPECT_TRUE(captured.empty());
    EXPECT_EQ(on.stream, before);
    EXPECT_EQ(capture(captured, on, failed), 73);
    EXPECT_TRUE(captured.empty());
    EXPECT_EQ(on.stream, before);
    EXPECT_EQ(capture(captured, on, good), 0);
    EXPECT_FALSE(captured.empty());
  }
  cuda::check(cudaDeviceSynchronize(), "captures");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Waits, GraphsAreWholeOrNone) {
  expect_safe<cuda::Graph>([](auto &graph, Cuda &on, const auto &work) { return graph.capture(on, work); });
}

TEST_F(Waits, LoopsAreWholeOrNone) {
  for (const bool repeats : {true, false})
    expect_safe<cuda::Loop>([&](auto &loop, Cuda &on, const auto &work) { return loop.capture(on, repeats, work); });
}

TEST_F(Waits, LoopsWithoutWorkAreRefused) {
  Cuda on;
  cuda::Loop loop;
  const cuda::Buffer<int> n(1);
  (void)loop.capture(on, true, [&](cuda::Condition repeat) {
    count<<<1, 1, 0, on.stream>>>(n.data(), 5, repeat);
    return 0;
  });
  if (!loop.repeats()) GTEST_SKIP() << "no conditional nodes";
  loop.launch(on);
  int counted = 0;
  cuda::check(cudaMemcpy(&counted, n.data(), sizeof counted, cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(counted, 5);
  EXPECT_THROW((void)loop.capture(on, true, [](cuda::Condition) { return 0; }), std::logic_error);
  EXPECT_TRUE(loop.empty());
}

} // namespace
