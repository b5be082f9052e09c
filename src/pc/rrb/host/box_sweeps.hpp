// The host's sweeps of one grid on a rank's box: two levels in one pass over memory, row by row, by the point operations
// of sweep.hpp. What is around the box is in the arrays' borders. As sweeps.hpp does it on one rank.
#pragma once

#include "pc/rrb/core/amli.hpp"
#include "pc/rrb/ranks/box_sweeps.hpp"
#include "pc/rrb/host/rows.hpp"

namespace petscrrb::rrb {

template <class T> class BoxRows {
public:
  // shared: a row of each thread; out: likewise
  struct Scratch {
    double *shared, *out;
  };

  explicit BoxRows(const BoxGrid<T> &grid)
      : g_(grid), around_(widened(grid.own, 1).nodes_of(b1)), b2_(grid.own.nodes_of(b2)), r1_(grid.own.nodes_of(r1)),
        r2_(grid.own.nodes_of(r2)), fetch_(grid.own.nodes() > fetch_above) {
    k0_ = k1_ = 0;
    if (grid.own.empty()) return;
    k0_ = std::min(around_.size() ? around_.k0 : b2_.k0, half_down(grid.own.y.lo));
    k1_ = std::max(around_.size() ? around_.k1 : b2_.k1, half_down(grid.own.y.hi - 1) + 1);
  }
  index_t rows() const { return k1_ - k0_; }

  // The row of b1 below a chunk, before the thread that owns it overwrites it, and then the chunk: k0 and k1 count from 0.
  void down_below(index_t k0, const Scratch &s) const {
    if (k0 > 0 && has_b1(k0_ + k0 - 1)) forward_b1(k0_ + k0 - 1, s.shared);
  }
  void down(index_t k0, index_t k1, const Scratch &s, const NextRows &next) const {
    for (index_t k = k0_ + k0; k < k0_ + k1; ++k) {
      if (has_b1(k)) forward_b1(k, &g_.x[b1].at(0, k));
      if (k < b2_.k0 || k >= b2_.k1) continue;
      forward_b2(k, b1_below(k, k0, s), s.out);
      next.store(s.out, k);
    }
  }

  template <bool Couple> void up_below(index_t k0, const Scratch &s, Scaling scaling) const {
    if (k0 > 0 && has_b1(k0_ + k0 - 1)) backward_b1<Couple>(k0_ + k0 - 1, s.shared, scaling);
  }
  template <bool Couple>
  void up(index_t k0, index_t k1, const Scratch &s, const BoxSolution &to, Scaling scaling) const {
    for (index_t k = k0_ + k0; k < k0_ + k1; ++k) {
      if (has_b1(k)) backward_b1<Couple>(k, &g_.x[b1].at(0, k), scaling);
      backward_red<Couple>(k, b1_below(k, k0, s), scaling);
      store(k, to);
    }
  }

  // Rows of the vector from natural order.
  void take(const NaturalVectors &natural) const {
    const Side &x = g_.own.x;
    const index_t n = x.hi - x.lo;
    for (index_t b = g_.own.y.lo; b < g_.own.y.hi && n > 0; ++b) {
      const index_t k = half_down(b), row = (b - g_.own.y.lo) * n;
      double *even = &g_.x[b & 1 ? r2 : b2].at(0, k), *odd = &g_.x[b & 1 ? b1 : r1].at(0, k);
      split_row(natural.r + row, x, even, odd);
      if (!natural.v_r) continue;
      for (index_t a = x.lo; a < x.hi; ++a) (a & 1 ? odd : even)[half_down(a)] *= natural.v_r[row + a - x.lo];
    }
  }

private:
  static constexpr index_t fetch_above = 400000; // as in sweeps.hpp

  bool has_b1(index_t k) const { return around_.size() && k >= around_.k0 && k < around_.k1; }
  double *b1_below(index_t k, index_t chunk, const Scratch &s) const {
    return k == k0_ + chunk && chunk > 0 && has_b1(k - 1) ? s.shared : &g_.x[b1].at(0, k - 1);
  }
  Quad<Dense> from(index_t k) const {
    return {{from_row(g_.x[r1], k), from_row(g_.x[r2], k), from_row(g_.x[b1], k), from_row(g_.x[b2], k)}};
  }
  // rows of the factor, for what is fetched ahead
  const T *w(int i, Class c, index_t k) const { return &g_.factor.w[i].q[c].at(0, k); }
  const T *dinv(Class c, index_t k) const { return &g_.factor.dinv.q[c].at(0, k); }

  void forward_b1(index_t k, double *out) const {
    const auto f = factor_from_row<true>(g_.factor, k);
    const T *const next[] = {w(E, r2, k + 1), w(W, r2, k + 1), w(N, r1, k + 1), w(S, r1, k + 2)};
    along_row(around_, ForwardB1{f, from(k), Rows{{nullptr, out, nullptr}}}, next, fetch_);
  }
  void forward_b2(index_t k, double *below, double *out) const {
    const auto f = factor_from_row<true>(g_.factor, k);
    const T *const next[] = {w(W, r1, k + 1),  w(E, r1, k + 1),  w(S, r2, k + 1), w(N, r2, k),
                             w(SW, b1, k + 1), w(SE, b1, k + 1), w(NW, b1, k),    w(NE, b1, k)};
    const Rows b{{below, &g_.x[b1].at(0, k), nullptr}};
    along_row(b2_, ForwardB2{f, from(k), b, Rows{{nullptr, out, nullptr}}, true}, next, fetch_);
  }

  template <bool Couple> void backward_b1(index_t k, double *out, Scaling scaling) const {
    const auto f = factor_from_row<Couple>(g_.factor, k);
    const Quad<Dense> x = from(k);
    const T *const next[] = {w(0, b1, k + 1), w(1, b1, k + 1), w(2, b1, k + 1), w(3, b1, k + 1), dinv(b1, k + 1)};
    along_row(around_, BackwardB1{f, x[b1], x[b2], Rows{{nullptr, out, nullptr}}, scaling}, next, fetch_);
  }
  template <bool Couple> void backward_red(index_t k, double *below, Scaling scaling) const {
    const auto f = factor_from_row<Couple>(g_.factor, k);
    const Quad<Dense> x = from(k);
    const Rows z1{{below, &g_.x[b1].at(0, k), nullptr}};
    if (r1_.size() && k >= r1_.k0 && k < r1_.k1) {
      const T *const next[] = {w(0, r1, k + 1), w(1, r1, k + 1), w(2, r1, k + 1), w(3, r1, k + 1), dinv(r1, k + 1)};
      along_row(r1_, BackwardR1{f, x[r1], z1, x[b2], x[r1], scaling}, next, fetch_);
    }
    if (r2_.size() && k >= r2_.k0 && k < r2_.k1) {
      const T *const next[] = {w(0, r2, k + 1), w(1, r2, k + 1), w(2, r2, k + 1), w(3, r2, k + 1), dinv(r2, k + 1)};
      along_row(r2_, BackwardR2{f, x[r2], z1, x[b2], x[r2], scaling}, next, fetch_);
    }
  }

  void store(index_t k, const BoxSolution &to) const {
    const Side &x = g_.own.x, &y = g_.own.y;
    for (const index_t b : {2 * k, 2 * k + 1}) {
      if (b < y.lo || b >= y.hi) continue;
      double *row = &to.z.at(x.lo, b);
      merge_row(row, x, &g_.x[b & 1 ? r2 : b2].at(0, k), &g_.x[b & 1 ? b1 : r1].at(0, k));
      if (to.v.p) scale_row(row, &to.v.at(x.lo, b), x.hi - x.lo);
    }
  }

  const BoxGrid<T> &g_;
  Range2 around_, b2_, r1_, r2_; // b1 around the box, too, then own nodes
  index_t k0_, k1_;              // rows with nodes of any of them
  bool fetch_;                   // the factor does not fit in cache
};

template <> class BoxSweeps<Host> {
public:
  explicit BoxSweeps(const Extent &finest) : columns_(half_up(finest.x.hi - finest.x.lo) + 2 * margin) {
#if defined(_OPENMP)
    threads_ = omp_get_max_threads();
#endif
    scratch_.resize(std::size_t(2 * threads_) * columns_);
  }

  // x has the right-hand side at own nodes; what goes on goes to `next`. Where there are no couplings, it moves only.
  // energy: NULL, or what own red nodes add to y^T M^-1 y is added to it.
  template <bool Couple, class T>
  void down(const Host &on, const BoxGrid<T> &g, const NextGrid &next, PartialSum<Host> *energy) const {
    const BoxRows<T> rows(g);
    if constexpr (Couple)
      in_chunks(
          g, rows.rows(), [&](index_t k0, const auto &s) { rows.down_below(k0, s); },
          [&](index_t k0, index_t k1, const auto &s) { rows.down(k0, k1, s, NextRows{next}); });
    else
      for (index_t k = g.own.nodes_of(b2).k0; k < g.own.nodes_of(b2).k1 && g.own.nodes_of(b2).size(); ++k)
        NextRows{next}.store(&g.x[b2].at(0, k), k);
    for (Class c : {r1, r2, b1})
      if (energy) energy->add(on, g.own.nodes_of(c), RedEnergy<Dense, DenseOf<T>>{g.x[c], g.factor.dinv.q[c]});
  }
  // of the energy's sum, at most: on the way up, and on the way down
  static index_t kept_parts(const Extent &own) { return PartialSum<Host>::parts(own.nodes_of(b2)); }
  static index_t parts(const Extent &own) {
    index_t n = 0;
    for (Class c : {r1, r2, b1}) n += PartialSum<Host>::parts(own.nodes_of(c));
    return n;
  }
  // x has the solution at b2, own and around. x is lost.
  template <bool Couple, class T>
  void up(const Host &, const BoxGrid<T> &g, const BoxSolution &to, Scaling scaling) const {
    const BoxRows<T> rows(g);
    in_chunks(
        g, rows.rows(), [&](index_t k0, const auto &s) { rows.template up_below<Couple>(k0, s, scaling); },
        [&](index_t k0, index_t k1, const auto &s) { rows.template up<Couple>(k0, k1, s, to, scaling); });
  }
  // The same with couplings, which adds the terms of kept times the solution, on the next grid.
  template <class T>
  void up(const Host &on, const BoxGrid<T> &g, const BoxSolution &to, const Split &kept,
          PartialSum<Host> &energy) const {
    energy.add(on, g.own.nodes_of(b2), TimesNode<Split, Dense>{kept, g.x[b2]});
    up<true>(on, g, to, Scaling::full);
  }
  template <class T> void take(const Host &, const BoxGrid<T> &g, const NaturalVectors &natural) const {
    BoxRows<T>(g).take(natural);
  }
  std::size_t bytes() const { return scratch_.bytes(); }

private:
  static constexpr index_t margin = 8;

  // main(k0, k1) for all rows, once before(k0) has been done for all chunks
  template <class T, class Before, class Main>
  void in_chunks(const BoxGrid<T> &g, index_t rows, const Before &before, const Main &main) const {
    if (rows <= 0) return;
    const int threads = g.own.nodes() > 4 * host::serial_below ? int(std::min<index_t>(threads_, rows)) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      int me = 0, all = 1;
#if defined(_OPENMP)
      me = omp_get_thread_num(), all = omp_get_num_threads();
#endif
      double *row = scratch_.data() + std::size_t(2 * me) * columns_ + margin - half_down(g.own.x.lo);
      const typename BoxRows<T>::Scratch s{row, row + columns_};
      const index_t k0 = rows * me / all, k1 = rows * (me + 1) / all;
      before(k0, s);
#pragma omp barrier
      main(k0, k1, s);
    }
  }

  index_t columns_;
  int threads_ = 1;
  host::Buffer<double> scratch_;
};

} // namespace petscrrb::rrb
