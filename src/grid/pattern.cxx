// One rank's answers about rows that lie on the host.
#include "grid/pattern.hpp"

#include "grid/reach.hpp"
#include "grid/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace petscrrb {

void Fit::add(const Fit &f) {
  if (!f.ok() && (ok() || f.row < row)) row = f.row, column = f.column;
  seen |= f.seen;
  for (int x = 0; x < 3; ++x) seam[x] |= f.seam[x];
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

bool mark_identity(const RankRows &A, unsigned char *identity) {
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
    identity[p] = !coupled;
    finite = finite && check == 0;
  }
  return finite;
}

std::string where_not_finite(const RankRows &A, const PairWords &words) {
  std::string where;
  for (PetscInt p = 0; p < A.n && where.empty(); ++p)
    A.each(p, [&](PetscInt q, double a) {
      if (not_finite(a) != 0) where = "The matrix is not finite: " + words(p, q) + " holds " + text(a);
      return where.empty();
    });
  return where;
}

std::string plain_words(PetscInt row, PetscInt column) {
  return "row " + text(index_t(row)) + ", column " + text(index_t(column));
}

bool HostRankPattern::mark_identity() { return petscrrb::mark_identity(A, flags.data()); }

void HostRankPattern::collect(PetscInt first, PetscInt last, std::size_t most, std::vector<Seen> &found) const {
  PetscInt before[32] = {}; // of the same entries of rows before
  for (PetscInt p = first; p < last && found.size() <= most; ++p) {
    const PetscInt here = A.place(p);
    A.each_coupling(flags.data(), p, [&](PetscInt q, PetscInt index) {
      const PetscInt there = A.place(q), d = std::abs(there - here);
      if (before[index % 32] == d) return true;
      before[index % 32] = d;
      if (std::none_of(found.begin(), found.end(), [d](const Seen &s) { return s.distance == d; }))
        found.push_back({d, here, there});
      return found.size() <= most;
    });
  }
}

std::vector<Seen> HostRankPattern::first_seen(std::size_t most) const {
  std::vector<Seen> found;
  collect(0, A.n, most, found);
  return found;
}

Distances HostRankPattern::distances(std::size_t most) {
  constexpr PetscInt part = 1 << 16;
  const PetscInt parts = A.n / part + 1;
  std::vector<std::vector<Seen>> of_part(static_cast<std::size_t>(parts));
  for (auto &some : of_part) some.reserve(most + 1); // no exception may leave a parallel region
  Distances d;
#pragma omp parallel for schedule(static) if (parts > 1)
  for (PetscInt i = 0; i < parts; ++i)
    collect(i * part, i + 1 < parts ? (i + 1) * part : A.n, most, of_part[std::size_t(i)]);
  for (const auto &some : of_part)
    for (const Seen &s : some) d.all.push_back(s.distance);
  std::sort(d.all.begin(), d.all.end());
  d.all.erase(std::unique(d.all.begin(), d.all.end()), d.all.end());
  d.too_many = d.all.size() > most;
  return d;
}

Fit HostRankPattern::fit(const Grid &g) {
  Fit all;
#pragma omp parallel if (A.n >= rows_for_threads)
  {
    const RankRows rows = A;
    const unsigned char *const identity = flags.data();
    LineReach reach(g);
    Fit f;
    unsigned across[3] = {};
    int guess[32] = {};
#pragma omp for schedule(static)
    for (PetscInt p = 0; p < A.n; ++p) {
      if (!f.ok()) continue;
      const PetscInt here = rows.places(p);
      const Reach &r = reach(here);
      unsigned of_row = 0;
      rows.each_coupling(identity, p, [&](PetscInt q, PetscInt index) {
        const PetscInt there = rows.place(q);
        const int m = r.direction(there - here, guess[index % 32]);
        if (m < 0) f.row = here, f.column = there;
        if (m >= 0) of_row |= 1u << m;
        return m >= 0;
      });
      f.seen |= of_row;
      for (int x = 0; x < 3; ++x) across[x] |= of_row & r.across[x];
    }
    for (int x = 0; x < 3; ++x) f.seam[x] = across[x] != 0;
#pragma omp critical(petscrrb_fit)
    all.add(f);
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

index_t HostRankPattern::coupled_rows() { return std::count(flags.begin(), flags.begin() + A.n, 0); }

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

bool HostRankPattern::is_complete(const Grid &g, const Fit &f) {
  bool complete;
  (void)missing(g, f, &complete);
  return complete;
}

std::string OneRankPattern::mark_identity() {
  return mine().mark_identity() ? "" : where_not_finite(on_host().rows(), plain_words);
}

Pair OneRankPattern::one_too_many(std::size_t most) {
  const std::vector<Seen> seen = on_host().first_seen(most);
  return seen.size() > most ? Pair{seen.back().row, seen.back().column} : Pair{-1, -1};
}

} // namespace petscrrb
