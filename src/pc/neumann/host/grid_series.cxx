// A series on a grid on the host: each thread takes tiles whose windows fit into its cache.
#include "pc/neumann/core/grid_series.hpp"

#include "exec/host/host.hpp"
#include "stencil/host/rows.hpp"
#include "pc/neumann/core/read.hpp"
#include "pc/neumann/core/tile.hpp"

#include <vector>

#ifdef _OPENMP
  #include <omp.h>
#endif

namespace petscrrb::neumann {
namespace {

constexpr Limits most{8, 8}; // with more, halos are more than tiles

#ifdef _OPENMP
std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }
std::size_t this_thread() { return static_cast<std::size_t>(omp_get_thread_num()); }
#else
std::size_t threads() { return 1; }
std::size_t this_thread() { return 0; }
#endif

class HostSeries final : public GridSeries {
public:
  HostSeries(const Grid &grid, const Series &series) : g_(lattice_of(grid)), series_(series) {
    const std::size_t n = static_cast<std::size_t>(g_.size());
    for (int m = 0; m < g_.steps; ++m) w_[m].resize(n);
    s_.resize(n);
    for (int k = 0; k < work_vectors(series, most); ++k) work_[k].resize(n);
  }

  RowFacts refresh(const Csr &A) override {
    double *w[most_steps];
    for (int m = 0; m < g_.steps; ++m) w[m] = w_[m].data();
    RowFacts all;
    read_couplings(A, g_, series_.omega, s_.data(), w, [&](const auto &f) { at_rows(g_.size(), f, all); });
    return all;
  }

  void apply(const double *r, double *z) override {
    double *const work[3] = {work_[0].data(), work_[1].data(), work_[2].data()};
    in_pieces(series_, most, r, z, work, [&](const Piece &p) {
      if (g_.steps == 2)
        pass<2>(p);
      else if (g_.steps == 3)
        pass<3>(p);
      else
        pass<4>(p);
    });
  }

  double bytes() const override {
    std::size_t sum = s_.bytes() + windows_.size() * sizeof(double);
    for (const auto &w : w_) sum += w.bytes();
    for (const auto &w : work_) sum += w.bytes();
    return static_cast<double>(sum);
  }

private:
  Couplings couplings() const {
    Couplings c{{}, s_.data()};
    for (int m = 0; m < g_.steps; ++m) c.w[m] = w_[m].data();
    return c;
  }
  template <int steps> void pass(const Piece &p) {
    if (g_.any_periodic())
      tiles<steps, true>(p);
    else
      tiles<steps, false>(p);
  }

  template <int steps, bool around> void tiles(const Piece &p) {
    const int size[3] = {steps == 3 ? 64 : 256, steps == 3 ? 16 : 32, steps == 3 ? 16 : 1};
    const Couplings a = couplings();
    PetscInt count[3];
    for (int d = 0; d < 3; ++d) count[d] = (g_.n[d] + size[d] - 1) / size[d];
    const PetscInt tiles = count[0] * count[1] * count[2];
    const Halo halo = halo_of(g_, p);
    std::size_t window = doubles_of_window(steps, around);
    for (int d = 0; d < 3; ++d)
      window *= std::size_t(halo.low[d] + std::min<PetscInt>(size[d], g_.n[d]) + halo.high[d]);
    const bool together = g_.size() >= host::serial_below && tiles > 1;
    const std::size_t teams = together ? threads() : 1;
    if (windows_.size() < window * teams) windows_.resize(window * teams);
#pragma omp parallel if (together)
    {
      double *const memory = windows_.data() + window * this_thread();
#pragma omp for schedule(static)
      for (PetscInt t = 0; t < tiles; ++t) {
        const PetscInt at[3] = {t % count[0], t / count[0] % count[1], t / count[0] / count[1]};
        Tile tile{{}, {}, halo};
        for (int d = 0; d < 3; ++d) {
          tile.first[d] = at[d] * size[d];
          tile.size[d] = static_cast<int>(std::min<PetscInt>(size[d], g_.n[d] - tile.first[d]));
        }
        TileWork<steps, around>(g_, a, tile, memory).run(p);
      }
    }
  }

  const Lattice g_;
  const Series series_;
  host::Buffer<double> w_[most_steps], s_, work_[3];
  std::vector<double> windows_; // a thread's each
};

} // namespace

std::unique_ptr<GridSeries> make_grid_series(const Grid &grid, const Series &series) {
  return std::make_unique<HostSeries>(grid, series);
}

} // namespace petscrrb::neumann
