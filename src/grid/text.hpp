// The words that reasons are made of: rows with their coordinates, grids, values.
#pragma once

#include "grid/csr.hpp"
#include "grid/grid.hpp"

#include <cstdio>

namespace petscrrb {

inline std::string text(double value) {
  char s[40];
  std::snprintf(s, sizeof s, "%.16g", value);
  return s;
}

inline std::string text(index_t value) { return std::to_string(value); }

// "(i, j)" or "(i, j, k)"
inline std::string place(const Grid &g, PetscInt row) {
  const index_t p = row;
  std::string s = "(" + text(p % g.n[0]) + ", " + text(p / g.n[0] % g.n[1]);
  if (g.dim == 3) s += ", " + text(p / (g.n[0] * g.n[1]));
  return s + ")";
}

// "nx x ny" or "nx x ny x nz"
inline std::string sizes(const Grid &g) {
  std::string s = text(g.n[0]) + " x " + text(g.n[1]);
  if (g.dim == 3) s += " x " + text(g.n[2]);
  return s;
}

// "nx x ny (5 points, periodic in x)"
inline std::string description(const Grid &g) {
  std::string s = sizes(g) + " (" + std::to_string(g.points) + " points", around;
  for (int d = 0; d < 3; ++d)
    if (g.periodic[d]) around += std::string(around.empty() ? ", periodic in " : " and ") + "xyz"[d];
  return s + around + ")";
}

} // namespace petscrrb
