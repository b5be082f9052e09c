// A series of a matrix that is on no grid, or on several ranks: the patterns of its triangles, or of the product that
// incomplete Poisson keeps, and how their values come from those of the matrix.
#pragma once

#include "pc/neumann/core/read.hpp"

#include <vector>

namespace petscrrb::neumann {

// Rows of some entries (p, q), columns in order; where a_pq and a_qp stand among the matrix's values, -1: nowhere. ia is empty
// where there are no rows.
struct SparsePattern {
  std::vector<PetscInt> ia, ja, here, there;

  PetscInt entries() const { return static_cast<PetscInt>(ja.size()); }
};

// Rows that are not the rank's own: they follow those, in ia, ja and a of its Csr. The last of them stands for all that
// are further away, and is empty.
struct Ghosts {
  PetscInt n = 0;              // none on one rank
  std::vector<PetscInt> order; // of all rows: who is earlier; empty: they are in their order
};

enum class Kept {
  triangles, // L~ and its transpose, with a minus
  pattern,   // the product, where the matrix has a coupling
  threshold  // the product, where an entry is as large as the threshold
};

struct SparseChoice {
  Kept kept;
  bool scaled;      // of the product
  double threshold; // likewise
  double omega;     // of the triangles
  PetscInt ghosts;
};

struct SparsePlan : SparseChoice {
  // Of own rows: the columns that are own rows', and those that are ghosts'.
  SparsePattern lower[2];  // where triangles are kept
  SparsePattern second[2]; // the upper triangle, or the product
  SparsePattern triangle;  // where the product is kept: the lower one, of ghosts too
};

// By what is stored in the rows, whatever the values are: an entry that is 0 now may not stay so. Rows on the host.
SparsePlan make_sparse_plan(const Csr &, const Series &, Kept, double threshold, const Ghosts & = {});

// A pattern and its values where they are made; ia is null where there is none.
struct PatternView {
  const PetscInt *ia, *ja, *here, *there;
  double *value;
};

// f(p) of rows from `first` on.
template <class F> struct RowsFrom {
  F f;
  PetscInt first;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const { return f(first + p); }
};

// s and the identity rows. A row without nonzeros is an identity row.
struct ReadDiagonal {
  Csr A;
  Relaxation relaxed;
  double *s;
  unsigned char *identity;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
    bool coupled = false;
    double d = 0, check = 0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      check += A.a[e] * 0.0;
      if (A.ja[e] == p)
        d = A.a[e];
      else if (A.a[e] != 0)
        coupled = true;
    }
    found.not_finite = check != 0;
    found.identity_rows = !coupled;
    if (!coupled && d == 0) d = 1;
    if (!(d > 0)) found.bad_pivot = p;
    s[p] = (coupled ? relaxed.scale : 1) * scale_of(d);
    identity[p] = !coupled;
    return found;
  }
};

// The mean of a_pq and a_qp, scaled by s, which is scale / sqrt(a_pp); none with an identity row.
PETSCRRB_HD inline double coupling(double here, double there, PetscInt p, PetscInt q, const double *s, double scale,
                                   const unsigned char *identity, RowFacts &found) {
  if (identity[p] | identity[q]) return 0;
  if (differ(here, there)) {
    const double a = scale / s[p], b = scale / s[q];
    found.asymmetry = larger(found.asymmetry, asymmetry(here, there, a * a, b * b));
  }
  return 0.5 * (here + there) * s[p] * s[q];
}

// The row p of a triangle with a minus.
struct FillTriangle {
  const PetscScalar *a;
  PatternView pattern[2];
  Relaxation relaxed;
  const double *s;
  const unsigned char *identity;
  bool sums; // whether the norm is wanted

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
    for (int part = 0; part < 2; ++part)
      if (pattern[part].ia) fill(p, pattern[part], found);
    if (!sums) found.norm = 0;
    return found;
  }

private:
  PETSCRRB_HD void fill(PetscInt p, const PatternView &to, RowFacts &found) const {
    for (PetscInt e = to.ia[p]; e < to.ia[p + 1]; ++e) {
      const PetscInt here = to.here[e], there = to.there[e];
      const double scaled =
          coupling(here < 0 ? 0 : a[here], there < 0 ? 0 : a[there], p, to.ja[e], s, relaxed.scale, identity, found);
      to.value[e] = -relaxed.coupling * scaled;
      found.norm += fabs(to.value[e]);
    }
  }
};

// The row p of what is kept of (I - L~)(I - L~^T), scaled back; or of (I - L D^-1)(I - D^-1 L^T).
struct FillProduct {
  PatternView lower, product[2]; // lower: -L~
  const double *s;
  SparseChoice choice;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    for (int part = 0; part < 2; ++part)
      if (product[part].ia)
        for (PetscInt e = product[part].ia[p]; e < product[part].ia[p + 1]; ++e)
          product[part].value[e] = entry_of(p, product[part].ja[e]);
    return RowFacts();
  }

private:
  PETSCRRB_HD double weight(PetscInt c) const { return choice.scaled ? 1 : s[c] * s[c]; }

  // -L~ at (p, q); 0 where there is none
  PETSCRRB_HD double at(PetscInt p, PetscInt q) const {
    for (PetscInt e = lower.ia[p]; e < lower.ia[p + 1]; ++e)
      if (lower.ja[e] == q) return lower.value[e];
    return 0;
  }

  PETSCRRB_HD double entry_of(PetscInt p, PetscInt q) const {
    PetscInt e = lower.ia[p], f = lower.ia[q];
    const PetscInt e_end = lower.ia[p + 1], f_end = lower.ia[q + 1];
    double sum = p == q ? weight(p) : 0, direct = 0;
    while (e < e_end && f < f_end) { // columns that both rows have
      const PetscInt c = lower.ja[e], d = lower.ja[f];
      if (c == d) sum += lower.value[e] * weight(c) * lower.value[f];
      e += c <= d;
      f += d <= c;
    }
    if (p != q) { // the diagonal of the earlier row: one of the two is in the lower triangle
      const double below = at(p, q), above = at(q, p);
      direct = below + above;
      sum += below * weight(q) + above * weight(p);
    }
    if (!choice.scaled) sum /= s[p] * s[q];
    if (p != q && choice.kept == Kept::pattern && direct == 0) return 0;
    if (p != q && choice.kept == Kept::threshold && fabs(sum) < choice.threshold) return 0;
    return choice.scaled ? sum * s[p] * s[q] : sum;
  }
};

} // namespace petscrrb::neumann
