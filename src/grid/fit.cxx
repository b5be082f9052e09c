// Holds the couplings of a matrix against one given grid, row by row.
#include "grid/fit.hpp"

#include "grid/reach.hpp"
#include "grid/text.hpp"

#ifdef _OPENMP
  #include <omp.h>
#endif

namespace petscrrb {

std::string mark_identity(const Csr &A, Flags &identity) {
  PetscInt bad = A.n;
  identity.resize(A.n);
#pragma omp parallel for schedule(static) reduction(min : bad) if (A.n >= rows_for_threads)
  for (PetscInt p = 0; p < A.n; ++p) {
    double check = 0;
    bool coupled = false;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      check += not_finite(A.a[e]);
      coupled |= A.ja[e] != p && A.a[e] != 0;
    }
    identity[p] = !coupled;
    if (check != 0 && p < bad) bad = p;
  }
  if (bad == A.n) return "";
  PetscInt e = A.ia[bad];
  while (not_finite(A.a[e]) == 0) ++e;
  return "The matrix is not finite: row " + text(index_t(bad)) + ", column " + text(index_t(A.ja[e])) + " holds " +
         text(A.a[e]);
}

namespace {

// Lines [first, last), up to the first row that does not fit.
Fit fit_lines(const Csr &A, const Flags &identity, const Grid &g, index_t first, index_t last) {
  Fit f;
  unsigned line = 0;
  walk(g, first, last, [&](PetscInt p, const Reach &r, index_t i) {
    unsigned seen = 0;
    if (!identity[p])
      for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
        const PetscInt q = A.ja[e];
        if (A.a[e] == 0 || q == p || identity[q]) continue;
        const int m = r.direction(q - p);
        if (m < 0) {
          f.row = p;
          f.column = q;
          return false;
        }
        seen |= 1u << m;
      }
    line |= seen;
    if (i == 0) f.seam[0] |= (seen & towards(g, 0, -1)) != 0;
    if (i < g.n[0] - 1) return true;
    const index_t j = p / g.n[0] % g.n[1], k = p / (g.n[0] * g.n[1]);
    f.seam[0] |= (seen & towards(g, 0, 1)) != 0;
    f.seam[1] |= (j == 0 && line & towards(g, 1, -1)) || (j == g.n[1] - 1 && line & towards(g, 1, 1));
    f.seam[2] |= (k == 0 && line & towards(g, 2, -1)) || (k == g.n[2] - 1 && line & towards(g, 2, 1));
    f.seen |= line;
    line = 0;
    return true;
  });
  return f;
}

} // namespace

Fit fit(const Csr &A, const Flags &identity, const Grid &g) {
  Fit all;
  const index_t lines = g.n[1] * g.n[2];
#pragma omp parallel if (A.n >= rows_for_threads)
  {
    index_t thread = 0, threads = 1;
#ifdef _OPENMP
    thread = omp_get_thread_num();
    threads = omp_get_num_threads();
#endif
    const Fit f = fit_lines(A, identity, g, lines * thread / threads, lines * (thread + 1) / threads);
#pragma omp critical(petscrrb_fit)
    {
      if (!f.ok() && (all.ok() || f.row < all.row)) all.row = f.row, all.column = f.column;
      all.seen |= f.seen;
      for (int x = 0; x < 3; ++x) all.seam[x] |= f.seam[x];
    }
  }
  return all;
}

unsigned used_directions(const Grid &g, const Fit &f) {
  unsigned used = 0;
  for (int m = 1; m < g.points; ++m)
    for (int back = 1; back < g.points; ++back) {
      const int *to = (g.dim == 3 ? step3d : step2d)[m], *from = (g.dim == 3 ? step3d : step2d)[back];
      const bool opposite = to[0] == -from[0] && to[1] == -from[1] && to[2] == -from[2];
      if (opposite && (f.sees(m) || f.sees(back))) used |= 1u << m;
    }
  return used;
}

bool is_complete(const Csr &A, const Flags &identity, const Grid &grid, const Fit &f) {
  const Grid g = with_seams(grid, f);
  const unsigned used = used_directions(g, f);
  return walk(g, 0, g.n[1] * g.n[2], [&](PetscInt p, const Reach &r, index_t) {
    unsigned seen = 0;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const int m = A.a[e] != 0 ? r.direction(A.ja[e] - p) : -1;
      if (m > 0) seen |= 1u << m;
    }
    for (int m = 1; m < g.points && !identity[p]; ++m)
      if (used >> m & 1 && r.d[m] != A.n && !identity[p + r.d[m]] && !(seen >> m & 1)) return false;
    return true;
  });
}

} // namespace petscrrb
