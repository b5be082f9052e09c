// What sweeps on a device do at a point: forward and backward.
#pragma once

#include "wavefront_cuda.cuh"

#include <cstdint>

namespace petscrrb::mic::device {

template <class T> using PairOf = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;

// The values of a factor at a point.
template <class T> struct FactorValues {
  PairOf<T> across;
  T along, inverse;
};

// The values of a factor on their way into a slot of shared memory and from there: w, 1/d or both.
template <class T, int points, bool flat, bool with_w, bool with_inverse> class FactorCopies {
  using Layout = Chunk<points, flat>;
  static constexpr int inverse = with_w ? Layout::inverse : 0; // where it is in the slot

public:
  static constexpr int bytes = int(sizeof(T)) * (inverse + (with_inverse ? points : 0));

  __device__ FactorCopies(const T *chunk, int t)
      : pairs_(reinterpret_cast<const char *>(chunk) + t * sizeof(PairOf<T>)), singles_(chunk + t) {}

  // chunks: from the one that this stands at
  template <int chunks> __device__ void fetch(unsigned slot, int t) const {
    constexpr int skipped = chunks * Layout::size;
    const unsigned single = slot + t * unsigned(sizeof(T));
    if (with_w && flat) cuda::copy_ahead(single, singles_ + skipped);
    if (with_w && !flat)
      cuda::copy_ahead(slot + t * unsigned(sizeof(PairOf<T>)),
                       reinterpret_cast<const PairOf<T> *>(pairs_ + skipped * int(sizeof(T))));
    if (with_w) cuda::copy_ahead(single + Layout::along * unsigned(sizeof(T)), singles_ + skipped + Layout::along);
    if (with_inverse) cuda::copy_ahead(single + inverse * unsigned(sizeof(T)), singles_ + skipped + Layout::inverse);
  }
  template <int chunks> __device__ void advance() {
    pairs_ += chunks * Layout::size * int(sizeof(T));
    singles_ += chunks * Layout::size;
  }
  __device__ static FactorValues<T> load(unsigned slot, int t) {
    const unsigned single = slot + t * unsigned(sizeof(T));
    FactorValues<T> v{};
    if (with_w && flat) cuda::load_shared(single, v.across.x);
    if (with_w && !flat) cuda::load_shared(slot + t * unsigned(sizeof(PairOf<T>)), v.across);
    if (with_w) cuda::load_shared(single + Layout::along * unsigned(sizeof(T)), v.along);
    if (with_inverse) cuda::load_shared(single + inverse * unsigned(sizeof(T)), v.inverse);
    return v;
  }

private:
  const char *pairs_;
  const T *singles_;
};

// w along directions 0 and 1 of the order, and the march; computed where all couplings a of a direction are alike
template <bool constant, int d, class T> __device__ double weight(const FactorValues<T> &v, const double a[3]) {
  if (constant) return times(a[d], v.inverse);
  return d == 0 ? v.across.x : d == 1 ? v.across.y : v.along;
}

// u = r - w u of the lower neighbours
template <class Real, int points, bool flat, bool constant> class Forward {
  using Copies = FactorCopies<Real, points, flat, !constant, constant>;

public:
  using T = Real;
  static constexpr bool backward = false, reads_natural = true, writes_natural = false;
  static constexpr int bytes = Copies::bytes;
  struct Values {
    FactorValues<T> factor;
    double r;
  };
  double hand_p = 0, hand_q = 0;

  __device__ Forward(const Sweep<T> &s, const Column &c, int t, index_t)
      : factor_(s.factor + c.start / points * Chunk<points, flat>::size, t),
        u_(s.u + c.side * s.order.size() + c.start + t) {
    for (int d = 0; d < 3; ++d) a_[d] = constant ? s.constant[d] : 0;
  }
  template <int turn> __device__ void fetch(unsigned slot, int t, bool active) const {
    if (active) factor_.template fetch<turn>(slot, t);
  }
  __device__ Values load(unsigned slot, int t) const { return {factor_.load(slot, t), 0.0}; }
  __device__ void prepare(const Values &v, bool) { y_ = minus(v.r, m_); }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, p);
    if (!flat) y_ = minus(y_, q);
    hand_p = times(weight<constant, 0>(v.factor, a_), y_);
    if (!flat) hand_q = times(weight<constant, 1>(v.factor, a_), y_);
    m_ = times(weight<constant, 2>(v.factor, a_), y_);
  }
  template <int turn> __device__ void store(int) const { u_[turn * points] = y_; }
  template <int turns> __device__ void advance_fetch() { factor_.template advance<turns>(); }
  template <int turns> __device__ void advance_store() { u_ += turns * points; }

private:
  Copies factor_;
  double *u_, a_[3], y_ = 0, m_ = 0;
};

// z = u / d - w z of the upper neighbours
template <class Real, int points, bool flat, bool constant> class Backward {
  using Copies = FactorCopies<Real, points, flat, !constant, true>;

public:
  using T = Real;
  static constexpr bool backward = true, reads_natural = false, writes_natural = true;
  static constexpr int bytes = Copies::bytes + points * int(sizeof(double));
  struct Values {
    FactorValues<T> factor;
    double u, r;
  };
  double hand_p = 0, hand_q = 0;

  __device__ Backward(const Sweep<T> &s, const Column &c, int t, index_t)
      : factor_(s.factor + (c.start / points + c.last_row) * Chunk<points, flat>::size, t),
        u_(s.u + c.side * s.order.size() + c.start + c.last_row * points + t) {
    for (int d = 0; d < 3; ++d) a_[d] = constant ? s.constant[d] : 0;
  }
  template <int turn> __device__ void fetch(unsigned slot, int t, bool active) const {
    if (!active) return;
    factor_.template fetch<-turn>(slot, t);
    cuda::copy_ahead(slot + Copies::bytes + t * unsigned(sizeof(double)), u_ - turn * points);
  }
  __device__ Values load(unsigned slot, int t) const {
    Values v{factor_.load(slot, t), 0.0, 0.0};
    cuda::load_shared(slot + Copies::bytes + t * unsigned(sizeof(double)), v.u);
    return v;
  }
  __device__ void prepare(const Values &v, bool begun) {
    const double y = minus(times(v.u, v.factor.inverse), times(weight<constant, 2>(v.factor, a_), hand_p));
    y_ = begun ? y : 0.0;
  }
  __device__ void finish(const Values &v, double p, double q) {
    y_ = minus(y_, times(weight<constant, 0>(v.factor, a_), p));
    if (!flat) y_ = minus(y_, times(weight<constant, 1>(v.factor, a_), q));
    hand_p = hand_q = y_;
  }
  template <int turn> __device__ void store(int) const {}
  template <int turns> __device__ void advance_fetch() {
    factor_.template advance<-turns>();
    u_ -= turns * points;
  }
  template <int turns> __device__ void advance_store() const {}

private:
  Copies factor_;
  const double *u_;
  double a_[3], y_ = 0;
};

} // namespace petscrrb::mic::device
