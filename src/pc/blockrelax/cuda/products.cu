// Residuals of many blocks as the columns of a matrix, times an inverse, and the update.
#include "pc/blockrelax/cuda/products.hpp"
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace {

using relax_kernels::find_residual, relax_kernels::InOrder, relax_kernels::update;

// A thread block for each column.
template <int points>
__global__ void __launch_bounds__(wide_group) gather(Pass pass, const int *places, int cells, double *columns) {
  pass.deep = Neighbours(points).halo[2] > 0; // known to the compiler
  const DeviceBlock block = pass.blocks[places[blockIdx.x]];
  find_residual<points, InOrder, Group<wide_group>>(pass, block, columns + index_t(blockIdx.x) * cells);
}
__global__ void __launch_bounds__(wide_group) scatter(Pass pass, const int *places, int cells, const double *columns) {
  const DeviceBlock block = pass.blocks[places[blockIdx.x]];
  update<InOrder, Group<wide_group>>(pass, block, columns + index_t(blockIdx.x) * cells);
}

void gather(int points, const Pass &pass, const int *places, int count, int cells, double *columns,
            cudaStream_t stream) {
  const auto kernel = points == 5 ? gather<5> : points == 7 ? gather<7> : points == 9 ? gather<9> : gather<27>;
  kernel<<<unsigned(count), wide_group, 0, stream>>>(pass, places, cells, columns);
  cuda::check_launch("gather");
}

} // namespace

DenseProducts::DenseProducts(const Layout &l, const BlockOrder &order, const std::vector<index_t> &bounds,
                             const BlockInverses &inverses)
    : l_(l) {
  std::vector<int> places;
  std::size_t most = 0;
  for (std::size_t range = 0; range + 1 < bounds.size(); ++range) {
    std::vector<std::vector<int>> of_shape(inverses.shapes().size());
    for (index_t t = bounds[range]; t < bounds[range + 1]; ++t)
      of_shape[inverses.shape_of()[order[t]]].push_back(static_cast<int>(t));
    parts_.emplace_back();
    for (std::size_t s = 0; s < of_shape.size(); ++s) {
      const int *n = inverses.shapes()[s].n, cells = n[0] * n[1] * n[2];
      const int at_once = static_cast<int>(std::max<std::size_t>(1, most_at_once / cells));
      const int all = static_cast<int>(of_shape[s].size());
      for (int first = 0; first < all; first += at_once) {
        const int count = std::min(at_once, all - first);
        parts_.back().push_back({static_cast<int>(s), cells, static_cast<int>(places.size()) + first, count});
        most = std::max(most, std::size_t(cells) * count);
      }
      places.insert(places.end(), of_shape[s].begin(), of_shape[s].end());
    }
  }
  places_.assign(places);
  residuals_.resize(most);
  corrections_.resize(most);
}

void DenseProducts::relax(int range, const Pass &pass, const BlockInverses &inverses, cudaStream_t stream) const {
  constexpr double one = 1, zero = 0;
  for (const Part &part : parts_[range]) {
    const int *places = places_.data() + part.first, n = part.cells;
    gather(l_.points, pass, places, part.count, n, residuals_.data(), stream);
    cuda::check(cublasDgemm(blas_.on(stream), CUBLAS_OP_N, CUBLAS_OP_N, n, part.count, n, &one,
                            inverses.inverse_of_shape(part.shape), n, residuals_.data(), n, &zero, corrections_.data(),
                            n),
                "cublasDgemm");
    scatter<<<unsigned(part.count), wide_group, 0, stream>>>(pass, places, n, corrections_.data());
    cuda::check_launch("scatter");
  }
}

} // namespace petscrrb::blockrelax
