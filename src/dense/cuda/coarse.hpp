// Solves with a coarse matrix, symmetric and on a small grid, on a CUDA device: its (pseudo-)inverse in two levels of
// dense blocks, formed and applied by kernels of our own. RRB's last block is one, and deflation's E for boxes.
#pragma once

#include "exec/cuda/cuda.hpp"
#include "dense/cuda/view.hpp"

namespace petscrrb::coarse {

class DeviceCoarse {
public:
  enum class Launch {
    automatic, // one cooperative launch for the dense inverse where the device can
    per_phase  // one launch for each phase of it
  };

  // The pattern (sorted columns, symmetric, diagonal present) of n <= 4096 unknowns, and where each stands on the grid.
  // Allocates all that is ever needed, on the current device.
  DeviceCoarse(int n, const int *ia, const int *ja, const int *x, const int *y, const GridShape &shape,
               Launch launch = Launch::automatic);

  // New values, in device memory: a in the order of ja, and the row sums. Only launches kernels.
  void refresh(const double *a, const double *excess, cudaStream_t stream);
  // z = S^+ r, in device memory; z may be r. Three launches at most, which may be captured. Nothing defined where the
  // status is not spd.
  void apply(const double *r, double *z, cudaStream_t stream) const;

  // in device memory, of the last refresh
  const CoarseStatus *device_status() const { return &view_.state->status; }
  // for kernels that contain an application: see apply.cuh
  const View &view() const { return view_; }
  int size() const { return view_.n; }
  std::size_t bytes() const { return integers_.bytes() + doubles_.bytes() + components_.bytes() + state_.bytes(); }

private:
  void choose_launches(Launch launch);

  View view_ = {};
  cuda::Buffer<int> integers_;
  cuda::Buffer<double> doubles_;
  cuda::Buffer<Component> components_;
  cuda::Buffer<State> state_;
  std::vector<int> phase_start_; // of the dense inverse
  int resident_ = 0;             // thread blocks of a cooperative launch, 0: one launch a phase
};

} // namespace petscrrb::coarse
