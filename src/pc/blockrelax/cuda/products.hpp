// Blocks that share a dense inverse: all of a shape in one product of matrices, by cuBLAS and so on tensor cores.
#pragma once

#include "exec/cuda/cublas.hpp"
#include "pc/blockrelax/cuda/inverses.cuh"

namespace petscrrb::blockrelax {

class DenseProducts {
public:
  // bounds: of the ranges of blocks
  DenseProducts(const Layout &, const BlockOrder &, const std::vector<index_t> &bounds, const BlockInverses &);

  static bool takes(const DeviceMatrix &A, const BlockInverses &inverses) {
    return A.constant() && inverses.method() == Method::dense && inverses.anew() == 0;
  }

  // The blocks of a range, which are not coupled unless the sweep is Jacobi's. pass.blocks: all blocks
  void relax(int range, const Pass &pass, const BlockInverses &, cudaStream_t) const;
  double bytes() const { return static_cast<double>(places_.bytes() + residuals_.bytes() + corrections_.bytes()); }

private:
  struct Part {
    int shape, cells, first, count; // of a range; places
  };
  static constexpr std::size_t most_at_once = std::size_t(1)
                                              << 21; // cells: residuals and corrections stay in the cache

  const Layout &l_;
  cuda::Blas blas_;
  std::vector<std::vector<Part>> parts_; // of each range
  cuda::Buffer<int> places_;             // of blocks in their order, by range and shape
  cuda::Buffer<double> residuals_, corrections_;
};

} // namespace petscrrb::blockrelax
