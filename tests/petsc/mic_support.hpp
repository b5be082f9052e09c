// What the tests of PCMIC through PETSc share: the matrix that is factored, its factors by the textbook, problems in 3D.
#pragma once

#include "support.hpp"
#include "unit/neumann_support.hpp"

#include <random>

namespace petsctest {

inline Preconditioner mic_of(Mat P, const std::string &options = "") { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCMIC));
  ok(PCSetFromOptions(pc));
  return pc;
}

// The shapes with 5 and 7 points.
inline std::vector<Shape> mic_shapes() {
  std::vector<Shape> out;
  for (const Shape &s : neumann_support::shapes)
    if (s.points != 9) out.push_back(s);
  for (const Shape &s : {Shape{8, 16, 1}, Shape{33, 17, 1}, Shape{16, 8, 9, false, false, false, 7},
                         Shape{3, 5, 7, false, false, false, 7}, Shape{1, 1, 9, false, false, false, 7},
                         Shape{17, 33, 2, false, false, false, 7}})
    out.push_back(s);
  return out;
}

// Diagonally dominant, and diagonals that differ a hundredfold.
inline SmallMatrix dominant(const Shape &s, unsigned seed = 1) {
  SmallMatrix A = random_matrix(s, seed);
  for (int p = 0; p < s.size(); ++p) A.set(p, p, p % 5 ? 13 + p % 3 : 1300);
  return A;
}

// What M is made from: no couplings with identity rows, over seams, or between blocks of `lines` lines of the last side.
inline reference::Matrix kept(const SmallMatrix &A, const Shape &s, int lines = 0) {
  const int n = A.size(), line = s.points == 7 ? s.nx * s.ny : s.nx;
  reference::Matrix out(n);
  std::vector<bool> identity(std::size_t(n), true);
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q)
      if (q != p && A.at(p, q) != 0) identity[p] = false;
  for (int p = 0; p < n; ++p) {
    out.add(p, p, identity[p] && A.at(p, p) == 0 ? 1 : A.at(p, p));
    const auto couple = [&](int q, bool inside) {
      if (!inside || identity[p] || identity[q] || (lines && p / line / lines != q / line / lines)) return;
      if (A.at(p, q) != 0) out.add(p, q, A.at(p, q)), out.add(q, p, A.at(q, p));
    };
    if (p + 1 < n) couple(p + 1, (p + 1) % s.nx != 0);
    if (p + s.nx < n) couple(p + s.nx, s.points != 7 || p / s.nx % s.ny + 1 < s.ny);
    if (s.points == 7 && p + line < n) couple(p + line, true);
  }
  return out;
}

struct Factors { // (D + L) D^-1 (D + L^T) over `divisor`
  reference::Matrix A;
  reference::Vector d;
  double divisor = 1;

  reference::Vector apply(reference::Vector r) const {
    for (int i = 0; i < A.size(); ++i) {
      for (const auto &[j, a] : A.row[i])
        if (j < i) r[i] -= a * r[j];
      r[i] /= d[i];
    }
    for (int i = A.size() - 1; i >= 0; --i)
      for (const auto &[j, a] : A.row[i])
        if (j > i) r[i] -= a * r[j] / d[i];
    for (double &z : r) z *= divisor;
    return r;
  }
};

// d_i = a_ii - sum over lower j of (a_ij / d_j) (a_ij + omega sum over j's other upper k of a_jk)
inline Factors mic_factors(const reference::Matrix &A, double omega) {
  Factors f{A, reference::Vector(A.row.size(), 0.0)};
  for (int i = 0; i < A.size(); ++i) {
    f.d[i] = A.at(i, i);
    for (const auto &[j, a] : A.row[i]) {
      if (j >= i) continue;
      double others = 0;
      for (const auto &[k, b] : A.row[j])
        if (k > j && k != i) others += b;
      f.d[i] -= a / f.d[j] * (a + omega * others);
    }
  }
  return f;
}

inline Factors ssor_factors(const reference::Matrix &A, double omega) {
  Factors f{A, reference::Vector(A.row.size(), 0.0), 2 - omega};
  for (int i = 0; i < A.size(); ++i) f.d[i] = A.at(i, i) / omega;
  return f;
}

// (1/r) I + Laplace, h^2-scaled, on n points a side, and a normal right-hand side; r = 0: none of the former
inline reference::Problem cube(int n, int sides, double r) {
  const int size = sides == 3 ? n * n * n : n * n;
  reference::Problem out;
  out.A = reference::Matrix(size);
  for (int p = 0; p < size; ++p) {
    out.A.add(p, p, 2 * sides + (r > 0 ? 1 / r : 0));
    for (int d = 0, stride = 1; d < sides; ++d, stride *= n)
      if (p / stride % n + 1 < n) out.A.add(p, p + stride, -1), out.A.add(p + stride, p, -1);
  }
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int p = 0; p < size; ++p) out.b.push_back(normal(random));
  return out;
}

} // namespace petsctest
