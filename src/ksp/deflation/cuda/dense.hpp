// E^+ as a dense matrix on a device: E is factored by cuSOLVER, and inverted, or solved with by cuBLAS.
#pragma once

#include "exec/cuda/cublas.hpp"
#include "ksp/deflation/cuda/inverse.hpp"

#include <cusolverDn.h>

namespace petscrrb::deflation {

void check(cusolverStatus_t, const char *what);

class DenseLibrary {
public:
  DenseLibrary();
  DenseLibrary(const DenseLibrary &) = delete;
  DenseLibrary &operator=(const DenseLibrary &) = delete;
  ~DenseLibrary();

  cusolverDnHandle_t solver(cudaStream_t) const;
  cublasHandle_t blas(cudaStream_t stream) const { return blas_.on(stream); }

private:
  cusolverDnHandle_t solver_ = nullptr;
  cuda::Blas blas_;
};

// Components of E's graph that are singular: all sums of their rows are 0, and their null vector is constant. In device
// memory, an unknown each; the root of a component is its smallest unknown.
struct NullView {
  int n;
  int *root;
  int *size;   // of singular components, at the root; 0: regular
  double *pin; // what is added to the diagonal: at one unknown of each singular component, which makes it regular
  unsigned long long *most; // scratch: largest diagonal of a component, at the root
  int *place;               // scratch: where that is
  int *components;          // how many are singular

  __device__ bool is_singular(int i) const { return size[root[i]] > 0; }
};

void find_null_components(const CoarseView &, const NullView &, cudaStream_t);
// c -= its mean on each singular component
void project(const NullView &, double *c, cudaStream_t);
// From G, the inverse of the pinned matrix (symmetric, rows of length `pitch`), P G P, P = project(). u, gamma: n values.
void project_inverse(const NullView &, double *inverse, std::size_t pitch, double *u, double *gamma, cudaStream_t);

class DenseInverse final : public DeviceInverse {
public:
  DenseInverse(int n, Inverse, std::shared_ptr<DenseLibrary>, cudaStream_t);

  void refresh(const CoarseView &, cudaStream_t) override;
  InverseStatus status() const override;
  double *solve(double *c, double *other, cudaStream_t) const override;
  std::string description() const override;
  double bytes() const override;

private:
  struct Status {
    int factor, inverse, null_directions; // the first two: of cuSOLVER
  };

  NullView null() const;

  int n_ = 0;
  std::size_t pitch_ = 0; // rows start at 16 bytes
  Inverse type_;
  std::shared_ptr<DenseLibrary> library_;
  cuda::Buffer<double> matrix_, work_, doubles_;
  cuda::Buffer<int> integers_;
  cuda::Buffer<unsigned long long> most_;
  cuda::Buffer<Status> status_;
  cuda::Pinned<Status> host_status_;
};

} // namespace petscrrb::deflation
