// Where each product of two weights goes that an elimination makes: found once, so that a refresh looks nothing up.
#pragma once

#include "pc/rrb/graph/eliminate.hpp"

#include <cstdint>
#include <limits>

namespace petscrrb::rrb {

// What a coupling of a black node q adds to the next graph's row: to a black node its weight, to a red one, a, so many products w(q,a) w(a,r) / d,
// of the last entries of a's row.
class Added {
public:
  // place: in the row; -1: it is not listed there
  PETSCRRB_HD static Added weight(node_t place) { return Added(place + 1); }
  PETSCRRB_HD static Added products(node_t n) { return Added(n | red_one); }
  PETSCRRB_HD bool is_red() const { return bits_ & red_one; }
  PETSCRRB_HD node_t place() const { return node_t(bits_) - 1; }
  PETSCRRB_HD node_t products() const { return bits_ & red_one ? bits_ & (red_one - 1) : 0; }

  Added() = default;

private:
  static constexpr node_t red_one = 1 << 15;

  PETSCRRB_HD explicit Added(node_t bits) : bits_(static_cast<std::uint16_t>(bits)) {}
  std::uint16_t bits_;
};

// Of each coupling what it adds, and how many products each row of the next graph has.
struct CountProducts {
  FillNext fill;
  Added *added;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const {
    const Rows &rows = fill.graph.rows;
    const node_t q = fill.black[row];
    node_t n = 0;
    for (node_t k = rows.start[q] + lanes.lane; k < rows.start[q + 1]; k += lanes.count) {
      const node_t a = rows.column[k], to = fill.number[a];
      if (to >= 0) {
        const node_t place = fill.next.find(row, to);
        added[k] = Added::weight(place < 0 ? -1 : place - fill.next.start[row]);
      } else {
        const node_t of_a = rows.start[a + 1] - (fill.halved ? rows.after(a, q) : rows.start[a]);
        added[k] = Added::products(of_a);
        n += of_a;
      }
    }
    n = lanes.sum(n);
    if (lanes.first()) count[row] = n;
  }
};

// Place: an unsigned type for places in the next graph's longest row.
template <class Place> constexpr Place no_place = std::numeric_limits<Place>::max();

// Of a level: what each coupling adds, and of each row of the next graph the places of its products, in a type that is long enough.
template <class Backend> struct Products {
  template <class T> using Array = typename Backend::template Array<T>;
  Array<Added> added;
  Array<node_t> start;
  Array<std::uint8_t> near;
  Array<std::uint16_t> far;
  node_t longest = 0; // row of the next graph, at most

  // f(those places)
  template <class F> void with_places(const F &f) { is_near() ? f(near) : f(far); }
  template <class F> void with_places(const F &f) const { is_near() ? f(near) : f(far); }
  std::size_t bytes() const { return bytes_of(added, start, near, far); }

private:
  bool is_near() const { return longest < no_place<std::uint8_t>; }
};

// OneLane's each_in_groups() of each red neighbour, whose value is value(k, first product): one after the other in each group of lanes.
template <class Lanes, class Value, class Read, class Use>
PETSCRRB_HD inline void each_with_products(const Rows &rows, node_t q, const Added *added, node_t product, Lanes &lanes,
                                           const Value &value, const Read &read, const Use &use) {
  for (node_t from = rows.start[q]; from < rows.start[q + 1]; from += lanes.count) {
    const node_t k = from + lanes.lane, n = k < rows.start[q + 1] ? added[k].products() : 0,
                 first = lanes.rank_of(n, product);
    decltype(value(k, first)) mine{};
    if (n > 0) mine = value(k, first);
    lanes.each_in_groups(n > 0, n > 0 ? rows.column[k] : 0, mine, read, use);
  }
}

template <class Place> struct ListProducts {
  FillNext fill;
  const Added *added;
  const node_t *start; // of each row's products
  Place *place;

  struct Red {
    node_t k, first;
  };

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const {
    const Rows &rows = fill.graph.rows;
    const node_t q = fill.black[row];
    lanes.open(fill.next, row);
    each_with_products(
        rows, q, added, start[row], lanes,
        [](node_t k, node_t first) {
          return Red{k, first};
        },
        [](const Red &, int, int) { return 0; },
        [&](const Red &red, int lane, int count, int, int) {
          const node_t last = rows.start[rows.column[red.k] + 1] - 1;
          for (node_t j = lane; j < added[red.k].products(); j += count) {
            const node_t r = rows.column[last - j], to = fill.number[r],
                         at = to >= 0 && r != q ? lanes.find(fill.next, to) : -1;
            place[red.first + j] = at < 0 ? no_place<Place> : Place(at - fill.next.start[row]);
          }
        });
  }
};

// What FillNext does, in the same order. halved: as it is there
template <class Place, bool halved> struct AddProducts {
  FillNext fill;
  const Added *added;
  const node_t *start;
  const Place *place;

  template <class Lanes> PETSCRRB_HD void operator()(node_t row, Lanes &lanes) const {
    const Graph &g = fill.graph;
    const node_t q = fill.black[row], base = fill.next.start[row], end = fill.next.start[row + 1];
    double more = 0.0;
    for (node_t k = g.rows.start[q] + lanes.lane; k < g.rows.start[q + 1]; k += lanes.count)
      if (added[k].is_red()) more += g.w[k] * fill.inverse[g.rows.column[k]] * fill.excess[g.rows.column[k]];
    fill.each_part(base, end, lanes, [&](const auto &sums) { add_up(row, q, base, sums, lanes); });
    more = lanes.sum(more);
    if (lanes.first()) fill.take(row, more);
  }

private:
  template <class Sums, class Lanes>
  PETSCRRB_HD void add_up(node_t row, node_t q, node_t base, const Sums &sums, Lanes &lanes) const {
    const Graph &g = fill.graph;
    for (node_t k = g.rows.start[q] + lanes.lane; k < g.rows.start[q + 1]; k += lanes.count)
      if (const Added mine = added[k]; !mine.is_red() && mine.place() >= 0) sums.add(0, base + mine.place(), g.w[k]);
    lanes.wait();
    const auto value = [&](node_t k, node_t first) {
      const node_t a = g.rows.column[k];
      Red red{{}, g.rows.start[a + 1] - 1, first, added[k].products()};
      if constexpr (halved)
        red.factor[0] = g.w[k] * fill.inverse[a];
      else
        red.factor[0] = g.w[k], red.factor[1] = fill.inverse[a];
      return red;
    };
    const auto product = [&](const Red &red, node_t j) {
      return Product{g.w[red.last - j], halved ? q + 1 : g.rows.column[red.last - j], place[red.first + j]};
    };
    const auto read = [&](const Red &red, int lane, int count) {
      Ahead first;
      PETSCRRB_UNROLL
      for (int i = 0; i < ahead; ++i) {
        first.product[i].to = no_place<Place>;
        if (const node_t j = lane + i * count; j < red.n) first.product[i] = product(red, j);
      }
      return first;
    };
    each_with_products(g.rows, q, added, start[row], lanes, value, read,
                       [&](const Red &red, int lane, int count, int group, const Ahead &first) {
                         const auto add = [&](const Product &p) {
                           if (p.to != no_place<Place>) sums.add(group, base + p.to, times(q, red, p));
                         };
                         PETSCRRB_UNROLL
                         for (int i = 0; i < ahead; ++i) add(first.product[i]);
                         for (node_t j = lane + ahead * count; j < red.n; j += count) add(product(red, j));
                       });
  }

  // A red neighbour: its coupling and 1/d, or their product where that is all; the last entry of its row, the first place of its products, and their
  // number.
  struct Red {
    double factor[halved ? 1 : 2];
    node_t last, first, n;
  };
  struct Product {
    double w;
    node_t r;
    Place to;
  };
  PETSCRRB_HD static double times(node_t q, const Red &red, const Product &p) {
    if constexpr (halved)
      return red.factor[0] * p.w;
    else
      return FillNext::over(q, p.r, red.factor[0], red.factor[1], p.w);
  }
  static constexpr int ahead = halved ? 2 : 1; // that there are registers for
  struct Ahead {
    Product product[ahead];
  };
};

} // namespace petscrrb::rrb
