// Series on the host. On a grid each thread takes tiles whose windows fit into its cache.
#include "pc/neumann/core/grid_series.hpp"
#include "pc/neumann/core/sparse_values.hpp"
#include "pc/neumann/core/tile.hpp"
#include "stencil/host/rows.hpp"

namespace petscrrb::neumann {
namespace {

constexpr Limits most{8, 8}; // with more, halos are more than tiles

class HostSeries final : public GridSeriesOn<Host> {
public:
  HostSeries(const Grid &grid, const Series &series) : GridSeriesOn(on_host, lattice_of(grid), series, most) {}

  double bytes() const override { return GridSeriesOn::bytes() + windows_.bytes(); }

private:
  void pass(const Piece &p) override {
    with_lattice([&](auto steps, auto around) { tiles<steps.value, around.value>(p); });
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
    windows_.prepare(window, together ? host::most_threads() : 1);
#pragma omp parallel if (together)
    {
      double *const memory = windows_.mine();
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

  host::Scratch windows_; // a thread's each
};

} // namespace

std::unique_ptr<GridSeries> make_grid_series(const Grid &grid, const Series &series) {
  return std::make_unique<HostSeries>(grid, series);
}
std::unique_ptr<SparseValues> make_sparse_values(PetscInt rows, const SparsePlan &plan) {
  return std::make_unique<SparseValuesOn<Host>>(on_host, rows, plan);
}

} // namespace petscrrb::neumann
