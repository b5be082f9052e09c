// The RRB-solver written from its definition: conjugate gradients on the first Schur complement of a five-point matrix.
// Slow and obvious on purpose; it shares nothing with the library.
#pragma once

#include "cg_reference.hpp"
#include "matrix.hpp"
#include "prepared.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reference {

// S = A_BB - A_BR D_R^-1 A_RB. Vectors and S keep the numbering of all nodes; S has no entries outside of the black
// nodes. Rows of the identity are known, whatever their colour, and belong to neither.
class FirstSchur {
public:
  FirstSchur(const Matrix &A, const Grid &grid) : A_(A), S_(A.size()) {
    for (int p = 0; p < A.size(); p++) kind_.push_back(kind_of(p, grid.nx));
    for (int p = 0; p < A.size(); p++)
      if (kind_[p] == Kind::red) check_red(p);
    for (int p = 0; p < A.size(); p++)
      if (kind_[p] == Kind::black) eliminate_around(p);
  }

  const Matrix &matrix() const { return S_; }
  bool is_black(int p) const { return kind_[p] == Kind::black; }

  // The right-hand side that the black nodes see of A x = b. It is 0 elsewhere.
  Vector reduce(const Vector &b) const {
    const Vector without = without_known(b);
    Vector r(b.size(), 0.0);
    for (int p = 0; p < A_.size(); p++) {
      if (!is_black(p)) continue;
      r[p] = without[p];
      for (const auto &[q, a] : A_.row[p])
        if (kind_[q] == Kind::red) r[p] -= a / A_.at(q, q) * without[q];
    }
    return r;
  }

  // x on all nodes, from x on the black ones.
  Vector extend(const Vector &black, const Vector &b) const {
    Vector x(b.size(), 0.0);
    for (int p = 0; p < A_.size(); p++) x[p] = is_black(p) ? black[p] : known(p, b);
    for (int p = 0; p < A_.size(); p++) {
      if (kind_[p] != Kind::red) continue;
      x[p] = b[p];
      for (const auto &[q, a] : A_.row[p])
        if (q != p) x[p] -= a * x[q];
      x[p] /= A_.at(p, p);
    }
    return x;
  }

private:
  enum class Kind {
    red,
    black,
    known
  };

  const Matrix &A_;
  Matrix S_;
  std::vector<Kind> kind_;

  Kind kind_of(int p, int nx) const {
    bool couples = false;
    for (const auto &[q, a] : A_.row[p]) couples |= q != p && a != 0;
    if (!couples && A_.at(p, p) == 0) throw std::invalid_argument("a row of zeros");
    if (!couples) return Kind::known;
    return (p % nx + p / nx) % 2 ? Kind::red : Kind::black;
  }

  void check_red(int p) const {
    for (const auto &[q, a] : A_.row[p])
      if (q != p && a != 0 && kind_[q] == Kind::red) throw std::invalid_argument("two red nodes couple");
  }

  double known(int p, const Vector &b) const { return kind_[p] == Kind::known ? b[p] / A_.at(p, p) : 0; }

  Vector without_known(const Vector &b) const {
    Vector r = b;
    for (int p = 0; p < A_.size(); p++)
      for (const auto &[q, a] : A_.row[p]) r[p] -= a * known(q, b);
    return r;
  }

  void eliminate_around(int p) {
    for (const auto &[q, a] : A_.row[p]) {
      if (is_black(q)) S_.add(p, q, a);
      if (kind_[q] != Kind::red) continue;
      for (const auto &[r, c] : A_.row[q])
        if (is_black(r)) S_.add(p, r, -a / A_.at(q, q) * c);
    }
  }
};

// Solves A x = b from x0. Iteration 0 is x0 on all nodes; after it red and known nodes are exact. What `precondition`
// makes of a vector that is 0 on the red nodes is the method below level 1, and then the red nodes. The norm to reach
// is relative to b's, whatever x0 is.
inline CGResult schur_cg(const Matrix &A, const Grid &grid, const Vector &b, const Vector &x0,
                         const std::function<Vector(const Vector &)> &precondition, Norm norm = Norm::natural,
                         double rtol = 1e-6, int most = 10000) {
  const FirstSchur schur(A, grid);
  Vector r0 = A.multiply(x0);
  for (std::size_t p = 0; p < b.size(); p++) r0[p] = b[p] - r0[p];
  const double first = norm_of(norm, r0, precondition(r0)), target = rtol * norm_of(norm, b, precondition(b));
  const Vector r = schur.reduce(r0);
  CGResult result = cg_to(schur.matrix(), r, precondition, norm, first, target, most);
  if (first > target && dot(r, r) == 0) { // what is known was all
    result.iterations = 1;
    result.converged = true;
    result.history.push_back(0);
  }
  const Vector correction = result.iterations ? schur.extend(result.x, r0) : Vector(b.size(), 0.0);
  for (std::size_t p = 0; p < b.size(); p++) result.x[p] = x0[p] + correction[p];
  return result;
}

} // namespace reference
