// An iteration's loops over the finest grid on the host: each one pass over memory, row by row. Sums are taken row by row
// and added in order: the same bits for any number of threads.
#pragma once

#include "exec/host/sums.hpp"
#include "ksp/rrb/core/schur_cg.hpp"
#include "pc/rrb/host/rows.hpp"

namespace petscrrb::rrbsolver {

template <> class SchurLoops<Host> {
public:
  explicit SchurLoops(const BlackLevel &level)
      : stored_(stored(level)), scratch_(stored_.x), halo_(level.extent),
        sums_(3 * (level.layout.rows + 2 * level.around)) {}

  void eliminate_red(const Host &on, const SchurVectors<Host> &x, const double *r0, Norm norm) const {
    const Extent &extent = x.level.extent;
    const auto f = x.s1.red.get(Inner{});
    const auto to_black = [&](const auto &inner, const auto &edge) { // inner: r where all neighbours are there
      const auto at_b1 = [&](const auto &r) { return ForwardB1{f, r, x.r[b1]}; };
      const auto at_b2 = [&](const auto &r) { return ForwardB2{f, r, x.r[b1], x.r[b2], false}; };
      on.for_each(extent.nodes_of(b1), extent.interior_of(b1, 1), at_b1(inner), at_b1(edge));
      on.for_each(extent.nodes_of(b2), extent.interior_of(b2, 1), at_b2(inner), at_b2(edge));
    };
    const auto r = [&](auto w) {
      return times(natural(extent, r0).get(w), natural(extent, x.v).get(w), x.v != nullptr);
    };
    const auto sum = [&](std::size_t slot, Class c, const auto &of) {
      x.scalars.sum(on, slot, extent.nodes_of(c), of);
    };
    if (x.level.around)
      to_black(x.r0, x.r0);
    else
      to_black(r(Inner{}), r(Edge{}));
    if (norm == Norm::natural)
      x.level.with_factor([&](const auto &factor) {
        for (Class c : {r1, r2}) sum(c == r1 ? energy_r1 : energy_r2, c, RedEnergy{r(Inner{})[c], factor.dinv.q[c]});
      });
    if (norm == Norm::unpreconditioned)
      for (Class c : {r1, r2, b1, b2}) sum(squares_of(c), c, Square{natural(extent, r0).get(Inner{})[c]});
  }
  void correct(const Host &on, const SchurVectors<Host> &x, const double *a, const double *r0, double *to,
               bool add) const {
    const Extent &extent = x.level.extent, around = widened(extent, x.level.around ? 1 : 0);
    for (Class c : {b1, b2})
      on.for_each(around.nodes_of(c), CopyNode{Correction<Dense>{x.delta[c], x.p[c], a}, x.q[c]});
    if (!x.level.around) halo_.exchange(on, {b1, b2}, {x.q[b1], x.q[b2]});
    const auto out = natural(extent, to).get(Inner{});
    const auto v = natural(extent, x.v).get(Inner{});
    const auto r = times(natural(extent, r0).get(Inner{}), v, x.v != nullptr);
    const auto f = x.s1.red.get(Inner{});
    using F = std::decay_t<decltype(f)>;
    using R = std::decay_t<decltype(r[r1])>;
    const auto write = [&](Class c, const auto &delta) {
      const Times value{delta, v[c], x.v != nullptr};
      on.for_each(extent.nodes_of(c), AddCorrection{value, out[c], add});
    };
    write(b1, x.q[b1]), write(b2, x.q[b2]);
    write(r1, RedCorrection<r1, R, F>{f, r[r1], x.q}), write(r2, RedCorrection<r2, R, F>{f, r[r2], x.q});
  }

  void direction(const Host &on, const SchurVectors<Host> &x) const {
    const Chunks chunks(stored_, scratch_);
    const double a = *x.scalars.at(alpha), b = *x.scalars.at(beta);
    const bool first = *x.scalars.at(steps) == 0.0;
    const auto update = [&](Class of, index_t k, const double *z) {
      next(chunks.nodes(of), z, row(x.p[of], k), row(x.delta[of], k), a, b, first);
    };
    x.level.with_factor([&](const auto &factor) {
      chunks.run([](const auto &) {},
                 [&](const auto &c) {
                   chunks.clear(c.scratch(zero));
                   double *here = solution_row(chunks, c, x, c.k0, 0);
                   for (index_t k = c.k0; k < c.k1; ++k) {
                     double *above =
                         solution_row(chunks, c, x, x.level.around ? k + 1 : chunks.above(k), 1 + (k - c.k0) % 2);
                     if (chunks.owns(b1, k) && !x.eisenstat) {
                       const Rows z{{nullptr, here, above}}, out{{nullptr, c.scratch(z_b1), nullptr}};
                       const Rows r{{nullptr, row(x.r[b1], k), nullptr}};
                       along(chunks.nodes(b1), BackwardB1{factor_from_row<true>(factor, k), r, z, out, Scaling::full});
                     }
                     if (chunks.owns(b1, k)) update(b1, k, x.eisenstat ? row(x.r[b1], k) : c.scratch(z_b1));
                     if (chunks.owns(b2, k)) update(b2, k, here);
                     here = above;
                   }
                 });
    });
    if (!x.level.around) halo_.exchange(on, {b1, b2}, {x.p[b1], x.p[b2]});
  }

  void product(const Host &, const SchurVectors<Host> &x) const {
    const Chunks chunks(x.level.extent, scratch_);
    const SchurProduct s1{x.s1.s, x.p};
    chunks.run([](const auto &) {},
               [&](const auto &c) {
                 if (x.eisenstat) return eisenstat_chunk(chunks, c, x);
                 for (index_t k = c.k0; k < c.k1; ++k) {
                   double *sum = row_sums(chunks, k);
                   sum[0] = !chunks.owns(b1, k) ? 0.0 : sum_along_row(chunks.nodes(b1), [&](index_t h) {
                     return x.p[b1](h, k) * (x.q[b1].at(h, k) = s1.at_b1(h, k));
                   });
                   sum[1] = !chunks.owns(b2, k) ? 0.0 : sum_along_row(chunks.nodes(b2), [&](index_t h) {
                     return x.p[b2](h, k) * (x.q[b2].at(h, k) = s1.at_b2(h, k));
                   });
                 }
               });
    add_up(x, chunks, {curvature_b1, curvature_b2});
  }
  Sums product_sums(const SchurVectors<Host> &x) const {
    return sums_of_ranks(x.scalars, {curvature_b1, curvature_b2});
  }
  void product_added(const Host &, const SchurVectors<Host> &x) const { AfterProduct{x.scalars.data()}(0, 0); }
  Sums residual_sums(const SchurVectors<Host> &x, Norm norm, bool start) const {
    if (norm == Norm::natural && start) return sums_of_ranks(x.scalars, {energy_r1, energy_r2, energy_b1});
    if (norm != Norm::unpreconditioned) return sums_of_ranks(x.scalars, {energy_b1});
    if (!start) return sums_of_ranks(x.scalars, {energy_b1, squares_b1, squares_b2});
    return sums_of_ranks(x.scalars, {energy_b1, squares_b1, squares_b2, squares_r1, squares_r2});
  }

  // r of b1 is updated in place; the row that a chunk shares with the one below is computed once more.
  void residual(const Host &, const SchurVectors<Host> &x, bool start, Norm norm) const {
    const Chunks chunks(stored_, scratch_);
    const double a = start ? 0.0 : *x.scalars.at(alpha);
    x.level.with_factor([&](const auto &factor) {
      chunks.run([&](const auto &c) { share_row(chunks, c, x, a, start); },
                 [&](const auto &c) { residual_chunk(chunks, c, factor, x, a, start, norm); });
    });
    if (norm == Norm::unpreconditioned)
      add_up(x, chunks, {energy_b1, squares_b1, squares_b2});
    else
      add_up(x, chunks, {energy_b1});
  }
  const Dense &r_b1(const SchurVectors<Host> &x) const { return x.r[b1]; }
  std::size_t bytes() const { return scratch_.bytes() + sums_.bytes(); }

private:
  // scratch rows
  static constexpr int z_b1 = 3, below = 4, y_b2 = 5, w_p = 2, whole = 5, t_b1 = 8, zero = 11;

  // The box, and what is kept around it, which then goes around no ring.
  static Extent stored(const BlackLevel &level) {
    Extent x = widened(level.extent, level.around);
    if (level.around) x.x.periodic = x.y.periodic = false;
    return x;
  }
  static double *row(const Dense &a, index_t k) { return &a.at(0, k); }
  // r of every class, scaled by v, if there is one
  template <class R, class V> static Quad<Times<R, V>> times(const Quad<R> &r, const Quad<V> &v, bool scaled) {
    return {{{r[r1], v[r1], scaled}, {r[r2], v[r2], scaled}, {r[b1], v[b1], scaled}, {r[b2], v[b2], scaled}}};
  }

  template <class F> static void along(Range2 nodes, const F &f) {
#pragma omp simd
    for (index_t h = nodes.h0; h < nodes.h1; ++h) f(h, 0);
  }
  static void next(Range2 nodes, const double *z, double *p, double *delta, double alpha, double beta, bool first) {
    if (first) {
#pragma omp simd
      for (index_t h = nodes.h0; h < nodes.h1; ++h) delta[h] = 0.0, p[h] = z[h];
      return;
    }
#pragma omp simd
    for (index_t h = nodes.h0; h < nodes.h1; ++h) {
      const double before = p[h];
      delta[h] += alpha * before;
      p[h] = z[h] + beta * before;
    }
  }

  // z of b2 with its border, in scratch row `to`; on several ranks it has its border where it is
  static double *solution_row(const Chunks &chunks, const Chunks::Chunk &c, const SchurVectors<Host> &x, index_t k,
                              int to) {
    if (x.level.around) return &x.level.solution.natural.at(0, k);
    if (k == Chunks::none || !chunks.owns(b2, k)) return c.scratch(zero);
    NextRows{x.level.solution}.load(c.scratch(to), k);
    chunks.border(b2, c.scratch(to));
    return c.scratch(to);
  }

  // q of Eisenstat's form. t = u - W p^ at b1, where W p^ is what level 2 of the backward sweep adds to p~, and u the product of that sum
  // with what of b1's rows the preconditioner has not.
  void eisenstat_chunk(const Chunks &chunks, const Chunks::Chunk &c, const SchurVectors<Host> &x) const {
    const SchurViews<Dense> &s = x.s1.s;
    const SchurProduct s1{s, x.p};
    const Range2 at_b1 = chunks.nodes(b1), at_b2 = chunks.nodes(b2);
    const auto slot = [&](int first, index_t k) { return c.scratch(first + int((k % 3 + 3) % 3)); };
    const auto add_w_p = [&](index_t k) {
      double *wp = slot(w_p, k), *v = slot(whole, k);
      chunks.clear(wp), chunks.clear(v);
      if (!chunks.owns(b1, k)) return;
      const Dense &p1 = x.p[b1], &p2 = x.p[b2];
#pragma omp simd
      for (index_t h = at_b1.h0; h < at_b1.h1; ++h) {
        wp[h] = s.skew[SW](h, k) * p2(h, k) + s.skew[SE](h, k) * p2(h + 1, k) + s.skew[NW](h, k) * p2(h, k + 1) +
                s.skew[NE](h, k) * p2(h + 1, k + 1);
        v[h] = p1(h, k) + wp[h];
      }
    };
    const auto t_row = [&](index_t k, bool own) {
      double *t = slot(t_b1, k), sum = 0.0;
      chunks.clear(t);
      if (!chunks.owns(b1, k)) return sum;
      const double *wp = slot(w_p, k), *below = slot(whole, k - 1), *v = slot(whole, k), *above = slot(whole, k + 1);
      const Dense &p = x.p[b1], &q = x.q[b1], &e = s.E[b1], &n = s.N[b1];
      const auto u = [&](index_t h) {
        return s.X[b1](h, k) * v[h] - (e(h, k) * v[h + 1] + e(h - 1, k) * v[h - 1]) -
               (n(h, k) * above[h] + n(h, k - 1) * below[h]);
      };
      if (own)
        return sum_along_row(at_b1, [&](index_t h) {
          const double value = u(h);
          t[h] = value - wp[h];
          return p(h, k) * (q.at(h, k) = p(h, k) + value);
        });
#pragma omp simd
      for (index_t h = at_b1.h0; h < at_b1.h1; ++h) t[h] = u(h) - wp[h];
      return sum;
    };
    for (index_t k = c.k0 - 2; k <= c.k0; ++k) add_w_p(k);
    t_row(c.k0 - 1, false);
    for (index_t k = c.k0; k < c.k1; ++k) {
      double *sum = row_sums(chunks, k);
      add_w_p(k + 1);
      sum[0] = t_row(k, true), sum[1] = 0.0;
      if (!chunks.owns(b2, k)) continue;
      const double *t = slot(t_b1, k), *below = slot(t_b1, k - 1);
      const Dense &p = x.p[b2], &q = x.q[b2];
      sum[1] = sum_along_row(at_b2, [&](index_t h) {
        q.at(h, k) = s1.straight(b2, h, k) + (s.skew[SW](h, k) * t[h] + s.skew[SE](h - 1, k) * t[h - 1]) +
                     (s.skew[NW](h, k - 1) * below[h] + s.skew[NE](h - 1, k - 1) * below[h - 1]);
        return p(h, k) * q(h, k);
      });
    }
  }

  static void share_row(const Chunks &chunks, const Chunks::Chunk &c, const SchurVectors<Host> &x, double a,
                        bool start) {
    const index_t k = chunks.below(c.k0);
    double *out = c.scratch(below);
    if (k == Chunks::none || !chunks.owns(b1, k)) return chunks.clear(out);
    const double *r = row(x.r[b1], k), *q = row(x.q[b1], k);
    for (index_t h = chunks.nodes(b1).h0; h < chunks.nodes(b1).h1; ++h) out[h] = start ? r[h] : r[h] - a * q[h];
    chunks.border(b1, out);
  }

  template <class Factor>
  void residual_chunk(const Chunks &chunks, const Chunks::Chunk &c, const Factor &factor, const SchurVectors<Host> &x,
                      double a, bool start, Norm norm) const {
    const NextRows next{x.level.right_hand_side};
    const Range2 own[] = {{}, {}, x.level.extent.nodes_of(b1), x.level.extent.nodes_of(b2)};
    const auto owns = [&](Class b, index_t k) { return own[b].size() && k >= own[b].k0 && k < own[b].k1; };
    const SchurViews<Dense> &s = x.s1.s;
    // r(h): the residual
    const auto squares = [&](Class b, index_t k, const auto &r) {
      return norm == Norm::unpreconditioned ? sum_squares(own[b], x, b, k, r) : 0.0;
    };
    double *b1_below = c.scratch(below);
    chunks.clear(c.scratch(zero));
    for (index_t k = c.k0; k < c.k1; ++k) {
      double *sum = row_sums(chunks, k), *b1_here = c.scratch(zero);
      sum[0] = sum[1] = sum[2] = 0.0;
      if (chunks.owns(b1, k)) {
        b1_here = row(x.r[b1], k);
        if (!start) subtract(chunks.nodes(b1), b1_here, a, row(x.q[b1], k));
        chunks.border(b1, b1_here);
      }
      if (owns(b1, k)) {
        const auto *dinv = &factor.dinv.q[b1].at(0, k);
        if (x.eisenstat) {
          sum[0] = sum_along_row(own[b1], [&](index_t h) { return b1_here[h] * b1_here[h]; });
          sum[1] = squares(b1, k, [&](index_t h) { return b1_here[h] / std::sqrt(double(dinv[h])); });
        } else {
          sum[0] = sum_along_row(own[b1], [&](index_t h) { return b1_here[h] * b1_here[h] * double(dinv[h]); });
          sum[1] = squares(b1, k, [&](index_t h) { return b1_here[h]; });
        }
      }
      if (owns(b2, k)) {
        double *b2_here = row(x.r[b2], k);
        if (!start) subtract(own[b2], b2_here, a, row(x.q[b2], k));
        if (x.eisenstat) {
          sum[2] = squares(b2, k, [&](index_t h) {
            return b2_here[h] - (s.skew[SW](h, k) * b1_here[h] + s.skew[SE](h - 1, k) * b1_here[h - 1] +
                                 s.skew[NW](h, k - 1) * b1_below[h] + s.skew[NE](h - 1, k - 1) * b1_below[h - 1]);
          });
          next.store(b2_here, k);
        } else {
          sum[2] = squares(b2, k, [&](index_t h) { return b2_here[h]; });
          const Rows r1{{b1_below, b1_here, nullptr}}, r2{{nullptr, b2_here, nullptr}},
              y{{nullptr, c.scratch(y_b2), nullptr}};
          along(own[b2], ForwardSkew{factor_from_row<true>(factor, k), r1, r2, y});
          next.store(c.scratch(y_b2), k);
        }
      }
      b1_below = b1_here;
    }
  }
  // of r, which is V times the matrix's own residual
  template <class R>
  static double sum_squares(Range2 nodes, const SchurVectors<Host> &x, Class c, index_t k, const R &r) {
    if (!x.v) return sum_along_row(nodes, [&](index_t h) { return r(h) * r(h); });
    const Side &along_x = x.level.extent.x;
    const double *v = x.v + (2 * k + parity_y(c) - x.level.extent.y.lo) * (along_x.hi - along_x.lo);
    return sum_along_row(nodes, [&](index_t h) {
      const double value = r(h) / v[2 * h + parity_x(c) - along_x.lo];
      return value * value;
    });
  }
  static void subtract(Range2 nodes, double *r, double a, const double *q) {
#pragma omp simd
    for (index_t h = nodes.h0; h < nodes.h1; ++h) r[h] -= a * q[h];
  }

  double *row_sums(const Chunks &chunks, index_t k) const { return sums_.data() + 3 * (k - chunks.first()); }
  void add_up(const SchurVectors<Host> &x, const Chunks &chunks, std::initializer_list<Slot> slots) const {
    int i = 0;
    for (const Slot slot : slots) {
      double total = 0.0;
      for (index_t k = i++; k < 3 * chunks.rows(); k += 3) total += sums_.data()[k];
      x.scalars.data()[slot] = total;
    }
  }

  Extent stored_;
  RowScratch scratch_;
  Halo<Host> halo_;
  host::Buffer<double> sums_; // three a row
};

} // namespace petscrrb::rrbsolver
