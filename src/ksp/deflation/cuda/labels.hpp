// The subdomain of each row, found on a device.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "ksp/deflation/core/deflation.hpp"
#include "ksp/deflation/cuda/found.hpp"

namespace petscrrb::cuda {
class Scratch;
}

namespace petscrrb::deflation {

class Labels;

class DeviceLabels {
public:
  // Counts identity rows and roots; what is found belongs to have_found() then.
  void setup(const Csr &, const Space &, Found *, cuda::Scratch &);
  void have_found(const Found &found) {
    identity_rows_ = found.identity_rows;
    if (phases_) count_ = found.roots;
  }
  // What the host found instead, for rows and ghosts. check() then looks at identity rows only.
  void take(const Labels &);
  // Only launches kernels: they count roots, and say whether identity rows or phases are others than at setup.
  void check(const Csr &, const double *phi, Found *, cudaStream_t) const;
  bool are_others(const Found &found) const { return found.other_labels || (phases_ && found.roots != count_); }

  const int *of_row() const { return of_row_.data(); } // -1: in none
  index_t count() const { return count_; }
  index_t identity_rows() const { return identity_rows_; }
  std::size_t bytes() const {
    const std::size_t pieces = piece_[0].bytes() + piece_[1].bytes() + piece_[2].bytes();
    return of_row_.bytes() + root_.bytes() + diagonal_.bytes() + pieces;
  }

private:
  void find_phases(const Csr &, const double *phi, cudaStream_t) const;

  cuda::Buffer<int> of_row_;
  cuda::Buffer<int> piece_[3];
  cuda::Buffer<int> root_;        // the first row of each row's phase
  cuda::Buffer<double> diagonal_; // by which phases are told, where there is no phi
  int n_[3] = {}, boxes_[3] = {};
  double jump_ = 0;
  bool phases_ = false;
  index_t count_ = 0, identity_rows_ = 0;
};

} // namespace petscrrb::deflation
