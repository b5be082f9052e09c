// Which kernel relaxes blocks of what size; and those that dense inverses or sine bases invert.
#include "pc/blockrelax/cuda/relax.cuh"

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

} // namespace

GeneralRelax::GeneralRelax()
    : most_shared_(cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024), // the compiler needs some, too
      processors_(cuda::attribute(cudaDevAttrMultiProcessorCount)) {}

void GeneralRelax::prepare(int points, const BlockInverses &inverses) {
  constexpr index_t enough_shared = 64 << 10; // bytes of a thread block, so that a multiprocessor has several
  const bool corners = points == 9 || points == 27;
  const index_t tiled = inverses.anew() ? 0 : inverses.tiled_room();
  rooms_ = {};
  few_ = false;
  index_t shared = tiled * index_t(sizeof(double)); // bytes of a group
  if (tiled && shared <= most_shared_) {
    group_ = inverses.extent().cells <= 1024 ? 32 : wide_group;
    rooms_.vector = static_cast<int>(tiled);
    kernel_ = tiled_kernel(corners, group_);
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
  rooms_.work = !factored ? cells : chunk ? chunk_room(chunk) : 0;
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
                                      : factored_kernel(corners, group_, in_global);
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
