// What sweeps on a device do at a point: forward and backward.
#pragma once

#include "pc/mic/cuda/wavefront.cuh"

#include <cstdint>

namespace petscrrb::mic::device {

template <class T> using PairOf = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;

// The values of a factor at a point.
template <class T> struct FactorValues {
  PairOf<T> across;
  T along, inverse;
};

// The values of a factor for one step in shared memory: w, 1/d or both, as they lie in a chunk.
template <class T, int points, bool flat, bool with_w, bool with_inverse> class FactorSlot {
  using Layout = Chunk<points, flat>;
  static constexpr int from = with_w ? 0 : Layout::inverse, to = with_inverse ? Layout::size : Layout::inverse;

public:
  static constexpr int bytes = int(sizeof(T)) * (to - from);

  template <class Copy> __device__ static void bring(const T *chunk, const Copy &copy) { copy(0, chunk + from, bytes); }
  __device__ static FactorValues<T> load(unsigned slot, int t) {
    const unsigned single = slot + t * unsigned(sizeof(T));
    FactorValues<T> v{};
    if (with_w && flat) cuda::load_shared(single, v.across.x);
    if (with_w && !flat) cuda::load_shared(slot + t * unsigned(sizeof(PairOf<T>)), v.across);
    if (with_w) cuda::load_shared(single + Layout::along * unsigned(sizeof(T)), v.along);
    if (with_inverse) cuda::load_shared(single + (Layout::inverse - from) * unsigned(sizeof(T)), v.inverse);
    return v;
  }
};

// w along directions 0 and 1 of the order, and the march; computed where all couplings a of a direction are alike
template <bool constant, int d, class T> __device__ double weight(const FactorValues<T> &v, const double a[3]) {
  if (constant) return times(a[d], v.inverse);
  return d == 0 ? v.across.x : d == 1 ? v.across.y : v.along;
}

// u = r - w u of the lower neighbours
template <class Real, int points, bool flat, bool constant> class Forward {
  using Factor = FactorSlot<Real, points, flat, !constant, constant>;

public:
  using T = Real;
  static constexpr bool backward = false, reads_natural = true, writes_natural = false;
  static constexpr int bytes = Factor::bytes;
  struct Values {
    FactorValues<T> factor;
    double r;
  };
  double hand_p = 0, hand_q = 0;

  // where the values of a step come from
  struct Source {
    const T *factor;
    __device__ Source(const Sweep<T> &s, const Column &c)
        : factor(s.factor + c.start / points * Chunk<points, flat>::size) {}
    template <class Copy> __device__ void bring(int step, const Copy &copy) const {
      Factor::bring(factor + index_t(step) * Chunk<points, flat>::size, copy);
    }
  };

  __device__ Forward(const Sweep<T> &s, const Column &c, int t, index_t)
      : u_(s.u + c.side * s.order.size() + c.start + t) {
    for (int d = 0; d < 3; ++d) a_[d] = constant ? s.constant[d] : 0;
  }
  __device__ static Values load(unsigned slot, int t) { return {Factor::load(slot, t), 0.0}; }
  // Nothing comes from before the first point of the march.
  __device__ void prepare(const Values &v, int at) { y_ = minus(v.r, at > 0 ? m_ : 0.0); }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, p);
    if (!flat) y_ = minus(y_, q);
    hand_p = times(weight<constant, 0>(v.factor, a_), y_);
    if (!flat) hand_q = times(weight<constant, 1>(v.factor, a_), y_);
    m_ = times(weight<constant, 2>(v.factor, a_), y_);
  }
  template <int turn> __device__ void store(int) const { u_[turn * points] = y_; }
  template <int turns> __device__ void advance() { u_ += turns * points; }

private:
  double *u_, a_[3], y_ = 0, m_ = 0;
};

// z = u / d - w z of the upper neighbours
template <class Real, int points, bool flat, bool constant> class Backward {
  using Factor = FactorSlot<Real, points, flat, !constant, true>;

public:
  using T = Real;
  static constexpr bool backward = true, reads_natural = false, writes_natural = true;
  static constexpr int bytes = Factor::bytes + points * int(sizeof(double));
  struct Values {
    FactorValues<T> factor;
    double u, r;
  };
  double hand_p = 0, hand_q = 0;

  struct Source {
    const T *factor;
    const double *u;
    __device__ Source(const Sweep<T> &s, const Column &c)
        : factor(s.factor + (c.start / points + c.last_row) * Chunk<points, flat>::size),
          u(s.u + c.side * s.order.size() + c.start + c.last_row * points) {}
    template <class Copy> __device__ void bring(int step, const Copy &copy) const {
      Factor::bring(factor - index_t(step) * Chunk<points, flat>::size, copy);
      copy(Factor::bytes, u - index_t(step) * points, points * int(sizeof(double)));
    }
  };

  __device__ Backward(const Sweep<T> &s, const Column &, int, index_t) {
    for (int d = 0; d < 3; ++d) a_[d] = constant ? s.constant[d] : 0;
  }
  __device__ static Values load(unsigned slot, int t) {
    Values v{Factor::load(slot, t), 0.0, 0.0};
    cuda::load_shared(slot + Factor::bytes + t * unsigned(sizeof(double)), v.u);
    return v;
  }
  __device__ void prepare(const Values &v, int at) {
    const double m = times(weight<constant, 2>(v.factor, a_), hand_p);
    y_ = minus(times(v.u, v.factor.inverse), at > 0 ? m : 0.0);
  }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, times(weight<constant, 0>(v.factor, a_), p));
    if (!flat) y_ = minus(y_, times(weight<constant, 1>(v.factor, a_), q));
    hand_p = hand_q = y_;
  }
  template <int turn> __device__ void store(int) const {}
  template <int turns> __device__ void advance() const {}

private:
  double a_[3], y_ = 0;
};

} // namespace petscrrb::mic::device
