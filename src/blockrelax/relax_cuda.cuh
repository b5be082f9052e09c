// Relaxes blocks of any size on a device, a group of threads each: residual, inverse, update.
#pragma once

#include "inverses_cuda.cuh"

namespace petscrrb::blockrelax {

// What a group has for itself.
struct Rooms {
  int vector, window;        // doubles of shared memory for a block's cells, and for its factorization
  double *vectors, *factors; // of global memory, if a block's cells or its factor have no room: so many a thread block
  index_t vectors_stride, factors_stride;
};

using RelaxKernel = void (*)(Pass, DeviceInverses, Rooms);

constexpr int relax_threads = 128, wide_group = 256;
constexpr int most_threads = 2048; // of a multiprocessor

// Kernels are compiled for groups of 8, 32 and `wide_group` threads; in_global: the cells lie in global memory, wide groups
// only.
RelaxKernel tensor_kernel(int points, int group, bool in_global);
RelaxKernel dense_kernel(int points, int group, bool in_global);
RelaxKernel band_kernel(int points, int group, bool in_global);

// Launches what is right for blocks as they are.
class GeneralRelax {
public:
  GeneralRelax();
  // After inverses have changed. Allocates nothing if they are of the same kind.
  void prepare(int points, const BlockInverses &);
  void operator()(const Pass &, const BlockInverses &, cudaStream_t) const;
  double bytes() const { return static_cast<double>(vectors_.bytes()); }
  // Blocks that the device has at a time, at most.
  index_t resident() const { return index_t(processors_) * most_threads / group_; }

private:
  RelaxKernel kernel_ = nullptr;
  int group_ = 0, groups_ = 0, shared_ = 0; // groups: of a thread block
  bool few_ = false;                        // thread blocks, each with its own global memory
  Rooms rooms_ = {};
  cuda::Buffer<double> vectors_;
  int most_shared_, processors_;
};

namespace relax_kernels {

// The cells of a block that are a thread's.
template <class Group> class Cells {
public:
  __device__ Cells(const DeviceBlock &block)
      : b_(block), d_{Group::size % b_.n[0], Group::size / b_.n[0] % b_.n[1], Group::size / b_.n[0] / b_.n[1]} {
    cell = Group::rank();
    at[0] = cell % b_.n[0], at[1] = cell / b_.n[0] % b_.n[1], at[2] = cell / b_.n[0] / b_.n[1];
  }
  __device__ bool more() const { return at[2] < b_.n[2]; }
  __device__ void next() {
    cell += Group::size;
    for (int d = 0; d < 3; ++d) at[d] += d_[d];
    if (at[0] >= b_.n[0]) at[0] -= b_.n[0], ++at[1];
    if (at[1] >= b_.n[1]) at[1] -= b_.n[1], ++at[2];
  }
  __device__ index_t row() const { return b_.first + index_t(at[2]) * b_.plane + index_t(at[1]) * b_.line + at[0]; }

  int cell, at[3];

private:
  const DeviceBlock &b_;
  const int d_[3];
};

// in_place: others may change what is read, and the first cache would not know
template <bool in_place> __device__ double load(const double *x) { return in_place ? __ldcg(x) : *x; }

// b - A x at a cell, without links.
template <int points, bool constant, bool in_place>
__device__ double residual(const Pass &pass, const DeviceBlock &block, index_t row, const int (&at)[3]) {
  constexpr Neighbours near(points);
  const DeviceValues &A = pass.values;
  const double *const x = pass.from + row;
  bool goes[3][2]; // whether the patch goes on
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    goes[d][0] = at[d] > 0 || block.sides >> 2 * d & 1;
    goes[d][1] = at[d] < block.n[d] - 1 || block.sides >> (2 * d + 1) & 1;
  }
  double sum = pass.b[row] - (constant ? A.diagonal : A.diagonals[row]) * load<in_place>(x);
#pragma unroll
  for (int m = 0; m < near.count; ++m) {
    const Step s = near.step[m];
    const int step[3] = {s.x, s.y, s.z};
    bool ahead = true, back = true;
#pragma unroll
    for (int d = 0; d < 3; ++d)
      if (step[d]) {
        ahead = ahead && goes[d][step[d] > 0];
        back = back && goes[d][step[d] < 0];
      }
    const index_t far = index_t(s.z) * block.plane + index_t(s.y) * block.line + s.x;
    if (ahead) sum -= (constant ? A.ahead[m] : A.aheads[m][row]) * load<in_place>(x + far);
    if (back) sum -= (constant ? A.ahead[m] : A.aheads[m][row - far]) * load<in_place>(x - far);
  }
  return sum;
}

template <int points, bool constant, bool in_place, class Group>
__device__ void residual_of_block(const Pass &pass, const DeviceBlock &block, double *r) {
  const double *const sums = block.links < 0 ? nullptr : pass.link_sums + index_t(block.links) * pass.most_cells;
  for (Cells<Group> c(block); c.more(); c.next()) {
    const double value = residual<points, constant, in_place>(pass, block, c.row(), c.at);
    r[c.cell] = sums ? value - sums[c.cell] : value;
  }
}

template <int points, class Group>
__device__ void find_residual(const Pass &pass, const DeviceBlock &block, double *r) {
  if (pass.zero)
    for (Cells<Group> c(block); c.more(); c.next()) r[c.cell] = pass.b[c.row()];
  else if (pass.values.constant)
    pass.from == pass.to ? residual_of_block<points, true, true, Group>(pass, block, r)
                         : residual_of_block<points, true, false, Group>(pass, block, r);
  else
    pass.from == pass.to ? residual_of_block<points, false, true, Group>(pass, block, r)
                         : residual_of_block<points, false, false, Group>(pass, block, r);
}

template <class Group> __device__ void update(const Pass &pass, const DeviceBlock &block, const double *now) {
  const bool in_place = pass.from == pass.to;
  for (Cells<Group> c(block); c.more(); c.next()) {
    const index_t row = c.row();
    const double old = pass.zero ? 0 : in_place ? __ldcg(pass.from + row) : pass.from[row];
    pass.to[row] = old + pass.omega * now[c.cell];
  }
}

// Solve::apply(group, inverses, block, kind, r, work): where the result lies, r or work; all threads have met after it.
template <int points, class Solve, class Group, bool in_global>
__global__ void __launch_bounds__(Group::whole ? Group::size : relax_threads)
    relax(Pass pass, DeviceInverses all, Rooms rooms) {
  extern __shared__ double memory[];
  const Group g;
  const int groups = int(blockDim.x) / Group::size;
  double *const mine = memory + g.number() * (in_global ? 0 : Solve::vectors * rooms.vector);
  double *const r = in_global ? rooms.vectors + blockIdx.x * rooms.vectors_stride : mine, *const work =
                                                                                              r + rooms.vector;
  double *const window = rooms.window ? memory + (in_global ? 0 : Solve::vectors * rooms.vector) : nullptr;
  for (int t = int(blockIdx.x) * groups + g.number(); t < pass.count; t += int(gridDim.x) * groups) {
    const DeviceBlock block = pass.blocks[t];
    const DeviceKind kind = all.kinds[all.kind_of[block.number]];
    find_residual<points, Group>(pass, block, r);
    g.sync();
    const double *now = r;
    if (kind.at >= 0)
      now = Solve::apply(g, all, block, kind, r, work);
    else if constexpr (Group::whole) {
      double *const a = rooms.factors + blockIdx.x * rooms.factors_stride;
      (void)factor_block(g, all, block, kind.width, a, window);
      solve(g, DeviceBand{block.n[0] * block.n[1] * block.n[2], kind.width}, a, r);
    }
    update<Group>(pass, block, now);
    g.sync();
  }
}

template <int points, class Solve> RelaxKernel kernel_for(int group, bool in_global) {
  if (group == 8) return relax<points, Solve, Group<8>, false>;
  if (group == 32) return relax<points, Solve, Group<32>, false>;
  return in_global ? relax<points, Solve, Group<wide_group>, true> : relax<points, Solve, Group<wide_group>, false>;
}
template <class Solve> RelaxKernel kernel_for(int points, int group, bool in_global) {
  switch (points) {
  case 5: return kernel_for<5, Solve>(group, in_global);
  case 7: return kernel_for<7, Solve>(group, in_global);
  case 9: return kernel_for<9, Solve>(group, in_global);
  default: return kernel_for<27, Solve>(group, in_global);
  }
}

} // namespace relax_kernels
} // namespace petscrrb::blockrelax
