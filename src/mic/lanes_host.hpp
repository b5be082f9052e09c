// The points of a step, side by side: loops over them that the compiler unrolls and keeps in registers.
#pragma once

#include "point.hpp"

#include <petscsystypes.h>

#include <cmath>

namespace petscrrb::mic {

template <int lanes> struct Lanes {
  double v[lanes] = {};

  template <class F> [[gnu::always_inline]] static Lanes each(const F &f) {
    Lanes out;
    for (int i = 0; i < lanes; ++i) out.v[i] = f(i);
    return out;
  }
  template <class T> [[gnu::always_inline]] static Lanes load(const T *from) {
    return each([&](int i) { return double(from[i]); });
  }
  template <class T> [[gnu::always_inline]] static Lanes root(const T *from) {
    return each([&](int i) { return std::sqrt(double(from[i])); });
  }
  // a value every `apart`
  [[gnu::always_inline]] static Lanes gather(const double *from, index_t apart) {
    return each([&](int i) { return from[i * apart]; });
  }
  [[gnu::always_inline]] void store(double *to) const {
    for (int i = 0; i < lanes; ++i) to[i] = v[i];
  }
  [[gnu::always_inline]] void scatter(double *to, index_t apart) const {
    for (int i = 0; i < lanes; ++i) to[i * apart] = v[i];
  }
  // each lane gets the value of the one before, or of the one after
  [[gnu::always_inline]] Lanes from_before(double first) const {
    return each([&](int i) { return i ? v[i - 1] : first; });
  }
  [[gnu::always_inline]] Lanes from_after(double last) const {
    return each([&](int i) { return i < lanes - 1 ? v[i + 1] : last; });
  }
  [[gnu::always_inline]] friend Lanes operator*(const Lanes &a, const Lanes &b) {
    return each([&](int i) { return times(a.v[i], b.v[i]); });
  }
};

} // namespace petscrrb::mic
