// The rows of a matrix on several ranks as they are factored (prepare.hpp): each by itself, from its own entries and from the
// transposed ones.
#pragma once

#include "grid/grid.hpp"
#include "grid/rank_rows.hpp"
#include "grid/reach.hpp"
#include "stencil/weights.hpp"
#include "pc/rrb/core/views.hpp"

#include <algorithm>
#include <vector>

namespace petscrrb::rrb {

// The first row of a box of points that is not on an earlier line of the grid.
inline PetscInt first_row_of_line(index_t line, const Grid &g, const BoxPlaces &places) {
  if (places.stride == 1) return static_cast<PetscInt>(line * g.n[0] - places.first);
  return static_cast<PetscInt>((line - places.first / g.n[0]) * places.width);
}

// A row of V A V: its excess and the weights of its couplings, for loops on the host and on a device.
struct ReadRow {
  RankRows A;
  const double *transposed;      // of each entry of A.others; no number where that is not stored
  const unsigned char *identity; // own rows, then ghosts; so is v
  const double *v;               // NULL: 1
  PetscInt nx;
  PetscInt last_line; // the first own row on the grid's last line, or more than there are
  int points;
  double rounding;
  Positive positive;
  PreparedStencil to; // of own rows, in their order

  // own: what is around the row on the OwnGrid, as Reach; whole(): what is around its place
  template <class Around, class Whole>
  PETSCRRB_HD RowFacts operator()(PetscInt p, const Around &own, const Whole &whole) const {
    // in the order in which prepare() adds the couplings of a row, so that the sums have the same bits
    constexpr Direction added[] = {East, West, North, South, NorthEast, NorthWest, SouthWest, SouthEast};
    RowFacts f;
    double value[directions];
    Excess excess(load(p, own, whole, value, f));
    for (int i = 0; i < points - 1; ++i) excess.add(value[added[i]]);
    f.rounded = excess.rounded(rounding);
    to.X[p] = excess.value(rounding);
    to.E[p] = f.weights[0] = weight(value[East], positive);
    to.N[p] = f.weights[1] = weight(value[North], positive);
    const bool north = value[NorthEast] != 0.0;
    const bool to_east = value[East] != 0.0 || north || value[SouthEast] != 0.0;
    const bool to_north = value[North] != 0.0 || north || value[NorthWest] != 0.0;
    if (to_east && (own.d[East] != 1 || A.n == 1)) f.crosses[0] = A.places(p) % nx == nx - 1;
    f.crosses[1] = to_north && p >= last_line;
    if (points == 5) return f;
    to.NE[p] = weight(value[NorthEast], positive);
    to.NW[p] = weight(value[NorthWest], positive);
    f.corners = north || value[NorthWest] != 0.0;
    return f;
  }

private:
  // value: the couplings in each direction of V A V, the means of a_ij and a_ji; returns the diagonal's
  template <class Around, class Whole>
  PETSCRRB_HD double load(PetscInt p, const Around &own, const Whole &whole, double value[directions],
                          RowFacts &f) const {
    double diagonal = 0.0, check = 0.0;
    for (int m = 0; m < directions; ++m) value[m] = 0.0;
    if (A.own.ia)
      for (PetscInt e = A.own.ia[p]; e < A.own.ia[p + 1]; ++e) {
        const PetscInt q = A.own.ja[e];
        const double a = A.own.a[e];
        check += not_finite(a);
        if (q == p)
          diagonal = a;
        else if (is_coupling(p, q)) {
          const double back = own_entry(q, p, A.own.ia[p + 1] - 1 - e);
          if (differ(a, back)) compare(a, back, entry(A.own, p, p), entry(A.own, q, q), f);
          couple(p, q, a, back, own.direction(q - p), value, f);
        }
      }
    if (A.others.ia)
      for (PetscInt e = A.others.ia[p]; e < A.others.ia[p + 1]; ++e) {
        const PetscInt g = A.others.ja[e];
        const double a = A.others.a[e];
        check += not_finite(a);
        if (!is_coupling(p, A.n + g)) continue;
        const bool stored = transposed[e] == transposed[e];
        const double back = stored ? transposed[e] : 0.0, d = stored ? diagonal : 0.0;
        if (differ(a, back))
          compare(a, back, d, d, f); // the other rank compares by its diagonal entry, if it stores one
        couple(p, A.n + g, a, back, whole().direction(A.ghost_places[g] - A.places(p)), value, f);
      }
    f.not_finite = check != 0.0;
    if (!(diagonal > 0.0) && !(identity[p] && diagonal == 0.0)) f.bad_pivot = p;
    if (identity[p]) {
      f.identity_rows = 1;
      f.zero_rows = diagonal == 0.0;
      return diagonal == 0.0 ? 1.0 : diagonal;
    }
    return v ? diagonal * (v[p] * v[p]) : diagonal;
  }
  PETSCRRB_HD bool is_coupling(PetscInt p, PetscInt q) const { return !identity[p] && !identity[q]; }
  // guess: where it stands in the row if all rows are alike and their columns in order
  PETSCRRB_HD double own_entry(PetscInt row, PetscInt column, PetscInt guess) const {
    const PetscInt guessed = A.own.ia[row] + guess;
    if (guessed < A.own.ia[row + 1] && A.own.ja[guessed] == column) return A.own.a[guessed];
    for (PetscInt e = A.own.ia[row]; e < A.own.ia[row + 1]; ++e)
      if (A.own.ja[e] == column) return A.own.a[e];
    return 0.0;
  }
  PETSCRRB_HD static void compare(double a, double back, double d_here, double d_there, RowFacts &f) {
    f.asymmetry = larger(asymmetry(a, back, d_here, d_there), f.asymmetry);
  }
  // m: the direction of q, -1 if it is no neighbour; back: a_qp
  PETSCRRB_HD void couple(PetscInt p, PetscInt q, double a, double back, int m, double value[directions],
                          RowFacts &f) const {
    if (m < 0) {
      f.foreign |= a != 0.0;
      return;
    }
    const double mean = 0.5 * (a + back);
    f.positive += is_upper(m) && mean > 0.0;
    value[m] = v ? mean * (v[p] * v[q]) : mean;
  }
  PETSCRRB_HD static bool is_upper(int m) { return m == East || m == North || m == NorthEast || m == NorthWest; }
};

inline ReadRow reading(const RankRows &A, const double *transposed, const unsigned char *identity, const double *v,
                       const Grid &g, double rounding, Positive positive, const PreparedStencil &to) {
  const PetscInt last_line = first_row_of_line(g.n[1] - 1, g, A.places);
  return {A, transposed, identity, v, static_cast<PetscInt>(g.n[0]), last_line, g.points, rounding, positive, to};
}

// What parts of a fixed length have found is added in their order: the same bits for any number of threads. May throw.
inline RowFacts read_rows(const ReadRow &read, const Grid &grid) {
  constexpr PetscInt part = 4096;
  const OwnGrid own(grid, read.A.places, read.A.n);
  std::vector<RowFacts> of_part((read.A.n + part - 1) / part);
#pragma omp parallel if (read.A.n >= rows_for_threads)
  {
    LineReach reach(own.grid), whole(grid);
#pragma omp for schedule(static)
    for (PetscInt i = 0; i < static_cast<PetscInt>(of_part.size()); ++i) {
      RowFacts mine;
      for (PetscInt p = i * part; p < std::min(read.A.n, (i + 1) * part); ++p)
        mine.add(read(p, reach(own.first + p), [&]() -> const Reach & { return whole(read.A.places(p)); }));
      of_part[i] = mine;
    }
  }
  RowFacts all;
  for (const RowFacts &f : of_part) all.add(f);
  return all;
}

} // namespace petscrrb::rrb
