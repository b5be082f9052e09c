// The march that a device's warps do, with lanes that are played by arrays, against dense matrices.
#include "../../src/neumann/march.hpp"

#include "../../src/neumann/grid_series.hpp"
#include "neumann_support.hpp"

#include <gtest/gtest.h>

#include <array>

using namespace neumann_support;
using namespace petscrrb;

namespace {

constexpr int across = 16, rows = 12; // lanes of a warp, warps of a block

// A value of each lane.
struct Values : std::array<double, across * rows> {
  Values(double value = 0) { fill(value); }
};
template <class F> Values each(const F &f) {
  Values out;
  for (int l = 0; l < across * rows; ++l) out[l] = f(l);
  return out;
}
Values operator+(const Values &a, const Values &b) {
  return each([&](int l) { return a[l] + b[l]; });
}
Values operator-(const Values &a, const Values &b) {
  return each([&](int l) { return a[l] - b[l]; });
}
Values operator*(const Values &a, const Values &b) {
  return each([&](int l) { return a[l] * b[l]; });
}

// What comes from beyond the ends is something that must not matter.
struct Lanes {
  static constexpr double beyond = 1e30;

  Values west(const Values &x) const {
    return each([&](int l) { return l % across ? x[l - 1] : beyond; });
  }
  Values east(const Values &x) const {
    return each([&](int l) { return l % across < across - 1 ? x[l + 1] : beyond; });
  }
  Values south(const Values &x) const {
    return each([&](int l) { return l >= across ? x[l - across] : beyond; });
  }
  Values north(const Values &x) const {
    return each([&](int l) { return l < across * (rows - 1) ? x[l + across] : beyond; });
  }
};

// L~ on the grid, by coordinates.
struct Scaled {
  const Shape s;
  const reference::ScaledTriangle t;

  double coupling(int i, int j, int k, int di, int dj, int dk) const {
    const int x = i + di, y = j + dj, z = k + dk;
    if (x < 0 || x >= s.nx || y >= s.ny || z >= s.nz) return 0;
    return t.L[std::size_t(s.row(x, y, z))][std::size_t(s.row(i, j, k))];
  }
};

// As the kernels deal out the grid: lanes over x (and y in 3D), lines in tasks; ends: lanes that are there for others.
template <int steps, int terms>
std::vector<double> marched(const Shape &s, const SmallMatrix &A, const std::vector<double> &r) {
  using Marching = neumann::March<steps, terms, Values, Lanes>;
  const Scaled a{s, reference::ScaledTriangle(reference_of(A))};
  const int ends = steps == 4 ? 2 * terms : terms, height = steps == 3 ? rows : 1, ends_y = steps == 3 ? terms : 0;
  const int lines = steps == 3 ? s.nz : s.ny, most = 5, planes = steps == 3 ? s.ny : 1;
  std::vector<double> z(r.size(), std::nan(""));
  for (int y0 = 0; y0 < planes; y0 += height - 2 * ends_y)
    for (int x0 = 0; x0 < s.nx; x0 += across - 2 * ends)
      for (int first = 0; first < lines; first += most) {
        const int last = std::min(first + most, lines);
        Marching march{Lanes()};
        const auto place = [&](int l, int line) {
          const int y = y0 + l / across - ends_y;
          const std::array<int, 3> at{x0 + l % across - ends, steps == 3 ? y : line, steps == 3 ? line : 0};
          const bool inside = at[0] >= 0 && at[0] < s.nx && line >= 0 && line < lines && l / across < height &&
                              (steps != 3 || (y >= 0 && y < s.ny));
          return std::pair{inside, at};
        };
        for (int line = first - terms; line < last + terms; ++line) {
          typename Marching::Line in{};
          for (int l = 0; l < across * rows; ++l) {
            const auto [inside, at] = place(l, line);
            if (!inside) continue;
            const int p = s.row(at[0], at[1], at[2]);
            in.s[l] = 1 / std::sqrt(a.t.d[std::size_t(p)]);
            in.t[l] = in.s[l] * r[std::size_t(p)];
            for (int m = 0; m < steps; ++m) {
              const int step[4][3] = {{1, 0, 0}, {0, 1, 0}, {steps == 4, steps == 4, steps == 3}, {-1, 1, 0}};
              in.w[m][l] = a.coupling(at[0], at[1], at[2], step[m][0], step[m][1], step[m][2]);
            }
          }
          Values scale;
          const Values v = march.next(in, &scale);
          for (int l = 0; l < across * height; ++l) {
            const auto [inside, at] = place(l, line - terms);
            const bool mine = l % across >= ends && l % across < across - ends && l / across >= ends_y &&
                              l / across < height - ends_y && line - terms >= first && line - terms < last;
            if (inside && mine) z[std::size_t(s.row(at[0], at[1], at[2]))] = scale[l] * v[l];
          }
        }
      }
  return z;
}

template <int terms> void compare(const Shape &s) {
  const SmallMatrix A = uneven(s);
  const std::vector<double> r = random_values(std::size_t(s.size()));
  const std::vector<double> z = s.points == 5   ? marched<2, terms>(s, A, r)
                                : s.points == 9 ? marched<4, terms>(s, A, r)
                                                : marched<3, terms>(s, A, r);
  const std::vector<double> known = reference::product(reference::neumann_inverse(reference_of(A), terms), r);
  double most = 0;
  for (double v : known) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < z.size(); ++i)
    ASSERT_NEAR(z[i], known[i], 1e-12 * most) << words(s) << ", " << terms << " terms, at " << i;
}

TEST(NeumannMarch, IsTheSeriesOfTheDenseMatrix) {
  for (const Shape &s : shapes) {
    if (s.px || s.py || s.pz) continue;
    compare<1>(s);
    compare<2>(s);
    compare<3>(s);
  }
  compare<2>({9, 27, 5, false, false, false, 7});
}

} // namespace
