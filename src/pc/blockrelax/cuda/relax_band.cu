// Blocks with banded factors, and which kernel is launched for blocks of what size.
#include "pc/blockrelax/cuda/relax.cuh"

#include <algorithm>

namespace petscrrb::blockrelax {
namespace {

struct BandFactors : relax_kernels::InOrder {
  static constexpr bool anew = true;

  template <class Group>
  __device__ static double *apply(const Group &g, const DeviceInverses &all, const DeviceBlock &block,
                                  const DeviceKind &kind, double *r, double *) {
    solve(g, DeviceBand{block.n[0] * block.n[1] * block.n[2], kind.width}, all.inverse + kind.at, r);
    return r;
  }
};

} // namespace

RelaxKernel band_kernel(int points, int group, bool in_global) {
  return relax_kernels::kernel_for<BandFactors>(points, group, in_global);
}

GeneralRelax::GeneralRelax()
    : most_shared_(cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024), // the compiler needs some, too
      processors_(cuda::attribute(cudaDevAttrMultiProcessorCount)) {}

void GeneralRelax::prepare(int points, const BlockInverses &inverses) {
  const Method method = inverses.method();
  const Extent &e = inverses.extent();
  const int cells = static_cast<int>(e.cells), chunk = inverses.chunk();
  const int work = method != Method::factored ? cells : chunk ? chunk_room(chunk) : 0;
  const bool anew = inverses.anew() > 0;
  const index_t bytes = (index_t(cells) + work) * index_t(sizeof(double));
  const int narrow = method == Method::factored ? 1024 : method == Method::tensor ? 128 : 64; // cells
  const bool wide = anew || chunk || cells > narrow || (method == Method::factored && e.width > 96);
  const bool thin = method == Method::factored && e.width <= 8; // few threads have work
  group_ = wide ? wide_group : cells <= 16 || thin ? 8 : 32;
  const bool in_global = bytes > most_shared_;
  const int tiled = anew ? 0 : inverses.tiled_room();
  if (tiled && tiled * index_t(sizeof(double)) <= most_shared_) return prepare_tiled(points, cells, tiled);
  rooms_ = {};
  rooms_.vector = cells, rooms_.work = work;
  index_t shared = in_global ? 0 : bytes;
  if (anew && e.width < 1024) {
    const index_t window = DeviceBand{cells, e.width}.window();
    if (shared + window * index_t(sizeof(double)) <= most_shared_) {
      rooms_.window = static_cast<int>(window);
      shared += window * index_t(sizeof(double));
    }
  }
  if (in_global) {
    rooms_.vectors_stride = index_t(cells) + work;
    const std::size_t needed = static_cast<std::size_t>(processors_ * rooms_.vectors_stride);
    if (vectors_.size() < needed) vectors_.resize(needed);
    rooms_.vectors = vectors_.data();
  }
  rooms_.factors = inverses.scratch();
  rooms_.factors_stride = inverses.anew();
  few_ = anew || in_global;
  groups_ = wide ? 1 : static_cast<int>(std::clamp<index_t>((64 << 10) / shared, 32 / group_, relax_threads / group_));
  shared_ = static_cast<int>(groups_ * shared);
  kernel_ = method == Method::tensor  ? tensor_kernel(points, group_, in_global)
            : method == Method::dense ? dense_kernel(points, group_, in_global)
            : chunk                   ? chunk_kernel(points, in_global)
                                      : band_kernel(points, group_, in_global);
  allow_shared();
}

void GeneralRelax::prepare_tiled(int points, int cells, int room) {
  rooms_ = {};
  rooms_.vector = room;
  few_ = false;
  group_ = cells <= 1024 ? 32 : wide_group;
  const int bytes = room * int(sizeof(double));
  groups_ = group_ == wide_group ? 1 : std::clamp((64 << 10) / bytes, 1, relax_threads / group_);
  shared_ = groups_ * bytes;
  kernel_ = tiled_kernel(points, group_);
  allow_shared();
}

// As much as there is: others may launch the same kernel with more, or with less.
void GeneralRelax::allow_shared() const {
  cudaFuncAttributes needs;
  cuda::check(cudaFuncGetAttributes(&needs, kernel_), "cudaFuncGetAttributes");
  const int most = cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - static_cast<int>(needs.sharedSizeBytes);
  cuda::check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "cudaFuncSetAttribute");
}

void GeneralRelax::operator()(const Pass &pass, const BlockInverses &inverses, cudaStream_t stream) const {
  if (pass.count == 0) return;
  const int needed = (pass.count - 1) / groups_ + 1, blocks = few_ ? std::min(needed, processors_) : needed;
  kernel_<<<unsigned(blocks), unsigned(groups_ * group_), unsigned(shared_), stream>>>(pass, inverses.view(), rooms_);
  cuda::check_launch("relax");
}

} // namespace petscrrb::blockrelax
