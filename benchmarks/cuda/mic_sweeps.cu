// Times incomplete Cholesky on a device and on the host, on a box of unknowns with seven points: mic_sweeps NX NY NZ. CSV.
// times_copy: of an application, to what the bytes that must move take at the bandwidth of a copy.
#include "box_matrix.cuh"
#include "measure.hpp"
#include "pc/mic/core/mic.hpp"

#include <chrono>

namespace petscrrb {
namespace {

// Of an unknown: forward reads r and three couplings over pivots, and writes u; backward reads these and 1/pivot, and
// writes z. Where the couplings are constant, 1/pivot is read in their place.
int bytes_an_unknown(bool variable, bool single) {
  const int factor = single ? 4 : 8;
  return variable ? 32 + 7 * factor : 32 + 2 * factor;
}
__global__ void fill_residual(Box box, double *r) {
  const index_t p = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p < box.points()) r[p] = box.face(p, 6) - 1;
}

class Bench {
public:
  Bench(index_t nx, index_t ny, index_t nz) : n_{nx, ny, nz}, r_(nx * ny * nz), z_(r_.size()) {
    cuda::check(cudaStreamCreateWithFlags(&on_.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    clock_ = std::make_unique<Clock>(on_.stream);
    copy_ = copy_bandwidth(on_, *clock_);
    grid_.dim = 3, grid_.points = 7;
    std::copy(n_, n_ + 3, grid_.n);
    options_.omega = mic::default_omega(grid_);
    fill_residual<<<unsigned(r_.size() / 256 + 1), 256, 0, on_.stream>>>(box(true), r_.data());
    cuda::check_launch("fill_residual");
  }

  void run() {
    for (const bool variable : {true, false}) {
      const BoxMatrix A(box(variable), on_.stream);
      for (const bool single : {false, true}) on_device(A, variable, single);
      if (variable) on_host(A);
    }
  }

private:
  Box box(bool variable) const { return {{n_[0], n_[1], n_[2]}, variable}; }

  void on_device(const BoxMatrix &A, bool variable, bool single) {
    options_.single = single;
    const auto mic = mic::make_mic(on_, grid_, options_);
    refresh(*mic, A.csr(), variable);
    const auto time = [&](const std::function<void()> &work) { return clock_->time(work, 10, 9) * 1e-3; };
    const double applied = time([&] { mic->apply(r_.data(), z_.data()); });
    const double left = time([&] { mic->apply_left(r_.data(), z_.data()); });
    const double right = time([&] { mic->apply_right(r_.data(), z_.data()); });
    const double factored = time([&] { refresh(*mic, A.csr(), variable); });
    const int bytes = bytes_an_unknown(variable, single);
    const double rate = rate_of(applied, bytes);
    std::printf("%s,cuda,%s,%d,%.4f,%.0f,%.3f,%.4f,%.4f,%.4f,%.0f\n", variable ? "variable" : "constant",
                single ? "single" : "double", bytes, applied, rate, copy_ / rate, left, right, factored, copy_);
  }

  void on_host(const BoxMatrix &matrix) {
    options_.single = false;
    const BoxMatrix::Copy A(matrix);
    const std::vector<double> r(r_.size(), 1);
    std::vector<double> z(r_.size());
    const auto mic = mic::make_mic(grid_, options_);
    const double factored = wall([&] { refresh(*mic, A.csr(), true); });
    mic->apply(r.data(), z.data());
    double times[3];
    for (double &ms : times) ms = wall([&] { mic->apply(r.data(), z.data()); });
    std::sort(times, times + 3);
    const int bytes = bytes_an_unknown(true, false);
    std::printf("variable,host,double,%d,%.4f,%.1f,,,,%.4f,\n", bytes, times[1], rate_of(times[1], bytes), factored);
  }

  // GB/s
  double rate_of(double ms, int bytes) const { return bytes * double(r_.size()) / ms * 1e-6; }
  // milliseconds
  static double wall(const std::function<void()> &work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  static void refresh(mic::Mic &mic, const Csr &A, bool variable) {
    const mic::Findings found = mic.refresh(A);
    if (found.read.result() != ReadResult::ok || found.bad_pivot() || found.constant == variable)
      throw std::runtime_error("the factorization failed");
  }

  const index_t n_[3];
  Cuda on_;
  Grid grid_;
  mic::Options options_;
  cuda::Buffer<double> r_, z_;
  std::unique_ptr<Clock> clock_;
  double copy_ = 0;
};

} // namespace
} // namespace petscrrb

int main(int argc, char **argv) {
  long n[3] = {};
  for (int d = 0; d < 3 && d + 1 < argc; ++d) n[d] = std::atol(argv[d + 1]);
  const double most = 3e8; // rows, so that an int counts the entries
  if (n[0] < 1 || n[1] < 1 || n[2] < 1 || double(n[0]) * double(n[1]) * double(n[2]) > most) {
    std::fprintf(stderr, "usage: %s NX NY NZ, together at most 3e8 unknowns\n", argv[0]);
    return 2;
  }
  try {
    std::puts("couplings,where,precision,bytes_an_unknown,ms,GB_per_s,times_copy,left_half_ms,right_half_ms,refresh_ms,"
              "copy_GB_per_s");
    petscrrb::Bench(n[0], n[1], n[2]).run();
    return 0;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
