// A piece on a device: warps, in 3D blocks, that march through strips of the grid.
#pragma once

#include "pc/neumann/core/march.hpp"

#include "exec/cuda/shape.cuh"

#include <type_traits>

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
  int turn = 0;

  __device__ double exchange(double x, int row) {
    __shared__ double shared[2][march_rows][lanes];
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

constexpr int march_threads(int steps) { return lanes * (steps == 3 ? march_rows : march_warps); }

template <int steps, bool around, class Marching>
__global__ void __launch_bounds__(march_threads(steps))
    march_through(Lattice g, Couplings a, Piece piece, MarchShape shape) {
  constexpr bool planes = steps == 3;
  constexpr int before = Marching::before, after = Marching::after;
  constexpr int along = planes ? 2 : 1, at_once = planes ? 1 : lines_at_once;
  const Piece p = known<Marching>(piece);
  const int lane = threadIdx.x % lanes, row = threadIdx.y;
  const PetscInt block = static_cast<PetscInt>(blockIdx.x);
  const PetscInt strip = planes ? block % shape.strips : block * march_warps + threadIdx.x / lanes;
  if (strip >= shape.strips) return;
  const PetscInt i = strip * (lanes - Marching::west - Marching::east) + lane - Marching::west;
  const PetscInt j = planes ? block / shape.strips * (march_rows - before - after) + row - before : 0;
  const PetscInt x = place<around>(g, i, 0), y = planes ? place<around>(g, j, 1) : 0;
  const bool mine = x == i && i >= 0 && y == j && y >= 0 && lane >= Marching::west && lane < lanes - Marching::east &&
                    (!planes || (row >= before && row < march_rows - after));
  const PetscInt first = static_cast<PetscInt>(blockIdx.y) * shape.lines, last = min(first + shape.lines, g.n[along]);
  const PetscInt apart = planes ? g.n[0] * g.n[1] : g.n[0], column = planes ? y * g.n[0] + x : x;
  typename Marching::template Steps<double> march;
  std::conditional_t<planes, Plane, Strip> neighbours;
  for (PetscInt begin = first - before; begin < last + after; begin += at_once) {
    Line<steps, around, double> line[at_once];
    PetscInt at[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      at[k] = place<around>(g, begin + k, along);
      fetch(a, p, x < 0 || y < 0 || at[k] < 0 ? -1 : at[k] * apart + column, line[k]);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const PetscInt done = begin + k - after;
      prepare(g, p, x, planes ? y : at[k], planes ? at[k] : 0, line[k]);
      march.next(neighbours, p.between, line[k]);
      if (mine && done >= first && done < last) p.z[done * apart + column] = scaled(p.out, line[k].s, line[k].y);
    }
  }
}

template <int steps, bool around, class Marching>
void march(Marching, const Lattice &g, const Couplings &a, const Piece &p, cudaStream_t stream) {
  constexpr int ends = Marching::west + Marching::east;
  constexpr auto kernel = march_through<steps, around, Marching>;
  const auto parts = [](PetscInt n, int size) { return (n + size - 1) / size; };
  const PetscInt strips = parts(g.n[0], lanes - ends), along = g.n[steps == 3 ? 2 : 1];
  const PetscInt across = steps == 3 ? strips * parts(g.n[1], march_rows - ends) : parts(strips, march_warps);
  const int resident = cuda::resident_blocks(kernel, march_threads(steps));
  const int lines = cuda::rows_of_part(int(across), int(along), resident, 256, Marching::before + Marching::after);
  const dim3 blocks(unsigned(across), unsigned(parts(along, lines)));
  const dim3 threads = steps == 3 ? dim3(lanes, march_rows) : dim3(march_threads(steps));
  kernel<<<blocks, threads, 0, stream>>>(g, a, p, MarchShape{lines, strips});
  cuda::check_launch("march");
}

} // namespace petscrrb::neumann
