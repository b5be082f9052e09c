// A Cholesky factorization within a matrix's profile, and the dense inverse made from it.
#include "dense/host/profile.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::dense {

namespace {

constexpr double no_pivot = 1e-12; // a pivot that is this part of its diagonal is rounding

} // namespace

// Reverse Cuthill-McKee: breadth first, each component from an unknown that is far from others in it.
void ProfileInverse::order() {
  const int n = size();
  std::vector<int> seen(n, -1);
  const auto degree = [&](int i) { return ia_[i + 1] - ia_[i]; };
  const auto sweep = [&](int seed, int mark) { // appends the component to at_
    const std::size_t begin = at_.size();
    at_.push_back(seed);
    seen[seed] = mark;
    for (std::size_t p = begin; p < at_.size(); ++p) {
      const std::size_t added = at_.size();
      for (int e = ia_[at_[p]]; e < ia_[at_[p] + 1]; ++e)
        if (seen[ja_[e]] != mark) seen[ja_[e]] = mark, at_.push_back(ja_[e]);
      std::stable_sort(at_.begin() + added, at_.end(), [&](int a, int b) { return degree(a) < degree(b); });
    }
    return begin;
  };
  at_.clear();
  int mark = 0;
  for (int i = 0; i < n; ++i) {
    if (seen[i] >= 0) continue;
    int seed = i;
    for (int again = 0; again < 2; ++again) { // the last one of a sweep is far from its seed
      const std::size_t begin = sweep(seed, mark++);
      seed = at_.back();
      at_.resize(begin);
    }
    sweep(seed, mark++);
  }
  std::reverse(at_.begin(), at_.end());
  position_.resize(n);
  for (int p = 0; p < n; ++p) position_[at_[p]] = p;
}

void ProfileInverse::setup(std::vector<int> ia, std::vector<int> ja, Inverse type) {
  ia_ = std::move(ia), ja_ = std::move(ja), type_ = type;
  const int n = size();
  order();
  first_.resize(n);
  row_.resize(n);
  std::size_t entries = 0;
  for (int p = 0; p < n; ++p) {
    int first = p;
    for (int e = ia_[at_[p]]; e < ia_[at_[p] + 1]; ++e) first = std::min(first, position_[ja_[e]]);
    first_[p] = first;
    row_[p] = entries - first;
    entries += p - first + 1;
  }
  factor_.resize(entries);
  inverse_.resize(type == Inverse::explicit_inverse ? std::size_t(n) * n : 0);
  components_.resize(n);
  members_.assign(n, 0);
  last_.assign(n, 0);
  dropped_.assign(n, 0);
  work_.assign(n, 0);
  mean_.assign(n, 0);
  null_part_.assign(n, 0);
}

// A singular component loses one pivot, the last one that is eliminated.
void ProfileInverse::drop_singular() {
  std::fill(dropped_.begin(), dropped_.end(), 0);
  std::fill(members_.begin(), members_.end(), 0);
  for (int p = 0; p < size(); ++p) {
    const PetscInt c = components_.of(at_[p]);
    ++members_[c], last_[c] = p;
  }
  singular_ = 0;
  for (PetscInt c = 0; c < components_.count(); ++c)
    if (components_.kind(c) == Components::Kind::singular) dropped_[last_[c]] = 1, ++singular_;
  null_ = singular_;
}

BadPivot ProfileInverse::factor(const double *a) {
  const int n = size();
  double *L = factor_.data();
  std::fill_n(L, factor_.size(), 0.0);
  for (int p = 0; p < n; ++p)
    for (int q = ia_[at_[p]]; q < ia_[at_[p] + 1]; ++q)
      if (position_[ja_[q]] <= p) L[row_[p] + position_[ja_[q]]] = a[q];
  for (int i = 0; i < n; ++i) {
    double *Li = L + row_[i];
    const double diagonal = Li[i];
    double pivot = diagonal;
    for (int j = first_[i]; j < i; ++j) {
      const double *Lj = L + row_[j];
      double s = Li[j];
#pragma omp simd reduction(- : s)
      for (int k = std::max(first_[i], first_[j]); k < j; ++k) s -= Li[k] * Lj[k];
      Li[j] = dropped_[j] ? 0.0 : s / Lj[j];
      pivot -= Li[j] * Li[j];
    }
    if (!dropped_[i] && std::abs(pivot) <= no_pivot * diagonal) dropped_[i] = 1, ++null_;
    if (dropped_[i]) // of a component that is not projected, the pivot is 1 / null_inverse
      Li[i] = components_.kind(components_.of(at_[i])) == Components::Kind::singular ? 0.0 : std::sqrt(null_inverse_);
    else if (!(pivot > 0.0))
      return {at_[i], pivot, diagonal};
    else
      Li[i] = std::sqrt(pivot);
  }
  return {};
}

void ProfileInverse::forward(double *x, int from) const {
  for (int i = from; i < size(); ++i) {
    const double *Li = factor_.data() + row_[i];
    double s = x[i];
#pragma omp simd reduction(- : s)
    for (int k = std::max(first_[i], from); k < i; ++k) s -= Li[k] * x[k];
    x[i] = dropped_[i] ? Li[i] * s : s / Li[i]; // NaN stays NaN
  }
}

void ProfileInverse::backward(double *x) const {
  for (int i = size() - 1; i >= 0; --i) {
    const double *Li = factor_.data() + row_[i];
    x[i] = dropped_[i] ? Li[i] * x[i] : x[i] / Li[i];
    const double xi = x[i];
#pragma omp simd
    for (int k = first_[i]; k < i; ++k) x[k] -= Li[k] * xi;
  }
}

// c -= its mean on each singular component, which is kept
void ProfileInverse::project(double *c) {
  if (!singular_) return;
  std::fill(mean_.begin(), mean_.end(), 0.0);
  for (int i = 0; i < size(); ++i) mean_[components_.of(i)] += c[i];
  for (PetscInt k = 0; k < components_.count(); ++k) mean_[k] /= members_[k];
  for (int i = 0; i < size(); ++i)
    if (components_.kind(components_.of(i)) == Components::Kind::singular) c[i] -= mean_[components_.of(i)];
}

void ProfileInverse::invert() {
  const int n = size();
#pragma omp parallel for schedule(dynamic, 16)
  for (int p = 0; p < n; ++p) { // in the order of elimination
    double *column = inverse_.data() + std::size_t(p) * n;
    std::fill_n(column, n, 0.0);
    column[p] = 1.0;
    forward(column, p);
    backward(column);
  }
  make_symmetric(inverse_.data(), n);
}

BadPivot ProfileInverse::refresh(const double *a, const double *excess, double null_inverse) {
  null_inverse_ = null_inverse;
  components_.find(ia_.data(), ja_.data(), a, excess);
  drop_singular();
  const BadPivot bad = factor(a);
  if (bad.unknown < 0 && type_ == Inverse::explicit_inverse) invert();
  return bad;
}

void ProfileInverse::apply(double *c) {
  const int n = size();
  project(c);
  if (singular_) null_part_ = mean_;
  for (int p = 0; p < n; ++p) work_[p] = c[at_[p]];
  if (type_ == Inverse::explicit_inverse) {
    multiply(inverse_.data(), n, work_.data(), [&](PetscInt p, double value) { c[at_[p]] = value; });
  } else {
    forward(work_.data(), 0);
    backward(work_.data());
    for (int p = 0; p < n; ++p) c[at_[p]] = work_[p];
  }
  project(c);
  if (!singular_) return;
  for (int i = 0; i < n; ++i)
    if (components_.kind(components_.of(i)) == Components::Kind::singular)
      c[i] += null_inverse_ * null_part_[components_.of(i)];
}

std::string ProfileInverse::description() const {
  if (type_ == Inverse::explicit_inverse) return "explicit inverse, dense";
  return "Cholesky, " + std::to_string(factor_.size()) + " entries";
}

double ProfileInverse::bytes() const {
  const std::size_t integers =
      ia_.size() + ja_.size() + 2 * at_.size() + first_.size() + members_.size() + last_.size();
  return double(factor_.bytes() + inverse_.bytes() + components_.bytes() + integers * sizeof(int) +
                row_.size() * sizeof(std::size_t) + (work_.size() + mean_.size() + null_part_.size()) * sizeof(double) +
                dropped_.size());
}

} // namespace petscrrb::dense
