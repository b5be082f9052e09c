// Blocks that share a dense inverse: all of a shape in one product of matrices, by cuBLAS and so on tensor cores.
#pragma once

#include "exec/cuda/cublas.hpp"
#include "pc/blockrelax/cuda/relax.cuh"

namespace petscrrb::blockrelax {
namespace product_kernels {

using relax_kernels::find_residual, relax_kernels::InOrder, relax_kernels::update;

// Residuals of blocks as the columns of a matrix, a thread block for each; and the update.
template <int points>
__global__ void __launch_bounds__(wide_group) gather(Pass pass, const int *places, int cells, double *columns) {
  pass.deep = Neighbours(points).halo[2] > 0; // known to the compiler
  const DeviceBlock block = pass.blocks[places[blockIdx.x]];
  find_residual<points, InOrder, Group<wide_group>>(pass, block, columns + index_t(blockIdx.x) * cells);
}
inline __global__ void __launch_bounds__(wide_group)
    scatter(Pass pass, const int *places, int cells, const double *columns) {
  const DeviceBlock block = pass.blocks[places[blockIdx.x]];
  update<InOrder, Group<wide_group>>(pass, block, columns + index_t(blockIdx.x) * cells);
}

} // namespace product_kernels

class DenseProducts {
public:
  DenseProducts(const Layout &l, const BlockOrder &order, const BlockInverses &inverses)
      : gather_(l.points == 5   ? product_kernels::gather<5>
                : l.points == 7 ? product_kernels::gather<7>
                : l.points == 9 ? product_kernels::gather<9>
                                : product_kernels::gather<27>),
        parts_(order.colours()) {
    std::vector<int> places;
    std::size_t most = 0;
    for (int colour = 0; colour < order.colours(); ++colour) {
      std::vector<std::vector<int>> of_shape(inverses.shapes().size());
      for (index_t t = order.first(colour); t < order.first(colour + 1); ++t)
        of_shape[inverses.shape_of()[order[t]]].push_back(static_cast<int>(t));
      for (std::size_t s = 0; s < of_shape.size(); ++s) {
        const int cells = inverses.shapes()[s].cells(), all = static_cast<int>(of_shape[s].size());
        const int at_once = static_cast<int>(std::max<std::size_t>(1, most_at_once / cells));
        for (int first = 0; first < all; first += at_once) {
          const int count = std::min(at_once, all - first);
          parts_[colour].push_back({static_cast<int>(s), cells, static_cast<int>(places.size()) + first, count});
          most = std::max(most, std::size_t(cells) * count);
        }
        places.insert(places.end(), of_shape[s].begin(), of_shape[s].end());
      }
    }
    places_.assign(places);
    residuals_.resize(most);
    corrections_.resize(most);
  }

  static bool takes(const DeviceMatrix &A, const BlockInverses &inverses) {
    return A.constant() && inverses.method() == Method::dense && inverses.anew() == 0;
  }

  // The blocks of a colour, which are not coupled unless the sweep is Jacobi's. pass.blocks: all blocks
  void relax(int colour, const Pass &pass, const BlockInverses &inverses, cudaStream_t stream) const {
    constexpr double one = 1, zero = 0;
    for (const Part &part : parts_[colour]) {
      const int *places = places_.data() + part.first, n = part.cells;
      gather_<<<unsigned(part.count), wide_group, 0, stream>>>(pass, places, n, residuals_.data());
      cuda::check_launch("gather");
      cuda::check(cublasDgemm(blas_.on(stream), CUBLAS_OP_N, CUBLAS_OP_N, n, part.count, n, &one,
                              inverses.inverse_of_shape(part.shape), n, residuals_.data(), n, &zero,
                              corrections_.data(), n),
                  "cublasDgemm");
      product_kernels::scatter<<<unsigned(part.count), wide_group, 0, stream>>>(pass, places, n, corrections_.data());
      cuda::check_launch("scatter");
    }
  }
  double bytes() const { return static_cast<double>(places_.bytes() + residuals_.bytes() + corrections_.bytes()); }

private:
  struct Part {
    int shape, cells, first, count; // of a colour; places
  };
  static constexpr std::size_t most_at_once = std::size_t(1)
                                              << 21; // cells: residuals and corrections stay in the cache

  void (*const gather_)(Pass, const int *, int, double *);
  cuda::Blas blas_;
  std::vector<std::vector<Part>> parts_; // of each colour
  cuda::Buffer<int> places_;             // of blocks in their order, by colour and shape
  cuda::Buffer<double> residuals_, corrections_;
};

} // namespace petscrrb::blockrelax
