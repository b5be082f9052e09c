// OpenMP's runtime for the thread sanitizer, which does not see how GCC's own makes threads wait for each other: with it
// every barrier is a race. Here threads meet as the standard says, and nowhere else. Only what the compiler calls.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

namespace {

constexpr int most_threads = 16;
constexpr std::size_t most_loops = 1 << 14; // of one region

struct Team {
  int threads;
  pthread_barrier_t barrier;
  // The next chunk of each loop with a dynamic schedule. Relaxed: to be given a chunk is no order between threads.
  std::vector<std::atomic<unsigned long>> chunks;

  explicit Team(int n) : threads(n), chunks(most_loops) { pthread_barrier_init(&barrier, nullptr, unsigned(n)); }
  ~Team() { pthread_barrier_destroy(&barrier); }
};

template <class T> struct Loop { T start, end, step, chunk; };

thread_local Team *team = nullptr;
thread_local int number = 0;
thread_local std::size_t loops = 0; // that this thread has come to
thread_local Loop<long> loop;
thread_local Loop<unsigned long long> unsigned_loop;

int wanted = 0;
std::mutex critical;

int threads_wanted() {
  if (wanted == 0) {
    const char *const text = std::getenv("OMP_NUM_THREADS");
    wanted = text ? std::atoi(text) : 3;
  }
  return wanted < 1 ? 1 : wanted > most_threads ? most_threads : wanted;
}

void work(Team *with, int as, void (*f)(void *), void *data) {
  Team *const outer_team = team;
  const int outer_number = number;
  const std::size_t outer_loops = loops;
  team = with, number = as, loops = 0;
  f(data);
  team = outer_team, number = outer_number, loops = outer_loops;
}

void wait() {
  if (team && team->threads > 1) pthread_barrier_wait(&team->barrier);
}

template <class T> bool next(const Loop<T> &l, T *from, T *to) {
  if (loops > most_loops) std::fprintf(stderr, "too many loops in one parallel region\n"), std::abort();
  const unsigned long chunk = team->chunks[loops - 1].fetch_add(1, std::memory_order_relaxed);
  const T length = l.end - l.start, steps = length / l.step, first = T(chunk) * l.chunk;
  if (first >= steps + (length % l.step != 0)) return false;
  *from = l.start + first * l.step;
  *to = *from + l.chunk * l.step;
  if (l.step > T(0) ? *to > l.end : *to < l.end) *to = l.end;
  return true;
}

} // namespace

extern "C" {
#pragma GCC visibility push(default)

void GOMP_parallel(void (*f)(void *), void *data, unsigned threads, unsigned) {
  const int n = team && team->threads > 1 ? 1
                : threads                 ? int(threads)
                                          : threads_wanted(); // nested regions have one thread
  Team together(n);
  std::vector<std::thread> others;
  for (int i = 1; i < n; ++i) others.emplace_back(work, &together, i, f, data);
  work(&together, 0, f, data);
  for (std::thread &other : others) other.join();
}
void GOMP_barrier() { wait(); }

bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to) { return next(loop, from, to); }
bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *from, long *to) {
  loop = {start, end, step, chunk};
  ++loops;
  return next(loop, from, to);
}
bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *from, unsigned long long *to) {
  return next(unsigned_loop, from, to);
}
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool, unsigned long long start, unsigned long long end,
                                              unsigned long long step, unsigned long long chunk,
                                              unsigned long long *from, unsigned long long *to) {
  unsigned_loop = {start, end, step, chunk};
  ++loops;
  return next(unsigned_loop, from, to);
}
void GOMP_loop_end() { wait(); }
void GOMP_loop_end_nowait() {}

void GOMP_critical_start() { critical.lock(); }
void GOMP_critical_end() { critical.unlock(); }
void GOMP_critical_name_start(void **) { critical.lock(); }
void GOMP_critical_name_end(void **) { critical.unlock(); }
void GOMP_atomic_start() { critical.lock(); }
void GOMP_atomic_end() { critical.unlock(); }

int omp_get_max_threads() { return threads_wanted(); }
int omp_get_num_threads() { return team ? team->threads : 1; }
int omp_get_thread_num() { return number; }
int omp_get_num_procs() { return threads_wanted(); }
int omp_in_parallel() { return team && team->threads > 1; }
void omp_set_num_threads(int n) { wanted = n; }

#pragma GCC visibility pop
}
