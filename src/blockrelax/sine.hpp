// Sine bases, which diagonalize stencils that are alike in all cells and in both directions along a side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace petscrrb::blockrelax {

// Orthonormal and symmetric for each length, so that it is its own inverse.
class SineBases {
public:
  void add(int n) {
    if (at_.size() <= std::size_t(n)) at_.resize(std::size_t(n) + 1, none);
    if (at_[n] != none) return;
    at_[n] = values_.size();
    const double pi = std::acos(-1.0), scale = std::sqrt(2.0 / (n + 1));
    for (int i = 1; i <= n; ++i)
      for (int j = 1; j <= n; ++j)
        values_.push_back(scale * std::sin(pi * static_cast<double>(std::size_t(i) * j % (2 * (n + 1))) / (n + 1)));
  }
  const double *operator[](int n) const { return values_.data() + at_[n]; }
  double bytes() const { return static_cast<double>(values_.size() * sizeof(double)); }

private:
  static constexpr std::size_t none = ~std::size_t(0);

  std::vector<double> values_;
  std::vector<std::size_t> at_;
};

inline double cosine(int k, int n) { return std::cos(std::acos(-1.0) * (k + 1) / (n + 1)); }

// out = S in along a side of n cells: `outer` times n rows of `inner` cells.
inline void transform(const double *S, int n, std::size_t inner, std::size_t outer, const double *in, double *out) {
  for (std::size_t o = 0; o < outer; ++o, in += n * inner, out += n * inner)
    for (int j = 0; j < n; ++j) {
      double *to = out + j * inner;
      const double *s = S + std::size_t(j) * n;
#pragma omp simd
      for (std::size_t i = 0; i < inner; ++i) to[i] = s[0] * in[i];
      for (int k = 1; k < n; ++k) {
        const double *from = in + k * inner, a = s[k];
#pragma omp simd
        for (std::size_t i = 0; i < inner; ++i) to[i] += a * from[i];
      }
    }
}

// The same along x, whose rows are one cell: the vectors are those of the basis.
inline void transform_x(const double *S, int n, std::size_t lines, const double *in, double *out) {
  for (std::size_t l = 0; l < lines; ++l, in += n, out += n) {
#pragma omp simd
    for (int i = 0; i < n; ++i) out[i] = S[i] * in[0];
    for (int k = 1; k < n; ++k) {
      const double *s = S + std::size_t(k) * n, a = in[k];
#pragma omp simd
      for (int i = 0; i < n; ++i) out[i] += s[i] * a;
    }
  }
}

// r becomes S diag(inverse) S r, with S the product of three bases; work: as large as r.
inline void diagonalized(const SineBases &bases, const int n[3], const double *inverse, double *r, double *work) {
  const double *S[3] = {bases[n[0]], bases[n[1]], bases[n[2]]};
  const std::size_t plane = std::size_t(n[0]) * n[1], cells = plane * n[2];
  const bool deep = n[2] > 1; // a basis of length 1 is 1
  transform_x(S[0], n[0], cells / n[0], r, work);
  transform(S[1], n[1], n[0], n[2], work, r);
  if (deep) transform(S[2], n[2], plane, 1, r, work);
  double *const now = deep ? work : r;
#pragma omp simd
  for (std::size_t i = 0; i < cells; ++i) now[i] *= inverse[i];
  if (deep) transform(S[2], n[2], plane, 1, work, r);
  transform(S[1], n[1], n[0], n[2], r, work);
  transform_x(S[0], n[0], cells / n[0], work, r);
}

} // namespace petscrrb::blockrelax
