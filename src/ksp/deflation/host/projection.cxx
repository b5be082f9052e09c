// The projection on the host. Sums over a subdomain are made run by run (rows that follow one another), each by one
// thread, then in the order of the runs.
#include "dense/host/profile.hpp"
#include "grid/text.hpp"
#include "ksp/deflation/core/az_row.hpp"
#include "ksp/deflation/core/coarse_pattern.hpp"
#include "ksp/deflation/core/labels.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::deflation {

namespace {

constexpr PetscInt longest_run = 1024;
// Entries of AZ below this part of the diagonal are what rounding leaves of a sum that is zero.
constexpr double no_entry = 1e-14;

class HostProjection final : public Projection {
public:
  Result setup(const Csr &, const Space &, Inverse) override;
  Result refresh(const Csr &, const double *phi) override;
  const Report &report() const override { return report_; }

  void restrict_residual(const double *r, const double *y) override;
  void solve() override { inverse_.apply(c_.data()); }
  void prolong(const double *y, double *z) override;
  void subtract(double *w) override;

private:
  struct Run {
    PetscInt first, end;
  };
  struct Entry {
    int subdomain;
    double value;
  };
  struct Sum {
    int subdomain;
    double value, largest; // of what is added up
  };

  void find_runs(PetscInt rows);
  std::vector<SumKey> find_neighbours(const Csr &);
  std::size_t row_of_az(const Csr &, PetscInt i, Sum *) const;
  void find_excess(const Csr &);
  bool read_values(const Csr &);
  void reserve();
  void sort_by_subdomain();
  void add_to_E();
  Result invert(const Csr &);
  const Ranks &ranks() const { return *space_.ranks; }
  template <class F> void sum_parts(const std::vector<int> &start, std::size_t parts, const F &);

  Space space_;
  Labels labels_, again_;
  Report report_;
  std::vector<Run> runs_, outside_;   // of each subdomain in turn; of rows that are in none
  std::vector<int> run_start_;        // of each subdomain
  std::vector<Sum> sums_;             // of one row
  std::vector<PetscInt> az_row_;      // the rows that AZ has entries in
  std::vector<std::size_t> az_start_; // and where these are
  std::vector<Entry> az_;             // AZ by rows
  std::vector<PetscInt> column_row_;  // AZ by subdomains: its rows
  std::vector<double> column_value_;
  std::vector<std::size_t> column_start_, fill_;
  std::vector<int> part_start_; // pieces of columns
  std::vector<std::size_t> part_first_;
  CoarsePattern pattern_;          // of E
  std::vector<double> e_, excess_; // excess_: 1 where a row's sum is not zero
  std::vector<int> empty_;
  std::vector<double> c_, partial_;
  dense::ProfileInverse inverse_;
};

// Runs of rows of one subdomain, sorted by subdomain.
void HostProjection::find_runs(PetscInt n) {
  const std::vector<int> &label = labels_.of_row();
  std::vector<std::pair<int, Run>> found;
  for (PetscInt i = 0; i < n;) {
    PetscInt end = i + 1;
    while (end < n && label[end] == label[i] && end - i < longest_run) ++end;
    found.push_back({label[i], {i, end}});
    i = end;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  runs_.clear(), outside_.clear();
  run_start_.assign(labels_.count() + 1, 0);
  for (const auto &[k, run] : found) {
    (k < 0 ? outside_ : runs_).push_back(run);
    if (k >= 0) ++run_start_[k + 1];
  }
  for (int k = 0; k < labels_.count(); ++k) run_start_[k + 1] += run_start_[k];
  empty_.resize(labels_.count());
  excess_.assign(labels_.count(), 0.0);
  c_.assign(labels_.count(), 0.0);
}

// Row i of A Z: the sums of its entries by subdomain, sorted; those that rounding of what is added up has left are not there.
std::size_t HostProjection::row_of_az(const Csr &a, PetscInt i, Sum *sum) const {
  const std::vector<int> &label = labels_.of_row();
  std::size_t n = 0;
  for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
    const int k = label[a.ja[p]];
    if (k < 0) continue;
    std::size_t at = 0;
    while (at < n && sum[at].subdomain != k) ++at;
    if (at == n) sum[n++] = {k, 0.0, 0.0};
    sum[at].value += a.a[p];
    sum[at].largest = std::max(sum[at].largest, std::abs(a.a[p]));
  }
  n = std::size_t(std::remove_if(sum, sum + n, [](const Sum &s) { return std::abs(s.value) <= no_entry * s.largest; }) -
                  sum);
  std::sort(sum, sum + n, [](const Sum &x, const Sum &y) { return x.subdomain < y.subdomain; });
  return n;
}

// Which subdomains neighbour one another, whatever the values.
std::vector<SumKey> HostProjection::find_neighbours(const Csr &a) {
  const std::vector<int> &label = labels_.of_row();
  PetscInt longest = 0;
  for (PetscInt i = 0; i < a.n; ++i) longest = std::max(longest, a.ia[i + 1] - a.ia[i]);
  sums_.resize(longest);
  std::vector<std::vector<int>> of(labels_.count());
  for (PetscInt i = 0; i < a.n; ++i) {
    if (label[i] < 0) continue;
    std::vector<int> &mine = of[label[i]];
    for (PetscInt p = a.ia[i]; p < a.ia[i + 1]; ++p) {
      const int k = label[a.ja[p]];
      if (k >= 0 && std::find(mine.begin(), mine.end(), k) == mine.end()) mine.push_back(k);
    }
  }
  std::vector<SumKey> keys;
  for (int k = 0; k < labels_.count(); ++k) {
    std::sort(of[k].begin(), of[k].end());
    for (int l : of[k]) keys.push_back(key_of(k, l, labels_.count()));
  }
  return keys;
}

// Where E's row sums are not zero: at subdomains with a row whose sum is not, and at those without rows.
void HostProjection::find_excess(const Csr &a) {
  const int *label = labels_.of_row().data();
  std::fill(excess_.begin(), excess_.end(), 0.0);
  for (PetscInt i = 0; i < a.n; ++i)
    if (label[i] >= 0 && row_sum(a, label, space_.rounding, i).value != 0.0) excess_[label[i]] = 1.0;
  ranks().sum(excess_.data(), excess_.size());
  for (std::size_t k = 0; k < excess_.size(); ++k)
    if (empty_[k]) excess_[k] = 1.0;
}

// AZ by rows. False where there is no room for its entries any more.
bool HostProjection::read_values(const Csr &a) {
  const std::size_t room = az_.capacity(), rows = az_row_.capacity(), starts = az_start_.capacity();
  az_.clear(), az_row_.clear(), az_start_.clear();
  for (PetscInt i = 0; i < a.n; ++i) {
    if (labels_.of_row()[i] < 0) continue; // a row of A that couples with nothing; what its column has is not ours
    const std::size_t n = row_of_az(a, i, sums_.data());
    if (!n) continue;
    az_row_.push_back(i);
    az_start_.push_back(az_.size());
    for (std::size_t e = 0; e < n; ++e) az_.push_back({sums_[e].subdomain, sums_[e].value});
  }
  az_start_.push_back(az_.size());
  return az_.capacity() == room && az_row_.capacity() == rows && az_start_.capacity() == starts;
}

// As many entries as AZ has room for.
void HostProjection::reserve() {
  const std::size_t room = az_.capacity(), parts = room / longest_run + labels_.count() + 1;
  column_row_.reserve(room);
  column_value_.reserve(room);
  part_first_.reserve(parts);
  part_start_.reserve(labels_.count() + 1);
  partial_.resize(std::max(parts, runs_.size()));
}

void HostProjection::sort_by_subdomain() {
  const int m = labels_.count();
  column_start_.assign(m + 1, 0);
  for (const Entry &e : az_) ++column_start_[e.subdomain + 1];
  for (int k = 0; k < m; ++k) column_start_[k + 1] += column_start_[k];
  column_row_.resize(az_.size());
  column_value_.resize(az_.size());
  fill_.assign(column_start_.begin(), column_start_.end());
  for (std::size_t r = 0; r < az_row_.size(); ++r)
    for (std::size_t p = az_start_[r]; p < az_start_[r + 1]; ++p) {
      const std::size_t at = fill_[az_[p].subdomain]++;
      column_row_[at] = az_row_[r];
      column_value_[at] = az_[p].value;
    }
  part_start_.assign(1, 0), part_first_.clear();
  for (int k = 0; k < m; ++k) {
    for (std::size_t p = column_start_[k]; p < column_start_[k + 1]; p += longest_run) part_first_.push_back(p);
    part_start_.push_back(int(part_first_.size()));
  }
  part_first_.push_back(az_.size());
}

// E = Z^T (A Z), the mean of it and its transpose.
void HostProjection::add_to_E() {
  std::fill(e_.begin(), e_.end(), 0.0);
  const std::vector<int> &ia = pattern_.ia, &ja = pattern_.ja;
  const auto place = [&](int k, int l) {
    return std::lower_bound(ja.begin() + ia[k], ja.begin() + ia[k + 1], l) - ja.begin();
  };
  for (std::size_t r = 0; r < az_row_.size(); ++r) {
    const int k = labels_.of_row()[az_row_[r]];
    for (std::size_t p = az_start_[r]; p < az_start_[r + 1]; ++p) e_[place(k, az_[p].subdomain)] += az_[p].value;
  }
  ranks().sum(e_.data(), e_.size());
  for (int k = 0; k < labels_.count(); ++k)
    for (int p = ia[k]; p < ia[k + 1] && ja[p] <= k; ++p) {
      double &back = e_[pattern_.across[p]];
      e_[p] = back = empty_[k] && ja[p] == k ? 1.0 : 0.5 * (e_[p] + back);
    }
}

Result HostProjection::invert(const Csr &a) {
  ranks().on_all([&] { sort_by_subdomain(); });
  add_to_E();
  find_excess(a);
  const dense::BadPivot bad = inverse_.refresh(e_.data(), excess_.data(), 0.0);
  if (bad.unknown >= 0)
    report_.why = "E = Z^T A Z is not positive definite: at subdomain " + text(index_t(bad.unknown)) + " a pivot is " +
                  text(bad.value) + ", its diagonal " + text(bad.diagonal);
  report_.null_directions = inverse_.null_directions();
  report_.stored = index_t(az_.size());
  report_.bytes = double(labels_.bytes() + again_.bytes()) +
                  double((runs_.size() + outside_.size()) * sizeof(Run) + az_.size() * sizeof(Entry)) +
                  double((az_row_.size() + column_row_.size()) * sizeof(PetscInt)) +
                  8.0 * double(az_start_.size() + column_value_.size() + partial_.size() + c_.size() + e_.size()) +
                  inverse_.bytes();
  return report_.why.empty() ? Result::ok : Result::failed;
}

Result HostProjection::setup(const Csr &a, const Space &space, Inverse type) {
  space.ranks->on_all([&] {
    space_ = space;
    space_.phi = nullptr;
    report_ = Report();
  });
  report_.why = labels_.find(a, space, space.phi);
  if (report_.why.empty()) report_.why = why_not(a, labels_.of_row(), ranks());
  if (!report_.why.empty()) return Result::refused;
  std::vector<SumKey> neighbours;
  space.ranks->on_all([&] {
    again_ = labels_; // room for a refresh
    find_runs(a.n);
    neighbours = find_neighbours(a);
  });
  find_empty(run_start_, ranks(), c_, empty_);
  neighbours = ranks().unite(std::move(neighbours));
  space.ranks->on_all([&] {
    pattern_ = CoarsePattern(labels_.count(), neighbours);
    e_.assign(pattern_.ja.size(), 0.0);
    inverse_.setup(pattern_.ia, pattern_.ja, type);
    report_.inverse = inverse_.description();
    (void)read_values(a);
    reserve();
  });
  report_.subdomains = labels_.count();
  report_.empty = int(std::count(empty_.begin(), empty_.end(), 1));
  report_.identity_rows = ranks().total(labels_.identity_rows());
  return invert(a);
}

Result HostProjection::refresh(const Csr &a, const double *phi) {
  report_.why = again_.find(a, space_, phi);
  if (report_.why.empty() && ranks().any(!again_.same_as(labels_))) return Result::rebuild;
  if (report_.why.empty()) report_.why = why_not(a, labels_.of_row(), ranks());
  if (!report_.why.empty()) return Result::refused;
  bool fits = false;
  ranks().on_all([&] { fits = read_values(a); });
  if (ranks().any(!fits)) return Result::rebuild;
  return invert(a);
}

// c[k] += the sum of part(p) over start[k] <= p < start[k + 1]
template <class F> void HostProjection::sum_parts(const std::vector<int> &start, std::size_t parts, const F &part) {
#pragma omp parallel for schedule(static) if (labels_.of_row().size() > std::size_t(host::serial_below))
  for (std::size_t p = 0; p < parts; ++p) partial_[p] = part(p);
  for (int k = 0; k < labels_.count(); ++k)
    for (int p = start[k]; p < start[k + 1]; ++p) c_[k] += partial_[p];
}

void HostProjection::restrict_residual(const double *r, const double *y) {
  std::fill(c_.begin(), c_.end(), 0.0);
  if (r)
    sum_parts(run_start_, runs_.size(), [&](std::size_t p) {
      double s = 0;
#pragma omp simd reduction(+ : s)
      for (PetscInt i = runs_[p].first; i < runs_[p].end; ++i) s += r[i];
      return s;
    });
  if (y)
    sum_parts(part_start_, part_first_.size() - 1, [&](std::size_t p) {
      double s = 0;
      for (std::size_t e = part_first_[p]; e < part_first_[p + 1]; ++e) s -= column_value_[e] * y[column_row_[e]];
      return s;
    });
  ranks().sum(c_.data(), c_.size());
}

void HostProjection::prolong(const double *y, double *z) {
  for (const Run &run : outside_)
    for (PetscInt i = run.first; i < run.end; ++i) z[i] = y ? y[i] : 0.0;
#pragma omp parallel for schedule(static) if (labels_.of_row().size() > std::size_t(host::serial_below))
  for (int k = 0; k < labels_.count(); ++k)
    for (int p = run_start_[k]; p < run_start_[k + 1]; ++p)
      for (PetscInt i = runs_[p].first; i < runs_[p].end; ++i) z[i] = (y ? y[i] : 0.0) + c_[k];
}

void HostProjection::subtract(double *w) {
#pragma omp parallel for schedule(static) if (az_row_.size() > std::size_t(host::serial_below))
  for (std::size_t r = 0; r < az_row_.size(); ++r) {
    double s = 0;
    for (std::size_t p = az_start_[r]; p < az_start_[r + 1]; ++p) s += az_[p].value * c_[az_[p].subdomain];
    w[az_row_[r]] -= s;
  }
}

} // namespace

std::unique_ptr<Projection> make_projection() { return std::make_unique<HostProjection>(); }

} // namespace petscrrb::deflation
