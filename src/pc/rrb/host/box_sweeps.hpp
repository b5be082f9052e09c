// The host's sweeps of one grid on a rank's box: two levels in one pass over memory, row by row, by the point operations
// of sweep.hpp. What is around the box is in the arrays' borders. As sweeps.hpp does it on one rank.
#pragma once

#include "pc/rrb/ranks/distributed_grid.hpp"
#include "pc/rrb/host/rows.hpp"

namespace petscrrb::rrb {

template <class T> class BoxRows : private FactorRows<T> {
  using Base = FactorRows<T>;
  using Base::first, Base::owns, Base::run;
  using typename Base::Chunk;

public:
  BoxRows(const DistributedGrid<Host, T> &grid, const RowScratch &scratch)
      : Base(grid.factor, grid.extent, scratch, 1), own_(grid.extent), x_(grid.right_hand_side()) {}

  void down(const NextRows &next) const {
    run(
        [&](const Chunk &c) { // b1 of the row below this chunk, before the thread that owns it overwrites it
          if (shares_row(c)) forward_b1(c.k0 - 1, c.scratch(shared));
        },
        [&](const Chunk &c) {
          for (index_t k = c.k0; k < c.k1; ++k) {
            if (owns(b1, k)) forward_b1(k, &x_[b1].at(0, k));
            if (!owns(b2, k)) continue;
            Base::template forward_b2<true>(k, rows(k), b1_below(c, k), &x_[b1].at(0, k), c.scratch(out));
            next.store(c.scratch(out), k);
          }
        });
  }

  template <bool Couple> void up(const BoxSolution &to, Scaling scaling) const {
    run(
        [&](const Chunk &c) {
          if (shares_row(c)) backward_b1<Couple>(c.k0 - 1, c.scratch(shared), scaling);
        },
        [&](const Chunk &c) {
          for (index_t k = c.k0; k < c.k1; ++k) {
            if (owns(b1, k)) backward_b1<Couple>(k, &x_[b1].at(0, k), scaling);
            const Quad<Dense> x = rows(k);
            const Rows z1{{b1_below(c, k), &x_[b1].at(0, k), nullptr}};
            if (owns(r1, k)) Base::template backward_red<Couple, r1>(k, x[r1], z1, x[b2], scaling);
            if (owns(r2, k)) Base::template backward_red<Couple, r2>(k, x[r2], z1, x[b2], scaling);
            store(k, to);
          }
        });
  }

private:
  static constexpr int shared = 0, out = 1; // scratch: b1 of the row below the chunk; b2 on its way to the next grid

  bool shares_row(const Chunk &c) const { return c.k0 > first() && owns(b1, c.k0 - 1); }
  double *b1_below(const Chunk &c, index_t k) const {
    return k == c.k0 && shares_row(c) ? c.scratch(shared) : &x_[b1].at(0, k - 1);
  }
  Quad<Dense> rows(index_t k) const {
    return {{from_row(x_[r1], k), from_row(x_[r2], k), from_row(x_[b1], k), from_row(x_[b2], k)}};
  }
  void forward_b1(index_t k, double *to) const { Base::template forward_b1<true>(k, rows(k), to); }
  template <bool Couple> void backward_b1(index_t k, double *to, Scaling scaling) const {
    const Quad<Dense> x = rows(k);
    Base::template backward_b1<Couple>(k, x[b1], x[b2], to, scaling);
  }
  void store(index_t k, const BoxSolution &to) const {
    const Side &x = own_.x, &y = own_.y;
    for (const index_t b : {2 * k, 2 * k + 1}) {
      if (b < y.lo || b >= y.hi) continue;
      double *row = &to.z.at(x.lo, b);
      merge_row(row, x, row_of(x_, b));
      if (to.v.p) scale_row(row, &to.v.at(x.lo, b), x.hi - x.lo);
    }
  }

  const Extent &own_;
  const Quad<Dense> x_;
};

template <> class BoxSweeps<Host> {
public:
  explicit BoxSweeps(const Extent &finest) : scratch_(finest.x, 2) {}

  template <bool Couple, class T>
  void down(const Host &on, const DistributedGrid<Host, T> &g, const NextGrid &next, PartialSum<Host> *energy) const {
    const Quad<Dense> x = g.right_hand_side();
    const Range2 at_b2 = g.extent.nodes_of(b2);
    if constexpr (Couple)
      BoxRows<T>(g, scratch_).down(NextRows{next});
    else
      for (index_t k = at_b2.k0; k < at_b2.k1 && at_b2.size(); ++k) NextRows{next}.store(&x[b2].at(0, k), k);
    for (Class c : {r1, r2, b1})
      if (energy) energy->add(on, g.extent.nodes_of(c), RedEnergy<Dense, DenseOf<T>>{x[c], g.factor.dinv.q[c]});
  }
  static index_t kept_parts(const Extent &own) { return PartialSum<Host>::parts(own.nodes_of(b2)); }
  static index_t parts(const Extent &own) {
    index_t n = 0;
    for (Class c : {r1, r2, b1}) n += PartialSum<Host>::parts(own.nodes_of(c));
    return n;
  }
  template <bool Couple, class T>
  void up(const Host &, const DistributedGrid<Host, T> &g, const BoxSolution &to, Scaling scaling) const {
    BoxRows<T>(g, scratch_).template up<Couple>(to, scaling);
  }
  template <class T>
  void up(const Host &on, const DistributedGrid<Host, T> &g, const BoxSolution &to, const Split &kept,
          PartialSum<Host> &energy) const {
    energy.add(on, g.extent.nodes_of(b2), TimesNode<Split, Dense>{kept, g.solution_b2()});
    up<true>(on, g, to, Scaling::full);
  }
  void take(const Host &, const Extent &own, const Quad<Dense> &to, const double *r, const double *v) const {
    const Side &x = own.x;
    const index_t n = x.hi - x.lo;
    for (index_t b = own.y.lo; b < own.y.hi && n > 0; ++b) {
      const index_t row = (b - own.y.lo) * n;
      const RowPair pair = row_of(to, b);
      split_row(r + row, x, pair);
      if (!v) continue;
      for (index_t a = x.lo; a < x.hi; ++a) (a & 1 ? pair.odd : pair.even)[half_down(a)] *= v[row + a - x.lo];
    }
  }
  std::size_t bytes() const { return scratch_.bytes(); }

private:
  RowScratch scratch_;
};

} // namespace petscrrb::rrb
