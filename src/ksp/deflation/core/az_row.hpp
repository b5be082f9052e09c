// A row of A Z from a row of A and the labels of its columns.
#pragma once

#include "stencil/read_couplings.hpp"

#include <cmath>

namespace petscrrb::deflation {

PETSCRRB_HD inline bool same_phase(double phi, double other) { return (phi >= 0.0) == (other >= 0.0); }
// d, other: diagonals
PETSCRRB_HD inline bool same_phase(double d, double other, double jump) {
  return (d > other ? d : other) < jump * (d > other ? other : d);
}

// The largest asymmetry() (facts.hpp) of row i with others. Identity rows have none, and their columns count for nothing.
PETSCRRB_HD inline double asymmetry_of_row(const Csr &A, const int *label, PetscInt i) {
  double most = 0.0;
  if (label[i] < 0) return most;
  for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
    const PetscInt j = A.ja[e];
    if (j == i || label[j] < 0) continue;
    const double there = entry(A, j, i);
    if (differ(A.a[e], there)) most = larger(asymmetry(A.a[e], there, entry(A, i, i), entry(A, j, j)), most);
  }
  return most;
}

// The row's sum, and how its couplings lie. What counts as zero is 0.
struct RowSum {
  double value = 0.0;
  bool inside = true; // all couplings stay in the row's own subdomain
};

PETSCRRB_HD inline RowSum row_sum(const Csr &A, const int *label, double rounding, PetscInt i) {
  RowSum sum;
  double diagonal = 0.0;
  for (PetscInt e = A.ia[i]; e < A.ia[i + 1]; ++e) {
    const PetscInt j = A.ja[e];
    if (label[j] < 0) continue;
    sum.value += A.a[e];
    if (j == i) diagonal = A.a[e];
    sum.inside = sum.inside && label[j] == label[i];
  }
  if (std::abs(sum.value) <= rounding * std::abs(diagonal)) sum.value = 0.0;
  return sum;
}

// f(subdomain, value) for each subdomain that couplings of row i lead to, its own last; zeros too. The row is in a
// subdomain itself. Its own value is what the others leave of the row's sum: where that is 0 they cancel to the bit.
template <class F>
PETSCRRB_HD inline void each_of_az_row(const Csr &A, const int *label, PetscInt i, const RowSum &sum, const F &f) {
  double others = 0.0;
  const PetscInt first = A.ia[i], end = A.ia[i + 1];
  for (PetscInt e = first; e < end && !sum.inside; ++e) {
    const int s = label[A.ja[e]];
    if (s < 0 || s == label[i]) continue;
    PetscInt before = first;
    while (label[A.ja[before]] != s) ++before;
    if (before < e) continue; // was counted with that one
    double value = 0.0;
    for (PetscInt k = e; k < end; ++k)
      if (label[A.ja[k]] == s) value += A.a[k];
    others += value;
    f(s, value);
  }
  f(label[i], sum.value - others);
}

} // namespace petscrrb::deflation
