// The sweeps of one r1/r2/b1/b2 grid on the host: two levels in one pass over memory, row by row, a few rows of each
// class in cache. The point operations are those of sweep.hpp; threads recompute the one row that they share.
#pragma once

#include "pc/rrb/host/rows.hpp"

namespace petscrrb::rrb {

// One grid's sweeps. T: what the factor is stored in.
template <class T> class HostRows : private FactorRows<T> {
  using Base = FactorRows<T>;
  using Base::below, Base::above, Base::owns, Base::nodes, Base::border, Base::clear, Base::run, Base::first;
  using Base::none, Base::only;
  using typename Base::Chunk;

public:
  // next: the vector on b2 that a sweep writes or reads
  HostRows(const DenseGrid<Host, T> &grid, const NextGrid &next, const RowScratch &scratch,
           const NaturalVectors &natural)
      : Base(grid.factor, grid.extent, scratch), d_(grid), x_(grid.extent), next_{next}, natural_(natural) {}

  template <bool Couple> void forward() const {
    run(
        [&](const Chunk &c) { // b1 of the row below this chunk, before the thread that owns it overwrites it
          clear(c.scratch(zero));
          const index_t k = below(c.k0);
          if (k == none) return;
          forward_b1<Couple>(k, lower(c, k, 0), upper(c, k, 4), lower(c, c.k0, 2), c.scratch(shared));
        },
        [&](const Chunk &c) { forward_chunk<Couple>(c); });
  }

  // energy: its terms of each row; NULL: not wanted
  template <bool Couple> void backward(Scaling scaling, double *energy, const NextGrid *kept) const {
    run(
        [&](const Chunk &c) {
          clear(c.scratch(zero));
          const index_t k = below(c.k0);
          if (k == none) return;
          backward_b1<Couple>(k, b2_row(c, k, 0), b2_row(c, above(k), 1), c.scratch(shared), scaling);
        },
        [&](const Chunk &c) { backward_chunk<Couple>(c, scaling, energy, kept); });
  }

private:
  static constexpr int shared = 10; // scratch: b1 of the row below the chunk
  static constexpr int zero = 11;   // rows outside of the domain
  static constexpr int v_even = 12, v_odd = 13;
  static constexpr int kept_b2 = 12; // v is the finest grid's, energy the others'

  // The classes (even, odd) = (b2, r1) or (r2, b1) of row k of the right-hand side: where they are, or split into scratch.
  RowPair right_hand_side(const Chunk &c, index_t k, bool upper, int to) const {
    const Class e = upper ? r2 : b2, o = upper ? b1 : r1;
    if (k == none || 2 * k + upper < x_.y.lo || 2 * k + upper >= x_.y.hi) return {c.scratch(zero), c.scratch(zero)};
    if (!natural_.r) return row_of(d_.right_hand_side(), 2 * k + upper);
    const RowPair p{c.scratch(to), c.scratch(to + 1)};
    const index_t row = (2 * k + upper - x_.y.lo) * (x_.x.hi - x_.x.lo);
    split_row(natural_.r + row, x_.x, p);
    if (natural_.v_r) {
      split_row(natural_.v_r + row, x_.x, {c.scratch(v_even), c.scratch(v_odd)});
      scale_row(p.even + nodes(e).h0, c.scratch(v_even) + nodes(e).h0, nodes(e).h1 - nodes(e).h0);
      scale_row(p.odd + nodes(o).h0, c.scratch(v_odd) + nodes(o).h0, nodes(o).h1 - nodes(o).h0);
    }
    border(e, p.even);
    border(o, p.odd);
    return p;
  }

  RowPair lower(const Chunk &c, index_t k, int to) const { return right_hand_side(c, k, false, to); }
  RowPair upper(const Chunk &c, index_t k, int to) const { return right_hand_side(c, k, true, to); }

  template <bool Couple> void forward_chunk(const Chunk &c) const {
    double *b1_below = below(c.k0) != none ? c.scratch(shared) : c.scratch(zero);
    RowPair low = lower(c, c.k0, 0), up_below = upper(c, below(c.k0), 6);
    for (index_t k = c.k0; k < c.k1; ++k) {
      const int turn = 2 * ((k - c.k0) % 2);
      const RowPair up = upper(c, k, 4 + turn), low_above = lower(c, above(k), 2 - turn);
      double *b1_here = owns(b1, k) ? &d_.b1_after_forward().at(0, k) : c.scratch(zero);
      if (owns(b1, k)) forward_b1<Couple>(k, low, up, low_above, b1_here);
      if (owns(b2, k)) forward_b2<Couple>(c, k, low, up, up_below, b1_below, b1_here);
      b1_below = b1_here;
      low = low_above;
      up_below = up;
    }
  }

  template <bool Couple> void forward_b1(index_t k, RowPair low, RowPair up, RowPair low_above, double *out) const {
    Quad<Rows> in;
    in.c[r1] = {{nullptr, low.odd, low_above.odd}};
    in.c[r2] = only(up.even);
    in.c[b1] = only(up.odd);
    Base::template forward_b1<Couple>(k, in, out);
    border(b1, out);
  }

  template <bool Couple>
  void forward_b2(const Chunk &c, index_t k, RowPair low, RowPair up, RowPair up_below, double *b1_below,
                  double *b1_here) const {
    Quad<Rows> in;
    in.c[r1] = only(low.odd);
    in.c[r2] = {{up_below.even, up.even, nullptr}};
    in.c[b2] = only(low.even);
    double *out = c.scratch(8);
    Base::template forward_b2<Couple>(k, in, b1_below, b1_here, out);
    next_.store(out, k);
  }

  // b2's solution, in scratch row `to`
  double *b2_row(const Chunk &c, index_t k, int to) const {
    if (k == none || !owns(b2, k)) return c.scratch(zero);
    next_.load(c.scratch(to), k);
    border(b2, c.scratch(to));
    return c.scratch(to);
  }

  template <bool Couple>
  void backward_b1(index_t k, double *b2_here, double *b2_above, double *out, Scaling scaling) const {
    Base::template backward_b1<Couple>(k, only(&d_.b1_after_forward().at(0, k)), Rows{{nullptr, b2_here, b2_above}},
                                       out, scaling);
    border(b1, out);
  }

  // before the sweep overwrites the right-hand side
  double row_energy(const Chunk &c, index_t k, const double *b2_here, const NextGrid *kept) const {
    double sum = 0.0;
    for (Class e : {r1, r2, b1}) {
      const double *r = e == b1 ? &d_.b1_after_forward().at(0, k) : &d_.right_hand_side()[e].at(0, k);
      if (owns(e, k))
        sum += sum_along_row(nodes(e), [r, d = this->dinv(e, k)](index_t h) { return r[h] * r[h] * d[h]; });
    }
    if (!kept || !owns(b2, k)) return sum;
    double *y = c.scratch(kept_b2);
    NextRows{*kept}.load(y, k);
    return sum + sum_along_row(nodes(b2), [=](index_t h) { return y[h] * b2_here[h]; });
  }

  template <bool Couple>
  void backward_chunk(const Chunk &c, Scaling scaling, double *energy, const NextGrid *kept) const {
    double *b1_below = below(c.k0) != none ? c.scratch(shared) : c.scratch(zero);
    double *here = b2_row(c, c.k0, 0);
    for (index_t k = c.k0; k < c.k1; ++k) {
      const int other = (k - c.k0) % 2 ? 0 : 1;
      double *above_row = b2_row(c, above(k), other), *b1_here = c.scratch(zero);
      if (energy) energy[k - first()] = row_energy(c, k, here, kept);
      if (owns(b1, k)) {
        b1_here = natural_.r ? c.scratch(2 + other) : &d_.solution()[b1].at(0, k);
        backward_b1<Couple>(k, here, above_row, b1_here, scaling);
      }
      backward_red<Couple>(c, k, here, above_row, b1_below, b1_here, scaling);
      b1_below = b1_here;
      here = above_row;
    }
  }

  // Where a row of the right-hand side becomes the solution: in place, or in a copy where it is kept.
  double *solution_row(Class c, index_t k, double *right_hand_side) const {
    const Dense &z = d_.solution()[c];
    if (natural_.r || z.p == d_.right_hand_side()[c].p) return right_hand_side;
    double *row = &z.at(0, k);
    std::copy(right_hand_side + nodes(c).h0, right_hand_side + nodes(c).h1, row + nodes(c).h0);
    return row;
  }

  template <bool Couple>
  void backward_red(const Chunk &c, index_t k, double *b2_here, double *b2_above, double *b1_below, double *b1_here,
                    Scaling scaling) const {
    const Rows z2{{nullptr, b2_here, b2_above}}, z1{{b1_below, b1_here, nullptr}};
    if (owns(r1, k) || owns(b2, k)) {
      const RowPair in = lower(c, k, 4);
      Base::template backward_red<Couple, r1>(k, only(solution_row(r1, k, in.odd)), z1, z2, scaling);
      if (natural_.z)
        store_z(2 * k, {b2_here, in.odd});
      else if (owns(b2, k))
        std::copy(b2_here + nodes(b2).h0, b2_here + nodes(b2).h1, &d_.solution()[b2].at(nodes(b2).h0, k));
    }
    if (owns(r2, k) || owns(b1, k)) {
      const RowPair in = upper(c, k, 4);
      Base::template backward_red<Couple, r2>(k, only(solution_row(r2, k, in.even)), z1, z2, scaling);
      if (natural_.z) store_z(2 * k + 1, {in.even, b1_here});
    }
  }
  void store_z(index_t b, const RowPair &from) const {
    const index_t n = x_.x.hi - x_.x.lo, row = (b - x_.y.lo) * n;
    merge_row(natural_.z + row, x_.x, from);
    if (natural_.v_z) scale_row(natural_.z + row, natural_.v_z + row, n);
  }

  const DenseGrid<Host, T> &d_;
  const Extent &x_;
  NextRows next_;
  NaturalVectors natural_;
};

// The host's answer to "sweep one grid" (rrb_apply.hpp).
template <> class Sweeps<Host> {
public:
  explicit Sweeps(const Extent &finest) : scratch_(finest.x) {}

  template <bool Couple, class T>
  void forward(const Host &on, const DenseGrid<Host, T> &d, const NextGrid &next, const NaturalVectors &natural) const {
    if (!natural.r) d.halo.exchange(on, {r1, r2}, {d.right_hand_side()[r1], d.right_hand_side()[r2]});
    HostRows<T>(d, next, scratch_, natural).template forward<Couple>();
  }
  template <bool Couple, class T>
  void backward(const Host &, const DenseGrid<Host, T> &d, const NextGrid &next, const NaturalVectors &natural,
                Scaling scaling) const {
    HostRows<T>(d, next, scratch_, natural).template backward<Couple>(scaling, nullptr, nullptr);
  }
  template <class T>
  void backward(const Host &, const DenseGrid<Host, T> &d, const NextGrid &next,
                const EnergyShare<Host> &energy) const {
    double *rows = energy.sum.take(parts(d.layout()));
    HostRows<T>(d, next, scratch_, {}).template backward<true>(Scaling::full, rows, energy.kept);
  }
  static index_t parts(const DenseLayout &layout) { return layout.rows; } // of the energy's sum
  std::size_t bytes() const { return scratch_.bytes(); }

private:
  RowScratch scratch_;
};

} // namespace petscrrb::rrb
