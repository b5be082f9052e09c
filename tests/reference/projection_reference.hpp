// The parts of the projection one by one, for matrices of more rows than deflation_reference.hpp takes: only A Z and
// E = Z^T A Z are dense.
#pragma once

#include "deflation_reference.hpp"

namespace reference {

class Projection {
public:
  Projection(const Matrix &A, std::vector<int> label, int count)
      : label_(std::move(label)), az_(A.size(), Vector(count, 0.0)), e_(count, Vector(count, 0.0)), size_(count, 0.0) {
    for (int i = 0; i < A.size(); i++)
      for (const auto &[j, value] : A.row[i])
        if (label_[i] >= 0 && label_[j] >= 0) az_[i][label_[j]] += value;
    for (int i = 0; i < A.size(); i++) {
      if (label_[i] < 0) continue;
      for (int t = 0; t < count; t++) e_[label_[i]][t] += az_[i][t];
      size_[label_[i]] += std::abs(A.at(i, i));
    }
    for (int s = 0; s < count; s++)
      if (std::count(label_.begin(), label_.end(), s) == 0) e_[s][s] = 1, empty_++;
    find_null_space();
  }

  int count() const { return static_cast<int>(e_.size()); }
  int empty() const { return empty_; }
  int null_directions() const { return static_cast<int>(null_.size()); }

  // Z^T r - (A Z)^T y
  Vector restrict_residual(const Vector &r, const Vector &y) const {
    Vector c(count(), 0.0);
    for (std::size_t i = 0; i < label_.size(); i++) {
      if (label_[i] >= 0) c[label_[i]] += r[i];
      for (int t = 0; t < count(); t++) c[t] -= az_[i][t] * y[i];
    }
    return c;
  }
  // E^+ c = (E + N N^T)^-1 (c - N N^T c), N the null vectors
  Vector solve(Vector c) const {
    std::vector<Vector> regular = e_;
    for (const Vector &v : null_) {
      const double part = dot(v, c);
      for (int s = 0; s < count(); s++) {
        c[s] -= part * v[s];
        for (int t = 0; t < count(); t++) regular[s][t] += v[s] * v[t];
      }
    }
    return dense_solve(regular, c);
  }
  // y + Z c
  Vector prolong(const Vector &y, const Vector &c) const {
    Vector z = y;
    for (std::size_t i = 0; i < label_.size(); i++)
      if (label_[i] >= 0) z[i] += c[label_[i]];
    return z;
  }
  // w - (A Z) c
  Vector subtract(Vector w, const Vector &c) const {
    for (std::size_t i = 0; i < label_.size(); i++) w[i] -= dot(az_[i], c);
    return w;
  }

private:
  // Constants on the connected components of E whose rows have no sum.
  void find_null_space() {
    std::vector<int> component(count(), -1), stack;
    for (int seed = 0; seed < count(); seed++) {
      if (component[seed] >= 0) continue;
      Vector v(count(), 0.0);
      bool singular = true;
      component[seed] = seed;
      stack = {seed};
      while (!stack.empty()) {
        const int s = stack.back();
        stack.pop_back();
        double sum = 0;
        v[s] = 1;
        for (int t = 0; t < count(); t++) {
          sum += e_[s][t];
          if (e_[s][t] == 0 || component[t] >= 0) continue;
          component[t] = seed;
          stack.push_back(t);
        }
        singular = singular && std::abs(sum) <= 1e-12 * size_[s];
      }
      if (!singular) continue;
      const double norm = std::sqrt(dot(v, v));
      for (double &value : v) value /= norm;
      null_.push_back(v);
    }
  }

  std::vector<int> label_;
  std::vector<Vector> az_, e_, null_;
  Vector size_; // of the numbers that a row of E is the sum of
  int empty_ = 0;
};

} // namespace reference
