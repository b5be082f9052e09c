// Times applications of Neumann series on a device, on Poisson matrices with 5 points, and 7 in 3D with about as many
// unknowns, against the copy of a vector: neumann_bandwidth [N]. CSV. ratio: to what the bytes that must move take at
// the copy's bandwidth.
#include "measure.hpp"
#include "pc/neumann/core/grid_series.hpp"

#include <cmath>
#include <vector>

namespace petscrrb {
namespace {

// -Laplace with Dirichlet sides on n x n x planes points, as CSR on the device.
struct Rows {
  cuda::Buffer<PetscInt> ia, ja;
  cuda::Buffer<PetscScalar> a;

  Rows(PetscInt n, PetscInt planes) {
    std::vector<PetscInt> start{0}, column;
    std::vector<PetscScalar> value;
    const auto add = [&](bool there, PetscInt q, double v) {
      if (there) column.push_back(q), value.push_back(v);
    };
    for (PetscInt p = 0, plane = n * n, rows = plane * planes; p < rows; ++p) {
      add(p >= plane, p - plane, -1);
      add(p % plane >= n, p - n, -1);
      add(p % n > 0, p - 1, -1);
      add(true, p, planes > 1 ? 6 : 4);
      add(p % n < n - 1, p + 1, -1);
      add(p % plane < plane - n, p + n, -1);
      add(p < rows - plane, p + plane, -1);
      start.push_back(PetscInt(column.size()));
    }
    ia.assign(start), ja.assign(column), a.assign(value);
  }
  Csr csr() const { return {PetscInt(ia.size()) - 1, ia.data(), ja.data(), a.data()}; }
};

class Bench {
public:
  explicit Bench(PetscInt n) : n_(n) {
    cuda::check(cudaStreamCreateWithFlags(&on_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    clock_ = std::make_unique<Clock>(on_.stream);
    copy_ = copy_bandwidth(on_, *clock_);
  }

  void run() {
    const Rows flat(n_, 1);
    const auto side = PetscInt(std::cbrt(double(n_) * double(n_)));
    const Rows cube(side, side);
    Grid grid;
    grid.n[0] = grid.n[1] = n_;
    for (const int terms : {0, 1, 2, 3, 4, 5, 6, 8, 9, 12})
      time("apply", flat, grid, terms, neumann::neumann(terms), terms > 8 ? (terms + 5) / 6 : 0);
    time("poisson", flat, grid, 1, neumann::incomplete_poisson(true), 0);
    time("poisson_unscaled", flat, grid, 1, neumann::incomplete_poisson(false), 0);
    grid.periodic[0] = grid.periodic[1] = true;
    for (const int terms : {2, 3, 4}) time("periodic", flat, grid, terms, neumann::neumann(terms), terms > 3 ? 1 : 0);
    Grid solid;
    solid.dim = 3, solid.points = 7;
    for (auto &n : solid.n) n = side;
    for (const int terms : {1, 2, 3, 4, 6})
      time("apply_3d", cube, solid, terms, neumann::neumann(terms), terms > 3 ? 1 : 0);
    time("poisson_3d", cube, solid, 1, neumann::incomplete_poisson(true), 0);
    solid.periodic[0] = solid.periodic[1] = solid.periodic[2] = true;
    for (const int terms : {1, 2}) time("periodic_3d", cube, solid, terms, neumann::neumann(terms), terms > 1 ? 1 : 0);
  }

private:
  // passes: for each triangle; 0: one for both
  void time(const char *what, const Rows &A, const Grid &grid, int terms, const neumann::Series &kind, int passes) {
    const std::size_t rows = A.ia.size() - 1;
    const cuda::Buffer<double> r(rows), z(rows);
    const auto series = neumann::make_grid_series(on_, grid, kind);
    const double couplings = terms ? grid.points / 2 : 0; // each pass reads them, D^-1/2 and a vector, and writes one;
    const double vectors = passes ? 6 * passes + 2 * (passes - 1) : 3; // one that continues another reads one more
    const double refresh = clock_->time([&] { (void)series->refresh(A.csr()); });
    row(what, terms, clock_->time([&] { series->apply(r.data(), z.data()); }),
        8 * (vectors + couplings * std::max(1, 2 * passes)) * double(rows));
    if (terms == 2) row("refresh", terms, refresh, double(A.ja.bytes() + A.a.bytes()) + (12 + 8 * couplings) * rows);
  }
  void row(const char *what, int terms, double us, double bytes) const {
    std::printf("%lld,%s,%d,%.2f,%.0f,%.0f,%.0f,%.3f\n", (long long)n_, what, terms, us, bytes, bytes / us * 1e-3,
                copy_, us / (bytes / copy_ * 1e-3));
  }

  const PetscInt n_;
  Cuda on_;
  std::unique_ptr<Clock> clock_;
  double copy_ = 0;
};

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
    petscrrb::Bench(static_cast<PetscInt>(n)).run();
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
