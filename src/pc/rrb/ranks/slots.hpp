// Where a box has the values of nodes around it, and which of them an exchange brings (docs/design_ranks.md, "One exchange
// a grid").
#pragma once

#include "pc/rrb/ranks/boxes.hpp"
#include "pc/rrb/core/dense_grid.hpp"
#include "comm/ranks.hpp"

namespace petscrrb::rrb {

// Memory of a rank's box: arrays of the four classes, one field after the other.
struct Slots {
  DenseLayout layout;

  static constexpr index_t around = 2; // border, in h and k
  Slots(const Extent &x, index_t block) : layout(x, block, around) {}

  index_t of(int field, index_t a, index_t b) const {
    return field * field_size() + class_of(a, b) * layout.size() + layout.place(half_down(a), half_down(b));
  }
  index_t field_size() const { return 4 * layout.size(); }
};

enum class Exchanged {
  rows,      // of the matrix, before the elimination: all that is up to three steps away
  more_rows, // likewise, four steps
  down,      // right-hand side: red nodes and b1
  solutions, // b2
  all,       // of a vector: one step around
  wide_b1,   // b1, two steps around
  wide_b2    // b2, three steps
};

inline bool inside(const Extent &x, index_t a, index_t b) {
  return a >= x.x.lo && a < x.x.hi && b >= x.y.lo && b < x.y.hi;
}

// What a box needs of others.
class Needs {
public:
  Needs(const Extent &own, Exchanged what)
      : own_(own), around_{own, widened(own, 1), widened(own, 2), widened(own, 3)}, what_(what) {}

  // whether there may be such nodes in the box `of` of another rank
  bool may_be_in(const Extent &of) const { return meet(own_.x, of.x) && meet(own_.y, of.y); }
  // visit(a, b) for every slot in turn, in an order that is the same on all ranks: rows below and above, then columns, each class by
  // itself, so that neighbours follow each other in memory.
  template <class Visit> void visit(const Visit &visit) const {
    if (own_.empty()) return;
    const Side &x = own_.x, &y = own_.y;
    const auto at = [&](index_t a, index_t b) {
      if (needed(a, b)) visit(a, b);
    };
    const auto row = [&](index_t b) {
      for (const index_t parity : {0, 1})
        for (index_t a = first(x) + parity; a < end(x); a += 2) at(a, b);
    };
    const auto column = [&](index_t a) {
      for (const index_t parity : {0, 1})
        for (index_t b = y.lo + parity; b < y.hi; b += 2) at(a, b);
    };
    for (index_t b = first(y); b < y.lo; ++b) row(b);
    for (index_t b = y.hi; b < end(y); ++b) row(b);
    for (index_t a = first(x); a < x.lo; ++a) column(a);
    for (index_t a = x.hi; a < end(x); ++a) column(a);
  }

private:
  index_t reach() const { return what_ == Exchanged::more_rows ? 4 : 3; }
  index_t first(const Side &s) const { return s.periodic ? s.lo - reach() : std::max<index_t>(s.lo - reach(), 0); }
  index_t end(const Side &s) const { return s.periodic ? s.hi + reach() : std::min(s.hi + reach(), s.n); }
  bool meet(const Side &own, const Side &of) const {
    const index_t lo = own.lo - reach(), hi = own.hi + reach();
    const auto overlap = [&](index_t shift) { return lo < of.hi + shift && of.lo + shift < hi; };
    if (!own.periodic) return overlap(0);
    return hi - lo >= own.n || overlap(0) || overlap(own.n) || overlap(-own.n);
  }
  static bool on_ring_or_side(const Side &s, index_t a) { return s.periodic || (a >= 0 && a < s.n); }

  bool has_b1(index_t a, index_t b) const { return class_of(a, b) == b1 && inside(around_[1], a, b); }
  bool own(Class c, index_t a, index_t b) const { return class_of(a, b) == c && inside(own_, a, b); }
  bool needed(index_t a, index_t b) const {
    if (what_ == Exchanged::rows || what_ == Exchanged::more_rows)
      return on_ring_or_side(own_.x, a) && on_ring_or_side(own_.y, b);
    if (what_ == Exchanged::all)
      return on_ring_or_side(own_.x, a) && on_ring_or_side(own_.y, b) && a >= own_.x.lo - 1 && a <= own_.x.hi &&
             b >= own_.y.lo - 1 && b <= own_.y.hi;
    const Class c = class_of(a, b);
    if (what_ == Exchanged::wide_b2) return c == b2 && inside(around_[3], a, b);
    if (!inside(around_[2], a, b)) return false;
    if (what_ == Exchanged::wide_b1) return c == b1;
    const auto any = [&](const auto &is, std::initializer_list<std::pair<int, int>> steps) {
      return std::any_of(steps.begin(), steps.end(), [&](const auto &s) { return is(a + s.first, b + s.second); });
    };
    const auto b1_here = [&](index_t p, index_t q) { return has_b1(p, q); };
    const auto black_here = [&](index_t p, index_t q) { return has_b1(p, q) || own(b2, p, q); };
    const auto red_here = [&](index_t p, index_t q) { return own(r1, p, q) || own(r2, p, q); };
    const std::initializer_list<std::pair<int, int>> straight = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}},
                                                     skew = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    if (what_ == Exchanged::solutions) return c == b2 && (any(b1_here, skew) || any(red_here, straight));
    if (c == b1) return has_b1(a, b);
    return c != b2 && any(black_here, straight);
  }

  Extent own_, around_[4]; // by so many steps
  Exchanged what_;
};

// The exchange of `fields` fields from `field` on, on grid g.
inline Plan make_plan(const Boxes &boxes, int g, int me, index_t block, Exchanged what, int field, int fields) {
  const auto around = [](index_t a, const Side &s) { return a >= 0 && a < s.n ? a : (a % s.n + s.n) % s.n; };
  std::vector<Extent> extents;
  std::vector<Slots> slots; // of each rank
  for (int rank = 0; rank < boxes.count(); ++rank) {
    extents.push_back(boxes.extent(rank, g));
    slots.emplace_back(extents.back(), block);
  }
  const Extent &mine = extents[me];
  const Slots &at = slots[me];
  std::vector<Plan::Peer> peers(boxes.count());
  const auto each = [&](int rank, const auto &visit) {
    const Extent &x = extents[rank];
    int owner = rank; // of the point before
    Needs(x, what).visit([&](index_t a, index_t b) {
      const index_t p = around(a, x.x), q = around(b, x.y);
      if (!inside(extents[owner], p, q)) owner = boxes.owner(p, q, g);
      visit(a, b, p, q, owner);
    });
  };
  each(me, [&](index_t a, index_t b, index_t p, index_t q, int owner) {
    peers[owner].fill.push_back(at.of(field, a, b));
    peers[owner].from.push_back(slots[owner].of(field, p, q));
  });
  for (int rank = 0; rank < boxes.count() && !mine.empty(); ++rank) {
    if (!Needs(extents[rank], what).may_be_in(mine)) continue;
    each(rank, [&](index_t, index_t, index_t p, index_t q, int owner) {
      if (owner == me) peers[rank].send.push_back(at.of(field, p, q));
    });
  }
  // The other fields' are in the same order, one field after the other.
  Plan plan;
  for (int rank = 0; rank < boxes.count(); ++rank) {
    peers[rank].rank = rank;
    peers[rank].send.repeat(fields, at.field_size()), peers[rank].fill.repeat(fields, at.field_size());
    peers[rank].from.repeat(fields, slots[rank].field_size());
    if (!peers[rank].send.empty() || !peers[rank].fill.empty()) plan.peers.push_back(std::move(peers[rank]));
  }
  return plan;
}

} // namespace petscrrb::rrb
