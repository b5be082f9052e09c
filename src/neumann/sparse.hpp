// A series of a matrix that is on no grid: the patterns of its triangles, or of the product that incomplete Poisson
// keeps, and how their values come from those of the matrix.
#pragma once

#include "read.hpp"

#include <vector>

namespace petscrrb::neumann {

// Rows of some entries (p, q), columns in order; where a_pq and a_qp stand among the matrix's values, -1: nowhere.
struct SparsePattern {
  std::vector<PetscInt> ia{0}, ja, here, there;

  PetscInt entries() const { return ia.back(); }
};

enum class Kept {
  triangles, // L~ and its transpose, with a minus
  pattern,   // the product, where the matrix has a coupling
  threshold  // the product, where an entry is as large as the threshold
};

struct SparsePlan {
  Kept kept;
  bool scaled;      // of the product
  double threshold; // likewise
  double omega;     // of the triangles

  SparsePattern lower;
  SparsePattern second; // the upper triangle, or the product
};

// By what is stored in the rows, whatever the values are: an entry that is 0 now may not stay so. Rows on the host.
SparsePlan make_sparse_plan(const Csr &, const Series &, Kept, double threshold);

// The same pattern where its values are made.
struct PatternView {
  const PetscInt *ia, *ja, *here, *there;
};

// s and the identity rows. A row without nonzeros is an identity row.
struct ReadDiagonal {
  Csr A;
  Relaxation relaxed;
  double *s;
  unsigned char *identity;

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
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
    found.identity = !coupled;
    if (!coupled && d == 0) d = 1;
    if (coupled) found.diagonal = d < 0 ? -d : d;
    found.bad_pivot = !(d > 0);
    s[p] = (coupled ? relaxed.scale : 1) * scale_of(d);
    identity[p] = !coupled;
    return found;
  }
};

// The mean of a_pq and a_qp, scaled; none with an identity row.
PETSCRRB_HD inline double coupling(double here, double there, PetscInt p, PetscInt q, const double *s,
                                   const unsigned char *identity, RowFinding &found) {
  if (identity[p] | identity[q]) return 0;
  const double difference = here - there;
  found.asymmetry = larger(found.asymmetry, difference < 0 ? -difference : difference);
  return 0.5 * (here + there) * s[p] * s[q];
}

// The row p of a triangle with a minus.
struct FillTriangle {
  const PetscScalar *a;
  PatternView pattern;
  Relaxation relaxed;
  const double *s;
  const unsigned char *identity;
  double *value;

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    RowFinding found;
    for (PetscInt e = pattern.ia[p]; e < pattern.ia[p + 1]; ++e) {
      const PetscInt here = pattern.here[e], there = pattern.there[e];
      const double scaled =
          coupling(here < 0 ? 0 : a[here], there < 0 ? 0 : a[there], p, pattern.ja[e], s, identity, found);
      value[e] = -relaxed.coupling * scaled;
      found.norm += fabs(value[e]);
    }
    return found;
  }
};

// The row p of what is kept of (I - L~)(I - L~^T), scaled back; or of (I - L D^-1)(I - D^-1 L^T).
struct FillProduct {
  PatternView lower, product;
  const double *triangle, *s; // -L~
  Kept kept;
  bool scaled;
  double threshold;
  double *value;

  PETSCRRB_HD RowFinding operator()(PetscInt p) const {
    for (PetscInt e = product.ia[p]; e < product.ia[p + 1]; ++e) value[e] = entry_of(p, product.ja[e]);
    return RowFinding();
  }

private:
  PETSCRRB_HD double weight(PetscInt c) const { return scaled ? 1 : s[c] * s[c]; }

  PETSCRRB_HD double entry_of(PetscInt p, PetscInt q) const {
    const PetscInt high = p > q ? p : q, low = p > q ? q : p;
    PetscInt e = lower.ia[high], f = lower.ia[low];
    const PetscInt e_end = lower.ia[high + 1], f_end = lower.ia[low + 1];
    double sum = p == q ? weight(p) : 0, direct = 0;
    while (e < e_end && f < f_end) { // columns that both rows have
      const PetscInt c = lower.ja[e], d = lower.ja[f];
      if (c == d) sum += triangle[e] * weight(c) * triangle[f];
      e += c <= d;
      f += d <= c;
    }
    for (; e < e_end && p != q; ++e) // the diagonal of the earlier row, which is the last of that row
      if (lower.ja[e] == low) direct = triangle[e];
    sum += direct * weight(low);
    if (!scaled) sum /= s[p] * s[q];
    if (p != q && kept == Kept::pattern && direct == 0) return 0;
    if (p != q && kept == Kept::threshold && fabs(sum) < threshold) return 0;
    return scaled ? sum * s[p] * s[q] : sum;
  }
};

} // namespace petscrrb::neumann
