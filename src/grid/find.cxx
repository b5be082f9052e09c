// Finds the grid: the distances between coupled rows propose candidates, every row then votes on each.
#include "find.hpp"

#include "fit.hpp"
#include "reach.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstdlib>

namespace petscrrb {
namespace {

// A 9-point grid with both sides periodic has ten distances: nx + {-1, 0, 1}, n - nx + {-1, 0, 1}, 1, n - 1, 2 nx - 1
// and n - 2 nx + 1.
constexpr std::size_t most_distances = 10;

struct Distances {
  std::vector<index_t> all;
  PetscInt row = -1, column = -1; // has one too many
};

bool insert(std::vector<index_t> &set, index_t d) {
  if (std::find(set.begin(), set.end(), d) == set.end()) set.push_back(d);
  return set.size() <= most_distances;
}

// |row - column| of the couplings in rows [first, last).
Distances distances_of(const Csr &A, const Flags &identity, PetscInt first, PetscInt last) {
  Distances d;
  for (PetscInt p = first; p < last; ++p) {
    if (identity[p]) continue;
    for (PetscInt e = A.ia[p]; e < A.ia[p + 1]; ++e) {
      const PetscInt q = A.ja[e];
      if (q == p || A.a[e] == 0 || identity[q]) continue;
      if (insert(d.all, std::abs(index_t(q) - p))) continue;
      d.row = p;
      d.column = q;
      return d;
    }
  }
  return d;
}

Distances distances_of(const Csr &A, const Flags &identity) {
  constexpr PetscInt chunk = 1 << 16;
  Distances all;
  bool too_many = false;
#pragma omp parallel for schedule(static) if (A.n > chunk)
  for (PetscInt c = 0; c < A.n / chunk + 1; ++c) {
    const Distances d = distances_of(A, identity, c * chunk, c < A.n / chunk ? (c + 1) * chunk : A.n);
#pragma omp critical(petscrrb_distances)
    for (index_t x : d.all) too_many |= !insert(all.all, x);
  }
  if (too_many) return distances_of(A, identity, 0, A.n); // from the start, for the first such row
  std::sort(all.all.begin(), all.all.end());
  return all;
}

Grid grid_of(index_t nx, index_t ny, index_t nz) {
  Grid g;
  g.dim = nz > 1 ? 3 : 2;
  g.n[0] = nx;
  g.n[1] = ny;
  g.n[2] = nz;
  g.points = g.dim == 3 ? 7 : 9;
  return g;
}

// Every nx that makes some distance one of the ten; nx = n is a chain.
std::vector<Grid> candidates_2d(index_t n, const std::vector<index_t> &distances) {
  std::vector<index_t> sides;
  for (index_t d : distances)
    for (index_t nx : {d - 1, d, d + 1, (d + 1) / 2, n - d - 1, n - d, n - d + 1, (n - d + 1) / 2})
      if (nx > 1 && nx < n && n % nx == 0) sides.push_back(nx);
  sides.push_back(n);
  std::sort(sides.begin(), sides.end());
  sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
  std::vector<Grid> grids;
  for (index_t nx : sides) grids.push_back(grid_of(nx, n / nx, 1));
  return grids;
}

std::vector<Grid> candidates_3d(index_t n, const std::vector<index_t> &distances) {
  std::vector<Grid> grids;
  for (index_t nx : distances)
    for (index_t plane : distances)
      if (nx > 1 && plane > nx && plane < n && plane % nx == 0 && n % plane == 0)
        grids.push_back(grid_of(nx, plane / nx, n / plane));
  return grids;
}

std::vector<Grid> candidates(index_t n, int max_dim, const std::vector<index_t> &distances) {
  auto grids = candidates_2d(n, distances);
  if (max_dim == 3)
    for (const Grid &g : candidates_3d(n, distances)) grids.push_back(g);
  return grids;
}

// Whether neighbours along every side are coupled somewhere. Without this, a 3 x 4 five-point matrix is also one on
// 4 x 3 points, periodic, with corner couplings and none in y.
bool is_proper(const Grid &g, const Fit &f) {
  for (int x = 0; x < g.dim; ++x)
    if (g.n[x] > 1 && !f.sees(2 * x + 1) && !f.sees(2 * x + 2)) return false;
  return true;
}

void settle(Grid &g, const Fit &f) {
  for (int x = 0; x < 3; ++x) g.periodic[x] = f.seam[x];
  if (g.dim == 2) g.points = f.seen >> SouthWest ? 9 : 5;
}

struct Match {
  Grid grid; // as proposed
  Fit fit;
};

// The grids that fit; `closest` is the one that fitted the most rows where none does.
std::vector<Match> matches(const Csr &A, const Flags &identity, const std::vector<Grid> &candidates, Match &closest) {
  std::vector<Match> found;
  for (const Grid &candidate : candidates) {
    const Match m{all_around(candidate), fit(A, identity, all_around(candidate))};
    if (m.fit.ok())
      found.push_back(m);
    else if (m.fit.row > closest.fit.row)
      closest = m;
  }
  return found;
}

// Keeps those with the property, if there are any.
template <class Property> void prefer(std::vector<Match> &found, Property &&has) {
  if (found.size() < 2 || std::none_of(found.begin(), found.end(), has)) return;
  found.erase(std::remove_if(found.begin(), found.end(), [&](const Match &m) { return !has(m); }), found.end());
}

std::string coupling(const Csr &A, PetscInt row, PetscInt column) {
  PetscInt e = A.ia[row];
  while (A.ja[e] != column || A.a[e] == 0) ++e;
  return "row " + text(index_t(row)) + " couples with column " + text(index_t(column)) + " (" + text(A.a[e]) + ")";
}

std::string misfit(const Csr &A, const Match &m) {
  return "on " + sizes(m.grid) + " points " + coupling(A, m.fit.row, m.fit.column) + ", from " +
         place(m.grid, m.fit.row) + " to " + place(m.grid, m.fit.column) + ", which is no neighbour";
}

std::string instead(const char *option, int max_dim) {
  return std::string("Give the sizes with ") + option + (max_dim == 3 ? " nx,ny[,nz]" : " nx,ny") +
         ", attach the DMDA, or use another preconditioner, for example -pc_type gamg";
}

// All that fit; where there are several, the better ones.
std::vector<Match> best(const Csr &A, const Flags &identity, const std::vector<Grid> &candidates, Match &closest) {
  auto found = matches(A, identity, candidates, closest);
  prefer(found, [](const Match &m) { return is_proper(m.grid, m.fit); });
  prefer(found, [&](const Match &m) { return is_complete(A, identity, m.grid, m.fit); });
  for (Match &m : found) settle(m.grid, m.fit);
  return found;
}

std::string no_match(const Csr &A, const Flags &identity, const Distances &d, int max_dim, const Match &closest,
                     const char *option) {
  std::string why = "No 2D grid with 5 or 9 points";
  Match ignored;
  if (max_dim == 3) why += ", nor a 3D one with 7,";
  why += " fits the nonzeros of the matrix (" + text(index_t(A.n)) + " rows; coupled rows are";
  for (index_t distance : d.all) why += (distance == d.all.front() ? " " : ", ") + text(distance);
  why += " apart): " + misfit(A, closest) + ". ";
  const auto solid = max_dim == 2 ? best(A, identity, candidates_3d(A.n, d.all), ignored) : std::vector<Match>();
  if (!solid.empty())
    return why + "It is a 3D matrix on " + sizes(solid[0].grid) +
           " points, and this preconditioner is for 2D. Use another one, for example -pc_type gamg";
  return why + instead(option, max_dim);
}

// The grid fits by corners and seams alone, and another one fits as it should: the given sizes are wrong. A 63 x 64
// matrix passes as a periodic 9-point one on 64 x 63 points, with no coupling in y, and would converge badly on it.
bool is_far_fetched(const Csr &A, const Flags &identity, const Match &m) {
  Match ignored;
  if (is_proper(m.grid, m.fit)) return false;
  const auto found = best(A, identity, candidates(A.n, 3, distances_of(A, identity).all), ignored);
  return found.size() == 1 && is_proper(found[0].grid, found[0].fit);
}

} // namespace

std::string find_grid(const Csr &A, int max_dim, const char *option, Grid &grid) {
  Flags identity;
  Match closest;
  if (A.n == 0) return "The matrix has no rows, hence no grid";
  const std::string bad = mark_identity(A, identity);
  if (!bad.empty()) return bad;
  const Distances d = distances_of(A, identity);
  if (d.row >= 0)
    return "The matrix is on no structured grid: in the rows up to " + text(index_t(d.row)) +
           " coupled rows are more than 10 different distances apart, and a grid with 5, 7 or 9 points has 10 at "
           "most; " +
           coupling(A, d.row, d.column) + ". " + instead(option, max_dim);
  const auto found = best(A, identity, candidates(A.n, max_dim, d.all), closest);
  if (found.empty()) return no_match(A, identity, d, max_dim, closest, option);
  if (found.size() > 1) {
    std::string why = "Several grids fit the nonzeros of the matrix:";
    for (const Match &m : found) why += (&m == &found[0] ? " " : ", ") + description(m.grid);
    return why + ". Say which with " + option + (max_dim == 3 ? " nx,ny[,nz]" : " nx,ny") + ", or attach the DMDA";
  }
  const std::string source = grid.source;
  grid = found[0].grid;
  grid.source = source;
  return "";
}

std::string check_grid(const Csr &A, const char *option, Grid &grid) {
  index_t size = 1;
  bool fits = true;
  for (int x = 0; x < 3; ++x) {
    fits = fits && grid.n[x] > 0 && size <= A.n / grid.n[x];
    if (fits) size *= grid.n[x];
  }
  if (!fits || size != A.n)
    return "A grid of " + sizes(grid) + " points is not one of the matrix, which has " + text(index_t(A.n)) +
           " rows. Correct " + option + ", or leave it out to have the grid found";
  Flags identity;
  const std::string bad = mark_identity(A, identity);
  if (!bad.empty()) return bad;
  Match m{grid, {}};
  for (bool &around : m.grid.periodic) around = false;
  m.grid.points = grid.dim == 3 ? 7 : 5;
  m.fit = fit(A, identity, m.grid);
  if (!m.fit.ok()) {
    Match wider{all_around(m.grid), {}};
    if (grid.dim == 2) wider.grid.points = 9;
    wider.fit = fit(A, identity, wider.grid);
    if (!wider.fit.ok() || !is_far_fetched(A, identity, wider)) m = wider;
  }
  if (m.fit.ok()) {
    grid.points = m.grid.points;
    settle(grid, m.fit);
    return "";
  }
  Grid other;
  std::string why = "The matrix does not fit the grid: " + misfit(A, m) + ". ";
  if (find_grid(A, 3, option, other).empty()) why += "Its nonzeros fit " + description(other) + ". ";
  return why + "Set " + option + " to its sizes, or use another preconditioner, for example -pc_type gamg";
}

} // namespace petscrrb
