// Times deflation's parts on a device, on two-phase matrices of 1000:1 on N x N cells: deflation_breakdown N. CSV.
#include "ksp/deflation/core/deflation.hpp"
#include "measure.hpp"

#include <chrono>
#include <cmath>

namespace petscrrb {
namespace {

using deflation::Inverse;
using deflation::Space;

constexpr double light = 1e-3;

// Finite volumes with harmonic means on the faces; the upper side has a value, the others have none.
struct Cells {
  std::vector<PetscInt> ia{0}, ja;
  std::vector<double> a;

  template <class Coefficient> Cells(index_t n, const Coefficient &coefficient) {
    for (index_t y = 0; y < n; ++y)
      for (index_t x = 0; x < n; ++x) {
        const double own = coefficient(x, y);
        const std::size_t centre = add(y * n + x, y == n - 1 ? own : 0.0);
        const auto couple = [&](index_t i, index_t j) {
          if (i < 0 || i >= n || j < 0 || j >= n) return;
          const double other = coefficient(i, j), face = 2 * own * other / (own + other);
          add(j * n + i, -face);
          a[centre] += face;
        };
        couple(x, y - 1), couple(x - 1, y), couple(x + 1, y), couple(x, y + 1);
        ia.push_back(PetscInt(ja.size()));
      }
  }

private:
  std::size_t add(index_t column, double value) {
    ja.push_back(PetscInt(column)), a.push_back(value);
    return a.size() - 1;
  }
};

// The lower half light.
Cells halves(index_t n) {
  return {n, [=](index_t, index_t y) { return 2 * y < n ? light : 1.0; }};
}
// Sixteen light circles.
Cells bubbles(index_t n) {
  return {n, [=](index_t x, index_t y) {
            const double p = std::fmod(4.0 * (double(x) + 0.5) / double(n), 1.0) - 0.5,
                         q = std::fmod(4.0 * (double(y) + 0.5) / double(n), 1.0) - 0.5;
            return p * p + q * q < 0.09 ? light : 1.0;
          }};
}

struct Row {
  const char *space, *inverse;
  int subdomains = 0;

  void print(const char *part, double us, double bytes) const {
    std::printf("%s,%s,%d,%s,%.2f,%.0f,%.0f\n", space, inverse, subdomains, part, us, bytes, bytes / us * 1e-3);
  }
};

// With all that the host does, the stream waited for: median of some.
double wall(const Cuda &on, int repeats, const std::function<void()> &work) {
  std::vector<double> us(repeats);
  for (double &t : us) {
    cuda::check(cudaStreamSynchronize(on.stream), "cudaStreamSynchronize");
    const auto begin = std::chrono::steady_clock::now();
    work();
    cuda::check(cudaStreamSynchronize(on.stream), "cudaStreamSynchronize");
    t = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  std::sort(us.begin(), us.end());
  return us[repeats / 2];
}

void time(Cuda &on, const char *name, const Cells &cells, const Space &space, Inverse inverse) {
  constexpr int repeats = 7;
  Row row{name, inverse == Inverse::cholesky ? "cholesky" : "explicit"};
  const cuda::Buffer<PetscInt> ia(cells.ia), ja(cells.ja);
  const cuda::Buffer<double> a(cells.a);
  const Csr csr{PetscInt(cells.ia.size() - 1), ia.data(), ja.data(), a.data()};
  const double n = double(csr.n), matrix = double(ia.bytes() + ja.bytes() + a.bytes());
  const cuda::Buffer<double> r(csr.n), y(csr.n), z(csr.n);
  const auto projection = deflation::make_projection(on);
  const auto expect = [&](deflation::Result result) {
    if (result != deflation::Result::ok) throw std::runtime_error(name + (": " + projection->report().why));
  };
  const double first = wall(on, 1, [&] { expect(projection->setup(csr, space, inverse)); });
  row.subdomains = projection->report().subdomains;
  const double stored = double(projection->report().stored);
  row.print("first setup", first, matrix);
  row.print("setup", wall(on, repeats, [&] { expect(projection->setup(csr, space, inverse)); }), matrix);
  row.print("refresh", wall(on, repeats, [&] { expect(projection->refresh(csr, nullptr)); }), matrix);
  const Clock clock(on.stream);
  const auto restrict = [&] { projection->restrict_residual(r.data(), y.data()); };
  const auto solve = [&] { projection->solve(); };
  const auto prolong = [&] { projection->prolong(y.data(), z.data()); };
  row.print("restrict", clock.time(restrict), 12 * n + 20 * stored); // r and rows; values, rows and y
  row.print("solve", clock.time(solve), 0);
  row.print("prolong", clock.time(prolong), 20 * n); // labels, y, z
  row.print("application", clock.time([&] {
    restrict();
    solve();
    prolong();
  }),
            32 * n + 20 * stored);
  row.print("subtract", clock.time([&] { projection->subtract(z.data()); }), 12 * stored);
}

void run(index_t n, int, bool) {
  Cuda on;
  cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  Space space;
  space.grid.n[0] = space.grid.n[1] = n;
  const Cells two = halves(n);
  const auto both = [&](const char *name, const Cells &cells) {
    for (const Inverse inverse : {Inverse::explicit_inverse, Inverse::cholesky}) time(on, name, cells, space, inverse);
  };
  for (const auto &[name, side] : {std::pair{"boxes of 32^2 cells", 32},
                                   {"boxes of 16^2 cells", 16},
                                   {"boxes of 12^2 cells", 12},
                                   {"boxes of 8^2 cells", 8}}) {
    const index_t parts[3] = {n / side, n / side, 1};
    space.boxes = deflation::blocks_of(space.grid, parts);
    if (space.boxes.size() <= deflation::most_subdomains) both(name, two);
  }
  space.boxes = deflation::stripes_of(space.grid, 1, 2);
  both("half lines", two);
  space.boxes = {};
  space.phases = true;
  both("phases", bubbles(n));
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  return petscrrb::break_down(argc, argv, "space,inverse,subdomains,part,us,bytes,GB_per_s", petscrrb::run);
}
