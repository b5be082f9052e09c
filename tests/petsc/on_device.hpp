// What a preconditioner must keep on a device: no copies, nothing allocated, the host's results. -backend cuda.
#pragma once

#include "device_support.hpp"
#include "traffic.hpp"
#include "unit/neumann_support.hpp"

#include <petscdevice.h>

namespace petsctest {

struct DeviceCase {
  std::string name;
  reference::Matrix before, after; // new values on the same pattern
};

// Diagonals are larger than the sums of their rows, some far larger.
inline DeviceCase uneven_case(const Shape &s) {
  using namespace neumann_support;
  const auto values = [&](unsigned seed) {
    SmallMatrix A = uneven(s, seed);
    for (int p = 0; p < s.size(); ++p) {
      double sum = 0;
      for (const auto &[q, a] : A.entries()[p]) sum += q == p ? 0 : std::fabs(a);
      A.set(p, p, std::max(A.at(p, p), 1.05 * sum));
    }
    return reference_of(A);
  };
  return {words(s), values(1), values(2)};
}

using Application = PetscErrorCode (*)(PC, Vec, Vec);

struct OnDevice {
  Preconditioner (*make)(Mat, const std::string &);
  std::vector<DeviceCase> cases;
  std::vector<std::string> options;
  int reports = 1; // copies to the host that new values take: of what was found
  double (*far_from_host)(const std::string &options) = [](const std::string &) { return 1e-12; };
  // of two runs: relative to the largest value
  double (*far_from_itself)(const DeviceCase &, const std::string &options) = [](const DeviceCase &,
                                                                                 const std::string &) { return 0.0; };

  void is_what_the_view_names() const;
  void equals_the_host() const;
  void applies_without_the_host(const std::vector<Application> &all = {PCApply}) const;
  void applies_to_columns_without_the_host() const;
  void refreshes_without_the_host() const;
  void is_the_same_from_run_to_run() const;
  void works_where_vectors_are_elsewhere(bool device_matrix) const;

private:
  // Set up. One that failed applies nothing, and that without the host.
  Preconditioner made(Mat A, const std::string &options) const {
    Preconditioner pc = make(A, options);
    PCFailedReason reason;
    ok(PCSetUp(pc));
    ok(PCGetFailedReason(pc, &reason));
    EXPECT_EQ(reason, PC_NOERROR);
    return pc;
  }
  template <class Test> void in_all_cases(const Test &test) const {
    for (const DeviceCase &c : cases)
      for (const std::string &o : options) {
        SCOPED_TRACE(c.name + ", " + o);
        test(c, o);
      }
  }
  void expect_same(const DeviceCase &c, const std::string &o, const reference::Vector &x,
                   const reference::Vector &y) const {
    EXPECT_LE(largest_difference(x, y), far_from_itself(c, o));
  }
};

inline reference::Vector random_for(const DeviceCase &c) {
  return neumann_support::random_values(std::size_t(c.before.size()));
}

// A second solve copies no vectors and no matrices, and with norms allowed only scalars.
inline void solves_without_the_host(const reference::Problem &problem, const std::string &options,
                                    bool scalars = true) {
  const Matrix A = matrix_of(problem.A);
  const Solver ksp = ksp_of(A, options);
  const Vector b = vector_of(problem.b), x = like(b);
  ok(KSPSolve(ksp, b, x)); // also takes all to the device
  const Traffic seen = traffic_of([&] { ok(KSPSolve(ksp, b, x)); });
  EXPECT_EQ(seen.petsc, 0) << options;
  EXPECT_EQ(seen.cuda.bulk, 0) << options;
  EXPECT_TRUE(scalars || seen.cuda.copies == 0) << options;
}

inline void OnDevice::is_what_the_view_names() const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = made(A, o);
    EXPECT_NE(view(pc).find("backend: cuda\n"), std::string::npos) << view(pc);
  });
}

inline void OnDevice::equals_the_host() const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const Matrix A = matrix_of(c.before);
    const reference::Vector here = applied(made(A, o), random_for(c));
    const OnTheHost host;
    const Matrix B = matrix_of(c.before);
    EXPECT_LT(largest_difference(here, applied(made(B, o), random_for(c))), far_from_host(o));
  });
}

inline void OnDevice::applies_without_the_host(const std::vector<Application> &all) const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = made(A, o);
    for (const Application apply : all) {
      const Vector r = vector_of(random_for(c)), z = like(r);
      ok(apply(pc, r, z)); // also makes what is made once
      ok(VecScale(r, 2));  // the host's copy of r is old now, and that of z too
      ok(VecScale(z, 2));
      const Traffic seen = traffic_of([&] { ok(apply(pc, r, z)); });
      PetscOffloadMask where;
      ok(VecGetOffloadMask(z, &where));
      EXPECT_EQ(where, PETSC_OFFLOAD_GPU);
      EXPECT_EQ(seen.petsc, 0);
      EXPECT_EQ(seen.cuda.copies, 0);
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
      EXPECT_EQ(seen.cuda.device_waits + seen.cuda.stream_waits, 0);
    }
  });
}

inline void OnDevice::applies_to_columns_without_the_host() const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const PetscInt n = c.before.size();
    const Matrix A = matrix_of(c.before);
    const Preconditioner pc = made(A, o);
    const Matrix X = dense_of(n, 3, reference::random_vector(int(3 * n))), Y = dense_of(n, 3);
    ok(PCMatApply(pc, X, Y)); // also takes X to the device
    ok(MatScale(X, 2));
    const Traffic seen = traffic_of([&] { ok(PCMatApply(pc, X, Y)); });
    EXPECT_EQ(seen.petsc, 0);
    EXPECT_EQ(seen.cuda.copies, 0);
    EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
  });
}

// New values of a matrix that was assembled on the device never see the host.
inline void OnDevice::refreshes_without_the_host() const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const Matrix A = assembled_on_device(c.before), same = matrix_of(c.after);
    const Preconditioner pc = made(A, o);
    (void)applied(pc, random_for(c));
    for (int times = 0; times < 2; ++times) {
      assemble_on_device(A, entries_of(c.after));
      const Traffic seen = traffic_of([&] { ok(PCSetUp(pc)); });
      EXPECT_EQ(seen.petsc, 0);
      EXPECT_EQ(seen.cuda.bulk, 0);
      EXPECT_LE(seen.cuda.copies, reports);
      EXPECT_EQ(seen.cuda.allocations + seen.cuda.frees, 0);
      EXPECT_EQ(seen.cuda.device_waits, 0);
    }
    expect_same(c, o, applied(pc, random_for(c)), applied(made(same, o), random_for(c)));
  });
}

inline void OnDevice::is_the_same_from_run_to_run() const {
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const Matrix A = matrix_of(c.before);
    const reference::Vector z = applied(made(A, o), random_for(c));
    for (int times = 0; times < 3; ++times) expect_same(c, o, applied(made(A, o), random_for(c)), z);
  });
}

inline void OnDevice::works_where_vectors_are_elsewhere(bool device_matrix) const {
  const auto where = [](bool device) { return device ? backend : Backend{}; };
  const Backend mat = where(device_matrix), vec = where(!device_matrix);
  in_all_cases([&](const DeviceCase &c, const std::string &o) {
    const PetscInt n = c.before.size();
    const Matrix P = matrix_of(c.before, mat.mat), pure = matrix_of(c.before, mat.mat);
    const Preconditioner pc = made(P, o), same = made(pure, o);
    const Vector x = vector_of(random_for(c), PETSC_COMM_SELF, vec.vec), y = like(x);
    const std::string info = info_of([&] { ok(PCApply(pc, x, y)); });
    EXPECT_TRUE(says_that_it_copies(info)) << info;
    const Vector a = vector_of(random_for(c), PETSC_COMM_SELF, mat.vec), b = like(a);
    ok(PCApply(same, a, b));
    expect_same(c, o, values_of(y), values_of(b));
    const Backend before = std::exchange(backend, vec); // dense matrices where the vectors are
    const Matrix X = dense_of(n, 2, reference::random_vector(int(2 * n))), Y = dense_of(n, 2);
    backend = mat;
    const Matrix V = dense_of(n, 2, reference::random_vector(int(2 * n))), W = dense_of(n, 2);
    backend = before;
    ok(PCMatApply(pc, X, Y));
    ok(PCMatApply(same, V, W));
    expect_same(c, o, values_of_dense(Y), values_of_dense(W));
  });
}

} // namespace petsctest
