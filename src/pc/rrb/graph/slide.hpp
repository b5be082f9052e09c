// Couplings that slide along stronger ones: which ones, and where to. Decided once, then done with whatever numbers there are.
#pragma once

#include "pc/rrb/graph/lanes.hpp"
#include "pc/rrb/graph/red_nodes.hpp"

#include <cstring>
#include <vector>

namespace petscrrb::rrb {

constexpr double slide_eps = 0.1; // of the coupling along which one slides
constexpr int most_passes = 8, most_passes_on_grids = 4;
constexpr int worth_another_pass = 8; // one of so many couplings went in this one

// What is known of each coupling of a graph in a pass.
struct Sliding {
  Graph graph;
  const node_t *reverse;   // the place of the coupling in the other end's row
  const signed char *gone; // the pass in which it slid, from 1; 0: it is there
  signed char *own;        // whether it is a candidate by its row
  double eps;

  PETSCRRB_HD bool stays(node_t k) const { return !(gone[k] | own[k] | own[reverse[k]]); }
  PETSCRRB_HD bool is_strong(double w, double along) const { return at_most(w, eps * along); }
};

struct ListReverse {
  Rows rows;
  node_t *reverse;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    for (node_t k = rows.start[p] + lanes.lane; k < rows.start[p + 1]; k += lanes.count)
      if (const node_t q = rows.column[k]; p < q) reverse[k] = rows.find(q, p), reverse[reverse[k]] = k;
  }
};

// Rounded, so that weights that differ by rounding only are equal. Those that are not negative have the order of their bits.
PETSCRRB_HD inline std::uint64_t bits_of_24_digits(double w) {
  std::uint64_t bits;
  memcpy(&bits, &w, sizeof bits);
  return (bits + (std::uint64_t(1) << 28)) & ~((std::uint64_t(1) << 29) - 1);
}
// At a node with m > 8 couplings the 1 + m/8 lightest, but none of the 8 heaviest. Of equal weights, to 24 digits, that to the
// later node is lighter. How many there are.
struct MarkLight {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    constexpr node_t enough = 8;
    const Graph &g = sliding.graph;
    const node_t begin = g.rows.start[p], end = g.rows.start[p + 1];
    node_t couplings = 0;
    for (node_t k = begin + lanes.lane; k < end; k += lanes.count) couplings += !sliding.gone[k];
    couplings = lanes.sum(couplings);
    const node_t some = 1 + couplings / 8, more = couplings > enough ? couplings - enough : 0,
                 light = some < more ? some : more;
    mark(begin, end, light, lanes);
    if (lanes.first()) count[p] = light;
  }

private:
  template <class Lanes> PETSCRRB_HD void mark(node_t begin, node_t end, node_t light, Lanes &lanes) const {
    constexpr std::uint64_t infinite = ~std::uint64_t(0);
    if (!light) {
      for (node_t k = begin + lanes.lane; k < end; k += lanes.count) sliding.own[k] = 0;
      return;
    }
    const auto bits = lanes.once(
        begin, end, [&](node_t k) { return sliding.gone[k] ? infinite : bits_of_24_digits(sliding.graph.w[k]); });
    const std::uint64_t heaviest = lanes.smallest(begin, end, light, bits); // that slides
    node_t n = 0, seen = 0;
    for (node_t k = begin + lanes.lane; k < end; k += lanes.count) n += bits(k) <= heaviest;
    const node_t stay = lanes.sum(n) - light; // of those that are equal to it, the first ones
    for (node_t from = begin; from < end; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const std::uint64_t mine = k < end ? bits(k) : infinite;
      const node_t rank = lanes.rank(mine == heaviest, seen);
      if (k < end) sliding.own[k] = mine < heaviest || (mine == heaviest && rank >= stay);
    }
  }
};

struct MarkPositive {
  Sliding sliding;
  node_t *count;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Graph &g = sliding.graph;
    node_t n = 0;
    for (node_t k = g.rows.start[p] + lanes.lane; k < g.rows.start[p + 1]; k += lanes.count)
      n += sliding.own[k] = g.w[k] < 0.0;
    n = lanes.sum(n);
    if (lanes.first()) count[p] = n;
  }
};

struct Candidates {
  node_t count;
  const node_t *row, *place;
};
struct IsCandidate {
  const signed char *own;

  PETSCRRB_HD bool operator()(node_t, node_t k) const { return own[k]; }
};

// The rows of what is neither a candidate nor gone: supports. Each begins where the graph's row does.
struct Supports {
  const node_t *start;
  node_t *past;           // each row
  node_t *column, *place; // the latter in the graph's rows
  double *heaviest;       // of each row; 0 in an empty one

  PETSCRRB_HD node_t begin(node_t p) const { return start[p]; }
  PETSCRRB_HD node_t end(node_t p) const { return past[p]; }
  PETSCRRB_HD node_t column_at(node_t k) const { return column[k]; }
};
struct ListSupports {
  Sliding sliding;
  Supports to;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, Lanes &lanes) const {
    const Rows &rows = sliding.graph.rows;
    double most = 0.0;
    node_t n = rows.start[p];
    for (node_t from = rows.start[p]; from < rows.start[p + 1]; from += lanes.count) {
      const node_t k = from + lanes.lane;
      const bool mine = k < rows.start[p + 1] && sliding.stays(k);
      const node_t i = lanes.rank(mine, n);
      if (!mine) continue;
      to.column[i] = rows.column[k], to.place[i] = k;
      if (sliding.graph.w[k] > most) most = sliding.graph.w[k];
    }
    most = lanes.most(most);
    if (lanes.first()) to.past[p] = n, to.heaviest[p] = most;
  }
};

// Of the first supports of an end, a bit for each: whether a candidate slides along it, and along the other end's with the same middle.
struct SupportBits {
  static constexpr node_t most = 32;
  std::uint32_t b, a;
};

// Of a candidate some steps later: what for_ways() reads of it far from what others read.
inline void fetch_ahead(const Sliding &s, const Supports &supports, const Candidates &c, node_t i,
                        const OneLane &alone) {
  constexpr node_t far = 24, near = 12;
  if (i + far < c.count) {
    const node_t k = c.place[i + far];
    alone.fetch(s.own + s.reverse[k], 1), alone.fetch(supports.start + s.graph.rows.column[k], 1);
    alone.fetch(supports.past + s.graph.rows.column[k], 1), alone.fetch(supports.heaviest + s.graph.rows.column[k], 1);
  }
  if (i + near < c.count) {
    const node_t q = s.graph.rows.column[c.place[i + near]], first = supports.begin(q), n = supports.end(q) - first;
    alone.fetch(supports.column + first, n), alone.fetch(supports.place + first, n), alone.fetch(s.graph.w + first, n);
  }
}

// f(n, middle, a, b, along a, along b), together, for the n-th support b of the end q of candidate i: whether it slides to the coupling a of the other
// end, p, with the same middle, along b, and to b along a, where there is an a: places in the graph's rows. found: NULL, or what came of it before, which
// was not nothing.
template <class Lanes, class F>
PETSCRRB_HD inline void for_ways(const Sliding &s, const Supports &supports, const Candidates &c, node_t i,
                                 Lanes &lanes, const SupportBits *found, const F &f) {
  const node_t p = c.row[i], k = c.place[i], q = s.graph.rows.column[k], end = supports.end(q);
  const double w = s.graph.w[k] < 0.0 ? -s.graph.w[k] : s.graph.w[k];
  if (!found) {
    const node_t r = s.reverse[k];
    if (s.own[r] && r < k) return; // as a candidate of the other end
    if (!s.is_strong(w, supports.heaviest[p]) && !s.is_strong(w, supports.heaviest[q])) return;
  }
  lanes.open(supports, p);
  for (node_t from = supports.begin(q); from < end; from += lanes.count) {
    const node_t mine = from + lanes.lane, nth = mine - supports.begin(q);
    const bool known = found && nth < SupportBits::most;
    const bool asked = mine < end && (!known || ((found->a | found->b) >> nth & 1));
    const node_t at = asked ? lanes.find(supports, supports.column[mine]) : -1;
    const node_t middle = at < 0 ? 0 : supports.column[mine], a = at < 0 ? 0 : supports.place[at],
                 b = at < 0 ? 0 : supports.place[mine];
    const bool along_a = at >= 0 && (known ? found->a >> nth & 1 : s.is_strong(w, s.graph.w[a])),
               along_b = at >= 0 && (known ? found->b >> nth & 1 : s.is_strong(w, s.graph.w[b]));
    f(nth, middle, a, b, along_a, along_b);
  }
}
// Along one of its supports, to a coupling in its lower row.
struct Way {
  node_t along, far;

  // of a candidate: to the coupling `taking` of a row with a column
  PETSCRRB_HD static Way to(const Sliding &s, node_t along, node_t row, node_t column, node_t taking) {
    return {along, column < row ? s.reverse[taking] : taking};
  }
};
// Of each candidate: whether it slides, and along how many ways; of all those before it once these are listed.
struct WaysOfCandidates {
  static constexpr bool collects = false;

  Sliding sliding;
  Supports supports;
  Candidates candidates;
  node_t *slides, *ways;
  SupportBits *found;
};
struct CountWays : WaysOfCandidates {
  using Item = Way;

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, Lanes &lanes) const {
    node_t n = 0;
    SupportBits some{0, 0};
    for_ways(sliding, supports, candidates, i, lanes, nullptr,
             [&](node_t nth, node_t, node_t, node_t, bool along_a, bool along_b) {
               n += along_a + along_b;
               if (nth >= SupportBits::most) return;
               some.a |= std::uint32_t(along_a) << nth, some.b |= std::uint32_t(along_b) << nth;
             });
    n = lanes.sum(n), some = {lanes.sum(some.b), lanes.sum(some.a)};
    if (lanes.first()) slides[i] = n > 0, ways[i] = n, found[i] = some;
  }
  void keep(node_t i, OneLane &alone, std::vector<Item> &items) const {
    const node_t p = candidates.row[i], q = sliding.graph.rows.column[candidates.place[i]];
    const std::size_t before = items.size();
    fetch_ahead(sliding, supports, candidates, i, alone);
    for_ways(sliding, supports, candidates, i, alone, nullptr,
             [&](node_t, node_t middle, node_t a, node_t b, bool along_a, bool along_b) {
               if (along_b) items.push_back(Way::to(sliding, b, p, middle, a));
               if (along_a) items.push_back(Way::to(sliding, a, q, middle, b));
             });
    ways[i] = node_t(items.size() - before), slides[i] = ways[i] > 0;
  }
};

// What slides in one pass. Couplings are places in a graph's rows, and after the choice in those that list each of them once.
template <class Backend> class SlidePass {
  typename Backend::template Array<node_t> of_slides_, of_takers_;

public:
  node_t slides = 0, ways = 0, takers = 0;

  SlidePass(node_t s, node_t w) : of_slides_(2 * std::size_t(s) + 1 + w), slides(s), ways(w) {}
  void set_takers(node_t t) {
    of_takers_.resize(2 * std::size_t(t) + 1 + std::size_t(ways));
    takers = t;
  }

  // of each coupling that slides: it, and along near[at[s]] ... near[at[s + 1] - 1]
  node_t *place() const { return of_slides_.data(); }
  node_t *at() const { return place() + slides; }
  node_t *near() const { return at() + slides + 1; }
  // of each coupling that takes something: by the ways from[c], first[t] <= c < first[t + 1]
  node_t *taking() const { return of_takers_.data(); }
  node_t *first() const { return taking() + takers; }
  node_t *from() const { return first() + takers + 1; }

  template <class F> void each_list_of_couplings(const F &f) const {
    f(place(), slides), f(near(), ways), f(taking(), takers);
  }

  std::size_t bytes() const { return bytes_of(of_slides_, of_takers_); }
};
struct ListWays : WaysOfCandidates {
  node_t some;               // slide
  node_t *place, *at, *near; // as in SlidePass
  node_t *far;               // of each way, the coupling that takes, in its lower row

  template <class Lanes> PETSCRRB_HD void operator()(node_t i, Lanes &lanes) const {
    node_t n = ways[i];
    if (ways[i + 1] == n) return;
    const node_t p = candidates.row[i], q = sliding.graph.rows.column[candidates.place[i]];
    if (lanes.first()) begin(i);
    for_ways(sliding, supports, candidates, i, lanes, found + i,
             [&](node_t, node_t middle, node_t a, node_t b, bool along_a, bool along_b) {
               node_t with_a = n, with_b = n;
               node_t w = lanes.rank(along_a, with_a) - n + lanes.rank(along_b, with_b);
               n = with_a + with_b - n;
               if (along_b) put(w++, Way::to(sliding, b, p, middle, a));
               if (along_a) put(w, Way::to(sliding, a, q, middle, b));
             });
  }
  const Way *put(node_t i, const Way *items) const {
    if (ways[i + 1] > ways[i]) begin(i);
    for (node_t w = ways[i]; w < ways[i + 1]; ++w) put(w, *items++);
    return items;
  }

private:
  PETSCRRB_HD void begin(node_t i) const {
    const node_t s = slides[i];
    place[s] = candidates.place[i], at[s] = ways[i];
    if (s + 1 == some) at[some] = ways[i + 1];
  }
  PETSCRRB_HD void put(node_t w, Way way) const { near[w] = way.along, far[w] = way.far; }
};

// Ways in the order of the couplings that take.
struct IsNewTaker {
  const node_t *order, *far;
  node_t *count;

  PETSCRRB_HD void operator()(node_t c) const { count[c] = c == 0 || far[order[c]] != far[order[c - 1]]; }
};
struct ListTaking {
  const node_t *order, *far;
  const node_t *takers; // before each way
  node_t ways;
  node_t *taking, *first, *from; // as in SlidePass

  PETSCRRB_HD void operator()(node_t c) const {
    const node_t w = order[c], t = takers[c];
    from[c] = w;
    if (c + 1 == ways) first[takers[ways]] = ways;
    if (takers[c + 1] == t) return;
    taking[t] = far[w], first[t] = c;
  }
};

// --- with numbers ---

// What each coupling that slides gives along each of its ways: in proportion to the weights there; 0 where these have none: it is lumped.
// Returns along how many of them it is too strong by `eps`.
struct Give {
  const node_t *place, *at, *near;
  const double *w;
  double eps;
  double *given; // along each way

  template <class Lanes, class Await>
  PETSCRRB_HD unsigned operator()(node_t s, const Lanes &lanes, const Await &await) const {
    const node_t here = place[s];
    Gathered<Lanes> ways(near, at[s], at[s + 1], lanes);
    await();
    const double own = w[here];
    ways.read(w);
    double all = 0.0;
    unsigned weak = 0;
    ways.each([&](node_t, double other) {
      all += other;
      weak += !at_most(own < 0.0 ? -own : own, eps * other);
    });
    all = lanes.sum(all);
    const double share = all > 0.0 ? own / all : 0.0;
    ways.each([&](node_t k, double other) { given[k] = share * other; });
    return weak;
  }
};
// What takes has more; nobody asks any more for what slides. None does both in one pass.
struct Take {
  const node_t *place, *first, *from;
  const node_t *reverse; // NULL where each coupling is listed once
  const double *given;
  double *w;

  template <class Lanes, class Await>
  PETSCRRB_HD unsigned operator()(node_t t, const Lanes &lanes, const Await &await) const {
    const node_t here = place[t], there = reverse ? reverse[here] : 0;
    Gathered<Lanes> ways(from, first[t], first[t + 1], lanes);
    await();
    ways.read(given);
    double sum = 0.0;
    ways.each([&](node_t, double more) { sum += more; });
    sum = lanes.sum(sum);
    if (!lanes.first()) return 0;
    sum = w[here] += sum;
    if (reverse) w[there] = sum;
    return 0;
  }
};

constexpr signed char lumped = 127; // `gone` of a coupling that has no weight, or is positive

struct IsPositive {
  const double *w;

  PETSCRRB_HD unsigned operator()(node_t k) const { return w[k] < 0.0; }
};
struct LumpPositive {
  double *w;

  PETSCRRB_HD unsigned operator()(node_t k) const {
    if (!(w[k] < 0.0)) return 0;
    w[k] = 0.0;
    return 1;
  }
};

// Of a matrix: how many that have stayed have become positive, and that were positive are so no more, in both ends' rows.
struct CountChanged {
  const signed char *gone;
  const double *w;

  PETSCRRB_HD unsigned operator()(node_t k) const {
    return (gone[k] ? gone[k] == lumped && w[k] > 0.0 : w[k] < 0.0) ? 2 : 0;
  }
};
// The numbers of what has stayed.
struct TakeStaying {
  const node_t *from;
  const double *w;
  double *to;

  PETSCRRB_HD void operator()(node_t k) const { to[k] = w[from[k]] > 0.0 ? w[from[k]] : 0.0; }
};

} // namespace petscrrb::rrb
