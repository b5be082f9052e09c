// Reads a 2D stencil in one pass over the matrix: a row writes its upper couplings and settles its lower ones with
// the rows before it.
#include "stencil/stencil.hpp"

#include "exec/host/host.hpp"
#include "grid/reach.hpp"
#include "stencil/refusal.hpp"
#include "grid/text.hpp"

#include <algorithm>

namespace petscrrb {
namespace {

// The directions in the order of their columns, away from seams.
template <int points> constexpr int sorted[points] = {South, West, Centre, East, North};
template <> constexpr int sorted<9>[9] = {SouthWest, South, SouthEast, West, Centre, East, NorthWest, North, NorthEast};

// The points of lines [first, last) in order: visit(row, reach, i) until it returns false. Three reaches serve a line.
template <class Visit> bool walk(const Grid &grid, index_t first, index_t last, Visit &&visit) {
  const Geometry g(grid);
  const PetscInt nx = g.n[0];
  for (PetscInt row = PetscInt(first) * nx; row < PetscInt(last) * nx; row += nx) {
    const Reach left(g, row), right(g, row + nx - 1), inner = nx > 2 ? Reach(g, row + 1) : left;
    for (PetscInt i = 0; i < nx; ++i)
      if (!visit(row + i, i == 0 ? left : i == nx - 1 ? right : inner, i)) return false;
  }
  return true;
}

template <int points> struct Row {
  double v[points]; // a value a direction
  bool coupled;     // some value off the diagonal is not zero
};

// One thread's lines. Rows are kept in locals, because through the slots' pointers the compiler must expect a store to
// change any member.
template <int points> class Reader {
public:
  Reader(const Csr &matrix, const Grid &grid, Stencil &s)
      : A(matrix), g(grid), C(s.C.data()), identity(s.identity.data()) {
    slot[East] = s.E.data();
    slot[North] = s.N.data();
    if (points == 9) slot[NorthEast] = s.NE.data(), slot[NorthWest] = s.NW.data();
  }

  // A coupling is settled by the later of its two rows, when both are known to be identity rows or not. What leads
  // below the first line waits for settle_below(), because another thread may be reading that line.
  void read(index_t first, index_t last) {
    const PetscInt nx = static_cast<PetscInt>(g.n[0]), second = static_cast<PetscInt>((first + 1) * nx);
    double seam = 0;
    walk(g, first, last, [&](PetscInt p, const Reach &r, index_t i) {
      const Row<points> row = load(p, r);
      write(p, row);
      if (i > 0) settle(row.v[West], p, East, p - 1);
      if (i == 0) seam = row.v[West];
      if (i == nx - 1 && g.periodic[0]) settle(seam, p - static_cast<PetscInt>(i), East, p);
      if (p >= second) below(p, r, row);
      return true;
    });
  }

  // To be called when all threads have read their lines.
  void settle_below(index_t line) {
    walk(g, line, line + 1, [&](PetscInt p, const Reach &r, index_t) {
      below(p, r, load(p, r));
      return true;
    });
  }

  RowFacts found;

private:
  Row<points> load(PetscInt p, const Reach &r) {
    Row<points> row;
    double check = 0;
    row.coupled = !load_sorted(p, r, row) && load_any(p, r, row);
    for (int m = 0; m < points; ++m) {
      row.coupled |= m != Centre && row.v[m] != 0;
      check += not_finite(row.v[m]);
    }
    if (check != 0) found.not_finite = true;
    return row;
  }

  // The one order that nearly all rows have; false if this one has another.
  bool load_sorted(PetscInt p, const Reach &r, Row<points> &row) const {
    const PetscInt *columns = A.ja + A.ia[p];
    const double *values = A.a + A.ia[p];
    PetscInt other = 0;
    if (A.ia[p + 1] - A.ia[p] != points) return false;
    for (int e = 0; e < points; ++e) {
      other |= (columns[e] - p) ^ r.d[sorted<points>[e]];
      row.v[sorted<points>[e]] = values[e];
    }
    return other == 0;
  }

  // True if the row has a coupling outside the stencil.
  bool load_any(PetscInt p, const Reach &r, Row<points> &row) {
    bool foreign = false;
    for (double &value : row.v) value = 0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const int m = r.direction(A.ja[e] - p);
      if (m >= 0)
        row.v[m] = A.a[e];
      else if (A.a[e] != 0) {
        foreign = true;
        if (not_finite(A.a[e]) != 0) found.not_finite = true;
      }
    }
    if (foreign) found.foreign = true;
    return foreign;
  }

  void write(PetscInt p, const Row<points> &row) {
    const double c = row.v[Centre];
    identity[p] = !row.coupled;
    C[p] = c;
    if (!(c > 0) && (row.coupled || c != 0)) found.bad_pivot = std::min<index_t>(found.bad_pivot, p);
    if (!row.coupled) {
      ++found.identity_rows;
      if (c == 0) {
        ++found.zero_rows;
        C[p] = 1;
      }
    }
    slot[East][p] = row.v[East];
    slot[North][p] = row.v[North];
    if (points == 9) slot[NorthEast][p] = row.v[NorthEast], slot[NorthWest][p] = row.v[NorthWest];
  }

  // Row p has `lower` as its coupling with row q, whose own value is in q's slot. Branches that are hardly ever taken
  // are faster here than sums and maxima, each of which would wait for the one before.
  void settle(double lower, PetscInt p, Direction upwards, PetscInt q) {
    double &slot_of_q = slot[upwards][q];
    const double upper = slot_of_q, mean = 0.5 * (lower + upper);
    if (identity[p] | identity[q]) {
      slot_of_q = 0;
      return;
    }
    if (differ(lower, upper)) found.asymmetry = larger(asymmetry(lower, upper, C[p], C[q]), found.asymmetry);
    if (mean > 0) ++found.positive;
    if (upwards > North && mean != 0) found.corners = true;
    slot_of_q = mean;
  }

  void below(PetscInt p, const Reach &r, const Row<points> &row) {
    if (r.d[South] != A.n) settle(row.v[South], p, North, p + r.d[South]);
    if (points == 5) return;
    if (r.d[SouthWest] != A.n) settle(row.v[SouthWest], p, NorthEast, p + r.d[SouthWest]);
    if (r.d[SouthEast] != A.n) settle(row.v[SouthEast], p, NorthWest, p + r.d[SouthEast]);
  }

  const Csr A;
  const Grid &g;
  double *C, *slot[directions] = {};
  unsigned char *identity;
};

template <int points> RowFacts read_all(const Csr &A, const Grid &g, Stencil &s) {
  RowFacts all;
#pragma omp parallel if (A.n >= rows_for_threads)
  {
    const index_t thread = host::member(), threads = host::team();
    const index_t first = g.n[1] * thread / threads, last = g.n[1] * (thread + 1) / threads;
    Reader<points> reader(A, g, s);
    reader.read(first, last);
#pragma omp barrier
    if (first < last) reader.settle_below(first);
#pragma omp critical(petscrrb_stencil)
    all.add(reader.found);
  }
  return all;
}

std::string row_in_words(const Grid &g, PetscInt p) { return "row " + text(index_t(p)) + " at " + place(g, p); }

std::string pair_of_rows(const Grid &g, PetscInt p, PetscInt q) {
  return row_in_words(g, p) + ", column " + text(index_t(q)) + " at " + place(g, q);
}

void find_crossings(const Stencil &s, const Grid &g, bool crosses[2]) {
  const index_t nx = g.n[0], ny = g.n[1];
  const auto at = [](const std::vector<double> &a, index_t p) { return !a.empty() && a[p] != 0.0; };
  for (index_t j = 0; j < ny && !crosses[0]; ++j)
    crosses[0] = at(s.E, j * nx + nx - 1) || at(s.NE, j * nx + nx - 1) || at(s.NW, j * nx);
  for (index_t p = (ny - 1) * nx; p < ny * nx && !crosses[1]; ++p)
    crosses[1] = at(s.N, p) || at(s.NE, p) || at(s.NW, p);
}

// The first coupling outside the stencil that is not with an identity row.
std::string where_foreign(const Csr &A, const Grid &g, const Flags &identity) {
  std::string why;
  walk(g, 0, g.n[1], [&](PetscInt p, const Reach &r, index_t) {
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (A.a[e] == 0 || r.direction(q - p) >= 0 || identity[q]) continue;
      why = "The coupling " + text(A.a[e]) + " in " + pair_of_rows(g, p, q) + " has no place in the stencil of the " +
            description(g) + " grid";
      return false;
    }
    return true;
  });
  return why;
}

} // namespace

ReadResult read_stencil(const Csr &A, const Grid &g, Stencil &s, RowFacts &f, std::string &why) {
  const index_t n = g.n[0] * g.n[1];
  if (A.n != n) {
    why = "The matrix has " + text(index_t(A.n)) + " rows, but the " + sizes(g) + " grid has " + text(n) + " points";
    return ReadResult::rebuild;
  }
  for (auto *array : {&s.C, &s.E, &s.N}) array->resize(n);
  for (auto *array : {&s.NE, &s.NW}) array->resize(g.points == 9 ? n : 0);
  s.identity.resize(n);
  f = g.points == 9 ? read_all<9>(A, g, s) : read_all<5>(A, g, s);
  const auto words = [&](PetscInt p, PetscInt q) { return pair_of_rows(g, p, q); };
  if (f.foreign && !f.not_finite) {
    why = where_foreign(A, g, s.identity);
    f.foreign = !why.empty();
  }
  if (f.not_finite) why = where_not_finite(RankRows(A), words);
  if (f.result() == ReadResult::refused && !f.not_finite) why = where_asymmetric(A, s.identity, words);
  if (f.result() != ReadResult::ok) return f.result();
  find_crossings(s, g, f.crosses);
  if (f.bad_pivot != no_row) why = not_positive(row_in_words(g, static_cast<PetscInt>(f.bad_pivot)));
  return ReadResult::ok;
}

} // namespace petscrrb
