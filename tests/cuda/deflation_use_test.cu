// The projection on a device: larger problems, what a refresh cannot do, and what is refused.
#include "deflation_support.hpp"
#include "unit/deflation_support.hpp"

namespace deflation_test {
namespace {

class DeflationUse : public read_support::OnDevice {
protected:
  const Shape s{24, 20};
  const Division quarters{boxes_of(s, 4, 4, 1)};

  static double one(int) { return 1; }
  static double none(int) { return 0; }
  SmallMatrix plain() const { return laplacian(s, 1, one, none); }

  // Returns how E was inverted.
  std::string expect_inverse(const Shape &large, SmallMatrix &A, const Division &d, Inverse inverse) {
    const reference::Matrix matrix = copy_of(A);
    int count = 0;
    const std::vector<int> label = labels_of(large, matrix, d, &count);
    Device device(large, d, stream);
    const DeviceRows rows(A.csr());
    EXPECT_EQ(device.setup(rows, inverse), Result::ok) << device.report().why;
    EXPECT_EQ(device.report().subdomains, count);
    const Vector r = random_values(large.size(), 1), product = matrix.multiply(device.apply(r, Vector(r.size(), 0.0)));
    Vector restricted(count, 0.0), again(count, 0.0);
    for (int i = 0; i < large.size(); ++i) restricted[label[i]] += r[i], again[label[i]] += product[i];
    expect_near(again, restricted, 1e-9, device.report().inverse.c_str());
    return device.report().inverse;
  }

  // The refresh says so, and the next setup is as that of a new one.
  void expect_rebuild(Device &device, const Division &now, SmallMatrix &A, Inverse inverse) {
    const DeviceRows rows(A.csr());
    const Vector r = random_values(A.size(), 1), y = random_values(A.size(), 2);
    EXPECT_EQ(device.refresh(rows), Result::rebuild);
    Device fresh(s, now, stream);
    ASSERT_EQ(device.setup(rows, inverse), Result::ok) << device.report().why;
    ASSERT_EQ(fresh.setup(rows, inverse), Result::ok) << fresh.report().why;
    EXPECT_EQ(device.report().subdomains, fresh.report().subdomains);
    EXPECT_EQ(device.report().stored, fresh.report().stored);
    EXPECT_EQ(device.apply(r, y), fresh.apply(r, y));
  }
};

// On the cases of the host's own tests.
TEST_F(DeflationUse, AgreesWithTheHost) {
  for (const deflationtest::Case &c : deflationtest::all_cases())
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
      SCOPED_TRACE(c.name + (inverse == Inverse::cholesky ? ", Cholesky" : ", explicit"));
      const deflationtest::Rows rows(c.A);
      const DeviceRows on_device(rows.csr());
      const Vector r = random_values(c.A.size(), 1), y = random_values(c.A.size(), 2);
      const auto host = deflation::make_projection();
      Device device(c.space, c.phi, stream);
      ASSERT_EQ(host->setup(rows.csr(), c.space, inverse), Result::ok) << host->report().why;
      ASSERT_EQ(device.setup(on_device, inverse), Result::ok) << device.report().why;
      EXPECT_EQ(device.report().subdomains, host->report().subdomains);
      EXPECT_EQ(device.report().empty, host->report().empty);
      EXPECT_EQ(device.report().null_directions, host->report().null_directions);
      EXPECT_EQ(device.report().identity_rows, host->report().identity_rows);
      Vector z(r.size());
      host->restrict_residual(r.data(), y.data());
      host->solve();
      host->prolong(y.data(), z.data());
      expect_near(device.apply(r, y), z, 1e-9, "y + Z E^+ c");
    }
}

// Segments of many chunks: E by its entries, c by its definition.
TEST_F(DeflationUse, FewLargeSubdomains) {
  const Shape large{260, 130};
  const auto cell = [&](int p) { return p / large.nx < 60 ? 1e-3 : 1.0; };
  SmallMatrix A = laplacian(large, 2, cell, [&](int p) { return p / large.nx == 129 ? 1.0 : 0.0; });
  const reference::Matrix matrix = copy_of(A);
  for (const bool phases : {true, false}) {
    Division d;
    d.phases = phases;
    if (!phases) d.boxes = boxes_of(large, 1, 3, 1);
    int count = 0;
    const std::vector<int> label = labels_of(large, matrix, d, &count);
    ASSERT_EQ(count, phases ? 2 : 3);
    const reference::Projection exact(matrix, label, count);
    Device device(large, d, stream);
    const DeviceRows rows(A.csr());
    ASSERT_EQ(device.setup(rows, Inverse::explicit_inverse), Result::ok) << device.report().why;
    for (const int seed : {1, 3}) { // sums begin anew
      const Vector r = random_values(large.size(), seed), y = random_values(large.size(), seed + 1);
      const Vector z = device.apply(r, y);
      expect_near(z, exact.prolong(y, exact.solve(exact.restrict_residual(r, y))), 1e-9, "y + Z E^+ c");
      EXPECT_EQ(device.apply(r, y), z);
    }
  }
}

// Z^T A (Z c) is what was restricted, also where a dense reference would be too large.
TEST_F(DeflationUse, ManyBoxes) {
  const Shape large{140, 130};
  SmallMatrix A = laplacian(large, 3, one, [](int p) { return p % 7 ? 0.0 : 0.05; });
  for (const auto &[x, y] : {std::pair{64, 64}, {70, 65}, {2, 130}, {140, 13}})
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky})
      expect_inverse(large, A, {boxes_of(large, x, y, 1)}, inverse);
}

// A box that an interface cuts is several subdomains, which stand at one place of the grid of boxes.
TEST_F(DeflationUse, PhasesInManyBoxes) {
  const Shape large{140, 130};
  const auto inside = [&](int p) {
    const double x = p % large.nx % 35 - 17.0, y = p / large.nx % 32 - 16.0;
    return x * x + y * y < 130.0;
  };
  SmallMatrix A = laplacian(
      large, 4, [&](int p) { return inside(p) ? 1e-3 : 1.0; }, [](int p) { return p ? 0.0 : 1.0; });
  Division d{boxes_of(large, 20, 19, 1)};
  d.phases = true;
  for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
    const std::string how = expect_inverse(large, A, d, inverse);
    if (inverse == Inverse::explicit_inverse) EXPECT_NE(how.find("two levels"), std::string::npos) << how;
  }
}

TEST_F(DeflationUse, NewIdentityRowIsARebuild) {
  SmallMatrix A = plain(), B = plain();
  for (int q = 0; q < s.size(); ++q)
    if (q != 31 && B.at(31, q) != 0) B.set_both(31, q, 0.0); // the pattern stays
  for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
    Device device(s, quarters, stream);
    ASSERT_EQ(device.setup(DeviceRows(A.csr()), inverse), Result::ok);
    expect_rebuild(device, quarters, B, inverse);
    expect_rebuild(device, quarters, A, inverse);
  }
}

TEST_F(DeflationUse, NewEntryOfAZIsARebuild) {
  SmallMatrix A = plain(), sum = plain(), far = plain();
  const int inside = s.row(2, 2), p = s.row(5, 4), q = s.row(6, 5); // p, q: in two boxes that share a corner
  A.set_both(p, q, 0.0), sum.set_both(p, q, 0.0), far.set_both(p, q, -1.0);
  sum.set(inside, inside, sum.at(inside, inside) + 1);
  far.set(p, p, far.at(p, p) + 1), far.set(q, q, far.at(q, q) + 1);
  Device device(s, quarters, stream);
  ASSERT_EQ(device.setup(DeviceRows(A.csr()), Inverse::explicit_inverse), Result::ok);
  expect_rebuild(device, quarters, sum, Inverse::explicit_inverse);
  EXPECT_EQ(device.refresh(DeviceRows(A.csr())), Result::ok) << "what is zero now stays stored";
  expect_rebuild(device, quarters, far, Inverse::explicit_inverse);
}

TEST_F(DeflationUse, OtherPhasesAreARebuild) {
  const auto bubble = [&](int x, int y, double inside) {
    return [=](int p) { return std::hypot(p % 24 - x, p / 24 - y) < 4.5 ? inside : 1.0; };
  };
  SmallMatrix A = laplacian(s, 1, bubble(7, 8, 1e3), none), moved = laplacian(s, 1, bubble(9, 8, 1e3), none),
              heavier = laplacian(s, 1, bubble(7, 8, 2e3), none), gone = laplacian(s, 1, bubble(7, 8, 1), none);
  Division d;
  d.phases = true;
  Device device(s, d, stream);
  ASSERT_EQ(device.setup(DeviceRows(A.csr()), Inverse::explicit_inverse), Result::ok);
  EXPECT_EQ(device.refresh(DeviceRows(heavier.csr())), Result::ok);
  expect_rebuild(device, d, moved, Inverse::explicit_inverse);
  expect_rebuild(device, d, gone, Inverse::explicit_inverse);
}

TEST_F(DeflationUse, AnotherPhiIsARebuild) {
  SmallMatrix A = plain();
  Division d, other;
  d.phases = other.phases = true;
  for (int p = 0; p < s.size(); ++p) d.phi.push_back(p % 24 - 9.5), other.phi.push_back(p % 24 - 11.5);
  Device device(s, d, stream);
  ASSERT_EQ(device.setup(DeviceRows(A.csr()), Inverse::explicit_inverse), Result::ok);
  EXPECT_EQ(device.refresh(DeviceRows(A.csr())), Result::ok);
  device.set_phi(other.phi);
  expect_rebuild(device, other, A, Inverse::explicit_inverse);
}

TEST_F(DeflationUse, RefusesWhatIsNotFinite) {
  SmallMatrix A = plain(), B = plain();
  B.set(77, 77, HUGE_VAL);
  Device device(s, quarters, stream);
  EXPECT_EQ(device.setup(DeviceRows(B.csr()), Inverse::cholesky), Result::refused);
  EXPECT_NE(device.report().why.find("row 77 "), std::string::npos) << device.report().why;
  ASSERT_EQ(device.setup(DeviceRows(A.csr()), Inverse::cholesky), Result::ok);
  EXPECT_EQ(device.refresh(DeviceRows(B.csr())), Result::refused);
  B.set(77, 77, std::nan(""));
  EXPECT_EQ(device.refresh(DeviceRows(B.csr())), Result::refused);
}

TEST_F(DeflationUse, RefusesWhatIsNotSymmetric) {
  SmallMatrix A = plain(), B = plain();
  B.set(50, 51, B.at(50, 51) * (1 + 1e-8));
  Device device(s, quarters, stream);
  EXPECT_EQ(device.setup(DeviceRows(B.csr()), Inverse::cholesky), Result::refused);
  EXPECT_NE(device.report().why.find("at row 50,"), std::string::npos) << device.report().why;
  ASSERT_EQ(device.setup(DeviceRows(A.csr()), Inverse::cholesky), Result::ok);
  EXPECT_EQ(device.refresh(DeviceRows(B.csr())), Result::refused);
}

TEST_F(DeflationUse, RefusesTooManySubdomains) {
  const Shape large{100, 100};
  SmallMatrix A = laplacian(
      large, 1, [](int p) { return (p + p / 100) % 2 ? 1e4 : 1.0; }, one);
  const DeviceRows rows(A.csr());
  Division phases;
  phases.phases = true;
  phases.phi = random_values(large.size(), 1);
  for (int p = 0; p < large.size(); ++p) phases.phi[p] = (p + p / 100) % 2 ? 1 : -1;
  for (const Division &d : {Division{boxes_of(large, 100, 100, 1)}, phases}) {
    Device device(large, d, stream);
    EXPECT_EQ(device.setup(rows, Inverse::explicit_inverse), Result::refused);
    EXPECT_NE(device.report().why.find("10000 subdomains are too many"), std::string::npos) << device.report().why;
  }
}

TEST_F(DeflationUse, NamesTheSubdomainOfAnIndefiniteE) {
  SmallMatrix A = plain();
  const int row = s.row(13, 12);
  A.set(row, row, A.at(row, row) - 100);
  for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) {
    Device device(s, quarters, stream);
    EXPECT_EQ(device.setup(DeviceRows(A.csr()), inverse), Result::failed);
    const std::string subdomain = "subdomain " + std::to_string(box_of(s, quarters.boxes, row));
    EXPECT_NE(device.report().why.find(subdomain), std::string::npos) << device.report().why;
  }
}

} // namespace
} // namespace deflation_test
