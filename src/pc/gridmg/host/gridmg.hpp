// What multigrid has of its own on the host.
#pragma once

#include "dense/host/profile.hpp"
#include "exec/host/host.hpp"
#include "pc/gridmg/core/coarsest.hpp"
#include "pc/gridmg/core/gridmg.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::gridmg {

// Row by row, then in order: the same bits for any number of threads.
template <> class Strength<Host> {
public:
  void start(const Host &, const Matrix &A, const Shape &x, int grid) {
    const index_t rows = x.n[1] * x.n[2];
    std::vector<Strengths> of(rows);
#pragma omp parallel for schedule(static) if (x.points() > host::serial_below)
    for (index_t row = 0; row < rows; ++row)
      for (index_t i = 0; i < x.n[0]; ++i) {
        const Point p{{i, row % x.n[1], row / x.n[1]}};
        of[row].add_point(A, p);
      }
    Strengths all;
    for (const Strengths &s : of) all.add(s.numbers().n);
    std::copy_n(all.numbers().n, Strengths::count, numbers_ + grid * Strengths::count);
  }
  const double *read(const Host &) const { return numbers_; }

private:
  double numbers_[most_strengths * Strengths::count] = {};
};

// Lines along y and z take each step for a whole row.
template <class T> struct ZebraLines<Host, T> {
  Smoothed<T> g;
  Field<T> inverse, b, x; // inverse: pivots, of direction q
  Shape shape;
  PartOfLines part;

  template <int q> void relax(const Host &, index_t colour) const {
    if constexpr (q == 0)
      along_x(colour);
    else
      along_rows<q>(colour);
  }

private:
  void along_x(index_t colour) const {
    const index_t rows = shape.n[1] * shape.n[2];
#pragma omp parallel for schedule(static) if (shape.points() > host::serial_below)
    for (index_t row = 0; row < rows; ++row) {
      const index_t j = row % shape.n[1], k = row / shape.n[1];
      if ((j + k + colour) & 1) continue;
      if (part.forward) forward(j, k);
      if (part.backward) backward(j, k);
    }
  }
  void forward(index_t j, index_t k) const {
    const index_t n = shape.n[0];
    const T around = part.last ? g.w[0](n - 1, j, k) * x(n, j, k) : T(0);
    T carried = g.w[0](-1, j, k) * x(-1, j, k);
    for (index_t i = 0; i < n; ++i) {
      const T pivot = inverse(i, j, k);
      T sum = b(i, j, k) + neighbours<T, 0>(g, x, i & 1, j, k, i >> 1) + carried;
      if (i == n - 1) sum += around;
      const T value = line_value(sum, pivot, g.dinv(i, j, k), x(i, j, k));
      x(i, j, k) = value;
      carried = g.w[0](i, j, k) * pivot * value;
    }
  }
  void backward(index_t j, index_t k) const {
    const index_t n = shape.n[0];
    T next = part.last ? T(0) : x(n, j, k);
    for (index_t i = n; i-- > 0;) {
      const T pivot = inverse(i, j, k), w = i == n - 1 && part.last ? T(0) : g.w[0](i, j, k);
      next = pivot != T(0) ? (x(i, j, k) + w * next) * pivot : x(i, j, k);
      x(i, j, k) = next;
    }
  }

  template <int q> void along_rows(index_t colour) const {
    const index_t n = shape.n[q], lines = shape.n[3 - q], nh = (shape.n[0] + 1) / 2;
#pragma omp parallel for schedule(static) if (shape.points() > host::serial_below)
    for (index_t other = 0; other < lines; ++other) {
      const index_t parity = (colour + other) & 1;
      const auto row = [&](const Field<T> &f, index_t i) { return f.template row_along<q>(parity, i, other); };
      for (index_t i = 0; part.forward && i < n; ++i) {
        const T *w = row(g.w[q], i), *w_before = row(g.w[q], i - 1), *p = i ? row(inverse, i - 1) : nullptr;
        const T *before = row(x, i - 1), *after = row(x, i + 1), *rhs = row(b, i);
        const T *pivot = row(inverse, i), *dinv = row(g.dinv, i);
        T *here = row(x, i);
        const index_t j = q == 1 ? i : other, k = q == 1 ? other : i;
        const bool last = i == n - 1 && part.last;
#pragma omp simd
        for (index_t h = 0; h < nh; ++h) {
          T value = rhs[h] + neighbours<T, q>(g, x, parity, j, k, h) + w_before[h] * before[h] * (p ? p[h] : T(1));
          if (last) value += w[h] * after[h];
          here[h] = line_value(value, pivot[h], dinv[h], here[h]);
        }
      }
      for (index_t i = part.backward ? n : 0; i-- > 0;) {
        const T *w = row(g.w[q], i), *p = row(inverse, i), *after = row(x, i + 1);
        T *here = row(x, i);
        const bool last = i == n - 1 && part.last;
#pragma omp simd
        for (index_t h = 0; h < nh; ++h)
          here[h] = p[h] != T(0) ? (here[h] + (last ? T(0) : w[h] * after[h])) * p[h] : here[h];
      }
    }
  }
};

template <> class CoarsestInverse<Host> {
public:
  static constexpr index_t most = 20000; // its factor takes some 100 MB then

  void refresh(const Host &, const Shape &x, const Matrix &A, double null_inverse) {
    if (x.n != shape_.n) {
      CoarsestRows rows(x);
      inverse_.setup(rows.ia, rows.ja, dense::Inverse::cholesky);
      vector_.resize(x.points());
      ia_ = std::move(rows.ia), ja_ = std::move(rows.ja);
      values_.resize(ja_.size() + vector_.size());
      shape_ = x;
    }
    double *excess = values_.data() + ja_.size();
    const TakeRow take{A, {x.n[0], x.n[1], x.n[2]}, ia_.data(), ja_.data(), values_.data(), excess};
    for (int i = 0; i < int(vector_.size()); ++i) take(i);
    failed_ = inverse_.refresh(values_.data(), excess, null_inverse).unknown >= 0;
  }
  bool enqueues() const { return false; }
  void finish(const Host &, bool &failed, int &null_directions) const {
    failed = failed_, null_directions = inverse_.null_directions();
  }
  // x = from times the inverse times b
  template <class T> void solve(const Host &on, const Field<T> &b, const Field<T> &x, double from) {
    const Range3 points = shape_.all();
    on.for_each_point(points, Store<T>{b, vector_.data(), nullptr, 1.0, points.n[0], points.n[1]});
    inverse_.apply(vector_.data());
    on.for_each_point(points, Load<T>{vector_.data(), x, nullptr, from, points.n[0], points.n[1]});
  }
  double bytes() const {
    return inverse_.bytes() + double((vector_.size() + values_.size()) * sizeof(double)) +
           double((ia_.size() + ja_.size()) * sizeof(int));
  }

private:
  Shape shape_;
  std::vector<int> ia_, ja_;
  std::vector<double> values_, vector_; // values_: with the excesses behind them
  dense::ProfileInverse inverse_;
  bool failed_ = false;
};

template <> class FindScales<Host> {
public:
  explicit FindScales(const Host &) {}
  const Scales *operator()(const Host &on, const double *r, index_t n) { return put(on, largest(on, r, n)); }
  const Scales *put(const Host &, double largest) {
    scales_ = Scales::of(largest);
    return &scales_;
  }
  double largest(const Host &, const double *r, index_t n) const {
    double most = 0.0;
#pragma omp parallel for simd schedule(static) reduction(max : most) if (n > host::serial_below)
    for (index_t i = 0; i < n; ++i) most = std::max(most, std::fabs(r[i]));
    return most;
  }

private:
  Scales scales_;
};

template <> class Repeated<Host> {
public:
  template <class Work> void operator()(const Host &, const Work &work) { work(); }
  void reset() {}
};

// in gridmg.cxx
extern template class Hierarchy<Host, float>;
extern template class Hierarchy<Host, double>;
extern template class Multigrid<Host, float>;
extern template class Multigrid<Host, double>;
extern template class GridMGOn<Host, float>;
extern template class GridMGOn<Host, double>;

} // namespace petscrrb::gridmg
