// The projection on a CUDA device: three kernels an application and those of E^+; no copy of the matrix, and no sum whose
// order changes. On several ranks c goes through the host, where they sum it.
#include "exec/cuda/rows.cuh"
#include "exec/cuda/sort.hpp"
#include "exec/cuda/sums.cuh"
#include "ksp/deflation/cuda/galerkin.hpp"
#include "ksp/deflation/cuda/labels.hpp"

#include <limits>
#include <numeric>

namespace petscrrb::deflation {

namespace {

// What a subdomain's c is the sum of: rows of r, entries of AZ times y.
struct Residual {
  const double *r, *y;
  const int *row, *az_row;
  const double *az;

  __device__ double first(int k) const { return r ? r[row[k]] : 0.0; }
  __device__ double second(int q) const { return y ? -az[q] * y[az_row[q]] : 0.0; }
};

constexpr int prolong_rows = 4; // of a thread

// z = y + Z c. No __restrict__: z may be y. r: of (r, z), a term of which each block leaves; or NULL
template <bool with_r>
__global__ void __launch_bounds__(cuda::row_threads)
    prolong_rows_of(int n, const int *label, const double *c, const double *y, double *z, const double *r,
                    cuda::BlockSum<cuda::row_threads> energy) {
  const int first = int(blockIdx.x) * cuda::row_threads * prolong_rows + int(threadIdx.x);
  int at[prolong_rows];
  double value[prolong_rows];
#pragma unroll
  for (int k = 0; k < prolong_rows; ++k) {
    const int i = first + k * cuda::row_threads;
    at[k] = i < n ? label[i] : -1;
    value[k] = y && i < n ? y[i] : 0.0;
  }
#pragma unroll
  for (int k = 0; k < prolong_rows; ++k) {
    const int i = first + k * cuda::row_threads;
    if (at[k] >= 0) value[k] += c[at[k]];
    if (i < n) z[i] = value[k];
  }
  if (!with_r) return;
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < prolong_rows; ++k)
    if (const int i = first + k * cuda::row_threads; i < n) sum += r[i] * value[k];
  energy.add(sum);
}

struct Subtract {
  AzView az;
  const double *c;
  double *w;

  __device__ void operator()(int b) const {
    double sum = 0.0;
    for (int e = az.first[b]; e < az.first[b + 1]; ++e) sum = fma(az.value[e], c[az.subdomain[e]], sum);
    w[az.row[b]] -= sum;
  }
};

// Of each subdomain, -1: none here.
struct FirstRow {
  const int *row, *start;
  int *first;

  __device__ void operator()(int s) const { first[s] = start[s] < start[s + 1] ? row[start[s]] : -1; }
};

class CudaProjection final : public Projection {
public:
  explicit CudaProjection(const Cuda &on) : on_(on) {}

  Result setup(const Csr &, const Space &, Inverse) override;
  Result refresh(const Csr &, const double *phi) override;
  const Report &report() const override { return report_; }

  void restrict_residual(const double *r, const double *y) override;
  void solve() override;
  void prolong(const double *y, double *z) override { prolong_by<false>(y, z, nullptr, nullptr); }
  index_t energy_terms() const override { return blocks_of_rows(); }
  void prolong(const double *r, double *z, double *terms) override { prolong_by<true>(z, z, r, terms); }
  void subtract(double *w) override;

private:
  // the second half of a setup or a refresh: E and its inverse from AZ, and all that was found
  Found factor() {
    Found found;
    const dense::SparseView e = galerkin_.view();
    galerkin_.refresh(az_.view(), on_.stream);
    ranks_->on_all([&] {
      if (inverse_) inverse_->refresh(e.a, e.excess, 0.0, on_.stream);
      found = found_.read(on_.stream);
    });
    return found;
  }
  Result judge(const Found &);
  Result refuse(const std::string &why) {
    report_.why = why;
    return Result::refused;
  }
  void build(const Csr &, const Space &, Inverse, cuda::Scratch &);
  std::vector<int> box_of_subdomains(const Space &, cuda::Scratch &) const;
  std::string why_not_definite() const;
  double bytes() const;
  unsigned blocks_of_rows() const { return n_ ? unsigned(n_ - 1) / (cuda::row_threads * prolong_rows) + 1 : 0; }
  template <bool with_r> void prolong_by(const double *y, double *z, const double *r, double *terms) const {
    if (!n_) return;
    prolong_rows_of<with_r>
        <<<blocks_of_rows(), cuda::row_threads, 0, on_.stream>>>(n_, labels_.of_row(), c_, y, z, r, {terms});
    cuda::check_launch("prolongation");
  }

  const Cuda &on_;
  std::shared_ptr<dense::DenseLibrary> library_;
  cuda::Report<Found> found_;
  deflation::Report report_;
  const Ranks *ranks_ = &one_rank;
  SumOverRanks over_ranks_; // of c
  int n_ = 0, count_ = 0;
  DeviceLabels labels_;
  DeviceAZ az_;
  BySubdomain rows_;
  ChunkSums sums_;
  DeviceGalerkin galerkin_;
  std::unique_ptr<dense::DeviceInverse> inverse_;
  cuda::Buffer<double> memory_; // for c and for what it becomes
  double *c_ = nullptr, *other_ = nullptr;
};

// The largest need is a sort of the rows: keys, places and what CUB takes for as many again.
std::size_t scratch_bytes(PetscInt n) { return 24 * std::size_t(n) + (std::size_t(1) << 20); }

Result CudaProjection::setup(const Csr &A, const Space &space, Inverse type) {
  constexpr auto most = std::numeric_limits<int>::max();
  report_ = {};
  inverse_ = nullptr;
  ranks_ = space.ranks;
  const index_t rows = index_t(A.n) + ranks_->ghosts();
  std::string why = ranks_->first(rows >= most ? "more rows than the projection on a device can count" : "");
  if (!why.empty()) return refuse(why);
  n_ = int(A.n);
  if (!space.phases && space.boxes.size() > most_subdomains) return refuse(too_many(space.boxes.size()));
  cuda::Scratch scratch(on_.stream, scratch_bytes(A.n));
  ranks_->on_all([&] { found_.clear(on_.stream); });
  why = labels_.setup(A, space, found_.device(), scratch);
  if (!why.empty()) return refuse(why);
  Found found;
  ranks_->on_all([&] {
    check_values(A, labels_.of_row(), found_.device(), on_.stream);
    found = found_.read(on_.stream);
  });
  labels_.have_found(found);
  why = why_refused(n_, found, *ranks_);
  if (!why.empty()) return refuse(why);
  if (labels_.count() > most_subdomains) return refuse(too_many(labels_.count()));
  build(A, space, type, scratch);
  return judge(factor());
}

void CudaProjection::build(const Csr &A, const Space &space, Inverse type, cuda::Scratch &scratch) {
  count_ = int(labels_.count());
  const int *label = labels_.of_row();
  ranks_->on_all([&] {
    az_.setup(A, label, count_, space.rounding, found_, scratch);
    sort_by_subdomain(label, n_, count_, rows_.row, rows_.start, scratch);
    sums_.setup(Chunks(rows_.start, az_.by_subdomain().start), count_);
  });
  report_.identity_rows = ranks_->total(labels_.identity_rows());
  std::vector<double> rows;
  std::vector<int> empty;
  ranks_->on_all([&] { rows.resize(count_), empty.resize(count_); });
  find_empty(rows_.start, *ranks_, rows, empty);
  const CoarsePattern pattern = galerkin_.setup(az_.view(), label, empty, *ranks_, scratch);
  const std::vector<int> box = box_of_subdomains(space, scratch);
  ranks_->on_all([&] {
    memory_.resize(2 * std::size_t(count_));
    c_ = memory_.data(), other_ = c_ + count_;
    over_ranks_.setup(*ranks_, count_);
    if (count_) inverse_ = make_inverse(galerkin_, pattern, box, space.boxes.count, type, library_, on_.stream);
  });
  report_.subdomains = count_;
  report_.empty = int(std::count(empty.begin(), empty.end(), 1));
  report_.stored = az_.view().entries;
  report_.inverse = inverse_ ? inverse_->description() : "no subdomains";
  report_.bytes = bytes();
}

// Empty: there are no boxes.
std::vector<int> CudaProjection::box_of_subdomains(const Space &space, cuda::Scratch &scratch) const {
  const Boxes &boxes = space.boxes;
  std::vector<int> box(boxes.none() ? 0 : count_);
  std::iota(box.begin(), box.end(), 0);
  if (box.empty() || !space.phases) return box;
  const cuda::Scratch::Frame frame(scratch);
  int *const start = scratch.take<int>(count_ + 1), *const first = scratch.take<int>(count_);
  cuda::check(
      cudaMemcpyAsync(start, rows_.start.data(), (count_ + 1) * sizeof(int), cudaMemcpyHostToDevice, on_.stream),
      "cudaMemcpyAsync");
  cuda::for_rows("first rows", count_, FirstRow{rows_.row.data(), start, first}, on_.stream);
  const std::vector<int> rows = cuda::to_host(first, count_, on_.stream);
  const std::uint64_t count = std::uint64_t(boxes.size());
  std::vector<std::uint64_t> here;
  for (int s = 0; s < count_; ++s)
    if (rows[s] >= 0) here.push_back(s * count + std::uint64_t(box_of(boxes, ranks_->point(rows[s]))));
  for (std::uint64_t each : ranks_->unite(here)) box[each / count] = int(each % count);
  return box;
}

Result CudaProjection::refresh(const Csr &A, const double *phi) {
  bool others;
  const std::string why = labels_.find_again(A, phi, &others, on_.stream);
  if (!why.empty()) return refuse(why);
  if (others) return Result::rebuild;
  ranks_->on_all([&] {
    found_.clear(on_.stream);
    labels_.check(A, phi, found_.device(), on_.stream);
    check_values(A, labels_.of_row(), found_.device(), on_.stream);
    az_.refresh(A, labels_.of_row(), found_.device(), on_.stream);
  });
  const Found found = factor();
  const bool finite = !ranks_->any(found.not_finite), other_labels = ranks_->any(labels_.are_others(found));
  if (finite && other_labels) return Result::rebuild; // symmetric was asked of others
  const Result result = judge(found);
  return ranks_->any(found.other_entries) && result != Result::refused ? Result::rebuild : result;
}

// Of what was found, and of E's factorization. The stream was waited for.
Result CudaProjection::judge(const Found &found) {
  const std::string why = why_refused(n_, found, *ranks_);
  if (!why.empty()) return refuse(why);
  const dense::Status status = inverse_ ? inverse_->status() : dense::Status();
  report_.null_directions = status.null_directions;
  if (!ranks_->any(!status.definite)) return Result::ok;
  report_.why = status.bad_pivot < 0
                    ? why_not_definite()
                    : "E = Z^T A Z is not positive definite: at subdomain " + std::to_string(status.bad_pivot);
  return Result::failed;
}

// With E on the host, which is small: this is for a message.
std::string CudaProjection::why_not_definite() const {
  const dense::SparseView e = galerkin_.view();
  const std::vector<int> ia = cuda::to_host(e.ia, e.n + 1, on_.stream);
  const std::vector<int> ja = cuda::to_host(e.ja, ia.back(), on_.stream);
  const int at = first_bad_pivot(ia, ja, cuda::to_host(e.a, ia.back(), on_.stream));
  return "E = Z^T A Z is not positive definite" + (at < 0 ? "" : ": at subdomain " + std::to_string(at));
}

double CudaProjection::bytes() const {
  return double(labels_.bytes() + az_.bytes() + rows_.row.bytes() + sums_.bytes() + galerkin_.bytes() +
                memory_.bytes() + (inverse_ ? inverse_->bytes() : 0));
}

void CudaProjection::restrict_residual(const double *r, const double *y) {
  const Residual terms{r, y, rows_.row.data(), az_.by_subdomain().row.data(), az_.value_by_subdomain()};
  c_ = memory_.data(), other_ = c_ + count_; // always the same, so that an application may be captured
  sums_.sum("restriction", terms, c_, on_.stream);
  over_ranks_.read(c_, on_.stream);
  over_ranks_.sum();
  over_ranks_.write(c_, on_.stream);
}

void CudaProjection::solve() {
  if (!inverse_) return;
  double *const solution = inverse_->solve(c_, other_, on_.stream);
  if (solution != c_) std::swap(c_, other_);
}

void CudaProjection::subtract(double *w) {
  const AzView az = az_.view();
  cuda::for_rows("subtraction", az.rows, Subtract{az, c_, w}, on_.stream);
}

} // namespace

std::unique_ptr<Projection> make_projection(const Cuda &on) { return std::make_unique<CudaProjection>(on); }

} // namespace petscrrb::deflation
