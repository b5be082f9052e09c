// Blocks that sine bases diagonalize, on tensor cores.
#include "exec/cuda/fp64.cuh"
#include "pc/blockrelax/cuda/relax.cuh"

#include <algorithm>

namespace petscrrb::blockrelax {
namespace {

// Values of a block, their lines and planes so far apart that the threads of a warp, of which four along each of two sides
// read at a time, meet in no bank of shared memory.
struct Apart {
  int line, plane;

  __host__ __device__ explicit Apart(const int n[3]) : line(padded(n[0])), plane(padded(n[1] * line)) {}
  __host__ __device__ static int padded(int n) { return (n + 3) / 8 * 8 + 4; }
};

struct Tiled {
  static constexpr int smallest = 32; // a warp has whole products
  static constexpr bool anywhere = false;

  template <class Cells> __device__ static int place(const DeviceBlock &block, const Cells &c) {
    const Apart apart(block.n);
    return c.at[2] * apart.plane + c.at[1] * apart.line + c.at[0];
  }

  // Where the lines along a side begin, and how far their values are apart.
  struct Side {
    int n, step, count, inner, outer, inner_count;

    __device__ Side(const DeviceBlock &b, const Apart &apart, int d)
        : n(b.n[d]), step(d == 0   ? 1
                          : d == 1 ? apart.line
                                   : apart.plane),
          inner(d == 0 ? apart.line : 1), outer(d == 2 ? apart.line : apart.plane), inner_count(b.n[d == 0 ? 1 : 0]) {
      count = inner_count * b.n[d == 2 ? 1 : 2];
    }
    __device__ int first(int line) const { return line % inner_count * inner + line / inner_count * outer; }
  };

  // Lines become S times what they are, 8 `wide` of them by a warp. tall: at least n / 8
  template <int tall, int wide>
  __device__ static void transform(const double *__restrict__ S, const Side &side, int from, double *r) {
    const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
    const int steps = (side.n + 3) / 4, high = (side.n + 7) / 8;
    double sum[tall][wide][2] = {};
    int in[wide];
#pragma unroll
    for (int w = 0; w < wide; ++w) {
      const int line = from + 8 * w + row;
      in[w] = line < side.count ? side.first(line) : -1;
    }
    for (int k = 0; k < steps; ++k) {
      const int at = 4 * k + column;
      double value[wide];
#pragma unroll
      for (int w = 0; w < wide; ++w) value[w] = in[w] >= 0 && at < side.n ? r[in[w] + at * side.step] : 0;
#pragma unroll
      for (int t = 0; t < tall; ++t)
        if (t < high) {
          const double s = __ldg(S + (t * steps + k) * 32 + lane);
#pragma unroll
          for (int w = 0; w < wide; ++w) cuda::multiply_add_8x8x4(s, value[w], sum[t][w]);
        }
    }
    __syncwarp();
#pragma unroll
    for (int w = 0; w < wide; ++w)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int line = from + 8 * w + 2 * column + i;
        if (line >= side.count) continue;
        double *const out = r + side.first(line);
#pragma unroll
        for (int t = 0; t < tall; ++t)
          if (8 * t + row < side.n) out[(8 * t + row) * side.step] = sum[t][w][i];
      }
  }

  template <class Group>
  __device__ static void along(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                               const DeviceKind &kind, const Apart &apart, int d, double *r) {
    if (block.n[d] == 1) return; // a basis of length 1 is 1
    const Side side(block, apart, d);
    const double *const S = all.bases + kind.tiles[d];
    const int warp = g.rank() / 32;
    if (side.n <= 8)
      for (int from = 16 * warp; from < side.count; from += 16 * Group::lines) transform<1, 2>(S, side, from, r);
    else if (side.n <= 32)
      for (int from = 16 * warp; from < side.count; from += 16 * Group::lines) transform<4, 2>(S, side, from, r);
    else
      for (int from = 8 * warp; from < side.count; from += 8 * Group::lines) transform<8, 1>(S, side, from, r);
    g.sync();
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *) {
    const Apart apart(block.n);
    for (int d = 0; d < 3; ++d) along(g, all, block, kind, apart, d, r);
    const double *const inverse = all.inverse + kind.at;
    for (relax_kernels::Cells<Group> c(block); c.more(); c.next()) r[place(block, c)] *= inverse[c.cell];
    g.sync();
    for (int d = 3; d-- > 0;) along(g, all, block, kind, apart, d, r);
    return r;
  }
};

} // namespace

RelaxKernel tiled_kernel(bool corners, int group) { return relax_kernels::kernel_for<Tiled>(corners, group); }

int tiled_room(const int n[3]) { return Apart(n).plane * n[2]; }

} // namespace petscrrb::blockrelax
