// A last block on the device, and what is compared for each.
#pragma once

#include "coarse_problems.hpp"
#include "dense/cuda/substructured.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace coarse_test {

namespace cuda = petscrrb::cuda;
using petscrrb::dense::Status;
using petscrrb::dense::SubstructuredInverse;

// Every test needs a device.
class OnDevice : public ::testing::Test {
protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count) GTEST_SKIP() << "no CUDA device";
  }
};

// All copies go through the solver's own stream, which the NULL stream does not wait for.
class Solver {
public:
  static constexpr double null_inverse = 0.25;

  explicit Solver(const Problem &p, SubstructuredInverse::Launch launch = SubstructuredInverse::Launch::automatic)
      : coarse_({p.ia, p.ja, p.x, p.y, p.shape}, launch), r_(p.size()), z_(p.size()), a_(p.a.size()),
        excess_(p.size()) {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    refresh(p);
  }
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver() { (void)cudaStreamDestroy(stream_); }

  void refresh(const Problem &p) {
    write(a_, p.a);
    write(excess_, p.excess);
    refresh();
  }
  void refresh() { coarse_.refresh(a_.data(), excess_.data(), null_inverse, stream_); }
  Status status() {
    cuda::check(cudaStreamSynchronize(stream_), "status");
    return coarse_.status();
  }
  Vector apply(const Vector &r, bool in_place = false) {
    write(r_, r);
    coarse_.apply(r_.data(), in_place ? r_.data() : z_.data(), stream_);
    return read(in_place ? r_ : z_);
  }
  void write(const cuda::Buffer<double> &to, const Vector &from) {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), to.bytes(), cudaMemcpyHostToDevice, stream_), "write");
    cuda::check(cudaStreamSynchronize(stream_), "write");
  }
  Vector read(const cuda::Buffer<double> &from) {
    Vector z(from.size());
    cuda::check(cudaMemcpyAsync(z.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, stream_), "read");
    cuda::check(cudaStreamSynchronize(stream_), "read");
    return z;
  }

  const SubstructuredInverse &coarse() const { return coarse_; }
  const cuda::Buffer<double> &r() const { return r_; }
  const cuda::Buffer<double> &z() const { return z_; }
  const cuda::Buffer<double> &a() const { return a_; }
  const cuda::Buffer<double> &excess() const { return excess_; }
  cudaStream_t stream() const { return stream_; }

private:
  SubstructuredInverse coarse_;
  cuda::Buffer<double> r_, z_, a_, excess_;
  cudaStream_t stream_ = nullptr;
};

inline double norm(const Vector &x) { return std::sqrt(reference::dot(x, x)); }
inline double distance(const Vector &x, const Vector &y) {
  Vector d(x);
  for (std::size_t i = 0; i < x.size(); i++) d[i] -= y[i];
  return norm(d);
}

// The status; the solution against the reference, to `tolerance` of it; symmetry; the same bits again, in place, and from
// an inverse formed phase by phase.
inline void expect_solves(const Problem &p, int null_directions, double tolerance, Random &random) {
  reference::LastBlock exact;
  exact.null_inverse = Solver::null_inverse;
  Vector scale = p.diagonal;
  if (null_directions) // the reference's pivots there are rounding errors of all that was eliminated before
    for (double &value : scale) value *= 100;
  ASSERT_EQ(exact.factor(p.rows, scale), -1);
  ASSERT_EQ(static_cast<int>(exact.null_nodes().size()), null_directions) << "the test's own problem";
  Solver solver(p), other(p, SubstructuredInverse::Launch::per_phase);
  EXPECT_TRUE(solver.status().definite);
  EXPECT_EQ(solver.status().null_directions, null_directions);
  Vector last_r, last_z;
  for (int sample = 0; sample < 2; sample++) {
    const Vector r = random.vector(p.size()), z = solver.apply(r);
    Vector expected = r;
    exact.solve(expected);
    EXPECT_LE(distance(z, expected), tolerance * norm(expected));
    EXPECT_EQ(z, solver.apply(r)) << "not reproducible";
    EXPECT_EQ(z, solver.apply(r, true)) << "differs in place";
    EXPECT_EQ(z, other.apply(r)) << "differs from the inverse formed phase by phase";
    if (sample) EXPECT_NEAR(reference::dot(z, last_r), reference::dot(last_z, r), 1e-13 * norm(z) * norm(last_r) * 100);
    last_r = r, last_z = z;
  }
}

} // namespace coarse_test
