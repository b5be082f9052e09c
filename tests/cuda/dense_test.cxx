// The dense inverse on a device: by elimination of our own, and by a library.
#include "dense/cuda/dense.hpp"

#include "exec/cuda/cuda.hpp"
#include "reference/problems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

namespace {

namespace cuda = petscrrb::cuda;
namespace dense = petscrrb::dense;
using reference::Vector;

// A graph with random weights: rings and chords; excess at some unknowns, or nowhere. coloured: odd unknowns are coupled with even ones
// alone.
reference::Matrix graph(int n, bool singular, bool coloured) {
  reference::Matrix A(n);
  reference::Random random(7);
  const auto couple = [&](int i, int j) {
    if (i == j || A.row[i].count(j) || (coloured && (i - j) % 2 == 0)) return;
    const double w = std::pow(10.0, 3 * random() - 1.5);
    A.add(i, j, -w), A.add(j, i, -w), A.add(i, i, w), A.add(j, j, w);
  };
  for (int i = 0; i < n; ++i) {
    A.add(i, i, singular ? 0.0 : i % 5 ? 0.0 : random());
    couple(i, (i + 1) % n), couple(i, int(random() * n));
  }
  return A;
}

struct OnDevice {
  std::vector<int> ia{0}, ja;
  std::vector<double> a, excess;
  cuda::Buffer<int> rows, columns, black;
  cuda::Buffer<double> values, sums, r, z;
  std::unique_ptr<dense::DenseInverse> inverse;

  explicit OnDevice(const reference::Matrix &A, bool coloured = false) {
    for (int i = 0; i < A.size(); ++i) {
      double sum = 0;
      for (const auto &[j, value] : std::map<int, double>(A.row[i].begin(), A.row[i].end()))
        ja.push_back(j), a.push_back(value), sum += value;
      ia.push_back(int(ja.size()));
      excess.push_back(std::abs(sum) < 1e-9 ? 0.0 : sum);
    }
    rows.assign(ia), columns.assign(ja), values.assign(a), sums.assign(excess);
    r.resize(A.size()), z.resize(A.size());
    std::vector<int> numbers(std::size_t(A.size()));
    for (int i = 0; i < A.size(); ++i) numbers[std::size_t(i)] = i % 2 ? i / 2 : -1;
    black.assign(numbers);
    inverse = std::make_unique<dense::DenseInverse>(
        dense::SparseView{A.size(), rows.data(), columns.data(), values.data(), sums.data()},
        dense::Inverse::explicit_inverse, nullptr, nullptr,
        coloured ? dense::Colours{black.data(), A.size() / 2} : dense::Colours{});
    refresh();
  }
  dense::Status refresh(double null_inverse = 0) {
    inverse->refresh(values.data(), sums.data(), null_inverse, nullptr);
    cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    return inverse->status();
  }
  Vector solve(const Vector &b) {
    r.assign(b);
    Vector x(b.size());
    const double *from = inverse->solve(r.data(), z.data(), nullptr);
    cuda::check(cudaMemcpy(x.data(), from, x.size() * sizeof(double), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return x;
  }
};

struct DenseOnDevice : testing::TestWithParam<std::tuple<int, bool>> {
  const int n = std::get<0>(GetParam());
  const bool coloured = std::get<1>(GetParam());
};

TEST_P(DenseOnDevice, Inverts) {
  const reference::Matrix A = graph(n, false, coloured);
  OnDevice M(A, coloured);
  EXPECT_TRUE(M.inverse->status().definite);
  EXPECT_EQ(M.inverse->status().null_directions, 0);
  for (int again = 0; again < 2; ++again) {
    const Vector b = reference::random_vector(A.size(), 3), x = M.solve(b), Ax = A.multiply(x);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(Ax[i], b[i], 1e-9) << i;
    (void)M.refresh();
  }
}

// x^T A^-1 y = y^T A^-1 x by the same bits of the matrix: column i of row j.
TEST_P(DenseOnDevice, IsSymmetric) {
  OnDevice M(graph(n, false, coloured), coloured);
  const auto column = [&](int j) {
    Vector e(n, 0.0);
    e[j] = 1;
    return M.solve(e);
  };
  const int j = n / 3;
  const Vector of_j = column(j), of_last = column(n - 1);
  EXPECT_EQ(of_j[n - 1], of_last[j]);
}

TEST_P(DenseOnDevice, IsThePseudoInverseWhereItIsSingular) {
  if (n < 3) GTEST_SKIP() << "nothing is coupled";
  const reference::Matrix A = graph(n, true, coloured);
  OnDevice M(A, coloured);
  EXPECT_TRUE(M.inverse->status().definite);
  EXPECT_EQ(M.inverse->status().null_directions, 1);
  Vector b = reference::random_vector(A.size(), 3);
  double mean = 0;
  for (const double value : b) mean += value / double(b.size());
  for (const double null_inverse : {0.0, 0.25}) {
    (void)M.refresh(null_inverse);
    const Vector x = M.solve(b), Ax = A.multiply(x);
    double sum = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      EXPECT_NEAR(Ax[i], b[i] - mean, 1e-8);
      sum += x[i];
    }
    EXPECT_NEAR(sum, null_inverse * mean * double(b.size()), 1e-7);
  }
}

TEST_P(DenseOnDevice, NamesTheFirstBadPivot) {
  reference::Matrix A = graph(n, false, coloured);
  const int bad = n / 2;
  A.row[bad][bad] = -1;
  OnDevice M(A, coloured);
  EXPECT_FALSE(M.inverse->status().definite);
  EXPECT_EQ(M.inverse->status().bad_pivot, coloured && n <= dense::DenseInverse::most_swept && bad % 2 ? -1 : bad)
      << "black ones are not numbered";
}

INSTANTIATE_TEST_SUITE_P(Sizes, DenseOnDevice,
                         testing::Combine(testing::Values(1, 2, 31, 32, 33, 100, 512, 1024, 1025), testing::Bool()));

} // namespace
