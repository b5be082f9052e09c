// See watch.hpp.
#if defined(PETSCRRB_HAVE_CUDA)

  #include "exec/cuda/watch.hpp"

  #include <algorithm>
  #include <cmath>
  #include <thread>

namespace petscrrb::cuda {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

std::vector<Messenger *> &messengers() {
  static std::vector<Messenger *> all;
  return all;
}

} // namespace

void Watcher::connect(const unsigned *heard, const std::vector<unsigned *> &tell) {
  Watch &watch = *watch_.data();
  tell_.assign(tell);
  watch.heard = heard, watch.tell = tell_.data(), watch.told = int(tell.size());
}

Watch *Watcher::begin() const {
  constexpr double most = 1u << 30; // ticks, some days: as long as for ever
  const double ticks = std::ceil(1e9 * timeout.load() / (1 << Watch::tick));
  watch_.data()->limit = ticks < most ? unsigned(ticks) : 0;
  return watch_.data();
}

void Watcher::check(bool at_once) {
  const double since = seconds_since(std::exchange(checked_, Clock::now()));
  if (watch_.data()->heard && !gave_up() && (at_once || since > 0.1 * timeout.load())) hear();
  if (gave_up()) throw TimedOut(what_);
}

bool Watcher::forget(cudaStream_t stream) const {
  if (!gave_up()) return false;
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  watch_.data()->gave_up = 0;
  return true;
}

void Watcher::check_and_forget(cudaStream_t stream) const {
  if (forget(stream)) throw TimedOut(what_);
}

void Watcher::hear() {
  if (!stream_) stream_ = std::make_unique<Stream>();
  const auto copied =
      cudaMemcpyAsync(heard_.data(), watch_.data()->heard, sizeof(unsigned), cudaMemcpyDeviceToHost, stream_->get());
  cuda::check(copied, "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream_->get()), "cudaStreamSynchronize");
  if (*heard_.data()) watch_.data()->gave_up = 1;
}

Messenger::Messenger() { messengers().push_back(this); }
Messenger::~Messenger() { messengers().erase(std::find(messengers().begin(), messengers().end(), this)); }

void wait_for(cudaStream_t stream, const char *what, const std::function<bool()> &moved) {
  constexpr int between = 64; // looks at the stream, which are short
  constexpr double short_wait = 0.01;
  auto began = Clock::now();
  for (int looks = 1;; ++looks) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) return check(state, what);
    (void)cudaGetLastError(); // not an error
    if (looks % between) continue;
    const double waited = seconds_since(began), most = 2 * timeout.load(); // the device's own waits end first
    if (waited < short_wait) continue;
    looks = 0;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    for (Messenger *m : messengers()) m->check_messages();
    if (most <= 0 || waited < most) continue;
    if (!moved()) {
      for (Messenger *m : messengers()) m->abandon();
      throw TimedOut(what);
    }
    began = Clock::now();
  }
}

void wait_for(cudaStream_t stream, const char *what) {
  if (messengers().empty())
    check(cudaStreamSynchronize(stream), what);
  else
    wait_for(stream, what, [] { return false; });
}

} // namespace petscrrb::cuda

#endif
