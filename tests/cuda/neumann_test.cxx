// A Neumann series on a device, against the same on the host and against dense matrices: grids of all
// kinds.
#include "pc/neumann/core/grid_series.hpp"

#include "exec/cuda/cuda.hpp"
#include "../unit/neumann_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

using namespace neumann_support;
using namespace petscrrb;
using namespace petscrrb::neumann;

namespace {

bool there_is_no_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

// A matrix on the device.
struct DeviceRows {
  cuda::Buffer<PetscInt> ia, ja;
  cuda::Buffer<PetscScalar> a;
  PetscInt n;

  explicit DeviceRows(const Csr &rows)
      : ia(std::vector<PetscInt>(rows.ia, rows.ia + rows.n + 1)),
        ja(std::vector<PetscInt>(rows.ja, rows.ja + rows.ia[rows.n])),
        a(std::vector<PetscScalar>(rows.a, rows.a + rows.ia[rows.n])), n(rows.n) {}
  Csr csr() const { return {n, ia.data(), ja.data(), a.data()}; }
};

std::vector<double> on_device(const Csr &rows, const Grid &g, const Series &series, const std::vector<double> &r,
                              RowFacts &found) {
  Cuda on;
  const DeviceRows A(rows);
  const cuda::Buffer<double> x(r), y(std::vector<double>(r.size(), std::nan("")));
  std::vector<double> z(r.size());
  const auto made = make_grid_series(on, g, series);
  found = made->refresh(A.csr());
  made->apply(x.data(), y.data());
  cuda::check(cudaMemcpy(z.data(), y.data(), y.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return z;
}

std::vector<double> on_host(const Csr &rows, const Grid &g, const Series &series, const std::vector<double> &r,
                            RowFacts &found) {
  std::vector<double> z(r.size());
  const auto made = make_grid_series(g, series);
  found = made->refresh(rows);
  made->apply(r.data(), z.data());
  return z;
}

void expect_same(const RowFacts &a, const RowFacts &b) {
  EXPECT_EQ(a.identity_rows, b.identity_rows);
  EXPECT_EQ(a.bad_pivot, b.bad_pivot);
  EXPECT_EQ(a.not_finite, b.not_finite);
  EXPECT_EQ(a.foreign, b.foreign);
  EXPECT_EQ(a.asymmetry, b.asymmetry);
  EXPECT_NEAR(a.norm, b.norm, 1e-14);
}

void expect_near(const std::vector<double> &x, const std::vector<double> &y, const std::string &what) {
  double most = 0;
  for (double v : y) most = std::max(most, std::fabs(v));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-12 * most) << what << ", at " << i;
}

void compare(const Shape &s, const Csr &A, const Series &series, const std::string &what) {
  RowFacts here, there;
  const std::vector<double> r = random_values(std::size_t(s.size()));
  const std::vector<double> z = on_device(A, lattice(s), series, r, here);
  expect_near(z, on_host(A, lattice(s), series, r, there), words(s) + ", " + what);
  expect_same(here, there);
}

void compare_all(const Shape &s, const Csr &A) {
  for (int terms : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11}) compare(s, A, neumann::neumann(terms), std::to_string(terms));
  compare(s, A, neumann::neumann(2, 1.5), "relaxed");
  for (bool scaled : {true, false}) compare(s, A, incomplete_poisson(scaled), scaled ? "scaled" : "not scaled");
}

class Neumann : public testing::Test {
protected:
  void SetUp() override {
    if (there_is_no_device()) GTEST_SKIP() << "there is no CUDA device";
  }
};

// In all ways that an application may take; few enough for a sanitizer.
TEST_F(Neumann, SmallGridsAreTheHosts) {
  for (const Shape &s :
       {Shape{40, 9}, Shape{35, 7, 1, false, false, false, 9}, Shape{29, 13, 5, false, false, false, 7},
        Shape{9, 8, 1, true, true, false, 9}, Shape{5, 4, 6, false, true, true, 7}}) {
    SmallMatrix A = uneven(s);
    compare(s, A.csr(3), neumann::neumann(2), "two");
    compare(s, A.csr(3), neumann::neumann(5), "five");
    compare(s, A.csr(3), incomplete_poisson(false), "incomplete Poisson");
  }
}

TEST_F(Neumann, AllShapesAreTheHosts) {
  for (const Shape &s : shapes) {
    SmallMatrix A = uneven(s);
    compare_all(s, A.csr(3));
    for (int p = 0; p < s.size(); p += 4) A.make_identity(p, p % 8 == 0, p % 3 ? 0.5 : 2);
    compare_all(s, A.csr());
  }
}

// A matrix of many rows: a symmetric stencil with random values.
class LargeMatrix {
public:
  explicit LargeMatrix(const Shape &s) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> value(-2, -1);
    std::vector<std::map<int, double>> rows(std::size_t(s.size()));
    for (int p = 0; p < s.size(); ++p) {
      const int i = p % s.nx, j = p / s.nx % s.ny, k = p / s.nx / s.ny;
      rows[p][p] = 20 + p % 30;
      for (const auto &[di, dj, dk] : {std::array{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}}) {
        if (di && dj && s.points != 9) continue;
        const int q = neighbour(s, i, j, k, di, dj, dk);
        if (q >= 0 && q != p) rows[p][q] = rows[q][p] = value(random);
      }
    }
    for (const auto &row : rows) {
      for (const auto &[q, v] : row) ja.push_back(q), a.push_back(v);
      ia.push_back(PetscInt(ja.size()));
    }
  }
  Csr csr() const { return {PetscInt(ia.size()) - 1, ia.data(), ja.data(), a.data()}; }

private:
  std::vector<PetscInt> ia{0}, ja;
  std::vector<PetscScalar> a;
};

TEST_F(Neumann, LargeGridsAreTheHosts) {
  for (const Shape &s : {Shape{301, 290}, Shape{1023, 515}, Shape{300, 301, 1, false, false, false, 9},
                         Shape{130, 127, 1, true, false}, Shape{127, 130, 1, true, true, false, 9},
                         Shape{70, 65, 60, false, false, false, 7}, Shape{40, 33, 35, true, true, true, 7}}) {
    const LargeMatrix A(s);
    compare_all(s, A.csr());
  }
}

TEST_F(Neumann, SmallMatricesAreRefusedAsOnTheHost) {
  const Shape s{6, 5};
  const auto found_in = [&](SmallMatrix A) {
    RowFacts here, there;
    (void)on_device(A.csr(), lattice(s), neumann::neumann(2), random_values(30), here);
    (void)on_host(A.csr(), lattice(s), neumann::neumann(2), random_values(30), there);
    EXPECT_EQ(here.result(), there.result());
    EXPECT_EQ(here.bad_pivot, there.bad_pivot);
    return here;
  };
  SmallMatrix negative = random_matrix(s), bad = negative, skew = negative, far = negative;
  negative.set(11, 11, -1), negative.set(20, 20, 0);
  EXPECT_EQ(found_in(negative).bad_pivot, 11);
  bad.set(3, 4, std::nan(""));
  EXPECT_EQ(found_in(bad).result(), ReadResult::refused);
  skew.set(14, 15, -5);
  EXPECT_EQ(found_in(skew).result(), ReadResult::refused);
  far.set_both(2, 17, -1);
  EXPECT_EQ(found_in(far).result(), ReadResult::rebuild);
}

} // namespace
