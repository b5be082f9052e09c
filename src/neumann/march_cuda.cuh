// K^T K on a device where no side is periodic: warps, in 3D blocks, that march through strips of the grid.
#pragma once

#include "march.hpp"

#include "backend/cuda_shape.cuh"

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

template <int steps, int terms> struct Ends { // lanes at the ends of a strip that are there for their neighbours
  static constexpr int each = steps == 4 ? 2 * terms : terms, inner = lanes - 2 * each;
};

template <int steps, int terms>
__global__ void __launch_bounds__(march_warps *lanes)
    march_strips(Lattice g, Couplings a, const double *r, double *z, MarchShape shape) {
  using Marching = March<steps, terms, double, Strip>;
  using Line = typename Marching::Line;
  const int lane = threadIdx.x % lanes;
  const PetscInt strip = static_cast<PetscInt>(blockIdx.x) * march_warps + threadIdx.x / lanes;
  if (strip >= shape.strips) return;
  const PetscInt i = strip * Ends<steps, terms>::inner + lane - Ends<steps, terms>::each;
  const bool inside = i >= 0 && i < g.n[0];
  const bool mine = inside && lane >= Ends<steps, terms>::each && lane < lanes - Ends<steps, terms>::each;
  const PetscInt first = static_cast<PetscInt>(blockIdx.y) * shape.lines, last = min(first + shape.lines, g.n[1]);
  Marching march{Strip()};
  for (PetscInt j0 = first - terms; j0 < last + terms; j0 += lines_at_once) {
    Line line[lines_at_once];
#pragma unroll
    for (int k = 0; k < lines_at_once; ++k) {
      const PetscInt j = j0 + k, p = j * g.n[0] + i;
      line[k] = Line{};
      if (!inside || j < 0 || j >= g.n[1]) continue;
      line[k].t = r[p];
      line[k].s = a.s[p];
#pragma unroll
      for (int m = 0; m < steps; ++m) line[k].w[m] = a.w[m][p];
    }
#pragma unroll
    for (int k = 0; k < lines_at_once; ++k) {
      const PetscInt j = j0 + k - terms;
      double s;
      line[k].t *= line[k].s;
      const double v = march.next(line[k], &s);
      if (mine && j >= first && j < last) z[j * g.n[0] + i] = s * v;
    }
  }
}

template <int terms>
__global__ void __launch_bounds__(march_rows *lanes)
    march_planes(Lattice g, Couplings a, const double *r, double *z, MarchShape shape) {
  using Marching = March<3, terms, double, Plane>;
  __shared__ double shared[2][march_rows][lanes];
  const int x = threadIdx.x, y = threadIdx.y;
  const PetscInt strip = static_cast<PetscInt>(blockIdx.x) % shape.strips,
                 rows = static_cast<PetscInt>(blockIdx.x) / shape.strips;
  const PetscInt i = strip * (lanes - 2 * terms) + x - terms, j = rows * (march_rows - 2 * terms) + y - terms;
  const bool inside = i >= 0 && i < g.n[0] && j >= 0 && j < g.n[1];
  const bool mine = inside && x >= terms && x < lanes - terms && y >= terms && y < march_rows - terms;
  const PetscInt first = static_cast<PetscInt>(blockIdx.y) * shape.lines, last = min(first + shape.lines, g.n[2]);
  const PetscInt plane = g.n[0] * g.n[1], column = j * g.n[0] + i;
  Plane neighbours;
  neighbours.shared = shared;
  neighbours.turn = 0;
  Marching march{neighbours};
  for (PetscInt k = first - terms; k < last + terms; ++k) {
    typename Marching::Line line{};
    if (inside && k >= 0 && k < g.n[2]) {
      const PetscInt p = k * plane + column;
      line.s = a.s[p];
      line.t = line.s * r[p];
#pragma unroll
      for (int m = 0; m < 3; ++m) line.w[m] = a.w[m][p];
    }
    double s;
    const double v = march.next(line, &s);
    if (mine && k - terms >= first && k - terms < last) z[(k - terms) * plane + column] = s * v;
  }
}

template <int steps, int terms>
void march(const Lattice &g, const Couplings &a, const double *r, double *z, cudaStream_t stream) {
  const auto parts = [](PetscInt n, int size) { return (n + size - 1) / size; };
  MarchShape shape{0, parts(g.n[0], Ends<steps, terms>::inner)};
  if constexpr (steps == 3) {
    const PetscInt across = shape.strips * parts(g.n[1], march_rows - 2 * terms);
    const int resident = cuda::resident_blocks(march_planes<terms>, march_rows * lanes);
    shape.lines = cuda::rows_of_part(int(across), int(g.n[2]), resident, 256, 2 * terms);
    const dim3 blocks(unsigned(across), unsigned(parts(g.n[2], shape.lines)));
    march_planes<terms><<<blocks, dim3(lanes, march_rows), 0, stream>>>(g, a, r, z, shape);
  } else {
    const PetscInt across = parts(shape.strips, march_warps);
    const int resident = cuda::resident_blocks(march_strips<steps, terms>, march_warps * lanes);
    shape.lines = cuda::rows_of_part(int(across), int(g.n[1]), resident, 256, 2 * terms);
    const dim3 blocks(unsigned(across), unsigned(parts(g.n[1], shape.lines)));
    march_strips<steps, terms><<<blocks, march_warps * lanes, 0, stream>>>(g, a, r, z, shape);
  }
  cuda::check_launch("march");
}

constexpr int most_marched = 3; // terms

template <int steps>
void march(int terms, const Lattice &g, const Couplings &a, const double *r, double *z, cudaStream_t stream) {
  if (terms == 1) return march<steps, 1>(g, a, r, z, stream);
  if (terms == 2) return march<steps, 2>(g, a, r, z, stream);
  march<steps, 3>(g, a, r, z, stream);
}

} // namespace petscrrb::neumann
