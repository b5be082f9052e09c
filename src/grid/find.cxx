// Finds the grid: the distances between coupled rows propose candidates, every row then votes on each.
#include "grid/find.hpp"

#include "grid/pattern.hpp"
#include "grid/reach.hpp"
#include "grid/text.hpp"

#include <algorithm>
#include <set>

namespace petscrrb {
namespace {

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
  std::set<index_t> sides{n};
  for (index_t d : distances)
    for (index_t nx : {d - 1, d, d + 1, (d + 1) / 2, n - d - 1, n - d, n - d + 1, (n - d + 1) / 2})
      if (nx > 1 && nx < n && n % nx == 0) sides.insert(nx);
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

std::vector<Grid> candidates(index_t n, Widest widest, const std::vector<index_t> &distances) {
  auto grids = candidates_2d(n, distances);
  if (widest != Widest::flat)
    for (const Grid &g : candidates_3d(n, distances)) grids.push_back(g);
  return grids;
}

// Divisors of `of`, more than 1 and less than that, that are so far away from a distance.
std::set<index_t> divisors_near(const std::vector<index_t> &distances, std::initializer_list<index_t> away,
                                index_t of) {
  std::set<index_t> found;
  for (index_t d : distances)
    for (index_t a : away)
      if (d + a > 1 && d + a < of && of % (d + a) == 0) found.insert(d + a);
  return found;
}

// With 27 points. Neighbours at faces may not be coupled, as with trilinear elements on cubes.
std::vector<Grid> candidates_box(index_t n, const std::vector<index_t> &distances) {
  std::vector<Grid> grids;
  for (index_t nx : divisors_near(distances, {-1, 0, 1}, n))
    for (index_t plane : divisors_near(distances, {-nx - 1, -nx, -nx + 1, -1, 0, 1, nx - 1, nx, nx + 1}, n))
      if (plane > nx && plane % nx == 0) {
        grids.push_back(grid_of(nx, plane / nx, n / plane));
        grids.back().points = 27;
      }
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
  g = with_seams(g, f);
  if (g.dim == 2)
    g.points = f.seen >> SouthWest ? 9 : 5;
  else
    g.points = f.seen >> (Up + 1) ? 27 : 7;
}

struct Match {
  Grid grid; // as proposed
  Fit fit;
};

// The grids that fit; `closest` is the one that fitted the most rows where none does.
std::vector<Match> matches(Pattern &A, const std::vector<Grid> &candidates, Match &closest) {
  std::vector<Match> found;
  for (const Grid &candidate : candidates) {
    const Match m{all_around(candidate), A.fit(all_around(candidate))};
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

std::string coupling(Pattern &A, PetscInt row, PetscInt column) {
  return "row " + text(index_t(row)) + " couples with column " + text(index_t(column)) + " (" +
         text(A.coupling(row, column)) + ")";
}

std::string misfit(Pattern &A, const Match &m) {
  return "on " + sizes(m.grid) + " points " + coupling(A, m.fit.row, m.fit.column) + ", from " +
         place(m.grid, m.fit.row) + " to " + place(m.grid, m.fit.column) + ", which is not a neighbour";
}

bool takes_3d(Widest widest) { return widest != Widest::flat; }

std::string sizes_of(const char *option, Widest widest) {
  return std::string(option) + (takes_3d(widest) ? " nx,ny[,nz]" : " nx,ny");
}

std::string instead(const char *option, Widest widest) {
  return "Give the sizes with " + sizes_of(option, widest) +
         ", attach the DMDA, or use another preconditioner, for example -pc_type gamg";
}

// All that fit; where there are several, the better ones.
std::vector<Match> best(Pattern &A, const std::vector<Grid> &candidates, Match &closest) {
  auto found = matches(A, candidates, closest);
  prefer(found, [](const Match &m) { return is_proper(m.grid, m.fit); });
  prefer(found, [&](const Match &m) { return A.is_complete(m.grid, m.fit); });
  for (Match &m : found) settle(m.grid, m.fit);
  return found;
}

// So many couplings have a place that a matrix of other kind may fit a grid with short sides by accident: then it has
// gaps, and some neighbours are not coupled anywhere.
std::vector<Match> boxes(Pattern &A, const Distances &distances, Match &closest) {
  if (distances.too_many) return {};
  auto found = best(A, candidates_box(A.rows(), distances.all), closest);
  const auto accidental = [&](const Match &m) { return !is_proper(m.grid, m.fit) && !A.is_complete(m.grid, m.fit); };
  found.erase(std::remove_if(found.begin(), found.end(), accidental), found.end());
  return found;
}

const char only_stars[] = "Its stencils have 27 points, but this preconditioner takes only 7-point stencils. Use "
                          "another one, for example -pc_type blockrelax or gamg";

// Of a matrix on a grid that is not taken; empty if it is on none.
std::string too_wide(Pattern &A, const Distances &d, const Distances &all, Widest widest) {
  Match ignored;
  std::vector<Match> found;
  if (widest == Widest::flat && !d.too_many) found = best(A, candidates_3d(A.rows(), d.all), ignored);
  const bool star = !found.empty();
  if (found.empty() && widest != Widest::box) found = boxes(A, all, ignored);
  if (found.empty()) return "";
  if (widest == Widest::flat)
    return "It is a 3D matrix on " + sizes(found[0].grid) +
           " points, but this preconditioner is for 2D grids. Use another one, for example " +
           (star ? "-ksp_type cg -pc_type gridmg" : "-pc_type gamg");
  return "It is a 3D matrix on " + sizes(found[0].grid) + " points. " + only_stars;
}

std::string too_many(Pattern &A, Widest widest) {
  const bool box = widest == Widest::box;
  const std::size_t most = box ? most_distances_of_box : most_distances;
  const Pair first = A.one_too_many(most);
  return "The matrix is not on a structured grid: up to row " + text(index_t(first.row)) +
         ", coupled rows are at more than " + text(index_t(most)) + " different distances, but a grid with 5, 7" +
         (box ? ", 9 or 27" : " or 9") + " points has at most " + text(index_t(most)) + "; " +
         coupling(A, first.row, first.column) + ". ";
}

std::string no_match(Pattern &A, const Distances &d, Widest widest, const Match &closest) {
  constexpr std::size_t shown = 13;
  std::string why = "No 2D grid with 5 or 9 points";
  if (takes_3d(widest)) why += widest == Widest::box ? ", nor a 3D one with 7 or 27," : ", nor a 3D one with 7,";
  why += " fits the nonzeros of the matrix (" + text(A.rows()) + " rows; coupled rows are";
  for (std::size_t i = 0; i < std::min(d.all.size(), shown); ++i) why += (i ? ", " : " ") + text(d.all[i]);
  if (d.all.size() > shown) why += ", ...";
  why += " apart): ";
  if (!closest.fit.ok()) return why + misfit(A, closest) + ". ";
  const Pair last = A.one_too_many(d.all.size() - 1); // no grid was refused for a coupling, but some for gaps
  return why + coupling(A, last.row, last.column) +
         ", which fits only grids on which most neighbours are not coupled. ";
}

// The grid fits by corners and seams alone, and not in all rows, and another one fits as it should: the given sizes are wrong. A 63 x 64
// matrix passes as a periodic 9-point one on 64 x 63 points, with no coupling in y, and would converge badly on it. Where few rows are no
// identity rows, another one may fit by chance, unless it does so in all rows.
bool is_far_fetched(Pattern &A, const Match &m) {
  Match ignored;
  if (is_proper(m.grid, m.fit) || A.is_complete(m.grid, m.fit)) return false;
  const auto found = best(A, candidates(A.rows(), Widest::star, A.distances(most_distances).all), ignored);
  if (found.size() != 1 || !is_proper(found[0].grid, found[0].fit)) return false;
  constexpr index_t few = 256;
  return A.coupled_rows() > few || A.is_complete(found[0].grid, found[0].fit);
}

} // namespace

std::string find_grid(Pattern &A, Widest widest, const char *option, Grid &grid) {
  Match closest;
  std::vector<Match> found;
  if (A.rows() == 0) return "The matrix has no rows, hence no grid";
  const std::string bad = A.mark_identity();
  if (!bad.empty()) return bad;
  const Distances d = A.distances(most_distances);
  if (!d.too_many) found = best(A, candidates(A.rows(), widest, d.all), closest);
  if (found.empty()) {
    const Distances all = d.too_many ? A.distances(most_distances_of_box) : d;
    if (widest == Widest::box) found = boxes(A, all, closest);
    if (found.empty()) {
      if (!option) return "There is no grid";
      const std::string wide = too_wide(A, d, all, widest);
      const bool many = widest == Widest::box ? all.too_many : d.too_many;
      const std::string why = many ? too_many(A, widest) : no_match(A, all, widest, closest);
      return why + (wide.empty() ? instead(option, widest) : wide);
    }
  }
  if (found.size() > 1) {
    if (!option) return "There are several grids";
    std::string why = "Several grids fit the nonzeros of the matrix:";
    for (const Match &m : found) why += (&m == &found[0] ? " " : ", ") + description(m.grid);
    return why + ". Choose one with " + sizes_of(option, widest) + ", or attach the DMDA";
  }
  const std::string source = grid.source;
  grid = found[0].grid;
  grid.source = source;
  return "";
}

namespace {

// The stencils to try on a grid, the narrower ones first.
std::vector<Grid> stencils_on(const Grid &grid, Widest widest) {
  std::vector<Grid> all(widest == Widest::box && grid.dim == 3 ? 4 : 2, grid);
  for (std::size_t s = 0; s < all.size(); ++s) {
    for (bool &around : all[s].periodic) around = false;
    all[s].points = grid.dim == 2 ? 5 : s < 2 ? 7 : 27;
    if (s % 2 == 0) continue;
    all[s] = all_around(all[s]);
    if (grid.dim == 2) all[s].points = 9;
  }
  return all;
}

} // namespace

std::string check_grid(Pattern &A, Widest widest, const char *option, Grid &grid) {
  index_t size = 1;
  bool fits = true;
  for (int x = 0; x < 3; ++x) {
    fits = fits && grid.n[x] > 0 && size <= A.rows() / grid.n[x];
    if (fits) size *= grid.n[x];
  }
  if (!fits || size != A.rows())
    return "A grid of " + sizes(grid) + " points does not match the matrix, which has " + text(A.rows()) +
           " rows. Correct " + option + ", or omit it to have the grid found";
  const std::string bad = A.mark_identity();
  if (!bad.empty()) return bad;
  Match m;
  for (const Grid &g : stencils_on(grid, widest)) {
    const Match next{g, A.fit(g)};
    if (m.grid.n[0] == 0 || !next.fit.ok() || !is_far_fetched(A, next)) m = next;
    if (m.fit.ok()) break;
  }
  if (m.fit.ok()) {
    grid.points = m.grid.points;
    settle(grid, m.fit);
    return "";
  }
  Grid other, star = all_around(grid), box = star;
  star.points = 7, box.points = 27;
  std::string why = "The matrix does not fit the grid: " + misfit(A, m) + ". ";
  if (widest == Widest::star && grid.dim == 3 && A.fit(box).ok() && !A.fit(star).ok()) return why + only_stars;
  if (find_grid(A, widest == Widest::box ? widest : Widest::star, option, other).empty())
    why += "Its nonzeros fit " + description(other) + ". ";
  return why + "Set " + option +
         " to the sizes of the matrix's grid, or use another preconditioner, for example -pc_type gamg";
}

std::string find_grid(const Csr &A, Widest widest, const char *option, Grid &grid) {
  HostPattern pattern(A);
  return find_grid(pattern, widest, option, grid);
}

std::string check_grid(const Csr &A, Widest widest, const char *option, Grid &grid) {
  HostPattern pattern(A);
  return check_grid(pattern, widest, option, grid);
}

} // namespace petscrrb
