// Problems for the projection on a device, and what is compared for each.
#pragma once

#include "ksp/deflation/core/deflation.hpp"
#include "read_support.hpp"
#include "reference/projection_reference.hpp"

#include <functional>
#include <memory>

namespace deflation_test {

namespace cuda = petscrrb::cuda;
namespace deflation = petscrrb::deflation;
using deflation::Inverse;
using deflation::Result;
using read_support::DeviceRows;
using reference::Vector;

// Weights between 0.5 and 1.5 times the harmonic mean of the cells' coefficients, and an excess a row.
inline SmallMatrix laplacian(const Shape &s, unsigned seed, const std::function<double(int)> &cell,
                             const std::function<double(int)> &excess) {
  SmallMatrix A(s.size());
  Vector diagonal(s.size());
  for (int p = 0; p < s.size(); ++p) diagonal[p] = excess(p);
  for (int p = 0; p < s.size(); ++p)
    for (int m = 0; m < 27; ++m) {
      const int step[3] = {m % 3 - 1, m / 3 % 3 - 1, m / 9 - 1};
      const int away = std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]);
      if (away == 0 || away > (s.points == 9 ? 2 : 1) || (s.points == 9 && step[2])) continue;
      const int q = neighbour(s, p % s.nx, p / s.nx % s.ny, p / s.nx / s.ny, step[0], step[1], step[2]);
      if (q <= p || A.at(p, q) != 0) continue;
      const double mean = 2 * cell(p) * cell(q) / (cell(p) + cell(q));
      const double weight = mean * (0.5 + double(read_support::hash(p, q, seed) % 1000) / 1000);
      A.set_both(p, q, -weight);
      diagonal[p] += weight, diagonal[q] += weight;
    }
  for (int p = 0; p < s.size(); ++p) A.set(p, p, diagonal[p]);
  return A;
}

inline petscrrb::Grid whole_grid_of(const Shape &s) {
  petscrrb::Grid grid = grid_of(s);
  grid.n[2] = s.nz;
  grid.dim = s.points == 7 ? 3 : 2;
  return grid;
}

inline deflation::Boxes boxes_of(const Shape &s, int p, int q, int r) {
  const petscrrb::index_t parts[3] = {p, q, r};
  return deflation::blocks_of(whole_grid_of(s), parts);
}

inline int box_of(const Shape &s, const deflation::Boxes &b, int row) {
  const int i = b.piece[0][row % s.nx], j = b.piece[1][row / s.nx % s.ny], k = b.piece[2][row / s.nx / s.ny];
  return (k * b.count[1] + j) * b.count[0] + i;
}

// How the rows are divided.
struct Division {
  deflation::Boxes boxes = {};
  bool phases = false;
  Vector phi = {};
  double jump = 10;
};

inline reference::Matrix copy_of(SmallMatrix &A) {
  const petscrrb::Csr csr = A.csr();
  reference::Matrix out(A.size());
  for (int p = 0; p < A.size(); ++p)
    for (int e = csr.ia[p]; e < csr.ia[p + 1]; ++e)
      if (csr.a[e] != 0) out.add(p, csr.ja[e], csr.a[e]);
  return out;
}

inline Vector random_values(std::size_t n, unsigned seed) {
  Vector x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = double(read_support::hash(i, 0, seed) % 100000) / 50000 - 1;
  return x;
}

inline std::vector<int> labels_of(const Shape &s, const reference::Matrix &A, const Division &d, int *count) {
  std::vector<int> box(A.size(), 0);
  for (int i = 0; i < A.size() && !d.boxes.none(); ++i) box[i] = box_of(s, d.boxes, i);
  *count = d.boxes.none() ? 1 : int(d.boxes.size());
  if (!d.phases) return reference::without_identity_rows(A, box);
  const auto label = reference::phase_labels(
      A,
      [&](int i, int j) {
        if (!d.phi.empty()) return (d.phi[i] >= 0) == (d.phi[j] >= 0);
        const double a = std::abs(A.at(i, i)), b = std::abs(A.at(j, j));
        return std::max(a, b) < d.jump * std::min(a, b);
      },
      box);
  *count = *std::max_element(label.begin(), label.end()) + 1;
  return label;
}

// A projection on a device, and vectors there. Each copy waits.
class Device {
public:
  // space.phi: of no interest
  Device(const deflation::Space &space, const Vector &phi, cudaStream_t stream)
      : stream_(stream), phi_(phi), space_(space) {
    on_.stream = stream;
    space_.phi = phi_.data();
    projection_ = deflation::make_projection(on_);
  }
  Device(const Shape &s, const Division &d, cudaStream_t stream) : Device(space_of(s, d), d.phi, stream) {}
  Result setup(const DeviceRows &A, Inverse inverse) { return projection_->setup(A.csr(), space_, inverse); }
  Result refresh(const DeviceRows &A) { return projection_->refresh(A.csr(), phi_.data()); }
  void set_phi(const Vector &phi) {
    phi_.assign(phi);
    space_.phi = phi_.data();
  }
  const deflation::Report &report() const { return projection_->report(); }
  deflation::Projection &projection() { return *projection_; }

  Vector read(const cuda::Buffer<double> &from) const {
    Vector to(from.size());
    if (to.empty()) return to;
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, stream_), "read");
    cuda::check(cudaStreamSynchronize(stream_), "read");
    return to;
  }
  Vector prolonged(std::size_t n) { // Z c
    const cuda::Buffer<double> z(n);
    projection_->prolong(nullptr, z.data());
    return read(z);
  }
  // y + Z E^+ (Z^T r - (A Z)^T y)
  Vector apply(const Vector &r, const Vector &y) {
    const cuda::Buffer<double> from(r), with(y);
    projection_->restrict_residual(from.data(), with.data());
    projection_->solve();
    projection_->prolong(with.data(), with.data());
    return read(with);
  }

private:
  static deflation::Space space_of(const Shape &s, const Division &d) {
    deflation::Space space;
    space.grid = whole_grid_of(s);
    space.boxes = d.boxes;
    space.phases = d.phases, space.jump = d.jump;
    return space;
  }

  petscrrb::Cuda on_;
  cudaStream_t stream_;
  cuda::Buffer<double> phi_;
  deflation::Space space_;
  std::unique_ptr<deflation::Projection> projection_;
};

// To `tolerance` of the largest value, or of `least` where that is larger.
inline void expect_near(const Vector &x, const Vector &expected, double tolerance, const char *what,
                        double least = 1e-300) {
  double largest = least, error = 0;
  ASSERT_EQ(x.size(), expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(x[i] - expected[i]));
  }
  EXPECT_LE(error, tolerance * largest) << what;
}

} // namespace deflation_test
