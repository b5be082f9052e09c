// Periodic sides: the seam of a ring with an odd number of points, and rings of one point (docs/numerics.md). Each
// functor does one node of a line.
#pragma once

#include "pc/rrb/core/steps.hpp"

namespace petscrrb::rrb {

// A grid's matrix by coordinates. m: its views at the edge. On one rank what is past an end is around the ring, or nothing is there. InBox: the
// arrays of a rank's box have what is around it, and the point -1 has its own place.
template <class V, bool InBox = false> struct SeamAccess {
  V m;
  Extent x;

  static constexpr index_t known = InBox ? 3 : 0; // how far rows around ours are known
  template <class Q> PETSCRRB_HD static auto &at(const Q &q, index_t a, index_t b) {
    return q[class_of(a, b)].at(half_down(a), half_down(b));
  }
  template <class Q> PETSCRRB_HD static void clear(const Quad<Q> &q, index_t a, index_t b) { at(q, a, b) = 0.0; }
  PETSCRRB_HD static void clear(const Quad<Zero> &, index_t, index_t) {}
  template <class Q> PETSCRRB_HD double value(const Q &q, index_t a, index_t b) const {
    if constexpr (!InBox) {
      if (x.x.periodic) a = (a + x.x.n) % x.x.n;
      if (x.y.periodic) b = (b + x.y.n) % x.y.n;
      if (a < 0 || a >= x.x.n || b < 0 || b >= x.y.n) return 0.0;
    }
    return q[class_of(a, b)](half_down(a), half_down(b));
  }
  // all of a node's weights
  PETSCRRB_HD double weights(index_t a, index_t b) const {
    return value(m.E, a, b) + value(m.E, a - 1, b) + value(m.N, a, b) + value(m.N, a, b - 1) + value(m.NE, a, b) +
           value(m.NW, a, b) + value(m.NE, a - 1, b - 1) + value(m.NW, a + 1, b - 1);
  }
};
template <class V> SeamAccess(V, Extent) -> SeamAccess<V>;

// Lumps what crosses an odd ring's seam and cannot stay, at both ends of it: at (end, i) the node on line i, end 0 being the last point.
template <class Access> struct LumpAtSeam {
  Access g;
  bool in_x; // the seam, else in y
  index_t last;
  double omega;

  PETSCRRB_HD unsigned operator()(index_t end, index_t i) const {
    const index_t at = end ? 0 : last, a = in_x ? at : i, b = in_x ? i : at;
    unsigned flags = node_ok;
    double &x = Access::at(g.m.X, a, b);
    const double drop = in_x ? dropped_x(end, a, b) : dropped_y(end, a, b);
    x = lump(x, g.weights(a, b) - drop, drop, omega, flags);
    return flags;
  }

private:
  PETSCRRB_HD double dropped_x(index_t end, index_t a, index_t b) const {
    const auto &m = g.m;
    const double straight = b & 1 ? g.value(m.E, end ? a - 1 : a, b) : 0.0;
    return end ? straight + g.value(m.NW, a, b) + g.value(m.NE, a - 1, b - 1)
               : straight + g.value(m.NE, a, b) + g.value(m.NW, a + 1, b - 1);
  }
  PETSCRRB_HD double dropped_y(index_t end, index_t a, index_t b) const {
    const auto &m = g.m;
    const double straight = a & 1 ? g.value(m.N, a, end ? b - 1 : b) : 0.0;
    return end ? straight + g.value(m.NE, a - 1, b - 1) + g.value(m.NW, a + 1, b - 1)
               : straight + g.value(m.NE, a, b) + g.value(m.NW, a, b);
  }
};

// At line i: then nothing crosses the seam any more, wherever we have its two ends. kept[i / 2] is the coupling of the two black nodes on our
// lines, i even, which goes to the next grid; NULL: the last point is not ours.
template <class Access> struct ClearAtSeam {
  Access g;
  bool in_x;
  Side across, lines; // ours
  double *kept;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    const auto &m = g.m;
    const index_t last = across.n - 1;
    if (kept && i >= lines.lo && i < lines.hi && i % 2 == 0)
      kept[i / 2] = in_x ? g.value(m.E, last, i) : g.value(m.N, i, last);
    for (const index_t end : {last, index_t(-1)}) {
      if (!known(end)) continue;
      const index_t a = in_x ? end : i, b = in_x ? i : end;
      g.clear(in_x ? m.E : m.N, a, b), g.clear(m.NE, a, b);
      if (!in_x) g.clear(m.NW, a, b);
    }
    for (const index_t end : {index_t(0), across.n})
      if (in_x && known(end)) g.clear(m.NW, end, i);
  }

private:
  PETSCRRB_HD bool known(index_t i) const { return i >= across.lo - Access::known && i < across.hi + Access::known; }
};

// Those to the next grid's matrix.
template <class Out> struct AddKept {
  Out next;
  bool in_x;
  index_t last;
  const double *kept;

  PETSCRRB_HD void operator()(index_t i, index_t) const {
    if (in_x)
      next.E.at(last, i) += kept[i];
    else
      next.N.at(i, last) += kept[i];
  }
};

// The seams of a grid, of which a rank has a part, `own`: what is done before its elimination, and after it on the next grid.
template <class Backend> class Seams {
public:
  Seams() = default;
  // all_grids: it is used for the coarser ones as well
  Seams(const Extent &own, bool all_grids) {
    for (const bool in_x : {true, false}) {
      const Side &along = in_x ? own.y : own.x;
      if (all_grids || has_last(own, in_x)) kept_[in_x].resize(half_up(along.hi) - half_up(along.lo));
    }
  }

  // counts: of own nodes
  template <class Access>
  void lump(const Backend &on, const Access &g, const Extent &own, double omega, NodeCounts *counts) const {
    for (const bool in_x : {true, false}) {
      const Side &across = in_x ? own.x : own.y, &along = in_x ? own.y : own.x;
      if (!across.odd_ring() || own.empty()) continue;
      const index_t steps = Access::known ? 2 : 0;
      const auto at_ends = [&](const Side &s, const Side &lines) -> Range2 {
        const auto has = [&](index_t a) { return a >= s.lo && a < s.hi; };
        return {has(across.n - 1) ? 0 : 1, has(0) ? 2 : 1, lines.lo, lines.hi};
      };
      const LumpAtSeam<Access> lump{g, in_x, across.n - 1, omega};
      const Range2 ours = at_ends(across, along);
      on.count_each(ours, ours, lump, lump, counts);
      for_each_around(on, at_ends(widened(across, steps), widened(along, steps)), ours, lump);
      clear(on, g, own, in_x);
    }
  }
  // The couplings that stay, to the next grid.
  template <class Out> void put_kept(const Backend &on, const Out &next, const Extent &own) const {
    for (const bool in_x : {true, false}) {
      const Side &across = in_x ? own.x : own.y, &along = in_x ? own.y : own.x;
      if (has_last(own, in_x))
        on.for_each({half_up(along.lo), half_up(along.hi), 0, 1},
                    AddKept<Out>{next, in_x, across.coarser().n - 1, kept(in_x, own)});
    }
  }

  // by half the number of their line
  double *kept(bool in_x, const Extent &own) const { return kept_[in_x].data() - half_up(in_x ? own.y.lo : own.x.lo); }
  std::size_t bytes() const { return kept_[0].bytes() + kept_[1].bytes(); }

private:
  static bool has_last(const Extent &own, bool in_x) {
    const Side &across = in_x ? own.x : own.y;
    return !own.empty() && across.odd_ring() && across.hi == across.n;
  }
  template <class Access> void clear(const Backend &on, const Access &g, const Extent &own, bool in_x) const {
    const Side &across = in_x ? own.x : own.y, &along = in_x ? own.y : own.x;
    on.for_each({along.lo - g.known, along.hi + g.known, 0, 1},
                ClearAtSeam<Access>{g, in_x, across, along, has_last(own, in_x) ? kept(in_x, own) : nullptr});
  }

  typename Backend::template Array<double> kept_[2]; // by in_x
};

// Rings of one point: a node's coupling to itself is none, its corners are straight.
template <class Access> struct FoldX {
  Access g;

  PETSCRRB_HD void operator()(index_t b, index_t) const {
    const auto &m = g.m;
    g.at(m.N, 0, b) += g.value(m.NE, 0, b) + g.value(m.NW, 0, b);
    g.clear(m.E, 0, b), g.clear(m.NE, 0, b), g.clear(m.NW, 0, b);
  }
};
// y in two steps, since a node reads its neighbour's corner
template <class Access> struct FoldY {
  Access g;

  PETSCRRB_HD void operator()(index_t a, index_t) const {
    g.at(g.m.E, a, 0) += g.value(g.m.NE, a, 0) + g.value(g.m.NW, a + 1, 0);
  }
};
template <class Access> struct ClearFoldY {
  Access g;

  PETSCRRB_HD void operator()(index_t a, index_t) const {
    g.clear(g.m.N, a, 0), g.clear(g.m.NE, a, 0), g.clear(g.m.NW, a, 0);
  }
};

// Of a whole grid, whose matrix has just been made; x: its extent, whose sides of one point may be periodic.
template <class Backend, class Fields> void fold_rings(const Backend &on, const Fields &matrix, Extent x) {
  const auto m = matrix.get(Edge{});
  using Access = SeamAccess<std::decay_t<decltype(m)>>;
  if (x.x.periodic && x.x.n == 1) {
    on.for_each({0, x.y.n, 0, 1}, FoldX<Access>{{m, x}});
    x.x.periodic = false;
  }
  if (!x.y.periodic || x.y.n > 1) return;
  on.for_each({0, x.x.n, 0, 1}, FoldY<Access>{{m, x}});
  on.for_each({0, x.x.n, 0, 1}, ClearFoldY<Access>{{m, x}});
}

} // namespace petscrrb::rrb
