// Random numbers that depend on a seed and a number only: the same on every platform and on all ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace longtest {

class Random {
public:
  Random(std::uint64_t seed, std::uint64_t stream)
      : state_(seed * 0x9e3779b97f4a7c15u ^ (stream + 1) * 0xd1342543de82ef95u) {
    for (int i = 0; i < 4; ++i) (void)bits();
  }

  std::uint64_t bits() { // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return (double(bits() >> 11) + 0.5) * 0x1p-53; } // in (0, 1)
  double between(double low, double high) { return low + (high - low) * uniform(); }
  int integer(int low, int high) { return low + int(bits() % std::uint64_t(high - low + 1)); } // both included
  bool chance(double probability) { return uniform() < probability; }
  double power(double low, double high) { return std::pow(10.0, between(low, high)); }

  template <class T> T of(std::initializer_list<T> choices) {
    return choices.begin()[integer(0, int(choices.size()) - 1)];
  }
  const char *of(std::initializer_list<const char *> choices) { return of<const char *>(choices); }
  template <class T> const T &of(const std::vector<T> &choices) { return choices[integer(0, int(choices.size()) - 1)]; }

private:
  std::uint64_t state_;
};

} // namespace longtest
