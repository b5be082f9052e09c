// The inverse of a matrix whose graph has two colours, from that of its Schur complement on black unknowns, which are half of them.
#include "dense/cuda/dense.hpp"

#include "exec/cuda/rows.cuh"

namespace petscrrb::dense {

namespace {

constexpr int row_threads = 128, rows_of_block = row_threads / 32;

struct Eliminated {
  SparseView e;
  const double *pin;
  const int *black;

  __device__ double diagonal(int i) const { return e.diagonal(i) + pin[i]; }
  // f(black number, a_ij) of each black unknown j that a red one is coupled with
  template <class F> __device__ void each_beside(int i, const F &f) const {
    for (int p = e.ia[i]; p < e.ia[i + 1]; ++p)
      if (e.ja[p] != i) f(black[e.ja[p]], e.a[p]);
  }
};

// A black row of D - B^T R^-1 B by a warp, which has it in shared memory; R: the diagonal of red unknowns. *bad: 1 + a red unknown whose
// diagonal is not positive; else unchanged.
__global__ void __launch_bounds__(row_threads)
    make_schur(Eliminated m, int n, int blacks, double *schur, std::size_t pitch, int *bad) {
  extern __shared__ double rows[];
  const int i = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (i >= n) return;
  if (m.black[i] < 0) {
    if (!lane && !(m.diagonal(i) > 0.0)) *bad = i + 1;
    return;
  }
  double *row = rows + threadIdx.x / 32 * pitch;
  for (int c = lane; c < blacks; c += 32) row[c] = 0.0;
  __syncwarp();
  for (int p = m.e.ia[i]; p < m.e.ia[i + 1]; ++p) {
    const int j = m.e.ja[p];
    if (j == i) {
      if (!lane) row[m.black[i]] += m.e.a[p] + m.pin[i];
    } else {
      const double by = m.e.a[p] / m.diagonal(j);
      for (int q = m.e.ia[j] + lane; q < m.e.ia[j + 1]; q += 32)
        if (m.e.ja[q] != j) row[m.black[m.e.ja[q]]] -= by * m.e.a[q];
    }
    __syncwarp();
  }
  for (int c = lane; c < blacks; c += 32) schur[m.black[i] * pitch + c] = row[c];
}

// The inverse's rows of black unknowns k from those of the Schur complement's inverse: M_kj = -(S^-1 B^T)_kj / r_j at red j, and the columns
// of black unknowns are the same. A block a row.
__global__ void __launch_bounds__(row_threads)
    expand_black(Eliminated m, const double *schur_inverse, std::size_t schur_pitch, double *inverse,
                 std::size_t pitch) {
  const int i = int(blockIdx.x), k = m.black[i];
  if (k < 0) return;
  const double *row = schur_inverse + k * schur_pitch;
  for (int j = int(threadIdx.x); j < m.e.n; j += row_threads) {
    const int l = m.black[j];
    double value = 0.0;
    if (l >= 0)
      value = row[l];
    else {
      m.each_beside(j, [&](int beside, double a) { value -= a * row[beside]; });
      value /= m.diagonal(j);
      inverse[j * pitch + i] = value;
    }
    inverse[i * pitch + j] = value;
  }
}

// Then those of red unknowns i, M_ij = (1_ij - (B M)_ij) / r_i at red j. By pairs i >= j, so that it is symmetric to the last bit.
__global__ void __launch_bounds__(row_threads) expand_red(Eliminated m, double *inverse, std::size_t pitch) {
  const int i = int(blockIdx.x);
  if (m.black[i] >= 0) return;
  for (int j = int(threadIdx.x); j <= i; j += row_threads) {
    if (m.black[j] >= 0) continue;
    double value = i == j ? 1.0 : 0.0;
    for (int p = m.e.ia[i]; p < m.e.ia[i + 1]; ++p)
      if (m.e.ja[p] != i) value -= m.e.a[p] * inverse[m.e.ja[p] * pitch + j];
    inverse[i * pitch + j] = inverse[j * pitch + i] = value / m.diagonal(i);
  }
}

} // namespace

void eliminate_red(const SparseView &e, const Colours &colours, const double *pin, double *schur, std::size_t pitch,
                   int *bad, cudaStream_t stream) {
  make_schur<<<unsigned(e.n - 1) / rows_of_block + 1, row_threads, rows_of_block * pitch * sizeof(double), stream>>>(
      {e, pin, colours.black}, e.n, colours.blacks, schur, pitch, bad);
  cuda::check_launch("elimination of red unknowns");
}

void add_red(const SparseView &e, const Colours &colours, const double *pin, const double *schur_inverse,
             std::size_t schur_pitch, double *inverse, std::size_t pitch, cudaStream_t stream) {
  const Eliminated m{e, pin, colours.black};
  expand_black<<<unsigned(e.n), row_threads, 0, stream>>>(m, schur_inverse, schur_pitch, inverse, pitch);
  expand_red<<<unsigned(e.n), row_threads, 0, stream>>>(m, inverse, pitch);
  cuda::check_launch("inverse with red unknowns");
}

} // namespace petscrrb::dense
