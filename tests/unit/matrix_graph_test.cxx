// RRB of a matrix that is on no 2D grid, as the library does it, against the reference.
#include "by_support.hpp"
#include "rrb_support.hpp"
#include "simulated_ranks.hpp"
#include "threads.hpp"

#include "pc/rrb/host/graph_loops.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace reference;
using support::index_t;
using support::RealRRB;

namespace {

struct GraphProblem {
  std::string name;
  Matrix A;
  Numbering numbering = 0;
  Vector v = {};
};

// Each node with a few near ones in a numbering that nobody knows; weights over some orders of magnitude. positive: part of the couplings.
Matrix random_graph(int n, int couplings, double orders, std::uint32_t seed, double positive = 0) {
  Random random(seed);
  Matrix A(n);
  std::vector<int> number(n);
  for (int p = 0; p < n; p++) number[p] = p;
  for (int p = n - 1; p > 0; p--) std::swap(number[p], number[int(random() * (p + 1))]);
  for (int p = 0; p < n; p++)
    for (int k = 0; k < couplings; k++) {
      const int q = p + 1 + int(random() * 9);
      const double w = std::pow(10.0, orders * (random() - 0.5));
      if (q < n) couple(A, number[p], number[q], random() < positive ? -0.02 * w : w);
    }
  return A;
}

Matrix seven_points(int nx, int ny, int nz, double orders, std::uint32_t seed) {
  Random random(seed);
  Matrix A(nx * ny * nz);
  const auto w = [&] { return std::pow(10.0, orders * (random() - 0.5)); };
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++) {
        const int p = (k * ny + j) * nx + i;
        if (i + 1 < nx) couple(A, p, p + 1, w());
        if (j + 1 < ny) couple(A, p, p + nx, w());
        if (k + 1 < nz) couple(A, p, p + nx * ny, w());
      }
  return A;
}

// Two nodes that couple with half of the others each, weakly or strongly.
Matrix with_hubs(Matrix A, double orders) {
  Random random(1);
  for (int hub : {5, 11})
    for (int p = hub % 2; p < A.size(); p += 2)
      if (A.at(hub, p) == 0) couple(A, hub, p, std::pow(10.0, orders * (random() - 0.5)));
  return A;
}

Matrix with_excess(Matrix A, double excess, int every = 1) {
  for (int p = 0; p < A.size(); p += every) A.add(p, p, excess);
  return A;
}

// Rows without couplings, whose columns some others keep.
Matrix with_identity_rows(Matrix A, int every) {
  for (int p = 0; p < A.size(); p += every) {
    const double d = A.at(p, p);
    A.row[p].clear();
    A.row[p][p] = d;
  }
  return A;
}

std::vector<GraphProblem> problems() {
  std::vector<GraphProblem> all;
  for (std::uint32_t seed = 1; seed <= 3; seed++) {
    const std::string number = ", seed " + std::to_string(seed);
    all.push_back({"graph" + number, with_excess(random_graph(300, 3, 0, seed), 0.1)});
    all.push_back({"rough graph" + number, with_excess(random_graph(310, 3, 6, seed), 1, 29)});
    all.push_back({"singular graph" + number, random_graph(250, 3, 2, seed)});
    all.push_back({"positive couplings" + number, with_excess(random_graph(280, 4, 1, seed, 0.1), 0.5)});
    all.push_back({"identity rows" + number, with_identity_rows(with_excess(random_graph(290, 3, 3, seed), 1, 17), 7)});
    all.push_back({"in space" + number, with_excess(seven_points(7, 6, 8, 4, seed), 1, 31), {7, 6}});
    GraphProblem scaled{"near null vector" + number, random_graph(260, 3, 1, seed), 0, random_vector(260, seed)};
    for (double &x : scaled.v) x += x > 0 ? 0.5 : -0.5;
    for (int p = 0; p < 260; p++)
      for (auto &[q, a] : scaled.A.row[p]) a /= scaled.v[p] * scaled.v[q];
    all.push_back(scaled);
  }
  for (double orders : {0.0, 4.0})
    all.push_back(
        {"hubs over " + std::to_string(orders), with_excess(with_hubs(random_graph(1300, 3, 1, 1), orders), 1, 31)});
  all.push_back({"Poisson in space", with_excess(seven_points(8, 8, 8, 0, 1), 0.3, 7), {8, 8}});
  all.push_back({"apart", random_graph(100, 0, 0, 1)});
  for (int n : {1, 2, 3, 5}) all.push_back({std::to_string(n) + " unknowns", with_excess(random_graph(n, 2, 1, 1), 1)});
  return all;
}

SupportRRB expected(const GraphProblem &p, int last) {
  SupportOptions options = deep(last);
  options.numbering = p.numbering, options.v = p.v;
  return SupportRRB(p.A, Grid{}, options);
}
support::Problem converted(const GraphProblem &p) {
  return {p.A, p.numbering.nx, p.numbering.ny, false, false, false, p.v, 0, 0, true};
}
support::Choice deep_choice(int last, int amli = 0) {
  support::Choice c;
  c.levels = 1000, c.support = true, c.last = last, c.amli_grid = amli;
  return c;
}

TEST(MatrixGraph, IsTheReference) {
  for (const GraphProblem &p : problems())
    for (int last : {1, 40}) {
      SCOPED_TRACE(p.name + ", last " + std::to_string(last));
      const SupportRRB M = expected(p, last);
      RealRRB real(converted(p), deep_choice(last));
      ASSERT_EQ(real.redone(), M.redone());
      ASSERT_TRUE(M.ok() && real.outcome().ok);
      std::vector<index_t> sizes(M.sizes().begin(), M.sizes().end());
      sizes.push_back(index_t(M.last_block().size()));
      EXPECT_EQ(real.core().unknowns_by_level(), sizes);
      const Vector r = random_vector(p.A.size(), 5);
      EXPECT_LT(relative_difference(real.apply(r), M.apply(r)), 1e-9);
    }
}

// Each decides about a part of the nodes: neighbours are in one part where the numbering is a grid's, and anywhere in a random one.
TEST(MatrixGraph, ManyThreadsChooseAsOne) {
  for (const Matrix &A : {with_excess(random_graph(20000, 3, 4, 1), 0.1), seven_points(30, 28, 20, 6, 2)}) {
    const Vector r = random_vector(A.size(), 1);
    std::vector<index_t> sizes;
    Vector z;
    for (const int n : {1, 2, 3, 7}) {
      const Threads threads(n);
      RealRRB real(converted({"", A}), deep_choice(500));
      if (n == 1) sizes = real.core().unknowns_by_level(), z = real.apply(r);
      EXPECT_EQ(real.core().unknowns_by_level(), sizes) << n;
      EXPECT_EQ(real.apply(r), z) << n;
    }
    EXPECT_GT(sizes[2], 5000);
  }
}

// Of ranks that each know the right-hand side of some rows only, those from cuts[rank] on; some have none.
TEST(MatrixGraph, SharedByRanksIsThatOfOneToTheBit) {
  using petscrrb::rrb::Part;
  int turn = 0, shared = 0;
  for (const GraphProblem &p : problems())
    for (int amli : {0, 1}) {
      const int n = p.A.size(), last = turn % 2 ? 30 : 1;
      const index_t whole = turn % 3 * 50;
      SCOPED_TRACE(p.name + ", last " + std::to_string(last) + ", whole " + std::to_string(whole));
      GraphProblem changed = p;
      changed.A = with_excess(p.A, 0.2, 3);
      const Vector r = random_vector(n, 7);
      RealRRB alone(converted(p), deep_choice(last, amli));
      const Vector at_first = alone.apply(r), left = alone.apply(r, Part::left), right = alone.apply(r, Part::right);
      alone.refresh(converted(changed));
      const Vector refreshed = alone.apply(r);
      const std::vector<index_t> cuts =
          turn++ / 2 % 2 ? std::vector<index_t>{0, n / 3, n} : std::vector<index_t>{0, 0, n / 2, n / 2 + n / 5, n, n};
      support::SimulatedRanks::run(int(cuts.size()) - 1, [&](petscrrb::rrb::Ranks &ranks) {
        const auto first = cuts[ranks.rank()], end = cuts[ranks.rank() + 1];
        RealRRB real(converted(p), deep_choice(last, amli));
        if (!real.core().share(ranks, cuts, whole)) return;
        real.core().prepare_exchanges();
        if (ranks.rank() == 0) shared++;
        Vector own(n, std::numeric_limits<double>::quiet_NaN());
        std::copy(r.begin() + first, r.begin() + end, own.begin() + first);
        const auto expect = [&](const Vector &found, const Vector &z) {
          for (index_t i = first; i < end; i++) EXPECT_EQ(found[i], z[i]) << "row " << i;
        };
        expect(real.apply(own), at_first);
        expect(real.apply(own, Part::left), left), expect(real.apply(own, Part::right), right);
        real.refresh(converted(changed));
        expect(real.apply(own), refreshed);
      });
    }
  EXPECT_GT(shared, 40);
}

// AMLI at each factor of 8: each step with what the library estimates there, and that with the steps after it in use.
TEST(MatrixGraph, WithAMLIIsTheReference) {
  int most_steps = 0;
  std::vector<GraphProblem> all = problems();
  all.push_back({"in space", with_excess(seven_points(17, 15, 16, 0, 1), 0.1, 301), {17, 15}});
  for (const GraphProblem &p : all) {
    SCOPED_TRACE(p.name);
    const SupportRRB M = expected(p, 1);
    RealRRB real(converted(p), deep_choice(1, 1));
    ASSERT_EQ(real.core().steps(), M.steps());
    std::vector<double> lambda;
    for (int k = 0; k < M.steps(); k++) {
      const petscrrb::rrb::AmliReport amli = real.core().step(k).amli();
      EXPECT_EQ(amli.nx, index_t(M.step_size(k)));
      lambda.push_back(amli.used ? amli.lambda_max : 0);
    }
    for (int k = 0; k < M.steps(); k++) {
      const double above = M.largest_eigenvalue(k, lambda) - 1, found = real.core().step(k).amli().lambda_max - 1;
      if (above < 0.1) continue;
      EXPECT_GT(found, 0.9 * above) << "step " << k;
      EXPECT_LT(found, 1.12 * above) << "step " << k;
    }
    most_steps = std::max(most_steps, int(std::count_if(lambda.begin(), lambda.end(), [](double l) { return l > 0; })));
    const Vector r = random_vector(p.A.size(), 5);
    EXPECT_LT(relative_difference(real.apply(r), M.apply(r, lambda)), 1e-9);
  }
  EXPECT_GE(most_steps, 2);
}

TEST(MatrixGraph, RefreshKeepsDecisions) {
  for (const GraphProblem &p : problems()) {
    SCOPED_TRACE(p.name);
    const SupportRRB before = expected(p, 1);
    GraphProblem after = p;
    Random random(7);
    for (int i = 0; i < p.A.size(); i++)
      for (const auto &[j, a] : p.A.row[i])
        if (j > i && p.A.at(j, i) != 0 && p.v.empty()) couple(after.A, i, j, -a * 0.3 * (random() - 0.5));
    RealRRB real(converted(p), deep_choice(1));
    const Vector r = random_vector(p.A.size(), 3), first = real.apply(r);
    real.refresh();
    EXPECT_EQ(real.apply(r), first); // to the bit
    real.refresh(converted(after));
    SupportOptions options = deep();
    options.numbering = p.numbering, options.v = p.v;
    const SupportRRB M(after.A, Grid{}, options, before.decisions());
    ASSERT_TRUE(M.ok() && real.outcome().ok);
    EXPECT_LT(relative_difference(real.apply(r), M.apply(r)), 1e-9);
    real.refresh(converted(p));
    EXPECT_EQ(real.apply(r), first);
  }
}

// What a device does in each refresh: products go where the set-up found that they go.
TEST(MatrixGraph, RefreshIsTheSameByStoredPlaces) {
  using Loops = petscrrb::rrb::GraphLoops<petscrrb::Host>;
  bool changes = false;
  for (const GraphProblem &p : problems()) {
    SCOPED_TRACE(p.name);
    GraphProblem after = p;
    for (auto &row : after.A.row)
      for (auto &[j, a] : row) a *= 1.5;
    RealRRB looked_up(converted(p), deep_choice(1));
    const bool before = Loops::store_products(true);
    RealRRB stored(converted(p), deep_choice(1));
    Loops::store_products(before);
    if (stored.core().grids() > 0) {
      EXPECT_GT(stored.core().bytes(), looked_up.core().bytes());
    }
    const Vector r = random_vector(p.A.size(), 3), first = looked_up.apply(r);
    EXPECT_EQ(stored.apply(r), first);
    for (RealRRB *each : {&looked_up, &stored}) each->refresh(converted(after));
    EXPECT_EQ(stored.apply(r), looked_up.apply(r));
    changes |= stored.apply(r) != first;
    stored.refresh(converted(p));
    EXPECT_EQ(stored.apply(r), first);
  }
  EXPECT_TRUE(changes);
}

// Red nodes that lose more than three times what they keep, and pairs of them that couple more than three times as strongly as their paths.
int count_failing(const Matrix &A, const std::vector<int> &reds) {
  std::vector<bool> red(A.size());
  for (int p : reds) red[p] = true;
  const auto is_red = [&](int p) { return red[p]; };
  const auto w = [&](int p, int q) { return -A.at(p, q); };
  int failing = 0;
  for (int p : reds) {
    double lost = 0, kept = 0;
    for (const auto &[q, a] : A.row[p]) {
      kept += a; // in all: the excess
      if (q == p) continue;
      (is_red(q) ? lost : kept) += w(p, q);
      if (!is_red(q) || q < p) continue;
      double support = 0;
      for (const auto &[r, b] : A.row[q])
        if (!is_red(r) && w(p, r) > 0) support += w(p, r) * w(q, r) / (w(p, r) + w(q, r));
      failing += w(p, q) > 3 * support;
    }
    failing += lost > 3 * kept;
  }
  return failing;
}

// Each node with the two that follow it: after a level it has eight couplings at most, of which none slides.
Matrix band(int n, double orders, std::uint32_t seed) {
  Random random(seed);
  Matrix A(n);
  for (int p = 0; p < n; p++)
    for (int q : {p + 1, p + 2})
      if (q < n) couple(A, p, q, std::pow(10.0, orders * (random() - 0.5)));
  return A;
}

// Of a refresh with other weights. A large excess: pairs fail alone.
index_t failing(const GraphProblem &before, const GraphProblem &after) {
  support::Choice choice = deep_choice(1);
  choice.levels = 1;
  RealRRB real(converted(before), choice);
  real.refresh(converted(after));
  EXPECT_TRUE(real.outcome().ok);
  return real.outcome().unsupported;
}
GraphProblem wide_band(int n, std::uint32_t seed, double excess) { return {"", with_excess(band(n, 6, seed), excess)}; }

TEST(MatrixGraph, RefreshCountsWhatFails) {
  const int n = 2000;
  for (double excess : {1e-3, 1e4})
    for (std::uint32_t seed : {1, 2, 3}) {
      const GraphProblem before = wide_band(n, seed, excess), after = wide_band(n, seed + 10, excess);
      const std::vector<int> reds = expected(before, 1).decisions().levels[0].reds;
      const int more = count_failing(after.A, reds) - count_failing(before.A, reds) - n / 256;
      EXPECT_GT(more, 20);
      EXPECT_EQ(failing(before, after), more);
    }
}

// Of a large graph's pairs an eighth is tested.
TEST(MatrixGraph, RefreshCountsSomeOfMany) {
  const int all = 1 << 16, some = all + 1;
  const index_t of_all = failing(wide_band(all, 1, 1e4), wide_band(all, 2, 1e4)),
                about = failing(wide_band(some, 1, 1e4), wide_band(some, 2, 1e4));
  EXPECT_GT(of_all, 1000);
  EXPECT_NEAR(double(about), double(of_all), 0.1 * double(of_all));
  EXPECT_NE(about, of_all);
}

TEST(MatrixGraph, IsSymmetricAndPositive) {
  for (const GraphProblem &p : problems())
    for (const auto precision : {petscrrb::rrb::Precision::in_double, petscrrb::rrb::Precision::in_single}) {
      SCOPED_TRACE(p.name);
      support::Choice c = deep_choice(2, 1);
      c.precision = precision;
      RealRRB real(converted(p), c);
      const Vector x = random_vector(p.A.size(), 1), y = random_vector(p.A.size(), 2);
      const Vector Mx = real.apply(x), My = real.apply(y);
      EXPECT_NEAR(dot(y, Mx), dot(x, My), 1e-10 * norm(y) * norm(Mx));
      EXPECT_GT(dot(x, Mx), 0);
    }
}

// Weights so small that products of them are 0: the pattern stays symmetric.
TEST(MatrixGraph, SurvivesUnderflow) {
  for (double orders : {300.0, 600.0}) {
    Random random(3);
    Matrix A(400);
    for (int p = 0; p < 400; p++)
      for (int q : {p + 1, p + 20})
        if (q < 400) couple(A, p, q, std::pow(10.0, -orders / 2 * random()));
    const GraphProblem p{"underflow", with_excess(A, 1, 50)};
    RealRRB real(converted(p), deep_choice(5, 1));
    if (!real.outcome().ok) continue;
    for (const double z : real.apply(random_vector(400, 1))) EXPECT_TRUE(std::isfinite(z));
  }
}

// A graph whose nodes all are near one another: no red nodes leave it sparse.
TEST(MatrixGraph, RefusesAnExpander) {
  constexpr int n = 6000;
  Random random(1);
  Matrix A(n);
  for (int k = 0; k < 12; k++) {
    std::vector<int> next(n);
    for (int p = 0; p < n; p++) next[p] = p;
    for (int p = n - 1; p > 0; p--) std::swap(next[p], next[int(random() * (p + 1))]);
    for (int p = 0; p < n; p++) couple(A, next[p], next[(p + 1) % n], 1);
  }
  try {
    RealRRB real(converted({"expander", with_excess(A, 0.001)}), deep_choice(1024, 1));
    FAIL() << "it was factored, with " << real.core().graph().couplings.back() << " couplings each in the end";
  } catch (const std::domain_error &e) {
    EXPECT_NE(std::string(e.what()).find("RRB is not for this matrix"), std::string::npos) << e.what();
  }
}

TEST(MatrixGraph, RefusesMoreRowsThanItNumbers) {
  petscrrb::Host host;
  petscrrb::Csr A;
  A.n = (1 << 28) + 1;
  EXPECT_THROW(petscrrb::rrb::make_matrix_reader(host)->set(A, {}), std::length_error);
}

TEST(MatrixGraph, FindsOutAboutRows) {
  const auto facts = [](const Matrix &A) { return RealRRB(converted({"", A}), deep_choice(1)).facts(); };
  const Matrix A = with_excess(random_graph(60, 3, 1, 1), 1);
  EXPECT_EQ(facts(A).result(), petscrrb::ReadResult::ok);
  EXPECT_EQ(facts(A).identity_rows, 0);
  EXPECT_EQ(facts(with_identity_rows(A, 10)).identity_rows, 6);
  Matrix other = A;
  other.add(10, other.row[10].begin()->first, 0.1);
  EXPECT_EQ(facts(other).result(),
            other.row[10].begin()->first == 10 ? petscrrb::ReadResult::ok : petscrrb::ReadResult::refused);
  other = A;
  other.add(2, 50, 0.5); // and not (50, 2)
  EXPECT_EQ(facts(other).result(), petscrrb::ReadResult::refused);
  other = A;
  other.row[7][7] = -1;
  EXPECT_EQ(facts(other).bad_pivot, 7);
}

} // namespace
