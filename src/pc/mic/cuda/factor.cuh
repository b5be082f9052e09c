// What the factorization on a device does at a point.
#pragma once

#include "pc/mic/cuda/work.cuh"

namespace petscrrb::mic::device {

// Couplings become w, diagonal entries 1/d; a bad pivot is left there instead, over the diagonal entry.
template <class Real, int points, bool flat> class Factorize {
  using Factor = FactorSlot<Real, points, flat, true, true>;
  using Layout = Chunk<points, flat>;

public:
  using T = Real;
  static constexpr bool backward = false, reads_natural = false, writes_natural = false;
  static constexpr int bytes = Factor::bytes + points * int(sizeof(double));
  struct Values {
    FactorValues<T> factor;
    double excess, r;
  };
  double hand_p = 0, hand_q = 0;

  struct Source {
    const T *factor;
    const double *excess;
    __device__ Source(const Sweep<T> &s, const Column &c)
        : factor(s.factor + c.start / points * Layout::size), excess(s.u + c.start) {}
    template <class Copy> __device__ void bring(int step, const Copy &copy) const {
      Factor::bring(factor + index_t(step) * Layout::size, copy);
      copy(Factor::bytes, excess + index_t(step) * points, points * int(sizeof(double)));
    }
  };

  __device__ Factorize(const Sweep<T> &s, const Column &c, int t, index_t place)
      : chunk_(s.factor + c.start / points * Layout::size), t_(t), place_(place), layer_(s.order.stride[2]),
        rows_(c.points[2]), rule_(s.rule), found_(s.found) {}

  __device__ static Values load(unsigned slot, int t) {
    Values v{Factor::load(slot, t), 0.0, 0.0};
    cuda::load_shared(slot + Factor::bytes + t * unsigned(sizeof(double)), v.excess);
    return v;
  }
  __device__ void prepare(const Values &v, int at) {
    active_ = unsigned(at) < unsigned(rows_);
    x_ = v.excess + (at > 0 ? m_ : 0.0);
  }
  __device__ void finish(const Values &v, double p, double q) {
    hand_p = hand_q = m_ = 0;
    if (!active_) return;
    const double b[3] = {-double(v.factor.across.x), flat ? 0.0 : -double(v.factor.across.y), -double(v.factor.along)};
    const double B = b[0] + b[1] + b[2], x = flat ? x_ + p : x_ + p + q;
    const Pivot pivot = rule_.pivot(x, B, v.factor.inverse, is_);
    hand_p = pivot.handed(b[0], rule_.omega);
    hand_q = pivot.handed(b[1], rule_.omega);
    m_ = pivot.handed(b[2], rule_.omega);
    const double inverse = pivot.inverse;
    out_ = {{T(times(v.factor.across.x, inverse)), T(times(v.factor.across.y, inverse))},
            T(times(v.factor.along, inverse)),
            T(is_ == PivotIs::bad ? (B + x) / v.factor.inverse : inverse)};
  }
  template <int turn> __device__ void store(int at) const {
    T *const to = chunk_ + turn * Layout::size;
    if (flat)
      to[t_] = out_.across.x;
    else
      reinterpret_cast<PairOf<T> *>(to)[t_] = out_.across;
    to[Layout::along + t_] = out_.along;
    to[Layout::inverse + t_] = out_.inverse;
    if (is_ != PivotIs::good) note(place_ + at * layer_);
  }
  template <int turns> __device__ void advance() { chunk_ += turns * Layout::size; }

private:
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
  FactorValues<T> out_{};
};

} // namespace petscrrb::mic::device
