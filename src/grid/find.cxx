// Finds the grid: the distances between coupled rows propose candidates, every row then votes on each.
#include "find.hpp"

#include "pattern.hpp"
#include "reach.hpp"
#include "text.hpp"

#include <algorithm>

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
         place(m.grid, m.fit.row) + " to " + place(m.grid, m.fit.column) + ", which is no neighbour";
}

std::string instead(const char *option, int max_dim) {
  return std::string("Give the sizes with ") + option + (max_dim == 3 ? " nx,ny[,nz]" : " nx,ny") +
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

std::string no_match(Pattern &A, const Distances &d, int max_dim, const Match &closest, const char *option) {
  std::string why = "No 2D grid with 5 or 9 points";
  Match ignored;
  if (max_dim == 3) why += ", nor a 3D one with 7,";
  why += " fits the nonzeros of the matrix (" + text(A.rows()) + " rows; coupled rows are";
  for (index_t distance : d.all) why += (distance == d.all.front() ? " " : ", ") + text(distance);
  why += " apart): " + misfit(A, closest) + ". ";
  const auto solid = max_dim == 2 ? best(A, candidates_3d(A.rows(), d.all), ignored) : std::vector<Match>();
  if (!solid.empty())
    return why + "It is a 3D matrix on " + sizes(solid[0].grid) +
           " points, and this preconditioner is for 2D. Use another one, for example -pc_type gamg";
  return why + instead(option, max_dim);
}

// The grid fits by corners and seams alone, and another one fits as it should: the given sizes are wrong. A 63 x 64
// matrix passes as a periodic 9-point one on 64 x 63 points, with no coupling in y, and would converge badly on it.
bool is_far_fetched(Pattern &A, const Match &m) {
  Match ignored;
  if (is_proper(m.grid, m.fit)) return false;
  const auto found = best(A, candidates(A.rows(), 3, A.distances().all), ignored);
  return found.size() == 1 && is_proper(found[0].grid, found[0].fit);
}

} // namespace

std::string find_grid(Pattern &A, int max_dim, const char *option, Grid &grid) {
  Match closest;
  if (A.rows() == 0) return "The matrix has no rows, hence no grid";
  const std::string bad = A.mark_identity();
  if (!bad.empty()) return bad;
  const Distances d = A.distances();
  if (d.row >= 0)
    return "The matrix is on no structured grid: in the rows up to " + text(index_t(d.row)) +
           " coupled rows are more than 10 different distances apart, and a grid with 5, 7 or 9 points has 10 at "
           "most; " +
           coupling(A, d.row, d.column) + ". " + instead(option, max_dim);
  const auto found = best(A, candidates(A.rows(), max_dim, d.all), closest);
  if (found.empty()) return no_match(A, d, max_dim, closest, option);
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

std::string check_grid(Pattern &A, const char *option, Grid &grid) {
  index_t size = 1;
  bool fits = true;
  for (int x = 0; x < 3; ++x) {
    fits = fits && grid.n[x] > 0 && size <= A.rows() / grid.n[x];
    if (fits) size *= grid.n[x];
  }
  if (!fits || size != A.rows())
    return "A grid of " + sizes(grid) + " points is not one of the matrix, which has " + text(A.rows()) +
           " rows. Correct " + option + ", or leave it out to have the grid found";
  const std::string bad = A.mark_identity();
  if (!bad.empty()) return bad;
  Match m{grid, {}};
  for (bool &around : m.grid.periodic) around = false;
  m.grid.points = grid.dim == 3 ? 7 : 5;
  m.fit = A.fit(m.grid);
  if (!m.fit.ok()) {
    Match wider{all_around(m.grid), {}};
    if (grid.dim == 2) wider.grid.points = 9;
    wider.fit = A.fit(wider.grid);
    if (!wider.fit.ok() || !is_far_fetched(A, wider)) m = wider;
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

std::string find_grid(const Csr &A, int max_dim, const char *option, Grid &grid) {
  HostPattern pattern(A);
  return find_grid(pattern, max_dim, option, grid);
}

std::string check_grid(const Csr &A, const char *option, Grid &grid) {
  HostPattern pattern(A);
  return check_grid(pattern, option, grid);
}

} // namespace petscrrb
