// Blocks of at most 8 cells a side of matrices with 5 or 7 points that are the same in all cells: a warp each, on tensor
// cores, so from 8.0 on.
#pragma once

#include "exec/cuda/fp64.cuh"
#include "exec/cuda/overlap.cuh"
#include "exec/cuda/rows.cuh"
#include "exec/cuda/shape.cuh"
#include "pc/blockrelax/core/band.hpp"
#include "pc/blockrelax/core/blocks.hpp"
#include "pc/blockrelax/core/method.hpp"

namespace petscrrb::blockrelax {

// New values of a block are (1 - omega) u + omega M^-1 (b - what its neighbours outside add): the same as correcting u by
// M^-1 of the residual, without a product with the block itself. M^-1 is applied in sine bases: a lane of a warp holds the
// values at one y and two x, for all z. With that, the plane of a z is where an operand of a product of 8 x 8 matrices has to
// be, transposed; the product comes out where the plane was, transposed, and the next one is along the other side. Along z a
// lane has all values. Shorter sides are filled up by zeros, in the bases and in the inverse.
namespace small_kernels {

constexpr int side = 8, plane = side * side, cells = side * plane, warps = 4, threads = 32 * warps;

// of its inverse, among all
__device__ inline index_t shape_of(const DeviceBlock &b) {
  return ((b.n[2] - 1) * side + b.n[1] - 1) * side + b.n[0] - 1;
}
inline bool available() { return cuda::attribute(cudaDevAttrComputeCapabilityMajor) >= 8; }

// A lane's place in its block. Lane 4 g + q has of an operand values g, q and g, 4 + q, but of a product g, 2 q and g, 2 q + 1.
// So place g of a product stands for g / 2 + 4 (g % 2).
struct LanePlace {
  static constexpr int apart = side / 2; // its two x
  int y, x;
  bool inside[2];

  __device__ LanePlace(const DeviceBlock &b, int lane) : y(lane / 8 + lane / 4 % 2 * apart), x(lane % 4) {
    for (int i = 0; i < 2; ++i) inside[i] = y < b.n[1] && x + i * apart < b.n[0];
  }
};

// Without branches, so that all that is read is on its way at once; zero if it is not wanted. shared: others write it
enum class Read {
  once,
  again,
  shared
};
template <Read how> __device__ double load_if(bool wanted, const double *from) {
  double v;
  const int yes = wanted;
  if constexpr (how == Read::once)
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.f64 %0, 0d0000000000000000; @p ld.global.cs.f64 %0, [%1]; }"
                 : "=d"(v)
                 : "l"(from), "r"(yes));
  else if constexpr (how == Read::again)
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.f64 %0, 0d0000000000000000; @p ld.global.f64 %0, [%1]; }"
                 : "=d"(v)
                 : "l"(from), "r"(yes));
  else
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.f64 %0, 0d0000000000000000; @p ld.global.cg.f64 %0, [%1]; }"
                 : "=d"(v)
                 : "l"(from), "r"(yes));
  return v;
}
template <Read how> __device__ void load_if(bool wanted, const LanePlace &at, const double *from, double (&v)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) v[i] = load_if<how>(wanted && at.inside[i], from + i * LanePlace::apart);
}

// r loses what the patch has around the block. line: of this lane, from the block's first cell on
template <Read how>
__device__ void take_neighbours(const Couplings &A, const DeviceBlock &b, const LanePlace &at, const double *line,
                                double (&r)[side][2]) {
  const bool second = at.x + LanePlace::apart == b.n[0] - 1; // of its two x is the last of the line
  const bool left = at.x == 0 && at.inside[0] && b.goes_on(0, false);
  const bool right = (second || at.x == b.n[0] - 1) && at.y < b.n[1] && b.goes_on(0, true);
  const bool below = at.y == 0 && b.goes_on(1, false), above = at.y == b.n[1] - 1 && b.goes_on(1, true);
  const double *u = line + at.x;
  double xs[side], ys[side][2], zs[2][2];
  load_if<how>(b.goes_on(2, false), at, u - b.plane, zs[0]);
  load_if<how>(b.goes_on(2, true), at, u + index_t(b.n[2]) * b.plane, zs[1]);
#pragma unroll
  for (int z = 0; z < side; ++z) {
    const index_t p = index_t(z) * b.plane;
    xs[z] = load_if<how>((left || right) && z < b.n[2], line + p + (left ? -1 : b.n[0]));
    load_if<how>((below || above) && z < b.n[2], at, u + p + (below ? -b.line : b.line), ys[z]);
  }
  const auto take_x = [&](double(&to)[2], double value, bool first) {
    const double v = A.ahead[0] * value;
    to[0] -= first ? v : 0;
    to[1] -= first ? 0 : v;
  };
#pragma unroll
  for (int z = 0; z < side; ++z) {
    take_x(r[z], xs[z], left || !second);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (z == 0) r[z][i] -= A.ahead[2] * zs[0][i];
      r[z][i] -= A.ahead[1] * ys[z][i] + (z == b.n[2] - 1 ? A.ahead[2] : 0) * zs[1][i];
    }
  }
  if (!__any_sync(~0u, (left && right) || (below && above))) return;
    // lanes that are at both ends of a short side
#pragma unroll
  for (int z = 0; z < side; ++z) {
    const index_t p = index_t(z) * b.plane;
    double ends[2];
    take_x(r[z], load_if<how>(left && right && z < b.n[2], line + p + b.n[0]), !second);
    load_if<how>(below && above && z < b.n[2], at, u + p + b.line, ends);
#pragma unroll
    for (int i = 0; i < 2; ++i) r[z][i] -= A.ahead[1] * ends[i];
  }
}

// Products with the bases of x and y: of each plane's transpose with the first, and of that one's with the second.
__device__ inline void along_x_and_y(const double (&sx)[2], const double (&sy)[2], double (&r)[side][2]) {
#pragma unroll
  for (int z = 0; z < side; ++z) {
    double w[2] = {}, v[2] = {};
    cuda::multiply_add_8x8x4(sx[0], r[z][0], w);
    cuda::multiply_add_8x8x4(sx[1], r[z][1], w);
    cuda::multiply_add_8x8x4(sy[0], w[0], v);
    cuda::multiply_add_8x8x4(sy[1], w[1], v);
    r[z][0] = v[0], r[z][1] = v[1];
  }
}

// The basis of length 8: sqrt(2 / 9) sin((j + 1)(k + 1) pi / 9).
__host__ __device__ constexpr double basis(int j, int k) {
  constexpr double sines[5] = {0, 0.16122984176531682, 0.30301298511469577, 0.40824829046386296, 0.4642428268800126};
  const int turn = (j + 1) * (k + 1) % 18, half = turn > 9 ? 18 - turn : turn;
  return (turn > 9 ? -1 : 1) * sines[half > 4 ? 9 - half : half];
}

// Sums (even) and differences (odd) of what is equally far from both ends are multiplied by half of the basis each.
__device__ inline void along_z(double (&r)[side][2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    double parts[2][side / 2];
#pragma unroll
    for (int k = 0; k < side / 2; ++k) {
      parts[0][k] = r[k][i] + r[side - 1 - k][i];
      parts[1][k] = r[k][i] - r[side - 1 - k][i];
    }
#pragma unroll
    for (int j = 0; j < side; ++j) {
      double sum = 0;
#pragma unroll
      for (int k = 0; k < side / 2; ++k) sum = fma(basis(j, k), parts[j % 2][k], sum);
      r[j][i] = sum;
    }
  }
}
// The same for a length n < 8, whose basis is S.
__device__ inline void along_z(const double *S, int n, double (&r)[side][2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    double sum[side] = {};
#pragma unroll
    for (int k = 0; k < side; ++k) {
      if (k >= n) continue;
#pragma unroll
      for (int j = 0; j < side; ++j) sum[j] = fma(__ldg(S + j * side + k), r[k][i], sum[j]);
    }
#pragma unroll
    for (int j = 0; j < side; ++j) r[j][i] = sum[j];
  }
}

// bases: 8 x 8 values for each length, from 0 on; inverses: for each shape
template <bool in_place, bool zero, bool damped>
__global__ void __launch_bounds__(threads, 4)
    relax(Pass pass, const double *__restrict__ bases, const double *__restrict__ inverses) {
  const int t = blockIdx.x * warps + threadIdx.x / 32;
  if (t >= pass.count) return;
  const DeviceBlock b = pass.blocks[t];
  const LanePlace at(b, threadIdx.x % 32);
  const index_t line = b.first + index_t(at.y) * b.line, first = line + at.x;
  constexpr Read how = in_place ? Read::shared : Read::again;
  double r[side][2], u[side][2];
  cuda::await_previous();
#pragma unroll
  for (int z = 0; z < side; ++z) load_if<Read::once>(z < b.n[2], at, pass.b + first + index_t(z) * b.plane, r[z]);
  if constexpr (!zero) {
    take_neighbours<how>(pass.values.common, b, at, pass.from + line, r);
    if (b.links >= 0) {
      const double *sums = pass.link_sums + index_t(b.links) * pass.most_cells + at.y * b.n[0] + at.x;
#pragma unroll
      for (int z = 0; z < side; ++z) {
        double sum[2];
        load_if<Read::once>(z < b.n[2], at, sums + z * b.n[1] * b.n[0], sum);
        r[z][0] -= sum[0], r[z][1] -= sum[1];
      }
    }
    if constexpr (damped) {
#pragma unroll
      for (int z = 0; z < side; ++z) load_if<how>(z < b.n[2], at, pass.from + first + index_t(z) * b.plane, u[z]);
    }
  }

  const double *Sx = bases + b.n[0] * plane + at.y * side + at.x, *Sy = bases + b.n[1] * plane + at.y * side + at.x;
  const double sx[2] = {__ldg(Sx), __ldg(Sx + LanePlace::apart)}, sy[2] = {__ldg(Sy), __ldg(Sy + LanePlace::apart)};
  along_x_and_y(sx, sy, r);
  b.n[2] == side ? along_z(r) : along_z(bases + b.n[2] * plane, b.n[2], r);
  const double *inverse = inverses + shape_of(b) * cells + at.y * side + at.x;
#pragma unroll
  for (int z = 0; z < side; ++z) {
    r[z][0] *= __ldg(inverse + z * plane);
    r[z][1] *= __ldg(inverse + z * plane + LanePlace::apart);
  }
  b.n[2] == side ? along_z(r) : along_z(bases + b.n[2] * plane, b.n[2], r);
  along_x_and_y(sx, sy, r);

#pragma unroll
  for (int z = 0; z < side; ++z) {
    double *to = pass.to + first + index_t(z) * b.plane;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      double value = r[z][i];
      if constexpr (damped) value *= pass.omega;
      if constexpr (damped && !zero) value = fma(1 - pass.omega, u[z][i], value);
      if (z < b.n[2] && at.inside[i]) to[i * LanePlace::apart] = value;
    }
  }
}

struct Inverses {
  Couplings A;
  const double *cosines; // 8 for each length, from 0 on
  double *to;

  __device__ void operator()(int p) const {
    const int at[3] = {p % side, p / side % side, p / plane % side}, shape = p / cells;
    const int n[3] = {shape % side + 1, shape / side % side + 1, shape / plane + 1};
    double value = A.diagonal;
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      inside &= at[d] < n[d];
      if (inside) value += 2 * A.ahead[d] * cosines[n[d] * side + at[d]];
    }
    to[p] = inside ? 1 / value : 0;
  }
};

} // namespace small_kernels

class SmallTensor {
public:
  static bool takes(const Layout &l) {
    return small_kernels::available() && (l.points == 5 || l.points == 7) &&
           *std::max_element(l.cut.size, l.cut.size + 3) <= small_kernels::side;
  }

  explicit SmallTensor(const Layout &l)
      : most_{l.cut.size[0], l.cut.size[1], l.cut.size[2]},
        inverses_(small_kernels::plane * small_kernels::side * small_kernels::cells) {
    using namespace small_kernels;
    SineBases known;
    std::vector<double> bases(std::size_t(side + 1) * plane), cosines(std::size_t(side + 1) * side);
    for (int n = 1; n <= side; ++n) {
      known.add(n);
      for (int i = 0; i < n; ++i) {
        cosines[n * side + i] = cosine(i, n);
        std::copy_n(known[n] + i * n, n, bases.begin() + n * plane + i * side);
      }
    }
    bases_.assign(bases), cosines_.assign(cosines);
  }

  // False if a block has a direction that is null or negative, of which this knows nothing.
  bool refresh(const Couplings &A, cudaStream_t stream) {
    double least = A.diagonal;
    for (int d = 0; d < 3; ++d) least -= 2 * std::fabs(A.ahead[d]) * cosine(0, most_[d]);
    if (!(least > null_pivot * A.diagonal)) return false;
    cuda::for_rows("inverses of small blocks", int(inverses_.size()),
                   small_kernels::Inverses{A, cosines_.data(), inverses_.data()}, stream);
    return true;
  }

  void relax(const Pass &pass, cudaStream_t stream) const {
    const bool in_place = pass.from == pass.to, damped = pass.omega != 1;
    if (pass.zero)
      damped ? launch<false, true, true>(pass, stream) : launch<false, true, false>(pass, stream);
    else if (in_place)
      damped ? launch<true, false, true>(pass, stream) : launch<true, false, false>(pass, stream);
    else
      damped ? launch<false, false, true>(pass, stream) : launch<false, false, false>(pass, stream);
  }

  double bytes() const { return double(bases_.bytes() + cosines_.bytes() + inverses_.bytes()); }

  // Blocks at a time on the device.
  static int resident() {
    return small_kernels::warps *
           cuda::resident_blocks(small_kernels::relax<true, false, true>, small_kernels::threads);
  }

private:
  template <bool in_place, bool zero, bool damped> void launch(const Pass &pass, cudaStream_t stream) const {
    constexpr auto kernel = small_kernels::relax<in_place, zero, damped>;
    static const bool may_overlap = cuda::may_overlap(kernel);
    const int blocks = (pass.count + small_kernels::warps - 1) / small_kernels::warps;
    cuda::launch("relaxation of small blocks", kernel, may_overlap, dim3(unsigned(blocks)), small_kernels::threads, 0,
                 stream, pass, bases_.data(), inverses_.data());
  }

  const int most_[3]; // cells of a block
  cuda::Buffer<double> bases_, cosines_, inverses_;
};

} // namespace petscrrb::blockrelax
