// The dense (pseudo-)inverse of a symmetric matrix on a device: small ones by elimination of our own, others factored by cuSOLVER and
// inverted, or solved with by cuBLAS.
#pragma once

#include "exec/not_copied.hpp"
#include "exec/cuda/cublas.hpp"
#include "dense/core/plan.hpp"
#include "dense/cuda/inverse.hpp"

#include <cusolverDn.h>

#include <memory>

namespace petscrrb::dense {

// Handles of cuSOLVER and cuBLAS, which take long to make.
class DenseLibrary : NotCopied {
public:
  DenseLibrary();
  ~DenseLibrary();

  cusolverDnHandle_t solver(cudaStream_t) const;
  cublasHandle_t blas(cudaStream_t stream) const { return blas_.on(stream); }

private:
  cusolverDnHandle_t solver_ = nullptr;
  cuda::Blas blas_;
};

// Components of the matrix's graph that are singular: all sums of their rows are 0, and their null vector is constant. In device
// memory, an unknown each; the root of a component is its smallest unknown.
struct NullView {
  int n;
  int *root;
  int *size;   // of singular components, at the root; 0: regular
  double *pin; // what is added to the diagonal: at one unknown of each singular component, which makes it regular
  unsigned long long *most; // scratch: largest diagonal of a component, at the root
  int *place;               // scratch: where that is
  double *u, *gamma;        // scratch of project_inverse(); gamma: at the root
  int *components;          // how many are singular

  __device__ bool is_singular(int i) const { return size[root[i]] > 0; }
};

void find_null_components(const SparseView &, const NullView &, cudaStream_t);
// c -= its mean on each singular component
void project(const NullView &, double *c, cudaStream_t);
// From G, the inverse of the pinned matrix (symmetric, rows of length `pitch`), P G P + null_inverse (I - P), P = project().
void project_inverse(const NullView &, double null_inverse, double *inverse, std::size_t pitch, cudaStream_t);

// The inverse of a symmetric positive definite matrix, in `matrix` or in `other`, which is as large. tiles: room for tiles_of_sweep values.
// *bad: 0, or 1 + the first unknown whose pivot is not positive.
constexpr int tiles_of_sweep = 2 * panel * panel;
double *sweep(double *matrix, double *other, double *tiles, std::size_t pitch, int n, int *bad, cudaStream_t);

// Of the unknowns of a graph with two colours, in device memory: red ones are coupled with black ones alone, and these with red ones.
struct Colours {
  const int *black = nullptr; // the number of each unknown among the black ones; -1: it is red
  int blacks = 0;             // 0: nothing is known of colours
};
// The Schur complement of black unknowns (red_black.cu). pin: added to the diagonal. *bad: 1 + a red unknown whose diagonal is not
// positive; else unchanged
void eliminate_red(const SparseView &, const Colours &, const double *pin, double *schur, std::size_t pitch, int *bad,
                   cudaStream_t);
// The whole inverse from that of the Schur complement.
void add_red(const SparseView &, const Colours &, const double *pin, const double *schur_inverse,
             std::size_t schur_pitch, double *inverse, std::size_t pitch, cudaStream_t);

// The explicit inverse, by rows.
struct InverseRows {
  const double *values;
  std::size_t pitch;
  int n;

#ifdef __CUDACC__
  // What a warp reads of a row at first, two numbers a lane each time.
  struct Ahead {
    static constexpr int most = 16;
    double2 v[most];
  };
  __device__ Ahead read_ahead(int row) const {
    Ahead ahead;
  #pragma unroll
    for (int i = 0; i < Ahead::most; ++i)
      if (const int k = place(i); row < n && k < n) ahead.v[i] = at(row, k);
    return ahead;
  }
  // a row times c(0), c(1), ..., by a warp; known to all its lanes
  template <class C> __device__ double times(int row, const Ahead &ahead, const C &c) const {
    double even = 0.0, odd = 0.0;
    const auto add = [&](int k, double2 v) {
      even = fma(v.x, c(k), even);
      odd = fma(v.y, k + 1 < n ? c(k + 1) : 0.0, odd);
    };
  #pragma unroll
    for (int i = 0; i < Ahead::most; ++i)
      if (place(i) < n) add(place(i), ahead.v[i]);
  #pragma unroll 8
    for (int k = place(Ahead::most); k < n; k += 64) add(k, at(row, k));
    double sum = even + odd;
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
  }
  template <class C> __device__ double times(int row, const C &c) const { return times(row, read_ahead(row), c); }

private:
  __device__ static int place(int i) { return 2 * (int(threadIdx.x) % 32) + 64 * i; }
  __device__ double2 at(int row, int k) const { return *reinterpret_cast<const double2 *>(values + row * pitch + k); }
#endif
};

class DenseInverse final : public DeviceInverse {
public:
  static constexpr int most_swept = 1024; // unknowns

  // The pattern and colours stay the caller's. Allocates. library: NULL: one of its own, if it needs one
  DenseInverse(const SparseView &pattern, Inverse, std::shared_ptr<DenseLibrary>, cudaStream_t, Colours = {});

  // null_inverse: 0 for Inverse::cholesky
  void refresh(const double *a, const double *excess, double null_inverse, cudaStream_t) override;
  Status status() const override;
  double *solve(double *c, double *other, cudaStream_t) const override;
  // Of Inverse::explicit_inverse; the same arrays after each refresh.
  InverseRows rows() const { return {inverse_, pitch_, n_}; }
  const char *description() const override {
    return type_ == Inverse::explicit_inverse ? "explicit inverse, dense" : "Cholesky, dense";
  }
  std::size_t bytes() const override {
    return matrix_.bytes() + work_.bytes() + tiles_.bytes() + doubles_.bytes() + integers_.bytes() + most_.bytes();
  }

private:
  struct Findings {
    int factor, inverse, null_directions; // the first two: of cuSOLVER, or of the elimination of black and red unknowns
  };

  NullView null() const;
  void fill(cudaStream_t); // matrix_
  void factor(cudaStream_t);
  void sweep_black(cudaStream_t);

  SparseView e_;
  const Colours colours_;
  int n_;
  std::size_t pitch_; // rows start at 16 bytes
  Inverse type_;
  bool swept_;
  double *inverse_ = nullptr;   // matrix_ or work_
  std::size_t schur_pitch_ = 0; // of the black unknowns' matrix and its inverse, both in work_
  std::shared_ptr<DenseLibrary> library_;
  cuda::Buffer<double> matrix_, work_, tiles_, doubles_;
  cuda::Buffer<int> integers_;
  cuda::Buffer<unsigned long long> most_;
  cuda::Buffer<Findings> found_;
  cuda::Pinned<Findings> host_found_;
};

} // namespace petscrrb::dense
