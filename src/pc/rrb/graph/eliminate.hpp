// The elimination of a level's red nodes on a graph: lumping, pivots, and the graph of the black nodes.
#pragma once

#include "pc/rrb/core/eliminate.hpp"
#include "pc/rrb/graph/lanes.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace petscrrb::rrb {

// 1/d of a red node, 0 where it has failed, and its excess after couplings of red nodes are lumped. Returns NodeFlags, also of what plain red
// nodes would not lose.
struct FindPivot {
  Graph graph;
  const signed char *colour;
  Lumping lumping;
  double *inverse, *excess;

  // Each of the lanes returns the same.
  template <class Lanes> PETSCRRB_HD unsigned operator()(node_t p, const Lanes &lanes) const {
    unsigned flags = node_ok;
    double found = 0.0;
    if (colour[p] == red) flags = find(p, lanes, found);
    if (lanes.first()) inverse[p] = found;
    return flags;
  }

private:
  template <class Lanes> PETSCRRB_HD unsigned find(node_t p, const Lanes &lanes, double &found) const {
    double kept = 0.0, lost = 0.0;
    for (node_t k = graph.rows.start[p] + lanes.lane; k < graph.rows.start[p + 1]; k += lanes.count)
      (colour[graph.rows.column[k]] == red ? lost : kept) += graph.w[k];
    kept = lanes.sum(kept), lost = lanes.sum(lost);
    unsigned flags = at_most(lost, plain_limits.beta * (graph.e[p] + kept)) ? node_ok : node_unsupported;
    const double e = lump(graph.e[p], kept, lost, lumping.omega, flags), d = e + kept,
                 terms = (e < 0.0 ? -e : e) + kept;
    if (lanes.first()) excess[p] = e;
    if (terms == 0.0) {
      found = lumping.null_inverse;
      return flags | node_null;
    }
    if (!(d > lost_below * terms && d - d == 0.0)) return flags | node_failed;
    found = 1.0 / d;
    return flags;
  }
};

// The neighbours of a black node in the next graph, ascending: those that are black now, and the black ones of each red neighbour.
struct ListNext {
  Rows rows;
  const node_t *number, *black; // of a black node in the next graph, and back; of a red one it is negative
  const node_t *start;          // NULL: they are only counted
  node_t *to;                   // the columns, or how many they are

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const {
    const node_t q = black[row];
    if (!collect(q, lanes)) return merge(row, q, lanes);
    if (start) return lanes.put_sorted(to + start[row]);
    const node_t size = lanes.size();
    if (lanes.first()) to[row] = size;
  }

private:
  // False if they may be too many.
  template <class Lanes> PETSCRRB_HD bool collect(node_t q, Lanes &lanes) const {
    const node_t begin = rows.start[q], end = rows.start[q + 1];
    node_t most = end - begin;
    for (node_t k = begin + lanes.lane; k < end; k += lanes.count)
      if (const node_t a = rows.column[k]; number[a] < 0) most += rows.start[a + 1] - rows.start[a];
    lanes.start_set(lanes.sum(most) - (lanes.count - 1) * (end - begin));
    bool ok = true;
    for (node_t from = begin; ok && from < end; from += lanes.count) {
      const node_t k = from + lanes.lane, a = k < end ? rows.column[k] : -1;
      const node_t of_a = a < 0 ? 0 : number[a];
      const bool is_red = of_a < 0;
      ok = lanes.add(a >= 0 && !is_red, of_a);
      lanes.each_place(rows, is_red ? a : -1, [&](node_t m) {
        const node_t r = m < 0 ? q : rows.column[m];
        const node_t of_r = number[r];
        ok = ok && lanes.add(r != q && of_r >= 0, of_r);
      });
    }
    return ok;
  }

  // Each lane merges some of these lists, which ascend.
  template <class Lanes> PETSCRRB_HD void merge(node_t row, node_t q, Lanes &lanes) const {
    constexpr node_t none = std::numeric_limits<node_t>::max();
    Lists lists;
    const node_t others = take_lists(q, lists, lanes);
    for (node_t last = -1, n = 0;; ++n) {
      node_t next = none;
      const auto ask = [&](node_t at, node_t end) {
        while (at < end && !is_new(rows.column[at], last, q)) ++at;
        if (at < end && rows.column[at] < next) next = rows.column[at];
        return at;
      };
      for (int i = 0; i < lists.n; ++i) lists.at[i] = ask(lists.at[i], lists.end[i]);
      for (node_t k = others; k < rows.start[q + 1]; k += lanes.count)
        if (const node_t a = rows.column[k]; number[a] < 0) ask(rows.after(a, last), rows.start[a + 1]);
      next = lanes.least(next);
      if (start && next != none && lanes.first()) to[start[row] + n] = number[next];
      if (!start && next == none && lanes.first()) to[row] = n;
      if (next == none) return;
      last = next;
    }
  }
  struct Lists { // places that a lane has come to
    static constexpr int most = 8;
    int n = 0;
    node_t at[most], end[most];
  };
  PETSCRRB_HD bool is_new(node_t r, node_t last, node_t q) const { return r > last && r != q && number[r] >= 0; }
  // Of this lane, as many as there is room for; from which coupling of q on others follow.
  template <class Lanes> PETSCRRB_HD node_t take_lists(node_t q, Lists &lists, const Lanes &lanes) const {
    const auto take = [&](node_t a) { lists.at[lists.n] = rows.start[a], lists.end[lists.n++] = rows.start[a + 1]; };
    if (lanes.first()) take(q);
    node_t k = rows.start[q] + lanes.lane;
    for (; k < rows.start[q + 1] && lists.n < Lists::most; k += lanes.count)
      if (number[rows.column[k]] < 0) take(rows.column[k]);
    return k;
  }
};

// Weights and excess of a black node in the next graph: what couples it now, then what each red neighbour adds, in their order.
struct FillNext {
  Graph graph;
  const node_t *number, *black; // as for ListNext
  const double *inverse, *excess;
  Rows next; // all of them, or those with later nodes
  bool halved;
  double *w, *e;

  // Along the rows of red neighbours. In each group of lanes they are added up in their order, so that a weight is the same from both ends.
  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const {
    const node_t q = black[row], end = next.start[row + 1];
    lanes.open(next, row);
    each_part(next.start[row], end, lanes, [&](const auto &sums) { add_up(q, sums, lanes); });
    const double more = lanes.sum(added_excess(q, lanes.lane, lanes.count));
    if (lanes.first()) take(row, more);
  }

  // f(sums) of each part of a row, w[begin] ... w[end - 1], that there is room for
  template <class Lanes, class F> PETSCRRB_HD void each_part(node_t begin, node_t end, Lanes &lanes, const F &f) const {
    for (node_t first = begin; first < end;) {
      const auto sums = lanes.sums(w, first, end);
      sums.clear(lanes);
      f(sums);
      sums.put(lanes);
      first = sums.end;
    }
  }

  // By one lane, which finds the columns, too, and adds the row to the items. The same numbers: each sum has its terms in the same order.
  void collect(node_t row, OneLane &alone, std::vector<Coupling> &items) const {
    constexpr node_t many = 32; // of which each would be merged with nearly all that there is
    const Rows &rows = graph.rows;
    const node_t q = black[row];
    const auto own = [&](node_t m) { return graph.w[m]; };
    const auto each_red = [&](const auto &f) {
      for (node_t k = rows.start[q]; k < rows.start[q + 1]; ++k)
        if (const node_t a = rows.column[k]; number[a] < 0)
          f(a, [&, k, a](node_t m) { return over(q, rows.column[m], graph.w[k], inverse[a], graph.w[m]); });
    };
    node_t reds = 0;
    each_red([&](node_t, const auto &) { ++reds; });
    if (reds > many) {
      const auto before = items.size();
      const auto append = [&](node_t of, const auto &value) {
        const auto size = items.size();
        items.resize(size + rows.start[of + 1] - rows.start[of] + 1);
        items.resize(size + list_blacks(of, q, value, items.data() + size));
      };
      append(q, own), each_red(append);
      add_equal(items, before);
    } else {
      Coupling *sum = alone.list(0, rows.start[q + 1] - rows.start[q] + 1);
      node_t n = list_blacks(q, q, own, sum);
      int which = 0;
      each_red([&](node_t a, const auto &value) {
        Coupling *const more = alone.list(2, rows.start[a + 1] - rows.start[a] + 1);
        const node_t m = list_blacks(a, q, value, more);
        Coupling *const both = alone.list(which ^= 1, n + m + 1);
        n = merge(sum, more, both), sum = both;
      });
      items.insert(items.end(), sum, sum + n);
    }
    take(row, added_excess(q, 0, 1));
  }

  // The same, each weight for itself: where rows are short that keeps more lanes at work.
  template <class Lanes> PETSCRRB_HD void each_alone(node_t row, const Lanes &lanes) const {
    const node_t q = black[row];
    for (node_t k = next.start[row] + lanes.lane; k < next.start[row + 1]; k += lanes.count)
      w[k] = weight(q, black[next.column[k]]);
    const double more = lanes.sum(added_excess(q, lanes.lane, lanes.count));
    if (lanes.first()) take(row, more);
  }

  PETSCRRB_HD void take(node_t row, double more) const { e[row] = graph.e[black[row]] + more; }
  // u = w(q,a), v = w(r,a), by = 1/d of a; the same from both ends
  PETSCRRB_HD static double over(node_t q, node_t r, double u, double by, double v) {
    return q < r ? u * by * v : v * by * u;
  }

private:
  static constexpr node_t none = std::numeric_limits<node_t>::max(); // ends a list

  // The black nodes in a row but for q, in the next graph, with value(place), and an end; how many they are.
  template <class F> node_t list_blacks(node_t row, node_t q, const F &value, Coupling *list) const {
    node_t n = 0;
    // without branches, which nobody could predict
    for (node_t m = graph.rows.start[row]; m < graph.rows.start[row + 1]; ++m) {
      const node_t r = graph.rows.column[m], to = number[r];
      list[n] = {to, value(m)};
      n += (to >= 0) & (r != q);
    }
    list[n].to = none;
    return n;
  }
  // Lists that ascend to their ends, with the sum where both have a column.
  static node_t merge(const Coupling *a, const Coupling *b, Coupling *to) {
    node_t n = 0;
    for (; (a->to & b->to) != none; ++n) {
      const bool of_a = a->to <= b->to, of_b = b->to <= a->to;
      to[n] = {of_a ? a->to : b->to, (of_a ? a->w : 0.0) + (of_b ? b->w : 0.0)};
      a += of_a, b += of_b;
    }
    to[n].to = none;
    return n;
  }
  static void add_equal(std::vector<Coupling> &items, std::size_t first) {
    std::stable_sort(items.begin() + first, items.end(),
                     [](const Coupling &a, const Coupling &b) { return a.to < b.to; });
    std::size_t n = first;
    for (std::size_t i = first; i < items.size(); ++i)
      if (n > first && items[n - 1].to == items[i].to)
        items[n - 1].w += items[i].w;
      else
        items[n++] = items[i];
    items.resize(n);
  }
  template <class Sums, class Lanes> PETSCRRB_HD void add_up(node_t q, const Sums &sums, Lanes &lanes) const {
    const Rows &rows = graph.rows;
    const node_t begin = rows.start[q], end = rows.start[q + 1], least = halved ? q : -1;
    for (node_t k = end - 1 - lanes.lane; k >= begin && rows.column[k] > least; k -= lanes.count)
      if (const node_t to = number[rows.column[k]]; to >= 0) sums.add(0, lanes.find(next, to), graph.w[k]);
    lanes.wait();
    for (node_t from = begin; from < end; from += lanes.count) {
      const node_t mine = from + lanes.lane, red_one = mine < end ? ~number[rows.column[mine]] : -1;
      const auto nothing = [](node_t, int, int) { return 0; };
      lanes.each_in_groups(red_one >= 0, red_one, mine, nothing, [&](node_t k, int lane, int count, int group, int) {
        const node_t a = rows.column[k];
        for (node_t m = rows.start[a + 1] - 1 - lane; m >= rows.start[a] && rows.column[m] > least; m -= count) {
          const node_t r = rows.column[m], to = number[r];
          if (to >= 0 && r != q) sums.add(group, lanes.find(next, to), over(q, r, graph.w[k], inverse[a], graph.w[m]));
        }
      });
    }
  }
  PETSCRRB_HD double added_excess(node_t q, int lane, int lanes) const {
    double sum = 0.0;
    for (node_t k = graph.rows.start[q] + lane; k < graph.rows.start[q + 1]; k += lanes)
      if (const node_t a = graph.rows.column[k]; number[a] < 0) sum += graph.w[k] * inverse[a] * excess[a];
    return sum;
  }
  PETSCRRB_HD double weight(node_t q, node_t r) const {
    const Rows &rows = graph.rows;
    const node_t direct = rows.find(q, r);
    double weight = direct < 0 ? 0.0 : graph.w[direct];
    for (node_t i = rows.start[q], j = rows.start[r]; i < rows.start[q + 1] && j < rows.start[r + 1];) {
      const node_t a = rows.column[i], b = rows.column[j];
      if (a == b && number[a] < 0) weight += over(q, r, graph.w[i], inverse[a], graph.w[j]);
      i += a <= b, j += b <= a;
    }
    return weight;
  }
};

// The next graph's rows for the first time. On a host with their numbers, which a device finds once there are rows.
struct MakeNext {
  using Item = Coupling;
  static constexpr bool collects = true; // in a set

  ListNext list;
  FillNext fill;

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const { list(row, lanes); }
  void keep(node_t row, OneLane &alone, std::vector<Item> &items) const {
    const auto before = items.size();
    fill.collect(row, alone, items);
    list.to[row] = node_t(items.size() - before);
  }
  const Item *put(node_t row, const Item *items) const {
    for (node_t k = list.start[row]; k < list.start[row + 1]; ++k, ++items)
      list.to[k] = items->to, fill.w[k] = items->w;
    return items;
  }
};

} // namespace petscrrb::rrb
