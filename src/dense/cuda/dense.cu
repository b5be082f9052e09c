// Fills a dense matrix from its sparse form, has it factored and inverted by cuSOLVER, and applies it.
#include "dense/cuda/dense.hpp"

#include "exec/cuda/overlap.cuh"
#include "exec/cuda/rows.cuh"

#include <stdexcept>

namespace petscrrb::dense {

namespace {

constexpr int part_side = 32, part_rows = 8;
constexpr int product_threads = 256;

struct Fill {
  SparseView e;
  const double *pin;
  double *matrix;
  std::size_t pitch;

  __device__ void operator()(int s) const {
    for (int p = e.ia[s]; p < e.ia[s + 1]; ++p) matrix[s * pitch + e.ja[p]] = e.a[p] + (e.ja[p] == s ? pin[s] : 0.0);
  }
};

// Rows get what columns have below the diagonal, as cuSOLVER counts them: matrix[c][r] is entry (r, c), r >= c.
__global__ void mirror(double *matrix, std::size_t pitch, int n) {
  __shared__ double part[part_side][part_side + 1];
  const int from = int(blockIdx.y) * part_side, to = int(blockIdx.x) * part_side; // rows and columns that are read
  if (to < from) return;
  for (int k = threadIdx.y; k < part_side; k += part_rows)
    if (from + k < n && to + int(threadIdx.x) < n) part[k][threadIdx.x] = matrix[(from + k) * pitch + to + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < part_side; k += part_rows) {
    const int row = to + k, column = from + int(threadIdx.x);
    if (row < n && column < row) matrix[row * pitch + column] = part[threadIdx.x][k];
  }
}

// A row a warp, of which most is read before c is there.
__global__ void __launch_bounds__(product_threads) multiply(InverseRows inverse, const double *c, double *result) {
  const int row = (int(blockIdx.x) * product_threads + int(threadIdx.x)) / 32;
  cuda::start_next();
  const auto of_row = inverse.read_ahead(row);
  cuda::await_previous();
  if (row >= inverse.n) return;
  const double sum = inverse.times(row, of_row, [&](int k) { return c[k]; });
  if (threadIdx.x % 32 == 0) result[row] = sum;
}

} // namespace

static void check(cusolverStatus_t status, const char *what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) cuda::check(cudaErrorMemoryAllocation, what);
  throw std::runtime_error(std::string(what) + ": cuSOLVER error " + std::to_string(int(status)));
}

DenseLibrary::DenseLibrary() { check(cusolverDnCreate(&solver_), "cusolverDnCreate"); }

DenseLibrary::~DenseLibrary() { (void)cusolverDnDestroy(solver_); }

cusolverDnHandle_t DenseLibrary::solver(cudaStream_t stream) const {
  check(cusolverDnSetStream(solver_, stream), "cusolverDnSetStream");
  return solver_;
}

DenseInverse::DenseInverse(const SparseView &pattern, Inverse type, std::shared_ptr<DenseLibrary> library,
                           cudaStream_t stream, Colours colours)
    : e_(pattern), colours_(colours), n_(pattern.n), pitch_((std::size_t(n_) + 1) / 2 * 2), type_(type),
      swept_(type == Inverse::explicit_inverse && n_ <= most_swept), library_(std::move(library)) {
  const int n = n_;
  matrix_.resize(pitch_ * n);
  doubles_.resize(3 * std::size_t(n)); // pins, u, gamma
  integers_.resize(3 * std::size_t(n));
  most_.resize(n);
  found_.resize(1);
  inverse_ = matrix_.data();
  schur_pitch_ = (std::size_t(colours_.blacks) + 1) / 2 * 2;
  if (swept_) {
    work_.resize(colours_.blacks ? 2 * schur_pitch_ * colours_.blacks : matrix_.size());
    tiles_.resize(tiles_of_sweep);
  }
  if (!n || swept_) return;
  if (!library_) library_ = std::make_shared<DenseLibrary>();
  int factor = 0, inverse = 0;
  const cusolverDnHandle_t solver = library_->solver(stream);
  const int pitch = int(pitch_);
  check(cusolverDnDpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, matrix_.data(), pitch, &factor), "potrf");
  if (type_ == Inverse::explicit_inverse)
    check(cusolverDnDpotri_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, n, matrix_.data(), pitch, &inverse), "potri");
  work_.resize(std::max(factor, inverse));
}

NullView DenseInverse::null() const {
  int *i = integers_.data();
  double *d = doubles_.data();
  return {n_, i, i + n_, d, most_.data(), i + 2 * n_, d + n_, d + 2 * n_, &found_.data()->null_directions};
}

void DenseInverse::fill(cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(matrix_.data(), 0, matrix_.bytes(), stream), "cudaMemsetAsync");
  cuda::for_rows("E", n_, Fill{e_, null().pin, matrix_.data(), pitch_}, stream);
}

void DenseInverse::sweep_black(cudaStream_t stream) {
  double *schur = work_.data(), *other = schur + schur_pitch_ * colours_.blacks;
  const double *pin = null().pin;
  cuda::check(cudaMemsetAsync(&found_.data()->inverse, 0, sizeof(int), stream), "cudaMemsetAsync");
  eliminate_red(e_, colours_, pin, schur, schur_pitch_, &found_.data()->inverse, stream);
  schur = sweep(schur, other, tiles_.data(), schur_pitch_, colours_.blacks, &found_.data()->factor, stream);
  add_red(e_, colours_, pin, schur, schur_pitch_, matrix_.data(), pitch_, stream);
}

void DenseInverse::factor(cudaStream_t stream) {
  const cusolverDnHandle_t solver = library_->solver(stream);
  const int pitch = int(pitch_), work = int(work_.size());
  check(cusolverDnDpotrf(solver, CUBLAS_FILL_MODE_LOWER, n_, matrix_.data(), pitch, work_.data(), work,
                         &found_.data()->factor),
        "potrf");
  if (type_ != Inverse::explicit_inverse) return;
  check(cusolverDnDpotri(solver, CUBLAS_FILL_MODE_LOWER, n_, matrix_.data(), pitch, work_.data(), work,
                         &found_.data()->inverse),
        "potri");
  const unsigned tiles = unsigned(n_ - 1) / part_side + 1;
  mirror<<<dim3(tiles, tiles), dim3(part_side, part_rows), 0, stream>>>(matrix_.data(), pitch_, n_);
  cuda::check_launch("inverse of E");
}

void DenseInverse::refresh(const double *a, const double *excess, double null_inverse, cudaStream_t stream) {
  if (!n_) return;
  e_.a = a, e_.excess = excess;
  find_null_components(e_, null(), stream);
  if (swept_ && colours_.blacks) {
    sweep_black(stream);
  } else {
    fill(stream);
    if (swept_)
      inverse_ = sweep(matrix_.data(), work_.data(), tiles_.data(), pitch_, n_, &found_.data()->factor, stream);
    else
      factor(stream);
  }
  if (type_ == Inverse::explicit_inverse) project_inverse(null(), null_inverse, inverse_, pitch_, stream);
  cuda::bring(host_found_, found_.data(), 1, stream);
}

Status DenseInverse::status() const {
  if (!n_) return {};
  const Findings &s = *host_found_.data();
  if (swept_ && colours_.blacks) return {!s.factor && !s.inverse, s.inverse - 1, s.null_directions};
  const int bad = s.factor ? s.factor : s.inverse;
  return {bad == 0, bad > 0 ? bad - 1 : -1, s.null_directions};
}

double *DenseInverse::solve(double *c, double *other, cudaStream_t stream) const {
  if (!n_) return c;
  if (type_ == Inverse::explicit_inverse) {
    static const bool overlap = cuda::may_overlap(multiply);
    cuda::launch("application of the inverse of E", multiply, overlap, unsigned(n_ - 1) / (product_threads / 32) + 1,
                 product_threads, 0, stream, rows(), c, other);
    return other;
  }
  const bool singular = host_found_.data()->null_directions > 0;
  const cublasHandle_t blas = library_->blas(stream);
  if (singular) project(null(), c, stream);
  for (const cublasOperation_t half : {CUBLAS_OP_N, CUBLAS_OP_T})
    cuda::check(
        cublasDtrsv(blas, CUBLAS_FILL_MODE_LOWER, half, CUBLAS_DIAG_NON_UNIT, n_, matrix_.data(), int(pitch_), c, 1),
        "trsv");
  if (singular) project(null(), c, stream);
  return c;
}

} // namespace petscrrb::dense
