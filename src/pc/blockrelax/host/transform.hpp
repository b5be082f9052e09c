// Products with sine bases along the sides of a block, on the host.
#pragma once

#include "pc/blockrelax/core/method.hpp"

#include <type_traits>

namespace petscrrb::blockrelax {

// Vector j of a basis is the same from both ends, but for the sign where j is odd: S[j][n - 1 - k] = (-1)^j S[j][k]. So the
// sums and differences of what is equally far from the ends are multiplied by half of S each.

// out = S in for n rows of `wide` cells that are `apart`. most: n is not larger
template <int wide, int most, class Int>
[[gnu::always_inline]] inline void transform_rows(const double *S, Int n, std::size_t apart, const double *in,
                                                  double *out) {
  const int half = n / 2;
  double parts[2][(most + 1) / 2][wide];
  for (int k = 0; k < half; ++k) {
    const double *first = in + k * apart, *last = in + (n - 1 - k) * apart;
    for (int i = 0; i < wide; ++i) {
      parts[0][k][i] = first[i] + last[i];
      parts[1][k][i] = first[i] - last[i];
    }
  }
  if (n % 2 == 1) // odd vectors are zero in the middle
    for (int i = 0; i < wide; ++i) parts[0][half][i] = in[half * apart + i];
  for (int j = 0; j < n; ++j) {
    const int terms = j % 2 == 0 ? n - half : half;
    double sum[wide] = {};
    for (int k = 0; k < terms; ++k)
      for (int i = 0; i < wide; ++i) sum[i] += S[j * n + k] * parts[j % 2][k][i];
    for (int i = 0; i < wide; ++i) out[j * apart + i] = sum[i];
  }
}

// Of longer sides, one basis vector after the other.
inline void transform_long_rows(const double *S, int n, std::size_t apart, const double *in, double *out) {
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

// The same for rows of any number of cells.
inline void transform_rows(const double *S, int n, std::size_t apart, const double *in, double *out) {
  constexpr int most = 64;
  if (n > most) return transform_long_rows(S, n, apart, in, out);
  std::size_t i = 0;
  for (; i + 8 <= apart; i += 8) transform_rows<8, most>(S, n, apart, in + i, out + i);
  if (i + 4 <= apart) transform_rows<4, most>(S, n, apart, in + i, out + i), i += 4;
  for (; i < apart; ++i) transform_rows<1, most>(S, n, apart, in + i, out + i);
}

// out = S in along a side of n cells: `outer` times n rows of `inner` cells.
template <int n> void transform(const double *S, std::size_t inner, std::size_t outer, const double *in, double *out) {
  for (std::size_t o = 0; o < outer; ++o, in += n * inner, out += n * inner)
    for (std::size_t i = 0; i < inner; i += n)
      transform_rows<n, n>(S, std::integral_constant<int, n>(), inner, in + i, out + i);
}
inline void transform(const double *S, int n, std::size_t inner, std::size_t outer, const double *in, double *out) {
  if (n == 8 && inner % 8 == 0) return transform<8>(S, inner, outer, in, out);
  if (n == 4 && inner % 4 == 0) return transform<4>(S, inner, outer, in, out);
  if (n == 2 && inner % 2 == 0) return transform<2>(S, inner, outer, in, out);
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
// The same for any n, so many cells from cell i on and their mirror images.
template <int wide>
[[gnu::always_inline]] inline void transform_part_of_line(const double *S, int n, int i, const double *in,
                                                          double *out) {
  double parts[2][wide] = {};
  for (int k = 0; k < n; k += 2)
    for (int l = 0; l < wide; ++l) parts[0][l] += S[k * n + i + l] * in[k];
  for (int k = 1; k < n; k += 2)
    for (int l = 0; l < wide; ++l) parts[1][l] += S[k * n + i + l] * in[k];
  for (int l = 0; l < wide; ++l) {
    out[i + l] = parts[0][l] + parts[1][l];
    out[n - 1 - i - l] = parts[0][l] - parts[1][l];
  }
}
inline void transform_x(const double *S, int n, std::size_t lines, const double *in, double *out) {
  if (n == 8) return transform_x<8>(S, lines, in, out);
  if (n == 4) return transform_x<4>(S, lines, in, out);
  if (n == 2) return transform_x<2>(S, lines, in, out);
  for (std::size_t l = 0; l < lines; ++l, in += n, out += n) {
    const int half = (n + 1) / 2;
    int i = 0;
    for (; i + 8 <= half; i += 8) transform_part_of_line<8>(S, n, i, in, out);
    if (i + 4 <= half) transform_part_of_line<4>(S, n, i, in, out), i += 4;
    for (; i < half; ++i) transform_part_of_line<1>(S, n, i, in, out);
  }
}

// r becomes S diag(inverse) S r, with S the product of three bases; work: as large as r. A basis of length 1 is 1, so that
// sides of one cell do not count.
inline void diagonalized(const SineBases &bases, const int sides[3], const double *inverse, double *r, double *work) {
  int n[3] = {1, 1, 1}, count = 0;
  for (int d = 0; d < 3; ++d)
    if (sides[d] > 1) n[count++] = sides[d];
  const std::size_t plane = std::size_t(n[0]) * n[1], cells = plane * n[2];
  double *from = r, *to = work;
  const auto along = [&](int d) {
    const double *S = bases[n[d]];
    if (d == 0)
      transform_x(S, n[0], cells / n[0], from, to);
    else
      transform(S, n[d], d == 1 ? n[0] : plane, d == 1 ? n[2] : 1, from, to);
    std::swap(from, to);
  };
  for (int d = 0; d < count; ++d) along(d);
#pragma omp simd
  for (std::size_t i = 0; i < cells; ++i) from[i] *= inverse[i];
  for (int d = count; d-- > 0;) along(d); // as often as before, so that it ends in r
}

} // namespace petscrrb::blockrelax
