// The first Schur complement's product on a device, red points solved on the way: the matrix is read from memory once.
#pragma once

#include "exec/cuda/overlap.cuh"
#include "exec/cuda/sums.cuh"
#include "ksp/rrb/core/grid_cg.hpp"

namespace petscrrb::rrbsolver {

// A block has a tile of black points by half of x and by y, and goes through `depth` planes of it. One plane ahead it solves red points
// of the tile and one around it; those of the plane before are in shared memory, so that neighbours have them.
constexpr int tile_x = 32, tile_y = 8, tile_threads = tile_x * tile_y;
// Four for each multiprocessor of an H200: these go through all planes at the same time.
constexpr int tiles_at_once = 528;

struct BlackTiles {
  Matrix A;
  Field<double> p, q;
  gridmg::Shape shape;
  int tiles_x, tiles_y, chunks, depth;

  BlackTiles(const gridmg::Shape &x, const Matrix &a, const Field<double> &in, const Field<double> &out)
      : A(a), p(in), q(out), shape(x), tiles_x(int(((x.n[0] + 1) / 2 + tile_x - 1) / tile_x)),
        tiles_y(int((x.n[1] + tile_y - 1) / tile_y)) {
    const index_t tiles = index_t(tiles_x) * tiles_y,
                  most = std::max<index_t>(tiles_at_once / std::max<index_t>(tiles, 1), 1);
    depth = std::max(int((x.n[2] + most - 1) / most), 1);
    chunks = int((x.n[2] + depth - 1) / depth);
  }
  PETSCRRB_HD index_t count() const { return index_t(tiles_x) * tiles_y * chunks; }
  int blocks() const { return int(std::min<index_t>(count(), cuda::most_point_sums)); }

  // of the red point of half h in row (j, k), which may be around a ring or, of a box, another rank's; 0 where there is none
  template <bool box> __device__ double red(index_t h, index_t j, index_t k) const {
    if (box && is_on_others_face(2 * h + ((j + k) & 1), j)) return p.p[p.place((j + k) & 1, j, k) + h];
    if (!within(j, 1) || !within(k, 2)) return 0.0;
    const index_t parity = (j + k) & 1, count = (shape.n[0] + 1 - parity) / 2;
    if (h < 0 || h >= count) {
      if (!shape.ring[0]) return 0.0;
      h = h < 0 ? h + count : h - count;
      if (h < 0 || h >= count) return 0.0; // no neighbour of a point of the tile
    }
    return solved_red(A, p, {h, j, k}, 0.0);
  }

  // Whether what is around the box there, in a direction, is another rank's.
  __device__ bool is_others(index_t i, int direction) const {
    return (i == -1 && shape.more_before[direction]) || (i == shape.n[direction] && shape.more_after[direction]);
  }

private:
  __device__ bool is_on_others_face(index_t i, index_t j) const {
    if (is_others(j, 1)) return i >= 0 && i < shape.n[0];
    return is_others(i, 0) && j >= 0 && j < shape.n[1];
  }
  __device__ bool within(index_t &i, int direction) const {
    const index_t n = shape.n[direction];
    if (shape.ring[direction] && (i < 0 || i >= n)) i = i < 0 ? i + n : i - n;
    return i >= 0 && i < n;
  }
};

// Of a thread's column of points, what it goes on with in the next plane.
struct BlackColumn {
  double p_before = 0.0, p_here = 0.0, p_after = 0.0; // black p in the planes around that of the red point
  double red_before = 0.0, red_here = 0.0;            // red p of two planes before, and of one
  double up_before = 0.0, up_here = 0.0;              // couplings of these to the planes above them
  double pair = 0.0;                                  // of the red and the black point of the plane before
};

// box: where other ranks have points around it, whose red ones they have solved. One of its own, for these checks take registers.
template <bool box>
static __global__ void __launch_bounds__(tile_threads, 4)
    multiply_black(const __grid_constant__ BlackTiles t, cuda::BlockSum<tile_threads> sum) {
  __shared__ double plane[2][tile_y + 2][tile_x + 2];
  constexpr int around = 2 * (tile_x + tile_y); // without corners
  const int x = int(threadIdx.x) % tile_x, y = int(threadIdx.x) / tile_x;
  int at_x = -1, at_y = -1; // this thread's point around the tile
  if (threadIdx.x < around) {
    const int i = int(threadIdx.x) / 2, side = int(threadIdx.x) % 2;
    at_x = i < tile_x ? i : side ? tile_x : -1;
    at_y = i < tile_x ? (side ? tile_y : -1) : i - tile_x;
  }
  const Matrix &A = t.A;
  const double *const p = t.p.p;
  const int nx = int(t.shape.n[0]), ny = int(t.shape.n[1]), nz = int(t.shape.n[2]), half = (nx + 1) / 2,
            pitch = int(t.p.pitch), next = int(t.p.plane);
  double value = 0.0;
  cuda::start_next();
  cuda::await_previous();
  for (unsigned tile = blockIdx.x; tile < unsigned(t.count()); tile += gridDim.x) {
    const unsigned row = tile / unsigned(t.tiles_x), layer = row / unsigned(t.tiles_y);
    const int h0 = int(tile - row * unsigned(t.tiles_x)) * tile_x, j0 = int(row - layer * unsigned(t.tiles_y)) * tile_y,
              k0 = int(layer) * t.depth, k1 = min(k0 + t.depth, nz), h = h0 + x, j = j0 + y;
    const bool own = h < half && j < ny;
    BlackColumn c;
    for (int k = k0 - 1; k <= k1; ++k) {
      double(&ahead)[tile_y + 2][tile_x + 2] = plane[k & 1], (&now)[tile_y + 2][tile_x + 2] = plane[(k - 1) & 1];
      const bool there = t.shape.ring[2] || (k >= 0 && k < nz), others = box && t.is_others(k, 2);
      const int parity = (j + k) & 1; // of red points of this plane, and of black ones of the planes around it
      double red = 0.0, up = 0.0, pair = 0.0, up_from_black = 0.0;
      if (own) {
        const int in = k < 0 && there ? k + nz : k >= nz && there ? k - nz : k; // around a ring
        const int here = int(t.p.place(parity, j, in)) + h, black = int(t.p.place(1 - parity, j, in)) + h;
        if (k == k0 - 1 && there) c.p_before = p[here - next];
        if (k == k0 - 1 && (there || others)) c.p_here = p[black];
        if (there || k < nz) c.p_after = p[here + next];
        if (there || k >= nz) up_from_black = A.w[2].p[here - next];
        if (there) {
          // the black point of the same pair is on the right of an even red one, on the left of an odd one
          const int beside = black + (parity ? 1 : -1), coupling = parity ? here : beside;
          const double other = A.w[0].p[coupling], south = A.w[1].p[here - pitch], north = A.w[1].p[here];
          pair = A.w[0].p[parity ? black : here], up = A.w[2].p[here];
          const double d = A.e.p[here] + pair + other + south + north + up_from_black + up;
          const double all = pair * c.p_here + other * p[beside] + south * p[here - pitch] + north * p[here + pitch] +
                             up_from_black * c.p_before + up * c.p_after;
          if (h < (nx + 1 - parity) / 2) red = all / d;
        }
        if (others) red = p[here], up = A.w[2].p[here];
      } else if (h <= half && j <= ny && k >= k0 && k < k1) {
        red = t.red<box>(h, j, k);
      }
      ahead[y + 1][x + 1] = red;
      if (threadIdx.x < around && k >= k0 && k < k1) ahead[at_y + 1][at_x + 1] = t.red<box>(h0 + at_x, j0 + at_y, k);
      if (k > k0 && own && h < (nx + 1 - parity) / 2) { // the plane before
        const int at = int(t.p.place(parity, j, k - 1)) + h;
        const double other = A.w[0].p[parity ? at : int(t.p.place(1, j, k - 1)) + h - 1];
        const double west = parity ? c.pair : other, east = parity ? other : c.pair;
        double q = A.e.p[at] * c.p_before;
        q += west * (c.p_before - now[y + 1][x + parity]);
        q += east * (c.p_before - now[y + 1][x + 1 + parity]);
        q += A.w[1].p[at - pitch] * (c.p_before - now[y][x + 1]);
        q += A.w[1].p[at] * (c.p_before - now[y + 2][x + 1]);
        q += c.up_before * (c.p_before - c.red_before);
        q += up_from_black * (c.p_before - red);
        t.q.p[at] = q;
        value += c.p_before * q;
      }
      __syncthreads();
      c.p_before = c.p_here, c.p_here = c.p_after;
      c.red_before = c.red_here, c.red_here = red;
      c.up_before = c.up_here, c.up_here = up;
      c.pair = pair;
    }
  }
  sum.add(value);
}

template <> struct BlackProduct<Cuda> {
  static index_t parts_of(const gridmg::Shape &x) { return BlackTiles(x, {}, {}, {}).blocks(); }
  static Terms run(const Cuda &on, const gridmg::Shape &x, const Matrix &A, const Field<double> &p,
                   const Field<double> &q, PartialSum<Cuda> &partial) {
    const BlackTiles tiles(x, A, p, q);
    const auto kernel = x.has_more() ? multiply_black<true> : multiply_black<false>;
    const int blocks = tiles.blocks();
    if (!blocks) return {}; // a box without points
    const auto sum = partial.take<tile_threads>(blocks);
    static const bool overlap = cuda::may_overlap(multiply_black<false>) && cuda::may_overlap(multiply_black<true>);
    cuda::launch("product", kernel, overlap, unsigned(blocks), tile_threads, 0, on.stream, tiles, sum);
    return {sum.term, index_t(blocks)};
  }
};

} // namespace petscrrb::rrbsolver
