// Relaxes blocks of any size on a device, a group of threads each: residual, inverse, update.
#pragma once

#include "pc/blockrelax/cuda/inverses.cuh"

namespace petscrrb::blockrelax {

// What a group has for itself.
struct Rooms {
  int vector, work, window;  // doubles of shared memory for a block's cells, for its solver, and for its factorization
  double *vectors, *factors; // of global memory, if a block's cells or its factor have no room: so many a thread block
  index_t vectors_stride, factors_stride;
};

using RelaxKernel = void (*)(Pass, DeviceInverses, Rooms);

constexpr int relax_threads = 128, wide_group = 256;
constexpr int most_threads = 2048; // of a multiprocessor

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
  index_t prepare_untiled(bool corners, const BlockInverses &);
  void allow_shared() const;

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
  __device__ Cells(const DeviceBlock &block) : Cells(block, Place<int>(Group::rank(), block.n)) {}
  __device__ bool more() const { return at[2] < b_.n[2]; }
  __device__ void next() {
    cell += Group::size;
    at[0] += next_.x, at[1] += next_.y, at[2] += next_.z;
    if (at[0] >= b_.n[0]) at[0] -= b_.n[0], ++at[1];
    if (at[1] >= b_.n[1]) at[1] -= b_.n[1], ++at[2];
  }
  __device__ index_t row() const { return b_.row(at[0], at[1], at[2]); }

  int cell, at[3];

private:
  __device__ Cells(const DeviceBlock &block, const Place<int> &first)
      : cell(Group::rank()), at{first.x, first.y, first.z}, b_(block), next_(Group::size, block.n) {}

  const DeviceBlock &b_;
  const Place<int> next_; // from a cell of the thread's to its next one
};

// in_place: others may change what is read, and the first cache would not know
template <bool in_place> __device__ double load(const double *x) { return in_place ? __ldcg(x) : *x; }

// b - A x at a cell, without links. points: or those of the same stencil in 2D
template <int points, bool constant, bool in_place>
__device__ double residual(const Pass &pass, const DeviceBlock &block, index_t row, const int (&at)[3]) {
  constexpr Neighbours near(points);
  constexpr int in_plane = points == 5 || points == 7 ? 2 : 4; // the first of them, all there are in 2D
  const DeviceValues &A = pass.values;
  const double *const x = pass.from + row;
  bool goes[3][2]; // whether the patch goes on
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    goes[d][0] = at[d] > 0 || block.goes_on(d, false);
    goes[d][1] = at[d] < block.n[d] - 1 || block.goes_on(d, true);
  }
  double sum = pass.b[row] - (constant ? A.common.diagonal : A.diagonals[row]) * load<in_place>(x);
  const auto subtract = [&](int m) {
    const Step s = near.step[m];
    const int step[3] = {s.x, s.y, s.z};
    bool ahead = true, back = true;
#pragma unroll
    for (int d = 0; d < 3; ++d)
      if (step[d]) {
        ahead = ahead && goes[d][step[d] > 0];
        back = back && goes[d][step[d] < 0];
      }
    const index_t far = block.far(s);
    if (ahead) sum -= (constant ? A.common.ahead[m] : A.aheads[m][row]) * load<in_place>(x + far);
    if (back) sum -= (constant ? A.common.ahead[m] : A.aheads[m][row - far]) * load<in_place>(x - far);
  };
#pragma unroll
  for (int m = 0; m < in_plane; ++m) subtract(m);
  if constexpr (near.count > in_plane)
    if (pass.deep) {
#pragma unroll
      for (int m = in_plane; m < near.count; ++m) subtract(m);
    }
  return sum;
}

template <int points, bool constant, bool in_place, class Solve, class Group>
__device__ void residual_of_block(const Pass &pass, const DeviceBlock &block, double *r) {
  const double *const sums = block.links < 0 ? nullptr : pass.link_sums + index_t(block.links) * pass.most_cells;
  for (Cells<Group> c(block); c.more(); c.next()) {
    const double value = residual<points, constant, in_place>(pass, block, c.row(), c.at);
    r[Solve::place(block, c)] = sums ? value - sums[c.cell] : value;
  }
}

template <int points, class Solve, class Group>
__device__ void find_residual(const Pass &pass, const DeviceBlock &block, double *r) {
  if (pass.zero)
    for (Cells<Group> c(block); c.more(); c.next()) r[Solve::place(block, c)] = pass.b[c.row()];
  else if (pass.values.constant)
    pass.from == pass.to ? residual_of_block<points, true, true, Solve, Group>(pass, block, r)
                         : residual_of_block<points, true, false, Solve, Group>(pass, block, r);
  else
    pass.from == pass.to ? residual_of_block<points, false, true, Solve, Group>(pass, block, r)
                         : residual_of_block<points, false, false, Solve, Group>(pass, block, r);
}

template <class Solve, class Group>
__device__ void update(const Pass &pass, const DeviceBlock &block, const double *now) {
  const bool in_place = pass.from == pass.to;
  for (Cells<Group> c(block); c.more(); c.next()) {
    const index_t row = c.row();
    const double old = pass.zero ? 0 : in_place ? __ldcg(pass.from + row) : pass.from[row];
    pass.to[row] = old + pass.omega * now[Solve::place(block, c)];
  }
}

// Values in the order of cells; for groups of any size, and where inverses are made anew.
struct InOrder {
  static constexpr int smallest = 8; // of groups
  static constexpr bool anywhere = true;

  template <class Cells> __device__ static int place(const DeviceBlock &, const Cells &c) { return c.cell; }
};

// A block whose inverse had no place.
template <class Group>
__device__ __noinline__ void solve_anew(const Group &g, const DeviceInverses &all, const DeviceBlock &block, int width,
                                        double *factor, double *window, double *r) {
  (void)factor_block(g, all, block, width, factor, window);
  solve(g, DeviceBand{block.cells(), width}, factor, r);
}

// Solve::place(block, cells): where a cell's value is. Solve::apply(group, inverses, block, kind, r, work): where the result
// lies, r or work; all threads have met after it. Solve::smallest: of the groups that it is for; Solve::anywhere: it is for
// blocks in global memory, too, and for such whose inverse had no place.
template <int points, class Solve, class Group, bool in_global>
__global__ void __launch_bounds__(Group::whole ? Group::size : relax_threads)
    relax(Pass pass, const __grid_constant__ DeviceInverses all, Rooms rooms) {
  extern __shared__ double memory[];
  const Group g;
  const int groups = int(blockDim.x) / Group::size;
  const int room = in_global ? 0 : rooms.vector + rooms.work;
  double *const r = in_global ? rooms.vectors + blockIdx.x * rooms.vectors_stride : memory + g.number() * room;
  double *const work = r + rooms.vector, *const window = rooms.window ? memory + room : nullptr;
  for (int t = int(blockIdx.x) * groups + g.number(); t < pass.count; t += int(gridDim.x) * groups) {
    const DeviceBlock block = pass.blocks[t];
    const DeviceKind kind = all.kinds[all.kind_of[block.number]];
    find_residual<points, Solve, Group>(pass, block, r);
    g.sync();
    const double *now = r;
    if (kind.at >= 0)
      now = Solve::apply(g, all, block, kind, r, work);
    else if constexpr (Group::whole && Solve::anywhere)
      solve_anew(g, all, block, kind.width, rooms.factors + blockIdx.x * rooms.factors_stride, window, r);
    update<Solve, Group>(pass, block, now);
    g.sync();
  }
}

// Kernels are compiled for groups of some sizes up to `wide_group` threads, and for cells that lie in global memory (in_global,
// wide groups only).
template <int points, class Solve> RelaxKernel kernel_for(int group, bool in_global) {
  if constexpr (Solve::smallest <= 8)
    if (group == 8) return relax<points, Solve, Group<8>, false>;
  if (group == 32) return relax<points, Solve, Group<32>, false>;
  if constexpr (Solve::anywhere)
    if (in_global) return relax<points, Solve, Group<wide_group>, true>;
  return relax<points, Solve, Group<wide_group>, false>;
}
// corners: of a matrix with 9 or 27 points
template <class Solve> RelaxKernel kernel_for(bool corners, int group, bool in_global = false) {
  return corners ? kernel_for<27, Solve>(group, in_global) : kernel_for<7, Solve>(group, in_global);
}

} // namespace relax_kernels
} // namespace petscrrb::blockrelax
