// E^+ on the host: a Cholesky factorization within E's profile, or the dense inverse made from it.
#include "ksp/deflation/host/inverse.hpp"

#include "grid/text.hpp"

#include <algorithm>
#include <cmath>

namespace petscrrb::deflation {

namespace {

// A pivot that is this part of its diagonal is rounding.
constexpr double no_pivot = 1e-12;
constexpr int serial_below = 256;

} // namespace

// Reverse Cuthill-McKee: breadth first, each component from an unknown that is far from others in it.
void HostInverse::order() {
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

void HostInverse::setup(std::vector<int> ia, std::vector<int> ja, Inverse type) {
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
  component_.assign(n, -1);
  members_.assign(n, 0);
  dropped_.assign(n, 0);
  work_.assign(n, 0);
  mean_.assign(n, 0);
  stack_.assign(n, 0);
}

// Those without a grounded subdomain lose one pivot, the last one that is eliminated.
void HostInverse::find_components(const double *e, const std::vector<char> &grounded, const std::vector<char> &empty) {
  const int n = size();
  std::fill(component_.begin(), component_.end(), -2);
  std::fill(dropped_.begin(), dropped_.end(), 0);
  std::fill(members_.begin(), members_.end(), 0);
  singular_ = null_ = 0;
  for (int seed = 0; seed < n; ++seed) {
    if (component_[seed] != -2) continue;
    int found = 0;
    bool regular = false;
    stack_[found++] = seed;
    component_[seed] = singular_;
    for (int next = 0; next < found; ++next) {
      const int i = stack_[next];
      regular |= grounded[i] || empty[i];
      for (int p = ia_[i]; p < ia_[i + 1]; ++p) {
        const int j = ja_[p];
        if (e[p] == 0.0 || component_[j] != -2) continue;
        component_[j] = singular_;
        stack_[found++] = j;
      }
    }
    if (regular) {
      for (int k = 0; k < found; ++k) component_[stack_[k]] = -1;
      continue;
    }
    int last = 0;
    for (int k = 0; k < found; ++k) last = std::max(last, position_[stack_[k]]);
    dropped_[last] = 1;
    members_[singular_++] = found;
    ++null_;
  }
}

std::string HostInverse::factor(const double *e) {
  const int n = size();
  double *L = factor_.data();
  std::fill_n(L, factor_.size(), 0.0);
  for (int p = 0; p < n; ++p)
    for (int q = ia_[at_[p]]; q < ia_[at_[p] + 1]; ++q)
      if (position_[ja_[q]] <= p) L[row_[p] + position_[ja_[q]]] = e[q];
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
    if (dropped_[i])
      Li[i] = 0.0;
    else if (!(pivot > 0.0))
      return "E = Z^T A Z is not positive definite: at subdomain " + text(index_t(at_[i])) + " a pivot is " +
             text(pivot) + ", its diagonal " + text(diagonal);
    else
      Li[i] = std::sqrt(pivot);
  }
  return "";
}

void HostInverse::forward(double *x, int from) const {
  for (int i = from; i < size(); ++i) {
    const double *Li = factor_.data() + row_[i];
    double s = x[i];
#pragma omp simd reduction(- : s)
    for (int k = std::max(first_[i], from); k < i; ++k) s -= Li[k] * x[k];
    x[i] = dropped_[i] ? 0.0 : s / Li[i];
  }
}

void HostInverse::backward(double *x) const {
  for (int i = size() - 1; i >= 0; --i) {
    const double *Li = factor_.data() + row_[i];
    x[i] = dropped_[i] ? 0.0 : x[i] / Li[i];
    const double xi = x[i];
#pragma omp simd
    for (int k = first_[i]; k < i; ++k) x[k] -= Li[k] * xi;
  }
}

// c -= its mean on each singular component
void HostInverse::project(double *c) {
  if (!singular_) return;
  std::fill_n(mean_.begin(), singular_, 0.0);
  for (int i = 0; i < size(); ++i)
    if (component_[i] >= 0) mean_[component_[i]] += c[i];
  for (int k = 0; k < singular_; ++k) mean_[k] /= members_[k];
  for (int i = 0; i < size(); ++i)
    if (component_[i] >= 0) c[i] -= mean_[component_[i]];
}

void HostInverse::invert() {
  const int n = size();
#pragma omp parallel for schedule(dynamic, 16)
  for (int p = 0; p < n; ++p) { // in the order of elimination
    double *column = inverse_.data() + std::size_t(p) * n;
    std::fill_n(column, n, 0.0);
    column[p] = 1.0;
    forward(column, p);
    backward(column);
  }
#pragma omp parallel for schedule(dynamic, 16)
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) {
      double &a = inverse_.data()[std::size_t(j) * n + i], &b = inverse_.data()[std::size_t(i) * n + j];
      a = b = 0.5 * (a + b);
    }
}

std::string HostInverse::refresh(const double *e, const std::vector<char> &grounded, const std::vector<char> &empty) {
  find_components(e, grounded, empty);
  const std::string why = factor(e);
  if (why.empty() && type_ == Inverse::explicit_inverse) invert();
  return why;
}

void HostInverse::apply(double *c) {
  const int n = size();
  project(c);
  for (int p = 0; p < n; ++p) work_[p] = c[at_[p]];
  if (type_ == Inverse::explicit_inverse) {
#pragma omp parallel for schedule(static) if (n > serial_below)
    for (int p = 0; p < n; ++p) {
      const double *row = inverse_.data() + std::size_t(p) * n;
      double s = 0.0;
#pragma omp simd reduction(+ : s)
      for (int q = 0; q < n; ++q) s += row[q] * work_[q];
      c[at_[p]] = s;
    }
  } else {
    forward(work_.data(), 0);
    backward(work_.data());
    for (int p = 0; p < n; ++p) c[at_[p]] = work_[p];
  }
  project(c);
}

std::string HostInverse::description() const {
  if (type_ == Inverse::explicit_inverse) return "explicit inverse, dense";
  return "Cholesky, " + text(index_t(factor_.size())) + " entries";
}

double HostInverse::bytes() const {
  const std::size_t integers =
      ia_.size() + ja_.size() + 2 * at_.size() + first_.size() + component_.size() + members_.size() + stack_.size();
  return double(factor_.bytes() + inverse_.bytes() + integers * sizeof(int) + row_.size() * sizeof(std::size_t) +
                (work_.size() + mean_.size()) * sizeof(double) + dropped_.size());
}

} // namespace petscrrb::deflation
