// A piece on a device: warps, in 3D blocks, that march through strips of the grid.
#pragma once

#include "pc/neumann/core/march.hpp"

#include "exec/cuda/shape.cuh"

namespace petscrrb::neumann {

constexpr int lanes = 32;
constexpr int march_warps = 4, lines_at_once = 4; // in 2D
constexpr int march_rows = 16;                    // lines of a plane in a block, in 3D

struct Strip {
  __device__ double west(double x) const { return __shfl_up_sync(~0u, x, 1); }
  __device__ double east(double x) const { return __shfl_down_sync(~0u, x, 1); }
};

// A warp a line of the plane. Two buffers take turns, so that one barrier an exchange is enough.
struct Plane : Strip {
  double (*shared)[march_rows][lanes];
  int turn;

  __device__ double exchange(double x, int row) {
    double(&here)[march_rows][lanes] = shared[turn];
    turn ^= 1;
    here[threadIdx.y][threadIdx.x] = x;
    __syncthreads();
    return row < 0 || row >= march_rows ? 0.0 : here[row][threadIdx.x];
  }
  __device__ double south(double x) { return exchange(x, static_cast<int>(threadIdx.y) - 1); }
  __device__ double north(double x) { return exchange(x, static_cast<int>(threadIdx.y) + 1); }
};

struct MarchShape {
  int lines; // of a task
  PetscInt strips;
};

// Where a lane's coordinate is; -1: outside
template <bool around> __device__ PetscInt place(const Lattice &g, PetscInt c, int d) {
  if constexpr (around) return g.wrapped(c, d);
  return c >= 0 && c < g.n[d] ? c : -1;
}

// What the compiler may know of a piece.
template <class Marching> __device__ Piece known(Piece p) {
  if constexpr (Marching::neumann) p.in = p.out = Scale::s, p.between = Scale::none, p.start = nullptr;
  return p;
}

template <int steps, bool around, class Marching>
__global__ void __launch_bounds__(march_warps *lanes)
    march_strips(Lattice g, Couplings a, Piece piece, MarchShape shape) {
  const Piece p = known<Marching>(piece);
  const int lane = threadIdx.x % lanes;
  const PetscInt strip = static_cast<PetscInt>(blockIdx.x) * march_warps + threadIdx.x / lanes;
  if (strip >= shape.strips) return;
  const PetscInt i = strip * (lanes - Marching::west - Marching::east) + lane - Marching::west;
  const PetscInt x = place<around>(g, i, 0);
  const bool mine = x == i && i >= 0 && lane >= Marching::west && lane < lanes - Marching::east;
  const PetscInt first = static_cast<PetscInt>(blockIdx.y) * shape.lines, last = min(first + shape.lines, g.n[1]);
  typename Marching::template Steps<double> march;
  Strip neighbours;
  for (PetscInt j0 = first - Marching::before; j0 < last + Marching::after; j0 += lines_at_once) {
    Line<steps, around, double> line[lines_at_once];
    PetscInt y[lines_at_once];
#pragma unroll
    for (int k = 0; k < lines_at_once; ++k) {
      y[k] = place<around>(g, j0 + k, 1);
      fetch(a, p, x < 0 || y[k] < 0 ? -1 : y[k] * g.n[0] + x, line[k]);
    }
#pragma unroll
    for (int k = 0; k < lines_at_once; ++k) {
      const PetscInt j = j0 + k - Marching::after;
      prepare(g, p, x, y[k], 0, line[k]);
      march.next(neighbours, p.between, line[k]);
      if (mine && j >= first && j < last) p.z[j * g.n[0] + i] = scaled(p.out, line[k].s, line[k].y);
    }
  }
}

template <bool around, class Marching>
__global__ void __launch_bounds__(march_rows *lanes)
    march_planes(Lattice g, Couplings a, Piece piece, MarchShape shape) {
  constexpr int before = Marching::before, after = Marching::after, ends = before + after;
  __shared__ double shared[2][march_rows][lanes];
  const Piece p = known<Marching>(piece);
  const int lane = threadIdx.x, row = threadIdx.y;
  const PetscInt strip = static_cast<PetscInt>(blockIdx.x) % shape.strips,
                 rows = static_cast<PetscInt>(blockIdx.x) / shape.strips;
  const PetscInt i = strip * (lanes - ends) + lane - before, j = rows * (march_rows - ends) + row - before;
  const PetscInt x = place<around>(g, i, 0), y = place<around>(g, j, 1);
  const bool inside = x >= 0 && y >= 0, mine = inside && x == i && y == j && lane >= before && lane < lanes - after &&
                                               row >= before && row < march_rows - after;
  const PetscInt first = static_cast<PetscInt>(blockIdx.y) * shape.lines, last = min(first + shape.lines, g.n[2]);
  const PetscInt plane = g.n[0] * g.n[1], column = y * g.n[0] + x;
  typename Marching::template Steps<double> march;
  Plane neighbours;
  neighbours.shared = shared;
  neighbours.turn = 0;
  for (PetscInt k = first - before; k < last + after; ++k) {
    const PetscInt z = place<around>(g, k, 2), done = k - after;
    Line<3, around, double> line;
    fetch(a, p, inside && z >= 0 ? z * plane + column : -1, line);
    prepare(g, p, x, y, z, line);
    march.next(neighbours, p.between, line);
    if (mine && done >= first && done < last) p.z[done * plane + column] = scaled(p.out, line.s, line.y);
  }
}

template <int steps, bool around, class Marching>
void march(Marching, const Lattice &g, const Couplings &a, const Piece &p, cudaStream_t stream) {
  constexpr int ends = Marching::west + Marching::east;
  const auto parts = [](PetscInt n, int size) { return (n + size - 1) / size; };
  const PetscInt strips = parts(g.n[0], lanes - ends);
  // so many blocks side by side, each with a part of the lines or planes
  const auto launch = [&](auto kernel, PetscInt across, PetscInt along, dim3 threads) {
    const int resident = cuda::resident_blocks(kernel, int(threads.x * threads.y));
    const int lines = cuda::rows_of_part(int(across), int(along), resident, 256, Marching::before + Marching::after);
    const dim3 blocks(unsigned(across), unsigned(parts(along, lines)));
    kernel<<<blocks, threads, 0, stream>>>(g, a, p, MarchShape{lines, strips});
  };
  if constexpr (steps == 3)
    launch(march_planes<around, Marching>, strips * parts(g.n[1], march_rows - ends), g.n[2], dim3(lanes, march_rows));
  else
    launch(march_strips<steps, around, Marching>, parts(strips, march_warps), g.n[1], dim3(march_warps * lanes));
  cuda::check_launch("march");
}

} // namespace petscrrb::neumann
