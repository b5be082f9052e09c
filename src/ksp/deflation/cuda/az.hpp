// A Z on a device: its nonzero rows, by rows and by subdomains. Inside a subdomain most rows of A Z are zero, and are not
// there.
#pragma once

#include "ksp/deflation/cuda/labels.hpp"

namespace petscrrb::deflation {

// In device memory. Entry e of row row[b] of A is at first[b] <= e < first[b + 1].
struct AzView {
  int rows, entries;
  const int *place; // of each row of A: b, -1: the row is zero
  const int *row, *first, *subdomain;
  double *value; // of the entries, then the sums of the rows
};

// The order in which rows or entries belong to subdomains: those of subdomain s are at start[s] ... start[s + 1].
struct BySubdomain {
  cuda::Buffer<int> row; // of A
  std::vector<int> start;
};

class DeviceAZ {
public:
  // Structure and values. Allocates, and waits.
  void setup(const Csr &, const int *label, int count, double rounding, const cuda::Report<Found> &, cuda::Scratch &);
  // New values; says so where one is not zero that is not stored. Only launches kernels.
  void refresh(const Csr &, const int *label, Found *, cudaStream_t) const;

  AzView view() const;
  const BySubdomain &by_subdomain() const { return by_subdomain_; }
  const double *value_by_subdomain() const { return sorted_value_.data(); }
  std::size_t bytes() const {
    return place_.bytes() + row_.bytes() + first_.bytes() + subdomain_.bytes() + order_.bytes() + value_.bytes() +
           sorted_value_.bytes() + by_subdomain_.row.bytes();
  }

private:
  void find_rows(const Csr &, const int *label, int *first_of_row, const cuda::Report<Found> &, cuda::Scratch &);

  double rounding_ = 0;
  int rows_ = 0, entries_ = 0;
  cuda::Buffer<int> place_, row_, first_, subdomain_;
  cuda::Buffer<int> order_; // of the entries by subdomain
  cuda::Buffer<double> value_, sorted_value_;
  BySubdomain by_subdomain_;
};

// What is at place i of a list belongs to subdomain of[i], those of -1 to none. Sorts the places by subdomain, each
// subdomain's in their order; start: count + 1 places.
void sort_by_subdomain(const int *of, int n, int count, cuda::Buffer<int> &place, std::vector<int> &start,
                       cuda::Scratch &);

} // namespace petscrrb::deflation
