// Loops over the nodes of a graph on the host.
#pragma once

#include "exec/host/host.hpp"
#include "pc/rrb/graph/in_order.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace petscrrb::rrb {

template <> struct GraphLoops<Host> {
  // Nodes that a thread takes at once. Their work differs, and loops are many: whoever is late would keep the others waiting in each.
  static constexpr node_t piece = 4096;

  // f(i), 0 <= i < n
  template <class F> static void each(const Host &, node_t n, const F &f) {
#pragma omp parallel for schedule(dynamic, piece) if (n > host::serial_below)
    for (node_t i = 0; i < n; ++i) f(i);
  }
  // The sum of what f returns.
  template <class F> static index_t sum(const Host &, node_t n, const F &f) {
    index_t total = 0;
#pragma omp parallel for schedule(dynamic, piece) reduction(+ : total) if (n > host::serial_below)
    for (node_t i = 0; i < n; ++i) total += index_t(f(i));
    return total;
  }
  // The same, added to *total.
  template <class F> static void add(const Host &on, node_t n, const F &f, index_t *total) { *total += sum(on, n, f); }
  static void clear(const Host &, host::Buffer<index_t> &totals) { std::fill_n(totals.data(), totals.size(), 0); }
  // f(i, lanes, await), whose values are added to *total. What kernels before have left is there when it has called await(): a device starts before that.
  // per_node: numbers that it reads
  template <class F> static void ahead(const Host &on, node_t n, double /* per_node */, const F &f, index_t *total) {
    add(
        on, n, [&](node_t i) { return f(i, Alone(), [] {}); }, total);
  }
  // NodeFlags, added to *counts
  template <class F> static void count(const Host &, node_t n, const F &f, NodeCounts *counts) {
    const AtEntry<F> at{f, n};
    counts->add(host::count_each(ListAsBox::box(n), ListAsBox::box(n), at, at));
  }
  template <class F>
  static void count_together(const Host &on, node_t n, double /* couplings */, const F &f, NodeCounts *counts) {
    count(
        on, n, [&](node_t i) { return f(i, Alone()); }, counts);
  }
  // f(i, lanes): a device has several lanes for a node
  template <class F> static void together(const Host &on, node_t n, double /* couplings */, const F &f) {
    look_up(on, n, f);
  }
  // of functors that do little for a coupling
  template <class F> static void together_or_alone(const Host &on, node_t n, double /* couplings */, const F &f) {
    each(on, n, [&](node_t i) { f(i, Alone()); });
  }
  // of those that look up much
  template <class F> static void look_up(const Host &, node_t n, const F &f) {
    in_pieces(n, [&](node_t, node_t begin, node_t end, OneLane &alone) {
      for (node_t i = begin; i < end; ++i) f(i, alone);
    });
  }

  // What nodes list is counted and then listed where there is room for it. Here it is found once, by what counts, and kept in between: of
  // each piece of the nodes.
  static constexpr bool keeps = true;
  template <class F> using Kept = std::vector<std::vector<typename F::Item>>;
  // f.keep(i, lanes, items) adds those of i, and says how many they are. If they are more than `most` in all, hardly any is kept.
  template <class F>
  static Kept<F> count_lists(const Host &, node_t n, double /* couplings */, const F &f, index_t most) {
    Kept<F> kept(pieces_of(n));
    std::atomic<index_t> in_all{0};
    in_pieces(n, [&](node_t p, node_t begin, node_t end, OneLane &alone) {
      auto &items = kept[p];
      for (node_t i = begin; i < end; ++i) f.keep(i, alone, items);
      if ((in_all += index_t(items.size())) > most) items = {};
    });
    return kept;
  }
  // f.put(i, items) puts those of i, which it returns the end of.
  template <class F, class Kept>
  static void put_lists(const Host &, node_t n, double /* couplings */, const F &f, Kept &&kept) {
    in_pieces(n, [&](node_t p, node_t begin, node_t end, OneLane &) {
      const auto *items = kept[p].data();
      for (node_t i = begin; i < end; ++i) items = f.put(i, items);
      kept[p] = {};
    });
  }
  // f(i, lanes), or on a device with short rows f.each_alone(i, lanes). listed: in the rows that are added up, on average
  template <class F>
  static void add_up(const Host &on, node_t n, double /* couplings */, double /* listed */, const F &f) {
    look_up(on, n, f);
  }

  // Whether places of products are stored, where rows have so many couplings on average: look_up() finds them, add_stored() adds up by them. On a host they
  // would cost a set-up more than twenty refreshes save; tests do so.
  static bool stores_products(double /* couplings */) { return stores_; }
  static bool store_products(bool they) { return std::exchange(stores_, they); } // as it was before
  // longest: of the rows that are added up
  template <class F>
  static void add_stored(const Host &on, node_t n, double /* listed */, node_t /* longest */, const F &f) {
    look_up(on, n, f);
  }

private:
  static inline bool stores_ = false;
  static constexpr node_t piece_with_table = 128;

  static node_t pieces_of(node_t n) { return (n - 1) / piece_with_table + 1; }
  // f(p, begin, end, lane) of each piece p of the nodes
  template <class F> static void in_pieces(node_t n, const F &f) {
    std::atomic<bool> no_room{false};
#pragma omp parallel if (n > piece_with_table)
    {
      OneLane alone;
#pragma omp for schedule(dynamic, 1)
      for (node_t p = 0; p < pieces_of(n); ++p) {
        try { // a thread must not throw
          const node_t begin = p * piece_with_table, end = std::min(n - begin, piece_with_table) + begin;
          if (!no_room.load(std::memory_order_relaxed)) f(p, begin, end, alone);
        } catch (const std::bad_alloc &) {
          no_room.store(true, std::memory_order_relaxed);
        }
      }
    }
    if (no_room) throw std::bad_alloc();
  }
};

template <> class ChoiceLoops<Host> {
public:
  explicit ChoiceLoops(const Host &on) : on_(on) {}

  template <class F> index_t sum(node_t n, const F &f) const { return GraphLoops<Host>::sum(on_, n, f); }
  // Whether f returns anything but 0: not all are asked then.
  template <class F> bool any(node_t n, const F &f) const {
    bool found = false;
    GraphLoops<Host>::each(on_, n, [&](node_t i) {
      bool known;
      __atomic_load(&found, &known, __ATOMIC_RELAXED);
      if (known || !f(i)) return;
      known = true;
      __atomic_store(&found, &known, __ATOMIC_RELAXED);
    });
    return found;
  }
  template <class F> bool any_asked(node_t n, const F &f) const {
    return any(n, [&f](node_t i) {
      if (!f.asks(i, Alone())) return false;
      OneLane alone;
      return f(i, alone) != 0;
    });
  }
  // count[i] = the sum of those before i, count[n] = that of all, which is returned. It is not larger than `most`.
  node_t offsets(node_t *count, node_t n, index_t /* most */) const {
    index_t sum = 0;
    for (node_t i = 0; i < n; ++i) sum += std::exchange(count[i], node_t(sum));
    if (sum > std::numeric_limits<node_t>::max()) throw std::length_error("a level has more than 2^31 couplings");
    return count[n] = node_t(sum);
  }
  // The same of a and of b at once; of b no limit is known.
  std::pair<node_t, node_t> offsets(node_t *a, node_t *b, node_t n) const {
    return {offsets(a, n, n), offsets(b, n, any_number)};
  }
  // order: of the keys, each below `bound`; equal ones stay as they were
  void sort(const node_t *key, node_t n, node_t bound, node_t *order) const {
    if (bound / 16 > n) {
      std::iota(order, order + n, node_t(0));
      std::stable_sort(order, order + n, [&](node_t a, node_t b) { return key[a] < key[b]; });
      return;
    }
    std::vector<node_t> place(bound + 1);
    for (node_t i = 0; i < n; ++i) ++place[key[i] + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (node_t i = 0; i < n; ++i) order[place[key[i]]++] = i;
  }
  // Decides about all nodes, each thread about a part of them.
  void decide(node_t n, double /* couplings */, const Decide &decide, signed char *colour) const {
    std::atomic<bool> no_room{false};
#pragma omp parallel num_threads(parts_of(n))
    {
      const auto begin_of = [n](int part) { return node_t(index_t(n) * part / host::team()); };
      std::unique_ptr<InOrder> part;
      try { // a thread must not throw
        part = std::make_unique<InOrder>(decide, begin_of(host::member()), begin_of(host::member() + 1), colour);
      } catch (const std::bad_alloc &) {
        no_room = true;
      }
#pragma omp barrier
      if (!no_room) (*part)();
    }
    if (no_room) throw std::bad_alloc();
  }

private:
  static constexpr int most_parts = 16; // each takes memory for all nodes
  static constexpr node_t fewest_of_part = 256;

  static int parts_of(node_t n) { return std::min({host::most_threads(), most_parts, int(n / fewest_of_part) + 1}); }

  const Host &on_;
};

} // namespace petscrrb::rrb
