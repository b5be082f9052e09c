// Times applications of Neumann series on a device, on a 2D five-point Poisson matrix, against the copy of a vector:
// neumann_bandwidth [N]. CSV. ratio: to what the bytes that must move take at the copy's bandwidth.
#include "measure.hpp"
#include "neumann/grid_series.hpp"

#include <vector>

namespace petscrrb {
namespace {

// -Laplace with Dirichlet sides on n x n points, as CSR on the device.
struct Rows {
  cuda::Buffer<PetscInt> ia, ja;
  cuda::Buffer<PetscScalar> a;

  explicit Rows(PetscInt n) {
    std::vector<PetscInt> start{0}, column;
    std::vector<PetscScalar> value;
    const auto add = [&](PetscInt q, double v) { column.push_back(q), value.push_back(v); };
    for (PetscInt p = 0; p < n * n; ++p) {
      if (p >= n) add(p - n, -1);
      if (p % n) add(p - 1, -1);
      add(p, 4);
      if (p % n < n - 1) add(p + 1, -1);
      if (p < n * n - n) add(p + n, -1);
      start.push_back(PetscInt(column.size()));
    }
    ia.assign(start), ja.assign(column), a.assign(value);
  }
  Csr csr() const { return {PetscInt(ia.size()) - 1, ia.data(), ja.data(), a.data()}; }
};

// GB/s of a copy that no cache holds
double copy_bandwidth(const Cuda &on, Clock &clock) {
  const cuda::Buffer<double> from(std::size_t(1) << 26), to(from.size());
  const double us = clock.time([&] {
    cuda::check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, on.stream), "a copy");
  });
  return 2.0 * double(from.bytes()) / us * 1e-3;
}

void run(PetscInt n) {
  Cuda on;
  cuda::check(cudaStreamCreateWithFlags(&on.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  Clock clock(on.stream);
  const Rows A(n);
  Grid grid;
  grid.n[0] = grid.n[1] = n;
  const double points = double(n) * double(n), copy = copy_bandwidth(on, clock);
  cuda::Buffer<double> r(std::size_t(n) * n), z(r.size());
  const auto row = [&](const char *what, int terms, double us, double bytes) {
    std::printf("%lld,%s,%d,%.2f,%.0f,%.0f,%.0f,%.3f\n", (long long)n, what, terms, us, bytes, bytes / us * 1e-3, copy,
                us / (bytes / copy * 1e-3));
  };
  for (const int terms : {0, 1, 2, 3, 4, 6}) {
    const auto series = neumann::make_grid_series(on, grid, neumann::neumann(terms));
    const double refresh = clock.time([&] { (void)series->refresh(A.csr()); });
    const double us = clock.time([&] { series->apply(r.data(), z.data()); });
    row("apply", terms, us, (terms ? 40 : 24) * points); // r, D^-1/2, z; E and N where there are terms
    if (terms == 2) row("refresh", terms, refresh, (4 + 5 * 12 + 3 * 8) * points);
  }
  const auto poisson = neumann::make_grid_series(on, grid, neumann::incomplete_poisson(true));
  (void)poisson->refresh(A.csr());
  row("poisson", 1, clock.time([&] { poisson->apply(r.data(), z.data()); }), 40 * points);
}

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 2047;
  if (n < 3) {
    std::fprintf(stderr, "usage: %s [N]\n", argv[0]);
    return 2;
  }
  try {
    std::puts("n,what,terms,us,bytes,GB_per_s,copy_GB_per_s,ratio");
    petscrrb::run(static_cast<PetscInt>(n));
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
