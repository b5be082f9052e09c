// Where loops run on the host: OpenMP over rows, vectors along them. The same node is always computed by the same
// instructions, whatever the number of threads, so results are bitwise reproducible.
#pragma once

#include "exec/counts.hpp"

#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
  #include <sys/mman.h>
#endif
#ifdef _OPENMP
  #include <omp.h>
#endif

namespace petscrrb {

namespace host {

constexpr index_t serial_below = 8192; // nodes; waking the threads costs more than the loop

// Zeroed memory whose rows start at a cache line, as the vector loads want it. Not copyable: it may be gigabytes.
template <class T> class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t n) { resize(n); }
  Buffer(Buffer &&o) noexcept : p_(std::exchange(o.p_, nullptr)), n_(std::exchange(o.n_, 0)) {}
  Buffer &operator=(Buffer &&o) noexcept {
    std::swap(p_, o.p_);
    std::swap(n_, o.n_);
    return *this;
  }
  ~Buffer() { std::free(p_); }

  void resize(std::size_t n) {
    std::free(std::exchange(p_, nullptr));
    n_ = 0; // what has failed has no size
    const std::size_t page = n * sizeof(T) >= 4 * huge_page ? huge_page : 64;
    const std::size_t bytes = std::max<std::size_t>(n * sizeof(T) + page - 1, page) / page * page;
    p_ = static_cast<T *>(std::aligned_alloc(page, bytes));
    if (!p_) throw std::bad_alloc();
    n_ = n;
#if defined(__linux__)
    if (page == huge_page) (void)madvise(p_, bytes, MADV_HUGEPAGE); // a sweep reads from fifteen arrays at once
#endif
#pragma omp parallel for schedule(static) if (n > std::size_t(serial_below))
    for (std::size_t i = 0; i < n; ++i) p_[i] = T(); // the threads that will sweep the rows touch them first
  }
  void assign(const std::vector<T> &values) { assign(values.data(), values.size()); }
  void assign(const T *values, std::size_t n) {
    resize(n);
    std::copy_n(values, n, p_);
  }
  void set(std::size_t i, const T &value) { p_[i] = value; }
  T *data() const { return p_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }

private:
  static constexpr std::size_t huge_page = std::size_t(1) << 21;

  T *p_ = nullptr;
  std::size_t n_ = 0;
};

#ifdef _OPENMP
inline int most_threads() { return omp_get_max_threads(); }
inline int team() { return omp_get_num_threads(); } // in a parallel region, of which this thread is
inline int member() { return omp_get_thread_num(); }
#else
inline int most_threads() { return 1; }
inline int team() { return 1; }
inline int member() { return 0; }
#endif

// Room for each thread.
class Scratch {
public:
  // Outside of parallel regions. Allocates if there are more threads than before, or they want more.
  void prepare(std::size_t doubles, int threads = most_threads()) {
    each_ = (doubles + 7) / 8 * 8; // threads do not share cache lines
    if (memory_.size() < each_ * std::size_t(threads)) memory_.resize(each_ * std::size_t(threads));
  }
  double *mine() { return memory_.data() + each_ * std::size_t(member()); }
  double bytes() const { return static_cast<double>(memory_.size() * sizeof(double)); }

private:
  std::vector<double> memory_;
  std::size_t each_ = 0;
};

// The nodes of row k that are in inner, a part of box: from `first` on, before `last`; none of a row at the rim.
struct InnerRow {
  index_t first, last;

  InnerRow(const Range2 &box, const Range2 &inner, index_t k) : first(inner.h0), last(inner.h1) {
    if (k < inner.k0 || k >= inner.k1) first = last = box.h1;
  }
};

// f(h, k) at every node of a row in inner, g(h, k) at the others.
template <class F, class G> void for_row_of(const Range2 &box, const Range2 &inner, index_t k, const F &f, const G &g) {
  const InnerRow row(box, inner, k);
  const F at = f;
  for (index_t h = box.h0; h < row.first; ++h) g(h, k);
#pragma omp simd
  for (index_t h = row.first; h < row.last; ++h) at(h, k);
  for (index_t h = row.last; h < box.h1; ++h) g(h, k);
}

// f(h, k) at every node of inner, g(h, k) at the other nodes of box: f need not look where it reads.
template <class F, class G> void for_each(Range2 box, Range2 inner, const F &f, const G &g) {
  inner = intersection(box, inner);
#pragma omp parallel for schedule(static) if (box.size() > serial_below)
  for (index_t k = box.k0; k < box.k1; ++k) for_row_of(box, inner, k, f, g);
}

// f(i, j, k) at every point of a row, and the sum of what it returns
template <class F> void for_row(const Range3 &box, index_t j, index_t k, const F &f) {
  const auto at = with_numbers(f);
#pragma omp simd
  for (index_t i = 0; i < box.row(j, k); ++i) at(i, j, k);
}
template <class F> double sum_row(const Range3 &box, index_t j, index_t k, const F &f) {
  const auto at = with_numbers(f);
  double s = 0.0;
#pragma omp simd reduction(+ : s)
  for (index_t i = 0; i < box.row(j, k); ++i) s += at(i, j, k);
  return s;
}

// f(i, j, k) at every point
template <class F> void for_each_point(const Range3 &box, const F &f) {
#pragma omp parallel for collapse(2) schedule(static) if (box.size() > serial_below)
  for (index_t k = 0; k < box.n[2]; ++k)
    for (index_t j = 0; j < box.n[1]; ++j) for_row(box, j, k, f);
}

// row[k - box.k0] = the sum along row k of f(h, k), or of g(h, k) at nodes that are not in inner; each by one thread.
template <class F, class G> void sum_rows(Range2 box, Range2 inner, const F &f, const G &g, double *row) {
  inner = intersection(box, inner);
#pragma omp parallel for schedule(static) if (box.size() > serial_below)
  for (index_t k = box.k0; k < box.k1; ++k) {
    const InnerRow inside(box, inner, k);
    double s = 0.0;
    for (index_t h = box.h0; h < inside.first; ++h) s += g(h, k);
#pragma omp simd reduction(+ : s)
    for (index_t h = inside.first; h < inside.last; ++h) s += f(h, k);
    for (index_t h = inside.last; h < box.h1; ++h) s += g(h, k);
    row[k - box.k0] = s;
  }
}

// row[k n[1] + j] = the sum along row (j, k) of f(i, j, k)
template <class F> void sum_rows(const Range3 &box, const F &f, double *row) {
#pragma omp parallel for collapse(2) schedule(static) if (box.size() > serial_below)
  for (index_t k = 0; k < box.n[2]; ++k)
    for (index_t j = 0; j < box.n[1]; ++j) row[k * box.n[1] + j] = sum_row(box, j, k, f);
}

template <class F> void count_row(index_t h0, index_t h1, index_t k, const F &f, NodeCounts &n) {
  unsigned unlumped = 0, null = 0, failed = 0, unsupported = 0;
  double first = std::numeric_limits<double>::infinity();
#pragma omp simd reduction(+ : unlumped, null, failed, unsupported) reduction(min : first)
  for (index_t h = h0; h < h1; ++h) {
    const unsigned flags = f(h, k);
    unlumped += flags & 1u;
    null += flags >> 1 & 1u;
    failed += flags >> 2 & 1u;
    unsupported += flags >> 3 & 1u;
    first = std::min(first, flags & 4u ? double(h) : std::numeric_limits<double>::infinity());
  }
  n.unlumped += unlumped;
  n.null += null;
  n.failed += failed;
  n.unsupported += unsupported;
  if (failed) n.first_failed = std::min(n.first_failed, k * (index_t(1) << 32) + index_t(first));
}

template <class F, class G>
void count_row_of(const Range2 &box, const Range2 &inner, index_t k, const F &f, const G &g, NodeCounts &n) {
  const InnerRow row(box, inner, k);
  const F at = f;
  count_row(box.h0, row.first, k, g, n);
  count_row(row.first, row.last, k, at, n);
  count_row(row.last, box.h1, k, g, n);
}

// A row of a loop, if it has one.
template <class F, class G> void run_row(const NodeLoop<F, G> &loop, index_t k, NodeCounts &counts) {
  const Range2 inner = intersection(loop.box, loop.inner);
  if (k < loop.box.k0 || k >= loop.box.k1) return;
  if constexpr (std::is_void_v<decltype(loop.f(k, k))>)
    for_row_of(loop.box, inner, k, loop.f, loop.g);
  else
    count_row_of(loop.box, inner, k, loop.f, loop.g, counts);
}

// Loops as if one after the other, but row by row, so that what one writes is in the cache when the next one reads it. Each thread has some
// rows; what reads others' rows follows when all have been written.
template <class... Loops> void in_step(const Loops &...loops) {
  constexpr int n = sizeof...(Loops);
  int down[n], up[n], before_down = 0, before_up = 0, i = 0;
  ((down[i] = before_down += loops.down, up[i] = before_up += loops.up, ++i), ...);
  const index_t first_row = std::min({loops.box.k0...}), rows = std::max({loops.box.k1...}) - first_row;
  NodeCounts total[n];
#pragma omp parallel if (std::max({loops.box.size()...}) > serial_below)
  {
    NodeCounts mine[n];
    const index_t a = first_row + rows * member() / team(), b = first_row + rows * (member() + 1) / team();
    const bool first = member() == 0, last = member() + 1 == team();
    index_t from[n], to[n];
    for (int l = 0; l < n; ++l) {
      from[l] = first ? a : std::min(a + down[l], b);
      to[l] = last ? b : std::max(b - up[l], from[l]);
    }
    const auto each = [&](const auto &f) {
      int l = 0;
      (f(l++, loops), ...);
    };
    for (index_t step = a; step < b + up[n - 1]; ++step)
      each([&](int l, const auto &loop) {
        const index_t k = step - up[l];
        if (k >= from[l] && k < to[l]) run_row(loop, k, mine[l]);
      });
    each([&](int l, const auto &loop) {
#pragma omp barrier
      for (index_t k = a; k < from[l]; ++k) run_row(loop, k, mine[l]);
      for (index_t k = to[l]; k < b; ++k) run_row(loop, k, mine[l]);
    });
#pragma omp critical(petscrrb_counts)
    for (int l = 0; l < n; ++l) total[l].add(mine[l]);
  }
  i = 0;
  ((loops.counts ? loops.counts->add(total[i]) : void(), ++i), ...);
}

// for_each() of functors that return NodeFlags; their counts are exact and do not depend on the number of threads.
template <class F, class G> NodeCounts count_each(Range2 box, Range2 inner, const F &f, const G &g) {
  NodeCounts total;
  in_step(NodeLoop<F, G>{box, inner, f, g, &total, 0, 0});
  return total;
}

} // namespace host

struct Host {
  template <class T> using Array = host::Buffer<T>;
  struct Branch { // in a device's place: one after the other
    const Host &after(const Host &on) const { return on; }
    void join(const Host &) const {}
  };
  static constexpr bool on_device = false;

  template <class F, class G> void for_each(Range2 box, Range2 inner, const F &f, const G &g) const {
    host::for_each(box, inner, f, g);
  }
  template <class F> void for_each(Range2 box, const F &f) const { host::for_each(box, box, f, f); }
  template <class F> void for_each_point(const Range3 &box, const F &f) const { host::for_each_point(box, f); }
  // adds to *counts
  template <class F, class G>
  void count_each(Range2 box, Range2 inner, const F &f, const G &g, NodeCounts *counts) const {
    counts->add(host::count_each(box, inner, f, g));
  }
  template <class... Loops> void in_step(const Loops &...loops) const { host::in_step(loops...); }
  void clear(const Array<NodeCounts> &counts) const { std::fill_n(counts.data(), counts.size(), NodeCounts()); }
  // the counts as the host may read them, until the next call
  const NodeCounts *read(const Array<NodeCounts> &counts) const { return counts.data(); }
  template <class T> static void assign(Array<T> &to, const std::vector<T> &from) { to.assign(from); }
  void copy(double *to, const double *from, std::size_t n) const { std::copy_n(from, n, to); }
  template <class T> std::vector<T> to_host(const T *from, std::size_t n) const { return {from, from + n}; }
};
inline constexpr Host on_host;

} // namespace petscrrb
