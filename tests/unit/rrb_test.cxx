// The real RRB against the reference: random matrices of every kind, all storages, odd and tiny grids, offsets.
#include "rrb_support.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

using support::Choice;
using support::Problem;
using support::RealRRB;

namespace {

struct Kind {
  const char *name;
  bool corners, periodic_x, periodic_y, masked, singular, positive, with_v;
};

std::ostream &operator<<(std::ostream &o, const Kind &k) { return o << k.name; }

// A symmetric matrix with random couplings, diagonally dominant where it is not singular.
Problem random_problem(const Kind &kind, int nx, int ny, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  Problem p{reference::Matrix(nx * ny), nx, ny, kind.periodic_x, kind.periodic_y, kind.corners, {}, 0, 0};
  std::vector<bool> masked(nx * ny);
  if (kind.masked)
    for (int i = 0; i < nx * ny; ++i) masked[i] = uniform(random) < 0.3;
  if (kind.with_v)
    for (int i = 0; i < nx * ny; ++i) p.v.push_back(0.5 + uniform(random));
  const auto v = [&](int i) { return p.v.empty() ? 1.0 : p.v[i]; };
  const auto couple = [&](int i, int j, int di, int dj) {
    int a = i + di, b = j + dj;
    if (kind.periodic_x && nx > 2) a = (a + nx) % nx;
    if (kind.periodic_y && ny > 2) b = (b + ny) % ny;
    if (a < 0 || a >= nx || b < 0 || b >= ny) return;
    const int s = j * nx + i, t = b * nx + a;
    if (s == t || masked[s] || masked[t]) return;
    const double c = kind.positive && uniform(random) < 0.2 ? 0.05 * uniform(random) : -uniform(random);
    p.A.add(s, t, c), p.A.add(t, s, c);
    p.A.add(s, s, std::abs(c) * v(t) / v(s)), p.A.add(t, t, std::abs(c) * v(s) / v(t));
  };
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      couple(i, j, 1, 0), couple(i, j, 0, 1);
      if (kind.corners) couple(i, j, 1, 1), couple(i, j, -1, 1);
      p.A.add(j * nx + i, j * nx + i, masked[j * nx + i] ? 2.0 : (kind.singular ? 0.0 : 0.1 * uniform(random)));
    }
  return p;
}

reference::RRB reference_of(const Problem &p, const Choice &c) {
  reference::Options o;
  o.levels = c.levels;
  o.omega = c.omega;
  o.lump_nodes = c.both ? reference::LumpNodes::both : reference::LumpNodes::red;
  o.v = p.v;
  o.x0 = p.x0, o.y0 = p.y0;
  o.null_inverse = c.null_inverse;
  return reference::RRB(p.A, {p.nx, p.ny, p.periodic_x, p.periodic_y}, o);
}

reference::Vector random_vector(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  reference::Vector x(n);
  for (double &e : x) e = normal(random);
  return x;
}

double difference(const reference::Vector &x, const reference::Vector &y) {
  double d = 0, m = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    d = std::max(d, std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY);
    m = std::max(m, std::abs(y[i]));
  }
  return m > 0 ? d / m : d;
}

void expect_equal_to_reference(const Problem &p, Choice c, const std::string &what) {
  c.levels = std::min(c.levels, petscrrb::rrb::max_levels(p.nx + p.x0, p.ny + p.y0));
  c.null_inverse = p.v.empty() ? 0.3 : 0;
  const reference::RRB slow = reference_of(p, c);
  ASSERT_TRUE(slow.ok()) << what;
  const reference::Vector r = random_vector(p.nx * p.ny, 5), z = slow.apply(r);
  for (int g = 0; 2 * g <= c.levels; ++g) {
    c.storage_grids = g;
    RealRRB fast(p, c);
    ASSERT_TRUE(fast.outcome().ok) << what << " g=" << g;
    EXPECT_EQ(fast.redone(), slow.redone()) << what;
    EXPECT_LT(difference(fast.apply(r), z), 1e-9)
        << what << " levels=" << c.levels << " g=" << g << " omega=" << c.omega << " both=" << c.both;
  }
}

class AgainstReference : public testing::TestWithParam<Kind> {};

TEST_P(AgainstReference, EveryStorageSizeAndVariant) {
  const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2},   {1, 9},   {9, 1},   {3, 3},  {4, 4},   {3, 5},  {6, 5},
                          {7, 7}, {8, 8}, {9, 6}, {10, 12}, {17, 13}, {16, 20}, {31, 3}, {23, 29}, {40, 37}};
  unsigned seed = 1;
  for (const auto &n : sizes)
    for (const int levels : {1, 2, 3, 4, 5, 7, 10}) {
      const Problem p = random_problem(GetParam(), n[0], n[1], ++seed);
      const std::string what = std::to_string(n[0]) + "x" + std::to_string(n[1]);
      expect_equal_to_reference(p, {levels, 1.0, false}, what);
      if (levels > 5) continue;
      expect_equal_to_reference(p, {levels, 0.5, false}, what);
      expect_equal_to_reference(p, {levels, 0.7, true}, what);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, AgainstReference,
                         testing::Values(Kind{"five", false, false, false, false, false, false, false},
                                         Kind{"nine", true, false, false, false, false, false, false},
                                         Kind{"masked_five", false, false, false, true, false, false, false},
                                         Kind{"masked_nine", true, false, false, true, false, false, false},
                                         Kind{"positive", true, false, false, false, false, true, false},
                                         Kind{"vector_five", false, false, false, false, false, false, true},
                                         Kind{"vector_nine", true, false, false, true, false, false, true},
                                         Kind{"periodic_x", true, true, false, false, false, false, false},
                                         Kind{"periodic_y", true, false, true, false, false, false, true},
                                         Kind{"periodic_five", false, true, true, false, false, false, false},
                                         Kind{"periodic_nine", true, true, true, false, false, false, false}),
                         [](const auto &info) { return std::string(info.param.name); });

// Where there are coarser grids, and their factor differs by rounding.
TEST(Precision, OfMixedIsDoubleOnTheFinestGrid) {
  using petscrrb::rrb::Precision;
  for (const bool corners : {false, true})
    for (const auto &[nx, ny] : {std::pair{8, 8}, {17, 13}, {40, 37}})
      for (const int levels : {1, 2, 3, 4, 7})
        for (int g = 0; 2 * g <= levels; ++g) {
          const Problem p = random_problem({"", corners, false, false, false, false, false, false}, nx, ny, 3);
          const reference::Vector r = random_vector(nx * ny, 5);
          Choice c{levels};
          c.storage_grids = g;
          RealRRB exact(p, c);
          c.precision = Precision::mixed;
          RealRRB mixed(p, c);
          SCOPED_TRACE(std::to_string(nx) + " x " + std::to_string(ny) + ", levels " + std::to_string(levels) + ", g " +
                       std::to_string(g));
          EXPECT_EQ(mixed.core().precision(), g ? Precision::mixed : Precision::in_double);
          const double d = difference(mixed.apply(r), exact.apply(r));
          EXPECT_LT(d, 1e-6);
          EXPECT_EQ(d > 0, g > 0 && levels > 2) << d;
          if (!g) continue;
          const auto level = mixed.core().black_level();
          ASSERT_TRUE(level.in_double);
          const auto &w = level.in_double->w[0].q[petscrrb::rrb::b1],
                     &same = exact.core().black_level().in_double->w[0].q[petscrrb::rrb::b1];
          EXPECT_EQ(w(0, 0), same(0, 0));
        }
}

// A box of a larger grid: its global offset decides the colours.
TEST(Offset, BoxesAtOddPlacesMatchTheReference) {
  unsigned seed = 100;
  for (const bool corners : {false, true})
    for (const auto &[x0, y0] : {std::pair{1, 0}, {0, 1}, {1, 1}, {3, 2}, {5, 7}})
      for (const auto &[nx, ny] : {std::pair{1, 1}, {2, 3}, {7, 6}, {12, 9}})
        for (const int levels : {1, 2, 3, 4, 6}) {
          Problem p = random_problem({"", corners, false, false, false, false, false, false}, nx, ny, ++seed);
          p.x0 = x0, p.y0 = y0;
          expect_equal_to_reference(p, {levels, 1.0, false},
                                    "offset " + std::to_string(x0) + "," + std::to_string(y0) + " size " +
                                        std::to_string(nx) + "x" + std::to_string(ny));
        }
}

TEST(Levels, OfADeviceAreEvenWhereIterationsAreShort) {
  using petscrrb::rrb::default_device_levels;
  using petscrrb::rrb::default_levels;
  EXPECT_EQ(default_device_levels(1023, 1023), 8);
  for (const auto &[nx, ny] : {std::pair{150, 150}, {300, 300}, {1200, 1200}, {2047, 1023}, {1, 1 << 20}}) {
    const int fewest = default_levels(nx, ny, petscrrb::rrb::largest_device_inverse);
    EXPECT_EQ(fewest % 2, 1);
    EXPECT_EQ(default_device_levels(nx, ny), fewest + 1);
  }
  EXPECT_EQ(default_device_levels(80, 80), 1); // nothing would be left in the order of classes
  EXPECT_EQ(default_device_levels(2600, 2600), 11);
  EXPECT_EQ(default_device_levels(8191, 4095), 13);
  EXPECT_EQ(default_device_levels(1, 1), 1);
}

} // namespace
