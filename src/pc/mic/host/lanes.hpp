// The points of a step, side by side in registers: in pairs, which compilers do not find by themselves in what is shifted
// from step to step.
#pragma once

#include "pc/mic/core/point.hpp"

#include <cmath>
#include <type_traits>

namespace petscrrb::mic {

template <int lanes> struct Lanes {
  static_assert(lanes == 1 || lanes % 2 == 0, "they come in pairs");
  using Pair = double __attribute__((vector_size(16)));
  using Part = std::conditional_t<lanes == 1, double, Pair>;
  static constexpr int parts = lanes == 1 ? 1 : lanes / 2;

  Part v[parts] = {};

  // f(i): of each lane
  template <class F> [[gnu::always_inline]] static Lanes each(const F &f) {
    Lanes out;
    for (int k = 0; k < parts; ++k)
      if constexpr (lanes == 1)
        out.v[k] = f(0);
      else
        out.v[k] = Pair{f(2 * k), f(2 * k + 1)};
    return out;
  }
  template <class T> [[gnu::always_inline]] static Lanes load(const T *from) {
    return each([&](int i) { return double(from[i]); });
  }
  template <class T> [[gnu::always_inline]] static Lanes root(const T *from) {
    return each([&](int i) { return std::sqrt(double(from[i])); });
  }
  // a value every `apart`, in the first lanes; zero in the others
  [[gnu::always_inline]] static Lanes gather(const double *from, index_t apart, int count) {
    return each([&](int i) { return i < count ? from[i * apart] : 0; });
  }
  [[gnu::always_inline]] void scatter(double *to, index_t apart, int count) const {
    for (int i = 0; i < lanes; ++i)
      if (i < count) to[i * apart] = (*this)[i];
  }
  [[gnu::always_inline]] void store(double *to) const { scatter(to, 1, lanes); }

  [[gnu::always_inline]] double operator[](int i) const {
    if constexpr (lanes == 1)
      return v[0];
    else
      return v[i / 2][i % 2];
  }
  [[gnu::always_inline]] void set(int i, double value) {
    if constexpr (lanes == 1)
      v[0] = value;
    else
      v[i / 2][i % 2] = value;
  }

  // each lane gets the value of the one before, or of the one after
  [[gnu::always_inline]] Lanes from_before(double first) const {
    return each([&](int i) { return i ? (*this)[i - 1] : first; });
  }
  [[gnu::always_inline]] Lanes from_after(double last) const {
    return each([&](int i) { return i < lanes - 1 ? (*this)[i + 1] : last; });
  }

  [[gnu::always_inline]] friend Lanes operator*(Lanes a, const Lanes &b) {
    for (int k = 0; k < parts; ++k) a.v[k] = a.v[k] * b.v[k];
    return a;
  }
  [[gnu::always_inline]] friend Lanes operator-(Lanes a, const Lanes &b) {
    for (int k = 0; k < parts; ++k) a.v[k] = a.v[k] - b.v[k];
    return a;
  }
};

} // namespace petscrrb::mic
