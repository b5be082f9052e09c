// The projection on a device against its definition with dense matrices, on all kinds of subdomains.
#include "deflation_support.hpp"
#include "petsc/cuda_calls.hpp"

#include <string>

namespace deflation_test {
namespace {

struct Shapes {
  const char *name;
  std::vector<Shape> all;
};
void PrintTo(const Shapes &shapes, std::ostream *out) { *out << shapes.name; }

double one(int) { return 1; }
double none(int) { return 0; }
double sometimes(int row) { return row % 3 == 0 ? 0.1 : 0; }
double always(int row) { return 0.1 + row % 5; }

std::vector<Division> divisions(const Shape &s) {
  std::vector<Division> all;
  all.push_back({boxes_of(s, 3, 2, 2)});
  all.push_back({boxes_of(s, 2, s.ny, s.nz)}); // half lines
  all.push_back({boxes_of(s, 1, (s.ny + 1) / 2, s.nz)});
  all.push_back({boxes_of(s, 1, 1, 1)});
  if (s.size() < 500) all.push_back({boxes_of(s, s.nx, s.ny, s.nz)}); // E is A
  return all;
}

class Deflation : public read_support::OnDevice, public testing::WithParamInterface<Shapes> {
protected:
  template <class F> void on_each_shape(const F &test) {
    for (const Shape &s : GetParam().all) {
      SCOPED_TRACE(read_support::name(s) + (s.nz > 1 ? " and " + std::to_string(s.nz) + " in z" : ""));
      test(s);
    }
  }

  // With both inverses.
  void expect_projects(const Shape &s, SmallMatrix &A, const Division &d, double tolerance = 1e-10) {
    const reference::Matrix matrix = copy_of(A);
    int count = 0;
    const std::vector<int> label = labels_of(s, matrix, d, &count);
    const reference::Projection exact(matrix, label, count);
    const DeviceRows rows(A.csr(7)); // shuffled
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
      SCOPED_TRACE(inverse == Inverse::cholesky ? "Cholesky" : "explicit inverse");
      Device device(s, d, stream);
      ASSERT_EQ(device.setup(rows, inverse), Result::ok) << device.report().why;
      EXPECT_EQ(device.report().subdomains, count);
      EXPECT_EQ(device.report().empty, exact.empty());
      EXPECT_EQ(device.report().null_directions, exact.null_directions());
      EXPECT_EQ(device.report().identity_rows, std::count(label.begin(), label.end(), -1));
      expect_parts(device, exact, s.size(), tolerance);
    }
  }

  void expect_parts(Device &device, const reference::Projection &exact, std::size_t n, double tolerance) {
    const Vector r = random_values(n, 1), y = random_values(n, 2), zero(n, 0.0);
    const cuda::Buffer<double> on_r(r), on_y(y), on_w(y), out(n);
    deflation::Projection &p = device.projection();
    p.restrict_residual(on_r.data(), nullptr);
    expect_near(device.prolonged(n), exact.prolong(zero, exact.restrict_residual(r, zero)), 1e-11, "Z^T r");
    p.restrict_residual(nullptr, on_y.data());
    expect_near(device.prolonged(n), exact.prolong(zero, exact.restrict_residual(zero, y)), 1e-11, "(AZ)^T y", 1);
    p.restrict_residual(on_r.data(), on_y.data());
    const Vector c = exact.restrict_residual(r, y), e = exact.solve(c);
    expect_near(device.prolonged(n), exact.prolong(zero, c), 1e-11, "c", 1);
    p.solve();
    expect_near(device.prolonged(n), exact.prolong(zero, e), tolerance, "E^+ c", 1e-2);
    p.prolong(on_y.data(), out.data());
    expect_near(device.read(out), exact.prolong(y, e), tolerance, "y + Z c");
    p.subtract(on_w.data());
    expect_near(device.read(on_w), exact.subtract(y, e), tolerance, "w - (AZ) c");
    EXPECT_EQ(device.apply(r, y), device.read(out)) << "not reproducible, or differs in place";
  }
};

TEST_P(Deflation, Boxes) {
  on_each_shape([&](const Shape &s) {
    for (const Division &d : divisions(s)) {
      SmallMatrix A = laplacian(s, 1, one, sometimes);
      expect_projects(s, A, d);
    }
  });
}

TEST_P(Deflation, EveryRowHasASum) {
  on_each_shape([&](const Shape &s) {
    for (const Division &d : divisions(s)) {
      SmallMatrix A = laplacian(s, 2, one, always);
      expect_projects(s, A, d);
    }
  });
}

TEST_P(Deflation, Singular) {
  on_each_shape([&](const Shape &s) {
    for (const Division &d : divisions(s)) {
      SmallMatrix A = laplacian(s, 3, one, none);
      expect_projects(s, A, d);
    }
  });
}

// Identity rows, whose columns stay with their neighbours or go, and a box of nothing else.
TEST_P(Deflation, Masks) {
  on_each_shape([&](const Shape &s) {
    for (const Division &d : divisions(s)) {
      SmallMatrix A = laplacian(s, 4, one, sometimes);
      for (int p = 0; p < s.size(); ++p) {
        const std::uint64_t h = read_support::hash(p, 1, 4);
        if (h % 6 == 0 || (box_of(s, d.boxes, p) == 1 && d.boxes.size() > 2)) A.make_identity(p, h % 4 != 0, 2);
      }
      expect_projects(s, A, d);
    }
  });
}

// Ponds without connection, each singular: boxes cut them, and boxes hold several.
TEST_P(Deflation, SingularPonds) {
  on_each_shape([&](const Shape &s) {
    for (const Division &d : divisions(s)) {
      SmallMatrix A = laplacian(s, 5, one, none);
      const auto pond = [&](int p) { return p % s.nx * 3 / s.nx; };
      for (int p = 0; p < s.size(); ++p)
        for (int q = 0; q < p; ++q) {
          const double value = A.at(p, q);
          if (value == 0 || pond(p) == pond(q)) continue;
          A.set_both(p, q, 0);
          A.set(p, p, A.at(p, p) + value), A.set(q, q, A.at(q, q) + value);
        }
      expect_projects(s, A, d);
    }
  });
}

TEST_P(Deflation, PhasesByCoefficients) {
  on_each_shape([&](const Shape &s) {
    const auto cell = [&](int p) { return read_support::hash(p / 5, 2, 6) % 2 ? 1000.0 : 1.0; };
    SmallMatrix A = laplacian(s, 6, cell, sometimes);
    for (Division d : {Division{}, Division{boxes_of(s, 2, 2, 2)}}) {
      d.phases = true;
      expect_projects(s, A, d, 1e-7);
    }
  });
}

TEST_P(Deflation, PhasesByLevelSet) {
  on_each_shape([&](const Shape &s) {
    for (Division d : {Division{}, Division{boxes_of(s, 2, 3, 1)}}) {
      SmallMatrix A = laplacian(s, 7, one, sometimes);
      d.phases = true;
      for (int p = 0; p < s.size(); ++p) d.phi.push_back(double(read_support::hash(p / 4, 3, 7) % 3) - 1);
      for (int p = 0; p < s.size(); ++p)
        if (read_support::hash(p, 4, 7) % 9 == 0) A.make_identity(p, true);
      expect_projects(s, A, d);
    }
  });
}

// To the bit, and back again.
TEST_P(Deflation, RefreshIsAsNew) {
  on_each_shape([&](const Shape &s) {
    const Vector r = random_values(s.size(), 1), y = random_values(s.size(), 2);
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
      SmallMatrix A = laplacian(s, 8, one, sometimes), B = laplacian(s, 9, one, sometimes);
      const DeviceRows first(A.csr()), second(B.csr());
      const Division d{boxes_of(s, 3, 3, 2)};
      Device used(s, d, stream), fresh(s, d, stream);
      ASSERT_EQ(used.setup(first, inverse), Result::ok);
      ASSERT_EQ(fresh.setup(second, inverse), Result::ok);
      const Vector before = used.apply(r, y);
      ASSERT_EQ(used.refresh(second), Result::ok);
      EXPECT_EQ(used.apply(r, y), fresh.apply(r, y));
      ASSERT_EQ(used.refresh(first), Result::ok);
      EXPECT_EQ(used.apply(r, y), before);
    }
  });
}

TEST_P(Deflation, RefreshAndApplicationDoNotAllocate) {
  on_each_shape([&](const Shape &s) {
    Division phases{boxes_of(s, 2, 2, 1)};
    phases.phases = true;
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky})
      for (const Division &d : {Division{boxes_of(s, 3, 3, 2)}, phases}) {
        SmallMatrix A = laplacian(s, 10, one, sometimes), B = laplacian(s, 11, one, sometimes);
        const DeviceRows first(A.csr()), second(B.csr());
        const cuda::Buffer<double> r(random_values(s.size(), 1)), z(s.size());
        Device device(s, d, stream);
        ASSERT_EQ(device.setup(first, inverse), Result::ok);
        const petsctest::CudaCalls before = petsctest::cuda_calls;
        EXPECT_EQ(device.refresh(second), Result::ok);
        device.projection().restrict_residual(r.data(), r.data());
        device.projection().solve();
        device.projection().prolong(nullptr, z.data());
        device.projection().subtract(z.data());
        const petsctest::CudaCalls calls = petsctest::cuda_calls - before;
        EXPECT_EQ(calls.allocations, 0);
        EXPECT_EQ(calls.frees, 0);
        EXPECT_EQ(calls.bulk, 0);
      }
  });
}

INSTANTIATE_TEST_SUITE_P(
    , Deflation,
    testing::Values(
        Shapes{"Small",
               {{1, 1}, {2, 1}, {1, 7}, {3, 2}, {7, 5, 1, false, false, false, 9}, {5, 4, 3, false, false, false, 7}}},
        Shapes{"FivePoints", {{16, 16}, {33, 20}, {9, 8, 1, true, true}, {8, 9, 1, true, false}}},
        Shapes{
            "NinePoints",
            {{17, 15, 1, false, false, false, 9}, {31, 8, 1, false, false, false, 9}, {8, 8, 1, true, true, false, 9}}},
        Shapes{
            "SevenPoints",
            {{3, 2, 2, false, false, false, 7}, {8, 7, 6, false, false, false, 7}, {6, 5, 7, true, false, true, 7}}}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace deflation_test
