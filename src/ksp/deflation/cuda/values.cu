// Holds every coupling of a matrix against the one across the diagonal, a thread a row.
#include "ksp/deflation/cuda/found.hpp"

#include "exec/cuda/rows.cuh"
#include "ksp/deflation/core/labels.hpp"
#include "stencil/read_couplings.hpp"
#include "stencil/stencil.hpp"

#include <cstring>

namespace petscrrb::deflation {

namespace {

// The largest asymmetry() of row i with others.
__device__ double asymmetry_of_row(const Csr &A, const int *label, PetscInt i) {
  double most = 0.0;
  if (label[i] < 0) return most;
  for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
    const PetscInt j = A.ja[e];
    if (j == i || label[j] < 0) continue;
    const double there = entry(A, j, i);
    if (differ(A.a[e], there)) most = larger(asymmetry(A.a[e], there, entry(A, i, i), entry(A, j, j)), most);
  }
  return most;
}

__global__ void __launch_bounds__(cuda::row_threads) check_rows(Csr A, const int *label, Found *found) {
  const int i = int(blockIdx.x) * cuda::row_threads + int(threadIdx.x);
  double check = 0.0, most = 0.0;
  if (i < A.n) {
    for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) check += A.a[e] * 0.0; // 0 as long as all are finite
    most = asymmetry_of_row(A, label, i);
  }
  cuda::raise(&found->not_finite, check != 0.0 ? int(A.n) - i : 0);
  cuda::raise(&found->asymmetry, cuda::ordered_bits(most));
}

struct FindAsymmetric {
  Csr A;
  const int *label;
  int *from_last;

  __device__ void operator()(int i) const {
    if (asymmetry_of_row(A, label, i) > symmetric) atomicMax(from_last, int(A.n) - i);
  }
};

double value_of(unsigned long long bits) {
  double value;
  static_assert(sizeof value == sizeof bits, "");
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace

void check_values(const Csr &A, const int *label, Found *found, cudaStream_t stream) {
  if (A.n == 0) return;
  check_rows<<<unsigned(A.n - 1) / cuda::row_threads + 1, cuda::row_threads, 0, stream>>>(A, label, found);
  cuda::check_launch("values of the matrix");
}

std::string why_refused(const Csr &A, const int *label, const Found &found, const Ranks &ranks, cudaStream_t stream) {
  const int n = int(A.n);
  const bool finite = !ranks.any(found.not_finite);
  std::string why;
  if (found.not_finite)
    why = "row " + std::to_string(ranks.number(n - found.not_finite)) + " holds an entry that is not finite";
  ranks.on_all([&] {
    if (!finite || value_of(found.asymmetry) <= symmetric) return;
    const cuda::Buffer<int> from_last(1);
    cuda::for_rows("asymmetric rows", n, FindAsymmetric{A, label, from_last.data()}, stream);
    why = not_symmetric(ranks.number(n - cuda::to_host(from_last.data(), 1, stream)[0]));
  });
  return ranks.first(why);
}

} // namespace petscrrb::deflation
