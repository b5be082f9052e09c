// The last block's solver on a device against a dense factorization on the host, on all kinds of grids.
#include "coarse_support.hpp"

namespace coarse_test {
namespace {

struct Grid {
  int nx, ny, reach;
};

// Grids of a size, each with no, one and two periodic sides.
struct Sizes {
  const char *name;
  std::vector<Grid> grids;
};
void PrintTo(const Sizes &sizes, std::ostream *out) { *out << sizes.name; }

class Coarse : public OnDevice, public ::testing::WithParamInterface<Sizes> {
protected:
  Random random;

  template <class F> void on_each_grid(const F &test) {
    for (const Grid &g : GetParam().grids)
      for (int periodic = 0; periodic < 4; periodic++) {
        if ((periodic & 1 && g.nx < 2) || (periodic & 2 && g.ny < 2)) continue;
        SCOPED_TRACE(std::to_string(g.nx) + " x " + std::to_string(g.ny) + ", reach " + std::to_string(g.reach) +
                     (periodic & 1 ? ", periodic in x" : "") + (periodic & 2 ? ", periodic in y" : ""));
        test(GridShape{g.nx, g.ny, bool(periodic & 1), bool(periodic & 2), g.reach});
      }
  }
};

TEST_P(Coarse, Regular) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = regular_problem(shape, random);
    expect_solves(p, p.singular, 1e-11, random);
  });
}

// The last pivots of such a matrix are small against the first, so the condition number enters.
TEST_P(Coarse, JumpsOfAMillion) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [&](int, int) { return std::pow(10, random.uniform(-3, 3)); },
        [&](int) { return random.uniform(0, 1e-2); });
    expect_solves(p, 0, 1e-8, random);
  });
}

// Most couplings are 0: many components, each with some excess.
TEST_P(Coarse, CutIntoRegularComponents) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [&](int, int) { return random.uniform() < 0.7 ? 0.0 : random.uniform(0.5, 2); },
        [&](int) { return random.uniform(0.01, 0.1); });
    expect_solves(p, 0, 1e-11, random);
  });
}

TEST_P(Coarse, Singular) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [&](int, int) { return random.uniform(0.5, 2); }, [](int) { return 0.0; });
    ASSERT_EQ(p.singular, p.components);
    expect_solves(p, p.components, 1e-10, random);
  });
}

// Components of all sizes with and without excess, and rows of zeros.
TEST_P(Coarse, SomeComponentsSingular) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [&](int, int) { return random.uniform() < 0.75 ? 0.0 : random.uniform(0.5, 2); },
        [&](int) { return random.uniform() < 0.9 ? 0.0 : random.uniform(0.1, 1); });
    expect_solves(p, p.singular, 1e-10, random);
  });
}

TEST_P(Coarse, OnlyRowsOfZeros) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [](int, int) { return 0.0; }, [](int) { return 0.0; });
    Solver solver(p);
    EXPECT_TRUE(solver.status().definite);
    EXPECT_EQ(solver.status().null_directions, p.size());
    const Vector r = random.vector(p.size()), z = solver.apply(r);
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_DOUBLE_EQ(z[i], Solver::null_inverse * r[i]);
  });
}

// Row sums of either sign: only the factorization can tell that the null vector is not constant.
TEST_P(Coarse, UndecidedIsSingular) {
  on_each_grid([&](const GridShape &shape) {
    const Problem flat = make_problem(
        shape, [&](int i, int j) { return (i + j) % 11 == 5 ? 0.0 : random.uniform(0.5, 2); }, [](int) { return 0.0; });
    const Problem p = scaled(flat, [](int i) { return 1 + 0.5 * std::sin(double(i)); });
    expect_solves(p, flat.singular, 1e-8, random);
  });
}

TEST_P(Coarse, UndecidedIsRegular) {
  on_each_grid([&](const GridShape &shape) {
    const Problem flat = make_problem(
        shape, [&](int, int) { return random.uniform(0.5, 2); }, [](int i) { return i % 7 ? 0.0 : 0.01; });
    const Problem p = scaled(flat, [](int i) { return 1 + 0.5 * std::sin(double(i)); });
    expect_solves(p, flat.singular, 1e-8, random);
  });
}

TEST_P(Coarse, Indefinite) {
  on_each_grid([&](const GridShape &shape) {
    Problem p = regular_problem(shape, random);
    const int at = p.size() / 2;
    for (int q = p.ia[at]; q < p.ia[at + 1]; q++)
      if (p.ja[q] == at) p.a[q] -= 2 * p.diagonal[at] + 1;
    p.excess[at] -= 2 * p.diagonal[at] + 1;
    EXPECT_FALSE(Solver(p).status().definite);
  });
}

TEST_P(Coarse, IndefiniteByLittle) {
  on_each_grid([&](const GridShape &shape) {
    const Problem p = make_problem(
        shape, [&](int, int) { return random.uniform(0.5, 2); }, [](int) { return -1e-6; });
    EXPECT_FALSE(Solver(p).status().definite);
  });
}

TEST_P(Coarse, NotFinite) {
  on_each_grid([&](const GridShape &shape) {
    const Problem good = regular_problem(shape, random);
    for (double bad : {std::nan(""), HUGE_VAL}) {
      for (std::size_t place : {std::size_t(0), good.a.size() / 2, good.a.size() - 1}) {
        Problem p = good;
        p.a[place] = bad;
        EXPECT_FALSE(Solver(p).status().definite);
      }
      Problem p = good;
      p.excess.back() = bad;
      EXPECT_FALSE(Solver(p).status().definite);
    }
  });
}

// Whatever was there before: regular, singular, not a number.
TEST_P(Coarse, RefreshIsAsNew) {
  on_each_grid([&](const GridShape &shape) {
    const Problem first = regular_problem(shape, random), second = regular_problem(shape, random);
    const Problem singular = make_problem(
        shape, [&](int, int) { return random.uniform(0.5, 2); }, [](int) { return 0.0; });
    const Problem undecided = scaled(singular, [](int i) { return 1 + 0.5 * std::cos(double(i)); });
    Problem broken = first;
    broken.a[broken.a.size() / 2] = std::nan("");
    Solver used(first);
    const Vector r = random.vector(first.size());
    for (const Problem *p :
         std::initializer_list<const Problem *>{&singular, &second, &undecided, &broken, &first, &broken, &singular}) {
      used.refresh(*p);
      Solver fresh(*p);
      EXPECT_EQ(used.status().definite, fresh.status().definite);
      EXPECT_EQ(used.status().null_directions, fresh.status().null_directions);
      if (p == &broken) continue;
      EXPECT_EQ(used.apply(r), fresh.apply(r));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    , Coarse,
    ::testing::Values(
        Sizes{"Tiny",
              {{1, 1, 1},
               {1, 9, 1},
               {2, 3, 1},
               {3, 3, 1},
               {4, 4, 1},
               {7, 7, 1},
               {8, 8, 1},
               {1, 1, 2},
               {2, 3, 2},
               {3, 3, 2},
               {4, 4, 2},
               {9, 8, 2},
               {9, 9, 1},
               {16, 16, 1},
               {16, 9, 2}}},
        Sizes{"Small", {{9, 17, 1}, {16, 17, 2}}},
        Sizes{"Medium",
              {{1, 300, 1}, {3, 200, 1}, {31, 33, 1}, {32, 32, 1}, {1, 200, 2}, {4, 300, 2}, {31, 33, 2}, {32, 32, 2}}},
        Sizes{"Large", {{63, 64, 1}, {64, 64, 1}, {128, 32, 1}, {63, 64, 2}, {90, 90, 2}}}),
    [](const ::testing::TestParamInfo<Sizes> &info) { return info.param.name; });

} // namespace
} // namespace coarse_test
