// The V-cycle on a hierarchy of grids (docs/numerics_gridmg.md), for any backend.
#pragma once

#include "pc/gridmg/core/hierarchy.hpp"

namespace petscrrb::gridmg {

// What each backend has its own of: zebra lines, those of `shape` in direction q whose other two indices have a sum of the parity `colour`.
// relax<q>(on, colour)
template <class Backend, class T> class ZebraLines;

template <class T> struct Clear {
  T *to;

  PETSCRRB_HD void operator()(index_t i, index_t, index_t) const { to[i] = T(0); }
};

template <class T> struct ClearColour {
  Field<T> x;
  index_t colour;

  PETSCRRB_HD void operator()(index_t h, index_t j, index_t k) const { x.row((colour + j + k) & 1, j, k)[h] = T(0); }
};

template <class Backend, class T> class Multigrid : public Hierarchy<Backend, T> {
  using Base = Hierarchy<Backend, T>;

public:
  using Base::Base;
  using typename Base::L;

  // From b() of the finest level to its x(). solve() is to solve with the coarsest one, from its b() to its x().
  template <class Solve> void cycle(const Solve &solve) const { cycle_from(0, solve); }

  // Whether the finest grid is smoothed by points of two colours that have no neighbours of their own.
  bool red_black() const { return levels_.size() > 1 && levels_.front()->red_black(); }
  // The same cycle of b() that is 0 on red points, for x() on black ones: the finest grid's first half-sweeps, x = 0 on red points and
  // b / d on black ones, have been done; relax() does the last one on black points, which leaves out the red ones after it. Of b() on
  // red points nothing is read where there is one sweep.
  template <class Solve, class Relax> void black_cycle(const Solve &solve, const Relax &relax) const {
    const L &finest = *levels_.front();
    for (int n = 1; n < options_.smooths; ++n) relax_points(finest, 0), relax_points(finest, 1);
    residual(finest);
    restrict_from(0);
    cycle_from(below(0), solve);
    prolong_to(0, options_.smooths > 1);
    for (int n = 1; n < options_.smooths; ++n) relax_points(finest, 1), relax_points(finest, 0);
    fill(finest, finest.x(), 0);
    relax();
  }
  bool reads_red() const { return options_.smooths > 1; } // b() on red points
  // What is around the finest grid on its faces, of a field in its layout: of one colour where that is enough.
  template <class V> void fill_finest(const Field<V> &x, index_t colour = all_colours) const {
    fill(*levels_.front(), x, colour);
  }
  // What is there of other ranks alone, one colour; value(place) is what they get of an own point.
  template <class V, class Value> void exchange_finest(const Field<V> &x, index_t colour, const Value &value) const {
    levels_.front()->faces_of[colour]->fill(on_, *dealt_.ranks, x, value);
  }

  // of a cycle: 13 a point and half-sweep of all, as many for a residual, 4 for transfers
  double flops() const {
    double n = 0.0;
    for (const auto &l : levels_) {
      const double sweeps = l->lines.empty() ? 1.0 : 1.5 * double(l->lines.size());
      n += double(l->shape.points()) * (l->smooth ? 26.0 * options_.smooths * sweeps + 13.0 : 0.0);
      n += double(l->shape.points()) * (l->direction >= 0 ? 4.0 : 0.0);
    }
    return n;
  }

private:
  using Base::across, Base::for_each_part, Base::in_direction;
  using Base::on_, Base::options_, Base::shape_, Base::dealt_, Base::levels_;

  // Before anybody reads what is around a grid: on its faces, where that is enough of one colour, or on all sides.
  template <class V> void fill(const L &level, const Field<V> &x, index_t colour = all_colours) const {
    const bool one = colour != all_colours && level.red_black();
    if (const Halo<Backend> *faces = one ? level.faces_of[colour] : level.faces) faces->fill(on_, *dealt_.ranks, {x});
    fill_rings(on_, level.shape, {x});
  }
  void fill_around(const L &level, const Field<T> &x) const {
    if (level.around) level.around->fill(on_, *dealt_.ranks, {x});
    fill_rings(on_, level.shape, {x});
  }
  // first: x is 0
  void relax_points(const L &level, index_t colour, bool first = false) const {
    const Range3 points = level.shape.halves(colour);
    if (first) return on_.for_each_point(points, RelaxPoints<T, true>{level.smoothed(), level.b(), level.x(), colour});
    fill(level, level.x(), 1 - colour);
    on_.for_each_point(points, RelaxPoints<T>{level.smoothed(), level.b(), level.x(), colour});
  }
  void relax_lines(const L &level, std::size_t line, index_t colour) const {
    const int q = level.lines[line];
    const auto relax = [&](PartOfLines part, bool forward, bool backward) {
      part.forward = forward, part.backward = backward;
      const ZebraLines<Backend, T> lines{level.smoothed(), level.pivots(line), level.b(), level.x(), level.shape, part};
      in_direction(q, [&](auto direction) { lines.template relax<decltype(direction)::value>(on_, colour); });
    };
    fill(level, level.x());
    if (level.cuts.parts(q) == 1) return relax({}, true, true);
    for_each_part(
        level, q, true,
        [&](const PartOfLines &part) {
          if (!part.first) on_.for_each(across(level, q), CarryLines<T>{{}, level.r(), level.x(), q, -1});
          relax(part, true, false);
          on_.for_each(across(level, q),
                       CarryLines<T>{level.pivots(line), level.x(), level.r(), q, level.shape.n[q] - 1});
        },
        [&] { level.faces->fill(on_, *dealt_.ranks, {level.r()}); });
    for_each_part(
        level, q, false, [&](const PartOfLines &part) { relax(part, false, true); }, [&] { fill(level, level.x()); });
  }

  void smooth_before(const L &level) const {
    const bool points = level.lines.empty();
    if (!points || level.odd_ring())
      on_.for_each_point({{level.layout.size(), 1, 1}}, Clear<T>{level.x().p - level.layout.first()});
    for (int n = 0; n < options_.smooths; ++n) {
      if (points) relax_points(level, 0, n == 0), relax_points(level, 1);
      for (std::size_t i = 0; i < level.lines.size(); ++i)
        for (const index_t colour : {0, 1}) relax_lines(level, i, colour);
    }
  }
  void smooth_after(const L &level) const {
    for (int n = 0; n < options_.smooths; ++n) {
      if (level.lines.empty()) relax_points(level, 1), relax_points(level, 0);
      for (std::size_t i = level.lines.size(); i-- > 0;)
        for (const index_t colour : {1, 0}) relax_lines(level, i, colour);
    }
  }

  void residual(const L &level) const {
    fill(level, level.x(), 1);
    if (level.red_black() && options_.smooths == 1) return residual_at<true>(level, 0);
    residual_at<false>(level, 0);
    if (!level.red_black()) residual_at<false>(level, 1); // else it is 0
  }
  template <bool of_first> void residual_at(const L &level, index_t colour) const {
    on_.for_each_point(level.shape.halves(colour),
                       Residual<T, of_first>{level.smoothed(), level.b(), level.x(), level.r(), colour});
  }

  // --- between grids: one step of coarsening at a time, or three where no ring is in the way ---

  bool three_at_once(std::size_t l) const {
    if (l + 3 >= levels_.size() || !levels_[l]->smooth) return false;
    for (int q = 0; q < 3; ++q)
      if (levels_[l + q]->direction != q || (q && levels_[l + q]->smooth) || shape_.ring[q]) return false;
    return true;
  }
  // the level whose right-hand side comes of l's
  std::size_t below(std::size_t l) const { return l + (three_at_once(l) ? 3 : 1); }
  static Range3 pairs_of(const L &level) { return Shape{level.share_layout().n, {}}.halves_of_both(); }
  TransferOfAll<T> transfers(std::size_t l) const {
    return {levels_[l]->transfer(), levels_[l + 1]->transfer(), levels_[l + 2]->transfer()};
  }
  void restrict_from(std::size_t l) const {
    const L &level = *levels_[l], &next = *levels_[below(l)];
    const Field<T> r = level.smooth ? level.r() : level.b(), to = next.b();
    const bool reds = level.red_black();
    if (const Halo<Backend> *around = reds ? level.red_around : level.around)
      around->fill(on_, *dealt_.ranks, {r}); // of rings nothing is read there
    const Range3 points = next.shape.halves_of_both();
    if (three_at_once(l)) {
      if (reds)
        on_.for_each_point(points, RestrictAll<T, true>{transfers(l), r, to});
      else
        on_.for_each_point(points, RestrictAll<T, false>{transfers(l), r, to});
      return;
    }
    in_direction(level.direction, [&](auto q) {
      on_.for_each_point(points, Restrict<T, decltype(q)::value>{level.transfer(), r, to, reds});
    });
    if (level.direction == 0 && level.shape.ring[0])
      on_.for_each({0, next.shape.n[1], 0, next.shape.n[2]}, RestrictAround<T>{level.transfer(), r, to, reds});
  }
  // add: to what is there
  void prolong_to(std::size_t l, bool add) const {
    const L &level = *levels_[l], &next = *levels_[below(l)];
    if (!three_at_once(l)) {
      fill(next, next.x());
      in_direction(level.direction, [&](auto q) {
        const auto prolong = [&](auto adds) {
          on_.for_each_point(pairs_of(level), Prolong<T, decltype(q)::value, decltype(adds)::value>{
                                                  level.transfer(), next.x(), level.x(), level.red_black()});
        };
        add ? prolong(std::true_type()) : prolong(std::false_type());
      });
      return;
    }
    fill_around(next, next.x());
    if (!level.red_black())
      prolong_all<false, Onto::x>(l);
    else if (!add)
      prolong_all<true, Onto::nothing>(l);
    else if (first_is_known(l))
      prolong_all<true, Onto::first>(l);
    else
      prolong_all<true, Onto::x>(l);
  }
  template <bool reds, Onto onto> void prolong_all(std::size_t l) const {
    const L &level = *levels_[l];
    on_.for_each_point(pairs_of(level), ProlongAll<T, reds, onto>{transfers(l), levels_[below(l)]->x(), level.x(),
                                                                  level.b(), level.smoothed().dinv});
  }
  // Whether red points' values of the first half-sweep are not stored: who needs them computes them.
  bool first_is_known(std::size_t l) const {
    return options_.smooths == 1 && three_at_once(l) && levels_[l]->red_black();
  }

  template <class Solve> void cycle_from(std::size_t l, const Solve &solve) const {
    if (l + 1 == levels_.size()) return solve();
    const L &level = *levels_[l];
    if (first_is_known(l)) {
      fill(level, level.b(), 0);
      on_.for_each_point(level.shape.halves(1), RelaxBlackFirst<T>{level.smoothed(), level.b(), level.x()});
    } else if (level.smooth) {
      smooth_before(level);
    }
    if (level.smooth) residual(level);
    restrict_from(l);
    cycle_from(below(l), solve);
    prolong_to(l, level.smooth);
    if (level.smooth) smooth_after(level);
  }
};

} // namespace petscrrb::gridmg
