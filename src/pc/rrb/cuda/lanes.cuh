// Several lanes of a warp that work on one node of a graph: see OneLane.
#pragma once

#include "exec/cuda/cuda.cuh"
#include "pc/rrb/graph/lanes.hpp"

namespace petscrrb::rrb::graph_kernels {

// The slots of a table by hashing, of so many columns; a power of 2, twice as many at least.
struct Slots {
  int bits;

  __host__ __device__ static Slots of(node_t columns) {
    int bits = 3;
    while (node_t(1) << bits < 2 * columns) ++bits;
    return {bits};
  }
  __host__ __device__ int count() const { return 1 << bits; }
  __host__ __device__ int first(node_t q) const { return int(std::uint32_t(q) * 2654435769u >> (32 - bits)); }
  __host__ __device__ int next(int slot) const { return (slot + 1) & (count() - 1); }
};
constexpr node_t no_column = -1;

template <int lanes> class Lanes {
public:
  static constexpr int count = lanes, ahead = lanes == 1 ? 8 : 4;
  const int lane = int(threadIdx.x) % lanes;

  __device__ bool first() const { return lane == 0; }
  template <class T, class F> __device__ T reduce(T mine, const F &f) const {
    for (int step = lanes / 2; step; step /= 2) mine = f(mine, __shfl_xor_sync(all(), mine, step, lanes));
    return mine;
  }
  __device__ node_t least(node_t mine) const {
    return reduce(mine, [](node_t a, node_t b) { return min(a, b); });
  }
  template <class T> __device__ T most(T mine) const {
    return reduce(mine, [](T a, T b) { return b > a ? b : a; });
  }
  template <class T> __device__ T sum(T mine) const {
    return reduce(mine, [](T a, T b) { return a + b; });
  }
  __device__ bool any(bool mine) const { return votes(mine) != 0; }
  __device__ node_t rank(bool mine, node_t &n) const {
    const unsigned those = votes(mine);
    const node_t at = n + __popc(those & ((1u << lane) - 1));
    n += __popc(those);
    return at;
  }
  template <class F> __device__ void each(bool mine, node_t k, const F &f) const {
    for (unsigned those = votes(mine); those; those &= those - 1) f(__shfl_sync(all(), k, __ffs(those) - 1, lanes));
  }
  __device__ void wait() const { __syncwarp(all()); }
  template <class V> __device__ V of_lane(const V &mine, int lane) const {
    static_assert(sizeof(V) % sizeof(int) == 0);
    int words[sizeof(V) / sizeof(int)];
    memcpy(words, &mine, sizeof(V));
#pragma unroll
    for (int &word : words) word = __shfl_sync(all(), word, lane, lanes);
    V its;
    memcpy(&its, words, sizeof(V));
    return its;
  }

  // A row is searched.
  template <class F> __device__ F once(node_t, node_t, const F &key) const { return key; }
  template <class List> __device__ void open(const List &rows, node_t p) { begin_ = rows.begin(p), end_ = rows.end(p); }
  template <class List> __device__ node_t find(const List &rows, node_t q) const {
    return place_in(rows, begin_, end_, q);
  }

  template <class F> __device__ std::uint64_t smallest(node_t begin, node_t end, node_t n, const F &key) const {
    return lanes < 32 && end - begin <= 16 * lanes ? smallest_by_rank(begin, end, n, key)
                                                   : smallest_by_digits(begin, end, n, key);
  }
  // of this lane and those before it
  __device__ node_t sum_so_far(node_t sum) const {
    for (int step = 1; step < lanes; step *= 2) {
      const node_t earlier = __shfl_up_sync(all(), sum, step, lanes);
      if (lane >= step) sum += earlier;
    }
    return sum;
  }
  __device__ node_t rank_of(node_t mine, node_t &n) const {
    const node_t so_far = n + sum_so_far(mine);
    n = __shfl_sync(all(), so_far, lanes - 1, lanes);
    return so_far - mine;
  }
  // Of a whole warp: f(m) for each place of the rows that lanes have, or -1 where there are no more; p < 0: this one has none. They are dealt out: lane
  // i of each round has the (32 n + i)-th.
  template <class F> __device__ void each_place(const Rows &rows, node_t p, const F &f) const {
    static_assert(lanes == 32);
    const node_t begin = p < 0 ? 0 : rows.start[p], n = p < 0 ? 0 : rows.start[p + 1] - begin;
    const node_t end = sum_so_far(n); // of those of this row
    const node_t in_all = __shfl_sync(~0u, end, lanes - 1);
    for (node_t from = 0; from < in_all; from += lanes) {
      const node_t mine = from + lane;
      int of = 0; // the lanes whose rows end before
      for (int step = lanes / 2; step; step /= 2)
        if (__shfl_sync(~0u, end, of + step - 1) <= mine) of += step;
      const node_t after = __shfl_sync(~0u, end, of), first = __shfl_sync(~0u, begin, of),
                   size = __shfl_sync(~0u, n, of);
      f(mine < in_all ? first + mine - (after - size) : -1);
    }
  }

  // Whether f(k, lanes) is true of each lane that has a k.
  template <class F> __device__ bool all_of(bool mine, node_t k, const F &f) const {
    bool ok = true;
    each(mine, k, [&](node_t of_one) { ok = ok && f(of_one, *this); });
    return ok;
  }

private:
  // Groups of a warp that vote go one after the other: here they do so once.
  template <class F> __device__ std::uint64_t smallest_by_rank(node_t begin, node_t end, node_t n, const F &key) const {
    std::uint64_t found = 0;
    for (node_t k = begin + lane; k < end; k += lanes) {
      const std::uint64_t mine = key(k);
      node_t smaller = 0, equal = 0;
      for (node_t m = begin; m < end; ++m) {
        const std::uint64_t other = key(m);
        smaller += other < mine, equal += other == mine;
      }
      if (smaller < n && n <= smaller + equal) found = mine;
    }
    return most(found);
  }
  template <class F>
  __device__ std::uint64_t smallest_by_digits(node_t begin, node_t end, node_t n, const F &key) const {
    constexpr int most = 4; // keys that a lane keeps
    std::uint64_t found = 0, kept[most];
    const node_t left = end - begin;
#pragma unroll
    for (int i = 0; i < most; ++i)
      kept[i] = i * lanes + lane < left ? key(begin + i * lanes + lane) : ~std::uint64_t(0);
    for (int bit = 62; bit >= 29; --bit) {
      const std::uint64_t more = found | std::uint64_t(1) << bit;
      node_t smaller = 0;
#pragma unroll
      for (int i = 0; i < most; ++i)
        if (i * lanes < left) smaller += __popc(votes(kept[i] < more));
      if (left > most * lanes) {
        node_t others = 0;
        for (node_t k = begin + most * lanes + lane; k < end; k += lanes) others += key(k) < more;
        smaller += sum(others);
      }
      if (smaller == n) return largest_below(more, begin + most * lanes + lane, end, kept, key);
      if (smaller < n) found = more;
    }
    return found;
  }
  // Of the keys that this and the other lanes keep, and of those from `from` on.
  template <int some, class F>
  __device__ std::uint64_t largest_below(std::uint64_t bound, node_t from, node_t end,
                                         const std::uint64_t (&kept)[some], const F &key) const {
    std::uint64_t found = 0;
    const auto take = [&](std::uint64_t mine) {
      if (mine < bound && mine > found) found = mine;
    };
#pragma unroll
    for (int i = 0; i < some; ++i) take(kept[i]);
    for (node_t k = from; k < end; k += lanes) take(key(k));
    return most(found);
  }

protected:
  __device__ static unsigned all() {
    return (lanes < 32 ? (1u << lanes % 32) - 1 : ~0u) << (threadIdx.x % 32 / lanes * lanes);
  }
  __device__ unsigned votes(bool mine) const {
    return __ballot_sync(all(), mine) >> (threadIdx.x % 32 / lanes * lanes);
  }

  node_t begin_ = 0, end_ = 0;
};

// Each warp's, in shared memory.
template <int columns> struct WarpTable {
  static constexpr int room = columns;

  int key[2 * room];
  union {
    unsigned short place[2 * room]; // in the row that is open
    int list[room];                 // of a set
  };
};
// Of those who add up a row: each group of red neighbours, and of a warp's lanes, has its own sums.
constexpr int groups = 2;
__device__ inline int group_of(node_t key) { return int(std::uint32_t(key) * 2654435769u >> 31); }
template <int columns> struct Numbers {
  static constexpr int room = columns;

  double number[groups][columns];
};
template <int columns> struct WarpTableWithNumbers : WarpTable<columns> { double number[groups][columns]; };

// Several lanes that have such numbers and know the places.
template <int lanes, class Table> class Adding : public Lanes<lanes> {
public:
  struct Sums {
    Table &table;
    double *w;
    node_t begin, end;

    __device__ void clear(const Lanes<lanes> &mine) const {
      mine.wait();
      for (int i = mine.lane; i < end - begin; i += lanes)
        for (int g = 0; g < groups; ++g) table.number[g][i] = 0.0;
      mine.wait();
    }
    __device__ void add(int group, node_t k, double more) const {
      if (unsigned(k - begin) < unsigned(end - begin)) table.number[group][k - begin] += more;
    }
    __device__ void put(const Lanes<lanes> &mine) const {
      mine.wait();
      for (int i = mine.lane; i < end - begin; i += lanes) w[begin + i] = table.number[0][i] + table.number[1][i];
    }
  };

  __device__ explicit Adding(Table &table) : table_(table) {}
  __device__ Sums sums(double *w, node_t begin, node_t end) const {
    return {table_, w, begin, min(end, begin + Table::room)};
  }
  // Part of a warp does so for one after the other, a whole one in each of its groups.
  template <class V, class Read, class Use>
  __device__ void each_in_groups(bool mine, node_t key, const V &value, const Read &read, const Use &use) const {
    constexpr int some = lanes < 32 ? lanes : lanes / groups; // of a group
    const int group = group_of(key), lane = this->lane % some;
    unsigned those = 0;
    int left = 0;
    if constexpr (lanes < 32) {
      those = this->votes(mine), left = __popc(those);
    } else {
      for (int g = 0; g < groups; ++g) {
        const unsigned of_group = this->votes(mine && group == g);
        left = max(left, __popc(of_group));
        if (this->lane / some == g) those = of_group;
      }
    }
    using Ahead = decltype(read(value, 0, 0));
    struct Next {
      V value;
      int group;
      bool any;
      Ahead ahead;
    };
    const auto take = [&] {
      const int from = those ? __ffs(those) - 1 : 0;
      Next next{this->of_lane(value, from), this->of_lane(group, from), those != 0, {}};
      those &= those - 1;
      if (next.any) next.ahead = read(next.value, lane, some);
      return next;
    };
    if (!left) return;
    for (Next next = take(); left > 0; --left) {
      const Next now = next;
      if (left > 1) next = take();
      if (now.any) use(now.value, lane, some, now.group, now.ahead);
      this->wait();
    }
  }

protected:
  Table &table_;
};

// A warp whose set of columns is a bit of each column that there may be, in shared memory: in order, and never full.
class WarpWithBits : public Lanes<32> {
public:
  static constexpr int columns_of_word = 32;

  __device__ WarpWithBits(unsigned *bits, int words) : bits_(bits), words_(words) {}

  __device__ void start_set(node_t /* most */) {
    wait();
    for (int i = lane; i < words_; i += count) bits_[i] = 0;
    wait();
  }
  __device__ bool add(bool mine, node_t q) {
    if (mine) atomicOr(bits_ + q / columns_of_word, 1u << q % columns_of_word);
    return true;
  }
  __device__ node_t size() const {
    wait();
    node_t n = 0;
    for (int i = lane; i < words_; i += count) n += __popc(bits_[i]);
    return sum(n);
  }
  __device__ void put_sorted(node_t *to) const {
    wait();
    for (int from = 0; from < words_; from += count) {
      const int i = from + lane;
      unsigned word = i < words_ ? bits_[i] : 0;
      const node_t end = sum_so_far(__popc(word));
      for (node_t *at = to + end - __popc(word); word; word &= word - 1) *at++ = i * columns_of_word + __ffs(word) - 1;
      to += __shfl_sync(~0u, end, count - 1);
    }
  }

private:
  unsigned *const bits_;
  const int words_;
};

// A warp with a table.
template <class T> class Warp : public Adding<32, T> {
  static constexpr int lanes = 32;
  using Adding<32, T>::table_, Adding<32, T>::begin_, Adding<32, T>::end_;

public:
  using Table = T;
  using Adding<32, T>::lane, Adding<32, T>::rank, Adding<32, T>::wait, Adding<32, T>::votes;

  __device__ explicit Warp(Table &table) : Adding<32, T>(table) {}

  // Of several groups of lanes each takes one k.
  template <class F> __device__ bool all_of(bool mine, node_t k, const F &f) const {
    const Lanes<8> group;
    const int which = lane / 8;
    for (unsigned those = votes(mine); those;) {
      int bit = -1;
      for (int i = 0; i < lanes / 8; ++i, those &= those - 1)
        if (i == which && those) bit = __ffs(those) - 1;
      const node_t of_group = __shfl_sync(~0u, k, bit < 0 ? 0 : bit);
      if (votes(bit >= 0 && !f(of_group, group))) return false;
    }
    return true;
  }

  template <class List> __device__ void open(const List &rows, node_t p) {
    if (row_ == p) return;
    row_ = p, begin_ = rows.begin(p), end_ = rows.end(p);
    if (end_ - begin_ > Table::room) return;
    clear(end_ - begin_);
    for (node_t k = begin_ + lane; k < end_; k += lanes) {
      bool is_new;
      const int slot = insert(rows.column_at(k), is_new);
      table_.place[slot] = static_cast<unsigned short>(k - begin_);
    }
    wait();
  }
  template <class List> __device__ node_t find(const List &rows, node_t q) const {
    if (end_ - begin_ > Table::room) return place_in(rows, begin_, end_, q);
    for (int slot = slots_.first(q);; slot = slots_.next(slot)) {
      const int key = table_.key[slot];
      if (key == q) return begin_ + table_.place[slot];
      if (key == no_column) return -1;
    }
  }

  __device__ void start_set(node_t most) {
    row_ = -1;
    clear(min(most, node_t(Table::room)));
    size_ = 0;
  }
  __device__ bool add(bool mine, node_t q) {
    if (size_ > Table::room - lanes) return false;
    bool is_new = false;
    if (mine) insert(q, is_new);
    const node_t at = rank(is_new, size_);
    if (is_new) table_.list[at] = q;
    return true;
  }
  __device__ node_t size() const { return size_; }
  __device__ void put_sorted(node_t *to) {
    const int n = size_;
    wait();
    for (int i = lane; i < n; i += lanes) {
      const node_t q = table_.list[i];
      int before = 0;
      for (int k = 0; k < n; ++k) before += table_.list[k] < q;
      to[before] = q;
    }
  }

private:
  __device__ void clear(node_t columns) {
    slots_ = Slots::of(columns);
    wait();
    for (int i = lane; i < slots_.count(); i += lanes) table_.key[i] = no_column;
    wait();
  }
  __device__ int insert(node_t q, bool &is_new) {
    for (int slot = slots_.first(q);; slot = slots_.next(slot)) {
      const int key = atomicCAS(&table_.key[slot], int(no_column), int(q));
      is_new = key == no_column;
      if (is_new || key == q) return slot;
    }
  }

  node_t row_ = -1, size_ = 0;
  Slots slots_{3};
};

} // namespace petscrrb::rrb::graph_kernels
