// The march that a device's warps do, with lanes that are played by arrays, against dense matrices.
#include "pc/neumann/core/march.hpp"

#include "pc/neumann/core/read.hpp"
#include "neumann_support.hpp"

#include <gtest/gtest.h>

#include <array>

using namespace neumann_support;
using namespace petscrrb;
using namespace petscrrb::neumann;

namespace {

constexpr int across = 32, rows = 16; // lanes of a warp, warps of a block

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

Values operator/(const Values &a, const Values &b) {
  return each([&](int l) { return a[l] / b[l]; });
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

// The couplings of a matrix as a series on its grid holds them.
struct Held {
  const Lattice g;
  std::vector<double> s, w[most_steps];

  Held(SmallMatrix &A, const Shape &shape) : g(lattice_of(lattice(shape))), s(std::size_t(g.size())) {
    double *to[most_steps] = {};
    for (int m = 0; m < g.steps; ++m) w[m].resize(s.size()), to[m] = w[m].data();
    read_couplings(A.csr(3), g, 1, s.data(), to, [&](const auto &f) {
      for (PetscInt p = 0; p < g.size(); ++p) (void)f(p);
    });
  }
  Couplings couplings() const {
    Couplings c{{}, s.data()};
    for (int m = 0; m < g.steps; ++m) c.w[m] = w[m].data();
    return c;
  }
};

// A strip's lanes over x (and y in 3D), from `x0`, `y0` on, and its lines from `first` to `last`.
template <int steps, bool around, class M> struct Task {
  static constexpr int height = steps == 3 ? rows : 1, ends_y = steps == 3 ? 1 : 0;

  const Lattice &g;
  const Couplings a;
  const Piece &p;
  const int x0, y0, first, last;

  int x(int l) const { return x0 + l % across - M::west; }
  int y(int l, int line) const { return steps == 3 ? y0 + l / across - M::west : line; }
  bool mine(int l, int line) const { // lanes at the ends are there for others
    const int i = l % across, j = l / across;
    return i >= M::west && i < across - M::east && j >= ends_y * M::west && j < height - ends_y * M::east &&
           line >= first && line < last && x(l) < g.n[0] && y(l, line) < g.n[1];
  }

  void run() const {
    typename M::template Steps<Values> march;
    Lanes lanes;
    for (int line = first - M::before; line < last + M::after; ++line) {
      Line<steps, around, Values> in;
      for (int l = 0; l < across * height; ++l) load(l, line, in);
      march.next(lanes, p.between, in);
      const int done = line - M::after;
      for (int l = 0; l < across * height; ++l)
        if (mine(l, done))
          p.z[g.row(x(l), y(l, done), steps == 3 ? done : 0)] = scaled(p.out, in.s[std::size_t(l)], in.y[l]);
    }
  }
  void load(int l, int line, Line<steps, around, Values> &to) const {
    const PetscInt i = g.wrapped(x(l), 0), j = g.wrapped(y(l, line), 1), k = steps == 3 ? g.wrapped(line, 2) : 0;
    Line<steps, around, double> point;
    fetch(a, p, i < 0 || j < 0 || k < 0 ? -1 : (k * g.n[1] + j) * g.n[0] + i, point);
    prepare(g, p, i, j, k, point);
    to.t[l] = point.t, to.y[l] = point.y, to.s[l] = point.s;
    for (int m = 0; m < steps; ++m) to.ahead[m][l] = point.ahead[m];
    for (int m = 0; m < (around ? steps : 0); ++m) to.back[m][l] = point.back[m];
  }
};

// As the kernels deal out the grid.
template <int steps, bool around> void marched(const Held &held, const Piece &p) {
  with_march<steps, around>(p, [&](auto marching) {
    using M = decltype(marching);
    constexpr int ends = M::west + M::east, most = 5;
    const int lines = int(held.g.n[steps == 3 ? 2 : 1]), height = steps == 3 ? int(held.g.n[1]) : 1;
    for (int y0 = 0; y0 < height; y0 += steps == 3 ? rows - ends : 1)
      for (int x0 = 0; x0 < held.g.n[0]; x0 += across - ends)
        for (int first = 0; first < lines; first += most)
          Task<steps, around, M>{held.g, held.couplings(), p, x0, y0, first, std::min(first + most, lines)}.run();
  });
}

template <int steps, bool around>
std::vector<double> applied(const Held &held, const Series &series, const std::vector<double> &r) {
  std::vector<double> z(r.size(), std::nan("")), work[3] = {z, z, z};
  double *const free[3] = {work[0].data(), work[1].data(), work[2].data()};
  in_pieces(series, most_marched(steps, around), r.data(), z.data(), free,
            [&](const Piece &p) { marched<steps, around>(held, p); });
  return z;
}

template <int steps> std::vector<double> applied(const Held &held, const Series &series, const std::vector<double> &r) {
  return held.g.any_periodic() ? applied<steps, true>(held, series, r) : applied<steps, false>(held, series, r);
}

void compare(const Shape &s, const Series &series, const reference::Dense &inverse, const std::string &what) {
  SmallMatrix A = uneven(s);
  const Held held(A, s);
  const std::vector<double> r = random_values(std::size_t(s.size())), known = reference::product(inverse, r);
  const std::vector<double> z = held.g.steps == 2   ? applied<2>(held, series, r)
                                : held.g.steps == 4 ? applied<4>(held, series, r)
                                                    : applied<3>(held, series, r);
  double most = 0;
  for (double v : known) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < z.size(); ++i)
    ASSERT_NEAR(z[i], known[i], 1e-12 * most) << words(s) << ", " << what << ", at " << i;
}

const Shape deep{9, 27, 5, false, false, false, 7};

// In one piece, in one for each triangle, in several.
TEST(NeumannMarch, IsTheSeriesOfTheDenseMatrix) {
  for (const Shape &s : shapes)
    for (int terms : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 20})
      compare(s, neumann::neumann(terms), reference::neumann_inverse(reference_of(uneven(s)), terms),
              std::to_string(terms) + " terms");
  compare(deep, neumann::neumann(2), reference::neumann_inverse(reference_of(uneven(deep)), 2), "2 terms");
}

TEST(NeumannMarch, IsTheDenseIncompletePoisson) {
  for (bool scaled : {true, false}) {
    for (const Shape &s : shapes)
      compare(s, incomplete_poisson(scaled), reference::poisson_inverse(reference_of(uneven(s)), scaled),
              scaled ? "scaled" : "not");
    compare(deep, incomplete_poisson(scaled), reference::poisson_inverse(reference_of(uneven(deep)), scaled), "deep");
  }
}

} // namespace
