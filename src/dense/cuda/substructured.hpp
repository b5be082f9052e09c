// The (pseudo-)inverse of a symmetric matrix on a small grid, on a CUDA device: two levels of dense blocks, formed and
// applied by kernels of our own. RRB's last block has one, and deflation's E for boxes.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "dense/cuda/inverse.hpp"
#include "dense/cuda/view.hpp"

namespace petscrrb::dense {

class SubstructuredInverse final : public DeviceInverse {
public:
  enum class Launch {
    automatic, // one cooperative launch for the dense inverse where the device can
    per_phase  // one launch for each phase of it
  };

  // Of n <= 4096 unknowns. Allocates all that is ever needed, on the current device.
  explicit SubstructuredInverse(const Substructure &, Launch launch = Launch::automatic);

  void refresh(const double *a, const double *excess, double null_inverse, cudaStream_t stream) override;
  Status status() const override { return {host_state_.data()->spd != 0, -1, host_state_.data()->null_directions}; }
  // z = the inverse times r, in device memory; z may be r. Three launches at most, which may be captured. Nothing defined where the
  // matrix is not definite.
  void apply(const double *r, double *z, cudaStream_t stream) const;
  double *solve(double *r, double *other, cudaStream_t stream) const override {
    apply(r, other, stream);
    return other;
  }
  const char *description() const override { return "explicit inverse, in two levels of dense blocks"; }
  // for tests of what is done with it
  const View &view() const { return view_; }
  std::size_t bytes() const override {
    return integers_.bytes() + doubles_.bytes() + components_.bytes() + state_.bytes();
  }

private:
  View view_ = {};
  cuda::Buffer<int> integers_;
  cuda::Buffer<double> doubles_;
  cuda::Buffer<Component> components_;
  cuda::Buffer<State> state_;
  cuda::Pinned<State> host_state_;
  std::vector<int> phase_start_; // of the dense inverse
  int resident_ = 0;             // thread blocks of a cooperative launch, 0: one launch a phase
};

} // namespace petscrrb::dense
