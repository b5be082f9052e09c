// What sweeps on a device do at a point: forward, backward, and the factorization.
#pragma once

#include "pc/mic/cuda/wavefront.cuh"

namespace petscrrb::mic::device {

// What they have in common: the values that a step takes, of the factor w, 1/d or both, and one of u, if any.
template <class Real, class Shape, bool with_w, bool with_inverse, bool with_u, bool back> class Work {
  using Layout = Chunk<Shape>;
  using Pair = std::conditional_t<sizeof(Real) == sizeof(double), double2, float2>;
  static constexpr int from = with_w ? 0 : Layout::inverse, to = with_inverse ? Layout::size : Layout::inverse;
  static constexpr int of_factor = int(sizeof(Real)) * (to - from), of_u = Shape::points * int(sizeof(double));

public:
  using T = Real;
  using Tile = Shape;
  static constexpr bool backward = back;
  static constexpr int bytes = of_factor + (with_u ? of_u : 0); // of a step

  // at a point; r comes by itself
  struct Values {
    Pair across{};
    T along = 0, inverse = 0;
    double u = 0, r = 0;
  };
  double hand_p = 0, hand_q = 0;

  // where they come from
  class Source {
  public:
    __device__ Source(const Sweep<T> &s, const Column &c)
        : factor_(s.factor + step_of(c) * Layout::size + from),
          u_(s.u + c.side * s.order.size() + step_of(c) * Shape::points) {}
    template <class Copy> __device__ void bring(int step, const Copy &copy) const {
      const index_t at = back ? -step : step;
      copy(0, factor_ + at * Layout::size, of_factor);
      if (with_u) copy(of_factor, u_ + at * Shape::points, of_u);
    }

  private:
    __device__ static index_t step_of(const Column &c) { return c.start / Shape::points + (back ? c.last_row : 0); }

    const T *const factor_;
    const double *const u_;
  };

  __device__ static Values load(unsigned slot, int t) {
    const unsigned single = slot + t * unsigned(sizeof(T));
    Values v;
    if (with_w && Shape::flat) cuda::load_shared(single, v.across.x);
    if (with_w && !Shape::flat) cuda::load_shared(slot + t * unsigned(sizeof(Pair)), v.across);
    if (with_w) cuda::load_shared(single + Layout::along * unsigned(sizeof(T)), v.along);
    if (with_inverse) cuda::load_shared(single + (Layout::inverse - from) * unsigned(sizeof(T)), v.inverse);
    if (with_u) cuda::load_shared(slot + of_factor + t * unsigned(sizeof(double)), v.u);
    return v;
  }
};

// Of the factor w or, where all couplings of a direction are alike, those and 1/d.
template <class T, class Tile, bool constant, bool back>
class Solve : public Work<T, Tile, !constant, back || constant, back, back> {
protected:
  using Values = typename Work<T, Tile, !constant, back || constant, back, back>::Values;

  __device__ explicit Solve(const Sweep<T> &s) {
    for (int d = 0; d < 3; ++d) a_[d] = constant ? s.constant[d] : 0;
  }
  // w along directions 0 and 1 of the order, and the march, times x
  template <int d> __device__ double weighted(const Values &v, double x) const {
    return times(constant ? times(a_[d], v.inverse) : d == 0 ? v.across.x : d == 1 ? v.across.y : v.along, x);
  }

private:
  double a_[3];
};

// u = r - w u of the lower neighbours
template <class T, class Tile, bool constant> class Forward : public Solve<T, Tile, constant, false> {
  using Base = Solve<T, Tile, constant, false>;

public:
  using typename Base::Values;
  static constexpr bool reads_natural = true, writes_natural = false;
  static constexpr Kind kind = going_forward;

  __device__ Forward(const Sweep<T> &s, const Column &c, int t, index_t)
      : Base(s), u_(s.u + c.side * s.order.size() + c.start + t) {}
  // Nothing comes from before the first point of the march.
  __device__ void prepare(const Values &v, int at) { y_ = minus(v.r, at > 0 ? m_ : 0.0); }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, p);
    if (!Tile::flat) y_ = minus(y_, q);
    this->hand_p = this->template weighted<0>(v, y_);
    if (!Tile::flat) this->hand_q = this->template weighted<1>(v, y_);
    m_ = this->template weighted<2>(v, y_);
  }
  template <int turn> __device__ void store(int) const { u_[turn * Tile::points] = y_; }
  template <int turns> __device__ void advance() { u_ += turns * Tile::points; }

private:
  double *u_, y_ = 0, m_ = 0;
};

// A column of tiles leaves a term of (r, M^-1 r) = (u, u / d) for each of its warps; one outside of the grid leaves nothing.
template <class Tile> struct Energy { static constexpr int terms = Tile::points / 32; };

// z = u / d - w z of the upper neighbours
template <class T, class Tile, bool constant> class Backward : public Solve<T, Tile, constant, true> {
  using Base = Solve<T, Tile, constant, true>;

public:
  using typename Base::Values;
  static constexpr bool reads_natural = false, writes_natural = true;
  static constexpr Kind kind = going_backward;

  __device__ Backward(const Sweep<T> &s, const Column &, int, index_t) : Base(s) {}
  __device__ void prepare(const Values &v, int at) {
    const double m = this->template weighted<2>(v, this->hand_p), scaled = times(v.u, v.inverse);
    y_ = minus(scaled, at > 0 ? m : 0.0);
    term_ = v.u * scaled;
  }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, this->template weighted<0>(v, p));
    if (!Tile::flat) y_ = minus(y_, this->template weighted<1>(v, q));
    this->hand_p = this->hand_q = y_;
  }
  template <int turn> __device__ void store(int) { energy_ += term_; }
  template <int turns> __device__ void advance() const {}
  // by all threads that compute
  __device__ void end(const Sweep<T> &s, const Column &c, int t) {
    if (!s.energy) return;
    for (int step = 16; step; step /= 2) energy_ += __shfl_down_sync(~0u, energy_, step);
    const index_t column = index_t(c.block) * s.order.columns() + index_t(c.Q) * s.order.tiles[0] + c.P;
    if (t % 32 == 0) s.energy[column * Energy<Tile>::terms + t / 32] = energy_;
  }

private:
  double y_ = 0, term_ = 0, energy_ = 0;
};

// Couplings become w, diagonal entries 1/d; a bad pivot is left there instead, over the diagonal entry. u has the excesses.
template <class T, class Tile> class Factorize : public Work<T, Tile, true, true, true, false> {
public:
  using typename Work<T, Tile, true, true, true, false>::Values;
  static constexpr bool reads_natural = false, writes_natural = false;
  static constexpr Kind kind = factorizing;

  __device__ Factorize(const Sweep<T> &s, const Column &c, int t, index_t place)
      : chunk_(s.factor + c.start / Tile::points * Layout::size), t_(t), place_(place), layer_(s.order.stride[2]),
        rows_(c.points[2]), rule_(s.rule), found_(s.found) {}

  __device__ void prepare(const Values &v, int at) {
    active_ = unsigned(at) < unsigned(rows_);
    x_ = v.u + (at > 0 ? m_ : 0.0);
  }
  __device__ void finish(const Values &v, double p, double q) {
    constexpr bool flat = Tile::flat;
    this->hand_p = this->hand_q = m_ = 0;
    if (!active_) return;
    const double b[3] = {-double(v.across.x), flat ? 0.0 : -double(v.across.y), -double(v.along)};
    const double B = b[0] + b[1] + b[2], x = flat ? x_ + p : x_ + p + q;
    const Pivot pivot = rule_.pivot(x, B, v.inverse, is_);
    this->hand_p = pivot.handed(b[0], rule_.omega);
    this->hand_q = pivot.handed(b[1], rule_.omega);
    m_ = pivot.handed(b[2], rule_.omega);
    out_.across = {T(times(v.across.x, pivot.inverse)), T(times(v.across.y, pivot.inverse))};
    out_.along = T(times(v.along, pivot.inverse));
    out_.inverse = T(is_ == PivotIs::bad ? (B + x) / v.inverse : pivot.inverse);
  }
  template <int turn> __device__ void store(int at) const {
    T *const to = chunk_ + turn * Layout::size;
    if (Tile::flat)
      to[t_] = out_.across.x;
    else
      reinterpret_cast<decltype(out_.across) *>(to)[t_] = out_.across;
    to[Layout::along + t_] = out_.along;
    to[Layout::inverse + t_] = out_.inverse;
    if (is_ != PivotIs::good) note(place_ + at * layer_);
  }
  template <int turns> __device__ void advance() { chunk_ += turns * Layout::size; }

private:
  using Layout = Chunk<Tile>;

  __device__ void note(index_t row) const { // seldom
    if (is_ == PivotIs::null) atomicAdd(&found_->null_rows, 1ull);
    if (is_ == PivotIs::raised) atomicAdd(&found_->shifted, 1ull);
    if (is_ == PivotIs::bad) atomicMax(&found_->bad, ~0ull - static_cast<unsigned long long>(row));
  }

  T *chunk_;
  const int t_;
  const index_t place_, layer_; // in natural order: the column's first point, and from point to point
  const int rows_;
  const PivotRule rule_;
  FactorFindings<T> *const found_;
  double x_ = 0, m_ = 0;
  bool active_ = false;
  PivotIs is_ = PivotIs::good;
  Values out_;
};

} // namespace petscrrb::mic::device
