// The projection on the host against its dense reference.
#include "deflation_support.hpp"
#include "threads.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace deflationtest;
using namespace petscrrb::deflation;
using reference::product;
using reference::sum;
using reference::transposed;
using reference::Vector;

namespace {

void expect_near(const Vector &x, const Vector &y, double tolerance) {
  ASSERT_EQ(x.size(), y.size());
  double size = 1e-300, difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    size = std::max(size, std::abs(y[i]));
    difference = std::max(difference, std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY);
  }
  EXPECT_LE(difference, tolerance * size);
}

struct Parts {
  Vector restricted, solved, prolonged, subtracted; // Z of the first two, since c is inside
};

// What each operation gives of r and y.
Parts parts(Projection &p, const Vector &r, const Vector &y) {
  Parts out{r, r, y, r};
  p.restrict_residual(r.data(), y.data());
  p.prolong(nullptr, out.restricted.data());
  p.solve();
  p.prolong(nullptr, out.solved.data());
  p.prolong(out.prolonged.data(), out.prolonged.data());
  p.subtract(out.subtracted.data());
  return out;
}

Parts expected(const reference::Deflation &d, const Vector &r, const Vector &y) {
  const Vector c = sum(product(transposed(d.Z), r), -1, product(transposed(d.AZ), y)), e = product(d.inverse, c);
  return {product(d.Z, c), product(d.Z, e), sum(y, 1, product(d.Z, e)), sum(r, -1, product(d.AZ, e))};
}

void compare(Projection &p, const reference::Deflation &d) {
  const int n = int(d.A.size());
  const Vector r = reference::random_vector(n, 5), y = reference::random_vector(n, 6);
  const Parts found = parts(p, r, y), wanted = expected(d, r, y);
  expect_near(found.restricted, wanted.restricted, 1e-12);
  expect_near(found.solved, wanted.solved, 1e-8);
  expect_near(found.prolonged, wanted.prolonged, 1e-8);
  expect_near(found.subtracted, wanted.subtracted, 1e-8);
}

int null_directions(const reference::Deflation &d) {
  double trace = 0; // of E E^+, its rank
  for (std::size_t i = 0; i < d.E.size(); ++i)
    for (std::size_t j = 0; j < d.E.size(); ++j) trace += d.E[i][j] * d.inverse[j][i];
  return int(d.E.size()) - int(std::lround(trace));
}

class EveryCase : public testing::TestWithParam<Case> {};

TEST_P(EveryCase, AgreesWithTheReference) {
  const Case &c = GetParam();
  const Rows rows(c.A);
  const reference::Deflation d = reference::deflation_of(c.A, reference::columns_of(c.labels));
  Space space = c.space;
  space.phi = c.phi.empty() ? nullptr : c.phi.data();
  for (const Inverse type : {Inverse::explicit_inverse, Inverse::cholesky}) {
    const auto p = make_projection();
    ASSERT_EQ(p->setup(rows.csr(), space, type), Result::ok) << p->report().why;
    if (!p->report().empty) {
      EXPECT_EQ(p->report().subdomains, int(d.E.size()));
      EXPECT_EQ(p->report().null_directions, null_directions(d));
    }
    compare(*p, d);
  }
}

TEST_P(EveryCase, FollowsNewValues) {
  const Case &c = GetParam();
  reference::Matrix other = c.A;
  for (int i = 0; i < other.size(); ++i)
    for (auto &[j, value] : other.row[i]) value *= 3 + std::cos(i) * std::cos(j); // symmetric; no singular one stays so
  for (int i = 0; i < other.size(); ++i) {
    double others = 0;
    for (const auto &[j, value] : other.row[i]) others += i == j ? 0 : std::abs(value);
    if (!reference::is_identity_row(other, i)) other.row[i][i] = others + 0.01;
  }
  const Rows before(c.A), after(other);
  Space space = c.space;
  space.phi = c.phi.empty() ? nullptr : c.phi.data();
  const auto p = make_projection();
  ASSERT_EQ(p->setup(before.csr(), space, Inverse::cholesky), Result::ok) << p->report().why;
  const Result result = p->refresh(after.csr(), space.phi);
  if (result == Result::rebuild) { // phases by diagonals may be others now, and AZ may have more entries
    ASSERT_EQ(p->setup(after.csr(), space, Inverse::cholesky), Result::ok) << p->report().why;
  } else
    ASSERT_EQ(result, Result::ok) << p->report().why;
  const auto same = [&](int i, int j) {
    return std::max(other.at(i, i), other.at(j, j)) < space.jump * std::min(other.at(i, i), other.at(j, j));
  };
  const reference::Labels labels =
      space.phases && !space.phi ? reference::phase_labels(other, same, reference::Labels(other.size(), 0)) : c.labels;
  compare(*p, reference::deflation_of(other, reference::columns_of(labels)));
}

TEST_P(EveryCase, IsTheSameForAnyNumberOfThreads) {
  const Case &c = GetParam();
  const Rows rows(c.A);
  Space space = c.space;
  space.phi = c.phi.empty() ? nullptr : c.phi.data();
  const Vector r = reference::random_vector(c.A.size(), 5), y = reference::random_vector(c.A.size(), 6);
  std::vector<Parts> runs;
  for (const int n : {1, 3}) {
    const Threads threads(n);
    const auto p = make_projection();
    ASSERT_EQ(p->setup(rows.csr(), space, Inverse::explicit_inverse), Result::ok);
    runs.push_back(parts(*p, r, y));
  }
  EXPECT_EQ(runs[0].restricted, runs[1].restricted);
  EXPECT_EQ(runs[0].prolonged, runs[1].prolonged);
  EXPECT_EQ(runs[0].subtracted, runs[1].subtracted);
}

INSTANTIATE_TEST_SUITE_P(Deflation, EveryCase, testing::ValuesIn(all_cases()),
                         [](const auto &info) { return info.param.name; });

Space blocks(const reference::Sizes &n, petscrrb::index_t nx, petscrrb::index_t ny) {
  Space space;
  const petscrrb::index_t parts[3] = {nx, ny, 1};
  space.grid = grid_of(n);
  space.boxes = blocks_of(space.grid, parts);
  return space;
}

TEST(Deflation, HasOnlyFewEntriesOfAZ) { // inside a subdomain the row sums are zero
  const int n = 64;
  const Rows rows(reference::neumann(n, n).A);
  const auto p = make_projection();
  ASSERT_EQ(p->setup(rows.csr(), blocks({n, n, 1}, 4, 4), Inverse::cholesky), Result::ok);
  EXPECT_EQ(p->report().stored,
            2 * (2 * 3 * n + 2 * 3 * n) - 4 * 9 + 0); // rows at two faces have one own entry, not two
}

TEST(Deflation, AsksForARebuildWhereRowsBecomeIdentityRows) {
  const reference::Problem problem = reference::random_faces({10, 9}, 10);
  const auto fixed = [](int i, int) { return i == 0; };
  reference::Matrix other = problem.A;
  const reference::Matrix target = reference::identity_rows(problem, fixed, true).A;
  for (int i = 0; i < other.size(); ++i)
    for (auto &[j, value] : other.row[i]) value = target.at(i, j);
  const Rows before(problem.A), after(other);
  const auto p = make_projection();
  ASSERT_EQ(p->setup(before.csr(), blocks({10, 9, 1}, 3, 3), Inverse::cholesky), Result::ok);
  EXPECT_EQ(p->refresh(after.csr(), nullptr), Result::rebuild);
}

TEST(Deflation, RefusesWhatIsNotSymmetric) {
  reference::Matrix A = reference::poisson(8).A;
  A.row[20][21] = -0.5;
  const Rows rows(A);
  const auto p = make_projection();
  EXPECT_EQ(p->setup(rows.csr(), blocks({8, 8, 1}, 2, 2), Inverse::cholesky), Result::refused);
  EXPECT_NE(p->report().why.find("not symmetric at row 20"), std::string::npos) << p->report().why;
}

TEST(Deflation, RefusesTooManySubdomains) {
  const Rows rows(reference::poisson(100).A);
  const auto p = make_projection();
  EXPECT_EQ(p->setup(rows.csr(), blocks({100, 100, 1}, 100, 100), Inverse::cholesky), Result::refused);
  EXPECT_NE(p->report().why.find("10000 subdomains are too many"), std::string::npos) << p->report().why;
}

TEST(Deflation, FailsWhereEIsIndefinite) {
  reference::Matrix A = reference::poisson(8).A;
  for (int i = 0; i < A.size(); ++i) A.row[i][i] -= 3;
  const Rows rows(A);
  const auto p = make_projection();
  EXPECT_EQ(p->setup(rows.csr(), blocks({8, 8, 1}, 2, 2), Inverse::cholesky), Result::failed);
  EXPECT_NE(p->report().why.find("not positive definite: at subdomain"), std::string::npos) << p->report().why;
  const reference::Matrix good = reference::poisson(8).A;
  ASSERT_EQ(p->refresh(Rows(good).csr(), nullptr), Result::ok) << p->report().why;
  compare(*p,
          reference::deflation_of(good, reference::columns_of(reference::block_labels(good, {8, 8, 1}, {2, 2, 1}))));
}

TEST(Deflation, BoxesCoverTheGrid) {
  petscrrb::Grid g = grid_of({7, 5, 1});
  const petscrrb::index_t many[3] = {9, 2, 4};
  const Boxes boxes = blocks_of(g, many);
  EXPECT_EQ(boxes.count[0], 7); // at most one a point
  EXPECT_EQ(boxes.count[1], 2);
  EXPECT_EQ(boxes.count[2], 1);
  EXPECT_EQ(boxes.piece[1], (std::vector<int>{0, 0, 1, 1, 1}));
  const Boxes stripes = stripes_of(g, 2, 2);
  EXPECT_EQ(stripes.count[1], 3);
  EXPECT_EQ(stripes.piece[1], (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(stripes.piece[0], (std::vector<int>{0, 0, 0, 1, 1, 1, 1}));
}

} // namespace
