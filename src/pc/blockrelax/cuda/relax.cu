// How blocks are solved with, by what there is of their inverses; and which kernel relaxes blocks of what size.
#include "pc/blockrelax/cuda/relax.cuh"

#include "exec/cuda/fp64.cuh"

#include <algorithm>

namespace petscrrb::blockrelax {
namespace {

struct Dense : relax_kernels::InOrder {
  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    const int cells = block.cells();
    const double *const inverse = all.inverse + kind.at; // symmetric
    for (int i = g.rank(); i < cells; i += Group::size) {
      double sum = 0;
#pragma unroll 8
      for (int k = 0; k < cells; ++k) sum += inverse[index_t(k) * cells + i] * r[k];
      work[i] = sum;
    }
    g.sync();
    return work;
  }
};

struct Tensor : relax_kernels::InOrder {
  // out = S in along a side of n cells that are `apart`
  template <class Group>
  __device__ static void transform(const Group &g, const double *__restrict__ S, int n, int apart, int cells,
                                   const double *in, double *out) {
    for (int cell = g.rank(); cell < cells; cell += Group::size) {
      const int j = cell / apart % n;
      const double *from = in + cell - j * apart;
      double sum = 0;
#pragma unroll 4
      for (int k = 0; k < n; ++k) sum += __ldg(S + k * n + j) * from[k * apart];
      out[cell] = sum;
    }
    g.sync();
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    const int apart[3] = {1, block.n[0], block.n[0] * block.n[1]}, cells = apart[2] * block.n[2];
    double *from = r, *to = work;
    const auto along = [&](int d) {
      if (block.n[d] == 1) return; // a basis of length 1 is 1
      transform(g, all.bases + kind.basis[d], block.n[d], apart[d], cells, from, to);
      double *const free = from;
      from = to, to = free;
    };
    for (int d = 0; d < 3; ++d) along(d);
    const double *const inverse = all.inverse + kind.at;
    for (int i = g.rank(); i < cells; i += Group::size) from[i] *= inverse[i];
    g.sync();
    for (int d = 3; d-- > 0;) along(d);
    return from;
  }
};

// Values of a block, their lines and planes so far apart that the threads of a warp, of which four along each of two sides
// read at a time, meet in no bank of shared memory.
struct Apart {
  int line, plane;

  __host__ __device__ explicit Apart(const int n[3]) : line(padded(n[0])), plane(padded(n[1] * line)) {}
  __host__ __device__ static int padded(int n) { return (n + 3) / 8 * 8 + 4; }
};

// Sine bases on tensor cores.
struct Tiled {
  static constexpr int smallest = 32; // a warp has whole products
  static constexpr bool anywhere = false;

  // What a block takes of shared memory, in doubles; 0: they are of no use.
  static index_t room(const BlockInverses &inverses) {
    int most = 0;
    if (inverses.method() != Method::tensor || inverses.anew() || inverses.extent().cells < 64 ||
        cuda::attribute(cudaDevAttrComputeCapabilityMajor) < 8)
      return 0;
    for (const BlockInverses::Shape &shape : inverses.shapes()) {
      const int *n = shape.n;
      if (std::max({n[0], n[1], n[2]}) > BlockInverses::longest_tiled) return 0;
      most = std::max(most, Apart(n).plane * n[2]);
    }
    return most;
  }

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

// Factors, banded ones or, by wide groups, in chunks.
struct Factored : relax_kernels::InOrder {
  // 16 values of the next inverse pivot on their way are as many as registers allow.
  template <int slots, class Group>
  __device__ static void solve_chunks(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                      const DeviceKind &kind, double *r, double *work) {
    constexpr int early = slots == 1 ? 4 : 16 / slots;
    ChunkSolve<slots, early, Group> solve(g, Chunks{block.cells(), kind.width}, all.inverse + kind.at, work);
    solve(BlockMatrix{block, all.near, all.values}, r);
  }

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *work) {
    if (!Group::whole || !kind.chunked)
      solve(g, DeviceBand{block.cells(), kind.width}, all.inverse + kind.at, r);
    else if constexpr (Group::whole) {
      if (kind.width <= 32)
        solve_chunks<1>(g, all, block, kind, r, work);
      else if (kind.width <= 64)
        solve_chunks<2>(g, all, block, kind, r, work);
      else
        solve_chunks<4>(g, all, block, kind, r, work);
    }
    return r;
  }
};

} // namespace

GeneralRelax::GeneralRelax()
    : most_shared_(cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024), // the compiler needs some, too
      processors_(cuda::attribute(cudaDevAttrMultiProcessorCount)) {}

void GeneralRelax::prepare(int points, const BlockInverses &inverses) {
  constexpr index_t enough_shared = 64 << 10; // bytes of a thread block, so that a multiprocessor has several
  const bool corners = points == 9 || points == 27;
  const index_t tiled = Tiled::room(inverses);
  rooms_ = {};
  few_ = false;
  index_t shared = tiled * index_t(sizeof(double)); // bytes of a group
  if (tiled && shared <= most_shared_) {
    group_ = inverses.extent().cells <= 1024 ? 32 : wide_group;
    rooms_.vector = static_cast<int>(tiled);
    kernel_ = relax_kernels::kernel_for<Tiled>(corners, group_);
  } else
    shared = prepare_untiled(corners, inverses);
  groups_ = group_ == wide_group
                ? 1
                : static_cast<int>(std::clamp<index_t>(enough_shared / shared, 32 / group_, relax_threads / group_));
  shared_ = static_cast<int>(groups_ * shared);
  allow_shared();
}

// Returns the bytes of shared memory of a group.
index_t GeneralRelax::prepare_untiled(bool corners, const BlockInverses &inverses) {
  const Method method = inverses.method();
  const Extent &e = inverses.extent();
  const int cells = static_cast<int>(e.cells), chunk = inverses.chunk();
  const bool factored = method == Method::factored, anew = inverses.anew() > 0;
  // more cells, or a wider band, are the work of more than a warp; a thin band has no work for one
  const int most_cells = factored ? 1024 : method == Method::tensor ? 128 : 64, most_width = 96, thin = 8;
  const bool wide = anew || chunk || cells > most_cells || (factored && e.width > most_width);
  group_ = wide ? wide_group : cells <= 16 || (factored && e.width <= thin) ? 8 : 32;
  rooms_.vector = cells;
  rooms_.work = !factored ? cells : chunk ? ChunkSolve<1, 1, Group<wide_group>>::room(chunk) : 0;
  rooms_.vectors_stride = index_t(cells) + rooms_.work;
  index_t shared = rooms_.vectors_stride * index_t(sizeof(double));
  const bool in_global = shared > most_shared_;
  if (in_global) {
    cuda::at_least(vectors_, static_cast<std::size_t>(processors_ * rooms_.vectors_stride));
    rooms_.vectors = vectors_.data();
    shared = 0;
  }
  if (anew) {
    const index_t window = DeviceBand{cells, e.width}.window(), bytes = window * index_t(sizeof(double));
    if (shared + bytes <= most_shared_) {
      rooms_.window = static_cast<int>(window);
      shared += bytes;
    }
    rooms_.factors = inverses.scratch();
    rooms_.factors_stride = inverses.anew();
  }
  few_ = anew || in_global;
  kernel_ = method == Method::tensor  ? relax_kernels::kernel_for<Tensor>(corners, group_, in_global)
            : method == Method::dense ? relax_kernels::kernel_for<Dense>(corners, group_, in_global)
                                      : relax_kernels::kernel_for<Factored>(corners, group_, in_global);
  return shared;
}

// As much as there is: others may launch the same kernel with more, or with less.
void GeneralRelax::allow_shared() const {
  cudaFuncAttributes needs;
  cuda::check(cudaFuncGetAttributes(&needs, kernel_), "cudaFuncGetAttributes");
  const int most = cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - static_cast<int>(needs.sharedSizeBytes);
  cuda::allow_shared(kernel_, most);
}

void GeneralRelax::operator()(const Pass &pass, const BlockInverses &inverses, cudaStream_t stream) const {
  if (pass.count == 0) return;
  const int needed = (pass.count - 1) / groups_ + 1, blocks = few_ ? std::min(needed, processors_) : needed;
  kernel_<<<unsigned(blocks), unsigned(groups_ * group_), unsigned(shared_), stream>>>(pass, inverses.view(), rooms_);
  cuda::check_launch("relax");
}

} // namespace petscrrb::blockrelax
