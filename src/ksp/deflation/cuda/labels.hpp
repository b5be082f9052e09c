// The subdomain of each row of a matrix on a device, and whether the matrix may be deflated at all. On several ranks the host finds
// subdomains, in a copy of the rows.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "ksp/deflation/core/labels.hpp"

#include <memory>

namespace petscrrb::cuda {
class Scratch;
}

namespace petscrrb::deflation {

// What kernels of a setup or a refresh find out, all 0 before.
struct Found {
  int not_finite, asymmetric; // rows from the last to the first such one; 0: none
  int identity_rows;
  int roots;         // connected phases
  int other_labels;  // than at setup
  int other_entries; // of AZ that are not zero
  int rows, entries; // of AZ
};

class DeviceLabels {
public:
  // Returns the reason where the matrix is refused. Counts identity rows and roots; what is found belongs to have_found()
  // then. Collective.
  std::string setup(const Csr &, const Space &, Found *, cuda::Scratch &);
  void have_found(const Found &found) {
    if (!space_.ranks->alone()) return;
    identity_rows_ = found.identity_rows;
    if (phases_) count_ = found.roots;
  }
  // New values: whether the host finds others, where it finds them again. Returns the reason where they are refused.
  // Collective.
  std::string find_again(const Csr &, const double *phi, bool *others, cudaStream_t);
  // Only launches kernels: they count roots, and say whether identity rows or phases are others than at setup.
  void check(const Csr &, const double *phi, Found *, cudaStream_t) const;
  bool are_others(const Found &found) const { return found.other_labels || (phases_ && found.roots != count_); }

  const int *of_row() const { return of_row_.data(); } // -1: in none
  index_t count() const { return count_; }
  index_t identity_rows() const { return identity_rows_; }
  std::size_t bytes() const {
    const std::size_t pieces = piece_[0].bytes() + piece_[1].bytes() + piece_[2].bytes();
    const std::size_t on_host = on_host_ ? on_host_->bytes() + again_.bytes() : 0;
    return of_row_.bytes() + root_.bytes() + diagonal_.bytes() + pieces + on_host;
  }

private:
  void setup_here(const Csr &, const Space &, Found *, cuda::Scratch &);
  std::string setup_on_host(const Csr &, const Space &, cudaStream_t);
  void find_phases(const Csr &, const double *phi, cudaStream_t) const;

  Space space_; // but for phi
  cuda::Buffer<int> of_row_;
  cuda::Buffer<int> piece_[3];
  cuda::Buffer<int> root_;        // the first row of each row's phase
  cuda::Buffer<double> diagonal_; // by which phases are told, where there is no phi
  bool phases_ = false;           // found here
  index_t count_ = 0, identity_rows_ = 0;
  std::unique_ptr<Labels> on_host_; // kept for phases: whether a row is an identity row is seen on the device
  Labels again_;
};

// Whether a matrix is finite and symmetric. Only launches kernels. Couplings of identity rows, whose label is -1, count for
// nothing.
void check_values(const Csr &, const int *label, Found *, cudaStream_t);
// Why it is refused; empty: it is not. Ranks find it together.
std::string why_refused(PetscInt rows, const Found &, const Ranks &);

} // namespace petscrrb::deflation
