// Products with sine bases along the sides of a block, on the host.
#pragma once

#include "sine.hpp"

namespace petscrrb::blockrelax {

// Vector j of a basis is the same from both ends, but for the sign where j is odd: S[j][n - 1 - k] = (-1)^j S[j][k]. So the
// sums and differences of what is equally far from the ends are multiplied by half of S each.

// out = S in for n rows of `wide` cells that are `apart`.
template <int n, int wide>
[[gnu::always_inline]] inline void transform_rows(const double *S, std::size_t apart, const double *in, double *out) {
  constexpr int half = n / 2;
  double parts[2][half][wide];
  for (int k = 0; k < half; ++k) {
    const double *first = in + k * apart, *last = in + (n - 1 - k) * apart;
    for (int i = 0; i < wide; ++i) {
      parts[0][k][i] = first[i] + last[i];
      parts[1][k][i] = first[i] - last[i];
    }
  }
  for (int j = 0; j < n; ++j) {
    double sum[wide] = {};
    for (int k = 0; k < half; ++k)
      for (int i = 0; i < wide; ++i) sum[i] += S[j * n + k] * parts[j % 2][k][i];
    for (int i = 0; i < wide; ++i) out[j * apart + i] = sum[i];
  }
}

// The same for any n, one basis vector after the other.
inline void transform_rows(const double *S, int n, std::size_t apart, const double *in, double *out) {
  for (int j = 0; j < n; ++j) {
    double *to = out + j * apart;
    const double *s = S + std::size_t(j) * n;
#pragma omp simd
    for (std::size_t i = 0; i < apart; ++i) to[i] = s[0] * in[i];
    for (int k = 1; k < n; ++k) {
      const double *from = in + k * apart, a = s[k];
#pragma omp simd
      for (std::size_t i = 0; i < apart; ++i) to[i] += a * from[i];
    }
  }
}

// out = S in along a side of n cells: `outer` times n rows of `inner` cells.
template <int n> void transform(const double *S, std::size_t inner, std::size_t outer, const double *in, double *out) {
  for (std::size_t o = 0; o < outer; ++o, in += n * inner, out += n * inner)
    for (std::size_t i = 0; i < inner; i += n) transform_rows<n, n>(S, inner, in + i, out + i);
}
inline void transform(const double *S, int n, std::size_t inner, std::size_t outer, const double *in, double *out) {
  if (n == 8 && inner % 8 == 0) return transform<8>(S, inner, outer, in, out);
  if (n == 4 && inner % 4 == 0) return transform<4>(S, inner, outer, in, out);
  for (std::size_t o = 0; o < outer; ++o, in += n * inner, out += n * inner) transform_rows(S, n, inner, in, out);
}

// The same along x, where a row is one cell: the vectors are those of the basis.
template <int n> void transform_x(const double *S, std::size_t lines, const double *in, double *out) {
  constexpr int half = n / 2;
  for (std::size_t l = 0; l < lines; ++l, in += n, out += n) {
    double parts[2][half] = {};
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < half; ++i) parts[k % 2][i] += S[k * n + i] * in[k];
    for (int i = 0; i < half; ++i) {
      out[i] = parts[0][i] + parts[1][i];
      out[n - 1 - i] = parts[0][i] - parts[1][i];
    }
  }
}
inline void transform_x(const double *S, int n, std::size_t lines, const double *in, double *out) {
  if (n == 8) return transform_x<8>(S, lines, in, out);
  if (n == 4) return transform_x<4>(S, lines, in, out);
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
