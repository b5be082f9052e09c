// A piece on a device in tiles: each block has a window in shared memory. On any lattice.
#pragma once

#include "tile.hpp"

#include "backend/cuda.hpp"

#include <iterator>

namespace petscrrb::neumann {

constexpr int tile_lanes = 32, tile_rows = 8; // of a block

// A block: a warp a line.
struct Block {
  template <class F> PETSCRRB_HD void lines(const int low[3], const int high[3], const F &f) const {
#if defined(__CUDA_ARCH__)
    const int across = high[1] - low[1], count = across * (high[2] - low[2]);
    for (int l = threadIdx.y; l < count; l += tile_rows) f(low[1] + l % across, low[2] + l / across);
    __syncthreads();
#endif
  }
  template <class F> PETSCRRB_HD void along(int low, int high, const F &f) const {
#if defined(__CUDA_ARCH__)
    for (int i = low + static_cast<int>(threadIdx.x); i < high; i += tile_lanes) f(i);
#endif
  }
};

struct TileShape {
  int size[3];
  Halo halo;
  PetscInt count[3];
};

template <int steps, bool around>
__global__ void __launch_bounds__(tile_lanes *tile_rows) apply_tiles(Lattice g, Couplings a, Piece p, TileShape shape) {
  extern __shared__ double memory[];
  const PetscInt b = static_cast<PetscInt>(blockIdx.x);
  const PetscInt at[3] = {b % shape.count[0], b / shape.count[0] % shape.count[1], b / shape.count[0] / shape.count[1]};
  Tile tile{{}, {}, shape.halo};
  for (int d = 0; d < 3; ++d) {
    tile.first[d] = at[d] * shape.size[d];
    tile.size[d] = static_cast<int>(min(static_cast<PetscInt>(shape.size[d]), g.n[d] - tile.first[d]));
  }
  const Block team;
  TileWork<steps, around, Block>(team, g, a, tile, memory).run(p);
}

inline auto kernel_of_tiles(int steps, bool around) {
  if (steps == 2) return around ? apply_tiles<2, true> : apply_tiles<2, false>;
  if (steps == 3) return around ? apply_tiles<3, true> : apply_tiles<3, false>;
  return around ? apply_tiles<4, true> : apply_tiles<4, false>;
}

inline std::size_t bytes_of(const Lattice &g, const TileShape &s) {
  std::size_t bytes = doubles_of_window(g.steps, g.any_periodic()) * sizeof(double);
  for (int d = 0; d < 3; ++d) bytes *= static_cast<std::size_t>(s.halo.low[d] + s.size[d] + s.halo.high[d]);
  return bytes;
}

// The tile with the least to read for each of its points, and what that is; 0 where no tile has room. A second block at
// the same time hides the first one's waits.
inline double choose_tile(const Lattice &g, const Halo &halo, std::size_t most, TileShape &best) {
  static constexpr int flat[][3] = {{64, 32, 1}, {64, 16, 1}, {32, 32, 1}, {32, 16, 1},
                                    {32, 8, 1},  {16, 8, 1},  {8, 8, 1}};
  static constexpr int solid[][3] = {{32, 8, 8}, {32, 8, 4}, {32, 4, 4}, {16, 8, 8}, {16, 8, 4}, {16, 4, 4},
                                     {8, 8, 8},  {8, 8, 4},  {8, 4, 4},  {4, 4, 4},  {4, 2, 2}};
  const auto *shapes = g.steps == 3 ? solid : flat;
  const int count = static_cast<int>(g.steps == 3 ? std::size(solid) : std::size(flat));
  double least = 0;
  for (int k = 0; k < count; ++k) {
    TileShape s{{shapes[k][0], shapes[k][1], shapes[k][2]}, halo, {}};
    const std::size_t bytes = bytes_of(g, s);
    if (bytes > most) continue;
    double cost = 2 * bytes > most ? 1.5 : 1.0;
    for (int d = 0; d < 3; ++d) {
      s.count[d] = (g.n[d] + s.size[d] - 1) / s.size[d];
      cost *= 1 + double(halo.low[d] + halo.high[d]) / s.size[d];
    }
    if (least > 0 && cost >= least) continue;
    least = cost;
    best = s;
  }
  return least;
}

// Throws where no tile has room, which choose_tile() tells.
inline void apply_in_tiles(const Lattice &g, const Couplings &a, const Piece &p, std::size_t most,
                           cudaStream_t stream) {
  TileShape shape;
  if (choose_tile(g, halo_of(g, p), most, shape) == 0) throw std::length_error("no tile has room on this device");
  const index_t blocks = index_t(shape.count[0]) * shape.count[1] * shape.count[2];
  kernel_of_tiles(
      g.steps,
      g.any_periodic())<<<static_cast<unsigned>(blocks), dim3(tile_lanes, tile_rows), bytes_of(g, shape), stream>>>(
      g, a, p, shape);
  cuda::check_launch("apply_tiles");
}

} // namespace petscrrb::neumann
