// One rank's answers about rows that lie on the host.
#include "grid/rank_pattern.hpp"

#include "grid/line_reach.hpp"

#include <algorithm>
#include <cstdlib>

namespace petscrrb {

bool HostRankPattern::mark_identity() {
  bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite) if (A.n >= rows_for_threads)
  for (PetscInt p = 0; p < A.n; ++p) {
    double check = 0;
    bool coupled = false;
    A.each(p, [&](PetscInt q, double a) {
      check += not_finite(a);
      coupled |= q != p && a != 0;
      return true;
    });
    flags[std::size_t(p)] = !coupled;
    finite = finite && check == 0;
  }
  return finite;
}

// f(place of the column) until it returns false
template <class F> void HostRankPattern::each_coupling(PetscInt p, const F &f) const {
  if (flags[std::size_t(p)]) return;
  A.each(p, [&](PetscInt q, double a) { return q == p || a == 0 || flags[std::size_t(q)] || f(A.place(q)); });
}

std::vector<Seen> HostRankPattern::first_seen(std::size_t most) const {
  std::vector<Seen> found;
  for (PetscInt p = 0; p < A.n && found.size() <= most; ++p) {
    const PetscInt here = A.place(p);
    each_coupling(p, [&](PetscInt there) {
      const PetscInt d = std::abs(there - here);
      if (std::none_of(found.begin(), found.end(), [d](const Seen &s) { return s.distance == d; }))
        found.push_back({d, here, there});
      return found.size() <= most;
    });
  }
  return found;
}

Distances HostRankPattern::distances(std::size_t most) {
  Distances d;
  for (const Seen &s : first_seen(most)) d.all.push_back(s.distance);
  d.too_many = d.all.size() > most;
  std::sort(d.all.begin(), d.all.end());
  return d;
}

Fit HostRankPattern::fit(const Grid &g) {
  Fit all;
  unsigned back[3], ahead[3];
  for (int x = 0; x < 3; ++x) back[x] = towards(g, x, -1), ahead[x] = towards(g, x, 1);
#pragma omp parallel if (A.n >= rows_for_threads)
  {
    LineReach reach(g);
    Fit f;
#pragma omp for schedule(static)
    for (PetscInt p = 0; p < A.n; ++p) {
      if (!f.ok()) continue;
      const PetscInt here = A.place(p);
      const Reach &r = reach(here);
      unsigned of_row = 0;
      each_coupling(p, [&](PetscInt there) {
        const int m = r.direction(there - here);
        if (m < 0) f.row = here, f.column = there;
        if (m >= 0) of_row |= 1u << m;
        return m >= 0;
      });
      f.seen |= of_row;
      for (int x = 0; x < 3; ++x)
        f.seam[x] |= (reach.at_start(x) && of_row & back[x]) || (reach.at_end(x) && of_row & ahead[x]);
    }
#pragma omp critical(petscrrb_fit_of_rank)
    {
      if (!f.ok() && (all.ok() || f.row < all.row)) all.row = f.row, all.column = f.column;
      all.seen |= f.seen;
      for (int x = 0; x < 3; ++x) all.seam[x] |= f.seam[x];
    }
  }
  return all;
}

std::vector<PetscInt> HostRankPattern::missing(const Grid &grid, const Fit &f, bool *complete) const {
  const Grid g = with_seams(grid, f);
  LineReach reach(g);
  const unsigned used = used_directions(g, f);
  const index_t none = g.n[0] * g.n[1] * g.n[2];
  std::vector<PetscInt> elsewhere;

  *complete = true;
  for (PetscInt p = 0; p < A.n; ++p) {
    if (flags[std::size_t(p)]) continue;
    const PetscInt here = A.place(p);
    const Reach &r = reach(here);
    unsigned gaps = used;
    A.each(p, [&](PetscInt q, double a) {
      const int m = a != 0 ? r.direction(A.place(q) - here) : -1;
      if (m >= 0) gaps &= ~(1u << m);
      return true;
    });
    for (int m = 1; m < g.points; ++m) {
      if (!(gaps >> m & 1) || r.d[m] == none) continue;
      const PetscInt there = here + r.d[m], row = A.places.row_at(there, A.n);
      if (row < 0)
        elsewhere.push_back(there);
      else if (!flags[std::size_t(row)])
        *complete = false;
    }
  }
  return elsewhere;
}

bool HostRankPattern::has_coupled(PetscInt place) const {
  const PetscInt row = A.places.row_at(place, A.n);
  return row >= 0 && !flags[std::size_t(row)];
}

double HostRankPattern::coupling(PetscInt row, PetscInt column) const {
  const PetscInt p = A.places.row_at(row, A.n);
  double value = 0;
  if (p < 0) return 0;
  A.each(p, [&](PetscInt q, double a) {
    if (A.place(q) == column && a != 0) value = a;
    return true;
  });
  return value;
}

} // namespace petscrrb
