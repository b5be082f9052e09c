// The seam of a ring with an odd number of points where a box sees it (docs/design_ranks.md, "Rings"): what crosses it is
// lumped, or kept for the next grid. The same as seam.hpp, by slots: the point -1 has its own place.
#pragma once

#include "pc/rrb/ranks/slots.hpp"

namespace petscrrb::rrb {

// Slots by coordinates; in_x: the seam in x, else that in y, with the coordinates exchanged.
struct SeamSlots {
  Quad<Dense> X, E, N, NE, NW;
  bool in_x;

  PETSCRRB_HD double value(const Quad<Dense> &q, index_t a, index_t b) const {
    return q[class_of(a, b)](half_down(a), half_down(b));
  }
  PETSCRRB_HD static double &at(const Quad<Dense> &q, index_t a, index_t b) {
    return q[class_of(a, b)].at(half_down(a), half_down(b));
  }
  PETSCRRB_HD double weights(index_t a, index_t b) const {
    return value(E, a, b) + value(E, a - 1, b) + value(N, a, b) + value(N, a, b - 1) + value(NE, a, b) +
           value(NW, a, b) + value(NE, a - 1, b - 1) + value(NW, a + 1, b - 1);
  }
  // what of the row of (a, b) crosses the seam that lies above (end 0) or below (end 1) it, but for what stays
  PETSCRRB_HD double dropped(int end, index_t a, index_t b) const {
    if (in_x) {
      const double straight = b & 1 ? value(E, end ? a - 1 : a, b) : 0.0;
      return straight + (end ? value(NW, a, b) + value(NE, a - 1, b - 1) : value(NE, a, b) + value(NW, a + 1, b - 1));
    }
    const double straight = a & 1 ? value(N, a, end ? b - 1 : b) : 0.0;
    return straight + (end ? value(NE, a - 1, b - 1) + value(NW, a + 1, b - 1) : value(NE, a, b) + value(NW, a, b));
  }
};

// At (end, i): the node on line i at the seam. at[end]: its coordinate across the seam.
struct LumpAtSeam {
  SeamSlots s;
  index_t at[2];
  double omega;

  PETSCRRB_HD unsigned operator()(index_t end, index_t i) const {
    const index_t a = s.in_x ? at[end] : i, b = s.in_x ? i : at[end];
    unsigned flags = node_ok;
    double &x = SeamSlots::at(s.X, a, b);
    const double drop = s.dropped(int(end), a, b);
    x = lump(x, s.weights(a, b) - drop, drop, omega, flags);
    return flags;
  }
};

// At line i: nothing crosses any more. after[]: coordinates of slots of the point before the seam; before[]: of that after
// it, whose NW crosses a seam in x.
struct ClearAtSeam {
  SeamSlots s;
  index_t last[2], first[2];
  int lasts, firsts;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    for (int j = 0; j < lasts; ++j) {
      const index_t a = s.in_x ? last[j] : i, b = s.in_x ? i : last[j];
      SeamSlots::at(s.in_x ? s.E : s.N, a, b) = 0.0;
      SeamSlots::at(s.NE, a, b) = 0.0;
      if (!s.in_x) SeamSlots::at(s.NW, a, b) = 0.0;
    }
    for (int j = 0; s.in_x && j < firsts; ++j) SeamSlots::at(s.NW, first[j], i) = 0.0;
  }
};

// kept[i / 2]: of the black nodes on line i; i even
struct KeepAtSeam {
  SeamSlots s;
  index_t last;
  double *kept;

  PETSCRRB_HD void operator()(index_t half, index_t) const {
    kept[half] = s.in_x ? s.value(s.E, last, 2 * half) : s.value(s.N, 2 * half, last);
  }
};

// Those to the next grid's matrix.
template <class Out> struct AddKept {
  Out next;
  index_t last, first;
  const double *kept;
  bool in_x;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    if (in_x)
      next.E.at(last, i) += kept[i - first];
    else
      next.N.at(i, last) += kept[i - first];
  }
};

// One grid's seams, as this box sees them.
template <class Backend> class SlotSeams {
public:
  explicit SlotSeams(const Extent &own) : own_(own) {
    for (const bool in_x : {true, false}) {
      const Side &along = in_x ? own.y : own.x;
      if (owns_last(in_x)) kept_[in_x].resize(half_up(along.hi) - half_up(along.lo));
    }
  }

  // matrix: with all rows around; counts: of own nodes
  void lump(const Backend &on, const StencilOut<Split> &m, double omega, NodeCounts *counts) const {
    for (const bool in_x : {true, false}) {
      const Side &across = in_x ? own_.x : own_.y, &along = in_x ? own_.y : own_.x;
      if (!across.odd_ring() || own_.empty()) continue;
      const SeamSlots s{m.X.q, m.E.q, m.N.q, m.NE.q, m.NW.q, in_x};
      const Side wide = widened(across, 2), lines = widened(along, 2);
      const LumpAtSeam lump{s, {across.n - 1, 0}, omega};
      for (const index_t end : {0, 1}) {
        const index_t at = end ? 0 : across.n - 1;
        if (at < wide.lo || at >= wide.hi) continue;
        const bool mine = at >= across.lo && at < across.hi;
        on.for_each({end, end + 1, lines.lo, along.lo}, lump);
        if (mine)
          on.count_each({end, end + 1, along.lo, along.hi}, {end, end + 1, along.lo, along.hi}, lump, lump, counts);
        else
          on.for_each({end, end + 1, along.lo, along.hi}, lump);
        on.for_each({end, end + 1, along.hi, lines.hi}, lump);
      }
      keep(on, s, in_x);
      clear(on, s, across, along);
    }
  }
  // The couplings that stay, to the next grid.
  template <class Out> void put_kept(const Backend &on, const Out &next) const {
    for (const bool in_x : {true, false})
      if (owns_last(in_x)) {
        const Side &along = in_x ? own_.y : own_.x, across = (in_x ? own_.x : own_.y).coarser();
        const index_t first = half_up(along.lo);
        on.for_each({first, half_up(along.hi), 0, 1},
                    AddKept<Out>{next, across.n - 1, first, kept_[in_x].data(), in_x});
      }
  }
  std::size_t bytes() const { return kept_[0].bytes() + kept_[1].bytes(); }

private:
  bool owns_last(bool in_x) const {
    const Side &across = in_x ? own_.x : own_.y;
    return !own_.empty() && across.odd_ring() && across.hi == across.n;
  }
  void keep(const Backend &on, const SeamSlots &s, bool in_x) const {
    if (!owns_last(in_x)) return;
    const Side &across = in_x ? own_.x : own_.y, &along = in_x ? own_.y : own_.x;
    const index_t first = half_up(along.lo);
    on.for_each({first, half_up(along.hi), 0, 1}, KeepAtSeam{s, across.n - 1, kept_[in_x].data() - first});
  }
  void clear(const Backend &on, const SeamSlots &s, const Side &across, const Side &along) const {
    ClearAtSeam clear{s, {}, {}, 0, 0};
    const auto here = [&](index_t at) { return at >= across.lo - 3 && at < across.hi + 3; };
    for (const index_t at : {across.n - 1, index_t(-1)})
      if (here(at)) clear.last[clear.lasts++] = at;
    for (const index_t at : {index_t(0), across.n})
      if (here(at)) clear.first[clear.firsts++] = at;
    on.for_each({along.lo - 3, along.hi + 3, 0, 1}, clear);
  }

  Extent own_;
  typename Backend::template Array<double> kept_[2]; // by in_x
};

} // namespace petscrrb::rrb
