// The graph of a matrix that is on no grid: its rows are the nodes.
#pragma once

#include "pc/rrb/core/views.hpp"
#include "pc/rrb/graph/red_nodes.hpp"
#include "stencil/weights.hpp"

namespace petscrrb::rrb {

// Its weights where they are none are those of couplings that are zero, or with an identity row.
struct MatrixGraph {
  PreparedRows s;

  template <class F> PETSCRRB_HD void each(node_t p, const F &f) const {
    for (node_t k = s.start[p]; k < s.start[p + 1]; ++k)
      if (s.w[k] != 0.0) f(s.column[k], s.w[k]);
  }
  PETSCRRB_HD double excess(node_t p) const { return s.e[p]; }
};

// On a 3D grid, likewise to priority_of() in 2D: smaller comes first, by the level at which a checkerboard, then lines and then planes of
// the next coarser grid would take the point, then by the bits of x, y, z from the lowest, 1 before 0.
constexpr index_t longest_side = index_t(1) << 19;
struct SetPriorityIn3D {
  const node_t *point;
  index_t nx, ny;
  priority_t *priority;

  PETSCRRB_HD void operator()(node_t p) const {
    index_t x = point[p] % nx, y = point[p] / nx % ny, z = point[p] / nx / ny;
    priority_t bits = 0;
    for (int b = 0; b < 19; ++b) bits = bits << 3 | (~x >> b & 1) << 2 | (~y >> b & 1) << 1 | (~z >> b & 1);
    priority_t level = 0;
    for (; level < 57; level += 3, x >>= 1, y >>= 1, z >>= 1) {
      if ((x ^ y ^ z) & 1) break;
      if (y & 1) level += 1;
      if ((y | z) & 1) {
        level += !(y & 1) * 2;
        break;
      }
    }
    priority[p] = level << 57 | bits;
  }
};

// Smaller comes first: fewer couplings, then by a hash, which is another number for each node.
struct SetPriorityByDegree {
  Rows rows;
  const node_t *point;
  priority_t *priority;

  PETSCRRB_HD void operator()(node_t p) const {
    std::uint32_t h = std::uint32_t(point[p]); // each step can be undone
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    priority[p] = priority_t(rows.start[p + 1] - rows.start[p]) << 32 | (h ^ h >> 16);
  }
};
struct IsLongRow {
  const node_t *start;
  node_t most;

  PETSCRRB_HD unsigned operator()(node_t p) const { return start[p + 1] - start[p] > most; }
};

// --- from the rows of a matrix ---

struct CountOffDiagonal {
  Csr A;
  node_t *count;

  PETSCRRB_HD void operator()(node_t p) const {
    node_t n = 0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) n += A.ja[e] != p;
    count[p] = n;
  }
};
// Columns ascending, and which entries of the matrix they are; of the diagonal -1 where it has none.
struct ListOffDiagonal {
  Csr A;
  const node_t *start;
  node_t *column, *place, *diagonal;

  PETSCRRB_HD void operator()(node_t p) const {
    const node_t first = start[p];
    node_t end = first;
    diagonal[p] = -1;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const node_t q = node_t(A.ja[e]);
      if (q == p) {
        diagonal[p] = node_t(e);
        continue;
      }
      node_t at = end++;
      for (; at > first && column[at - 1] > q; --at) column[at] = column[at - 1], place[at] = place[at - 1];
      column[at] = q, place[at] = node_t(e);
    }
  }
};
// Of each coupling the entry a_qp of a_pq; -1: none.
struct ListTransposed {
  Rows rows;
  const node_t *place;
  node_t *transposed;

  template <class Lanes> PETSCRRB_HD void operator()(node_t p, const Lanes &lanes) const {
    for (node_t k = rows.start[p] + lanes.lane; k < rows.start[p + 1]; k += lanes.count) {
      const node_t back = rows.find(rows.column[k], p);
      transposed[k] = back < 0 ? -1 : place[back];
    }
  }
};
struct MarkIdentityRow {
  Csr A;
  unsigned char *identity;
  const double *near_null; // or NULL
  double *v;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
    identity[p] = is_identity(A, p);
    if (!near_null) return found;
    v[p] = scaling(near_null[p], identity[p]);
    if (!is_useful(v[p])) found.useless_row = p, found.useless_value = v[p];
    return found;
  }
};

// V A V as weights, positive couplings negative ones, and excesses. A coupling is the mean of a_pq and a_qp, and none where one of these is
// zero: the other then is one of rounding, or the matrix is refused.
struct WeighRow {
  Csr A;
  Rows rows;
  const node_t *place, *transposed, *diagonal;
  const unsigned char *identity;
  const double *v; // NULL for 1
  double rounding;
  double *w, *e;

  PETSCRRB_HD RowFacts operator()(PetscInt p) const {
    RowFacts found;
    const bool own = identity[p];
    double d = entry_of(diagonal[p]), check = not_finite(d);
    if (own) {
      found.identity_rows = 1, found.zero_rows = d == 0.0;
      if (d == 0.0) d = 1.0;
    }
    if (!(d > 0.0)) found.bad_pivot = p;
    const double here = v ? v[p] : 1.0;
    Excess sum(d * here * here);
    for (node_t k = rows.start[p]; k < rows.start[p + 1]; ++k) {
      const double a = A.a[place[k]], c = coupling(p, k, a, d, found);
      check += not_finite(a);
      w[k] = weight(v ? c * (here * v[rows.column[k]]) : c, Positive::stays);
      sum.add(-w[k]);
      found.positive += c > 0.0 && rows.column[k] > p;
    }
    found.not_finite = check != 0.0;
    found.norm = sum.size;
    found.rounded = sum.rounded(rounding);
    e[p] = sum.value(rounding);
    return found;
  }

private:
  PETSCRRB_HD double entry_of(node_t place) const { return place < 0 ? 0.0 : A.a[place]; }
  PETSCRRB_HD double coupling(node_t p, node_t k, double a, double d, RowFacts &found) const {
    const node_t q = rows.column[k];
    if (a == 0.0 || identity[p] || identity[q]) return 0.0;
    const double there = entry_of(transposed[k]);
    if (differ(a, there)) found.asymmetry = larger(asymmetry(a, there, d, entry_of(diagonal[q])), found.asymmetry);
    return there == 0.0 ? 0.0 : 0.5 * (a + there);
  }
};

} // namespace petscrrb::rrb
