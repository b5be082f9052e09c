// Finds the rows in which A Z is not zero, and fills them, a thread a row of A.
#include "ksp/deflation/cuda/az.hpp"

#include "exec/cuda/rows.cuh"
#include "exec/cuda/sort.hpp"
#include "ksp/deflation/core/az_row.hpp"

namespace petscrrb::deflation {

namespace {

// Entries of each row of A Z that are not zero.
struct CountEntries {
  Csr A;
  const int *label;
  double rounding;
  int *entries;

  __device__ void operator()(int i) const {
    int n = 0;
    if (label[i] >= 0)
      each_of_az_row(A, label, i, row_sum(A, label, rounding, i), [&](int, double v) { n += v != 0.0; });
    entries[i] = n;
  }
};

struct PlaceRows {
  const int *row, *first_of_row;
  int *place, *first;

  __device__ void operator()(int b) const {
    place[row[b]] = b;
    first[b] = first_of_row[row[b]];
  }
};

// The subdomains and rows of A of the entries, which are not zero now.
struct FillStructure {
  Csr A;
  const int *label, *row, *first;
  double rounding;
  int *subdomain, *row_of_entry;

  __device__ void operator()(int b) const {
    const int i = row[b];
    int e = first[b];
    each_of_az_row(A, label, i, row_sum(A, label, rounding, i), [&](int s, double v) {
      if (v != 0.0) row_of_entry[e] = i, subdomain[e++] = s;
    });
  }
};

struct FillValues {
  Csr A;
  const int *label;
  double rounding;
  AzView az;
  int *other_entries;

  __device__ void operator()(int i) const {
    if (label[i] < 0) return;
    const RowSum sum = row_sum(A, label, rounding, i);
    const int b = az.place[i];
    if (b >= 0) az.value[az.entries + b] = sum.value;
    const int first = b >= 0 ? az.first[b] : 0, end = b >= 0 ? az.first[b + 1] : 0;
    each_of_az_row(A, label, i, sum, [&](int s, double v) {
      int e = first;
      while (e < end && az.subdomain[e] != s) ++e;
      if (e < end)
        az.value[e] = v;
      else if (v != 0.0)
        *other_entries = 1;
    });
  }
};

struct KeysOf {
  const int *of;
  unsigned none;
  unsigned *key;
  int *place;

  __device__ void operator()(int i) const {
    key[i] = of[i] < 0 ? none : unsigned(of[i]);
    place[i] = i;
  }
};

// The first place whose key is not below s.
struct FindStart {
  const unsigned *key;
  int n;
  int *start;

  __device__ void operator()(int s) const {
    int low = 0, high = n;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (key[middle] < unsigned(s))
        low = middle + 1;
      else
        high = middle;
    }
    start[s] = low;
  }
};

template <class T> struct Gather {
  const T *from;
  const int *order;
  T *to;

  __device__ void operator()(int q) const { to[q] = from[order[q]]; }
};

} // namespace

void sort_by_subdomain(const int *of, int n, int count, cuda::Buffer<int> &place, std::vector<int> &start,
                       cuda::Scratch &scratch) {
  const cuda::Scratch::Frame frame(scratch);
  const cudaStream_t stream = scratch.stream();
  unsigned *const key = scratch.take<unsigned>(n), *const sorted = scratch.take<unsigned>(n);
  int *const unsorted = scratch.take<int>(n), *const starts = scratch.take<int>(count + 1);
  place.resize(n);
  cuda::for_rows("keys", n, KeysOf{of, unsigned(count), key, unsorted}, stream);
  if (n) cuda::sort(scratch, key, sorted, unsorted, place.data(), n, unsigned(count) + 1u);
  cuda::for_rows("starts", count + 1, FindStart{sorted, n, starts}, stream);
  start = cuda::to_host(starts, std::size_t(count) + 1, stream);
}

AzView DeviceAZ::view() const {
  return {rows_, entries_, place_.data(), row_.data(), first_.data(), subdomain_.data(), value_.data()};
}

// row_, and where the entries of each row of A begin.
void DeviceAZ::find_rows(const Csr &A, const int *label, int *first_of_row, const cuda::Report<Found> &report,
                         cuda::Scratch &scratch) {
  const cuda::Scratch::Frame frame(scratch);
  const cudaStream_t stream = scratch.stream();
  const int n = int(A.n);
  int *const entries = scratch.take<int>(n + 1), *const rows = scratch.take<int>(n);
  Found *const found = report.device();
  cuda::check(cudaMemsetAsync(entries + n, 0, sizeof(int), stream), "cudaMemsetAsync");
  cuda::for_rows("rows of AZ", n, CountEntries{A, label, rounding_, entries}, stream);
  cuda::find_offsets(scratch, entries, first_of_row, n + 1);
  if (n) cuda::find_places(scratch, entries, rows, &found->rows, n);
  cuda::check(cudaMemcpyAsync(&found->entries, first_of_row + n, sizeof(int), cudaMemcpyDeviceToDevice, stream),
              "cudaMemcpyAsync");
  const Found &host = report.read(stream);
  rows_ = host.rows, entries_ = host.entries;
  row_.resize(rows_);
  if (rows_)
    cuda::check(cudaMemcpyAsync(row_.data(), rows, row_.bytes(), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

void DeviceAZ::setup(const Csr &A, const int *label, int count, double rounding, const cuda::Report<Found> &report,
                     cuda::Scratch &scratch) {
  const cudaStream_t stream = scratch.stream();
  const int n = int(A.n);
  rounding_ = rounding;
  place_.resize(n);
  if (n) cuda::check(cudaMemsetAsync(place_.data(), 0xff, place_.bytes(), stream), "cudaMemsetAsync");
  {
    const cuda::Scratch::Frame frame(scratch);
    int *const first_of_row = scratch.take<int>(n + 1);
    find_rows(A, label, first_of_row, report, scratch);
    first_.resize(rows_ + 1);
    cuda::for_rows("rows of AZ", rows_, PlaceRows{row_.data(), first_of_row, place_.data(), first_.data()}, stream);
    cuda::check(cudaMemcpyAsync(first_.data() + rows_, first_of_row + n, sizeof(int), cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
  }
  subdomain_.resize(entries_);
  value_.resize(entries_ + rows_);
  sorted_value_.resize(entries_);
  const cuda::Scratch::Frame frame(scratch);
  int *const row_of_entry = scratch.take<int>(entries_);
  cuda::for_rows("structure of AZ", rows_,
                 FillStructure{A, label, row_.data(), first_.data(), rounding, subdomain_.data(), row_of_entry},
                 stream);
  sort_by_subdomain(subdomain_.data(), entries_, count, order_, by_subdomain_.start, scratch);
  by_subdomain_.row.resize(entries_);
  cuda::for_rows("structure of AZ", entries_, Gather<int>{row_of_entry, order_.data(), by_subdomain_.row.data()},
                 stream);
  refresh(A, label, report.device(), stream);
}

void DeviceAZ::refresh(const Csr &A, const int *label, Found *found, cudaStream_t stream) const {
  cuda::for_rows("values of AZ", int(A.n), FillValues{A, label, rounding_, view(), &found->other_entries}, stream);
  cuda::for_rows("values of AZ", entries_, Gather<double>{value_.data(), order_.data(), sorted_value_.data()}, stream);
}

} // namespace petscrrb::deflation
