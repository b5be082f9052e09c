// What the tests of Neumann series share: matrices on grids of all shapes, and their dense references.
#pragma once

#include "../reference/neumann_reference.hpp"
#include "small_matrix.hpp"

#include <string>
#include <vector>

namespace neumann_support {

inline reference::Matrix reference_of(const SmallMatrix &A) {
  reference::Matrix out(A.size());
  for (int p = 0; p < A.size(); ++p)
    for (int q = 0; q < A.size(); ++q)
      if (A.at(p, q) != 0) out.add(p, q, A.at(p, q));
  return out;
}

// Random couplings, and diagonals that differ a hundredfold.
inline SmallMatrix uneven(const Shape &s, unsigned seed = 1) {
  SmallMatrix A = random_matrix(s, seed);
  for (int p = 0; p < s.size(); ++p) A.set(p, p, p % 5 ? 7 + p % 3 : 700);
  return A;
}

inline std::vector<double> random_values(std::size_t n) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> x(n);
  for (double &v : x) v = value(random);
  return x;
}

inline std::string words(const Shape &s) {
  return std::to_string(s.nx) + " x " + std::to_string(s.ny) + " x " + std::to_string(s.nz) + ", " +
         std::to_string(s.points) + " points" + (s.px ? ", periodic in x" : "") + (s.py ? ", in y" : "") +
         (s.pz ? ", in z" : "");
}

inline petscrrb::Grid lattice(const Shape &s) {
  petscrrb::Grid g = grid_of(s);
  g.dim = s.points == 7 ? 3 : 2;
  g.n[2] = s.nz;
  g.periodic[2] = s.pz;
  return g;
}

const std::vector<Shape> shapes{{1, 1},
                                {2, 1},
                                {7, 1},
                                {1, 9},
                                {2, 2},
                                {5, 4},
                                {17, 9},
                                {40, 3},
                                {3, 40},
                                {290, 1},
                                {3, 70},
                                {67, 9},
                                {9, 5, 1, true},
                                {5, 9, 1, false, true},
                                {3, 3, 1, true, true},
                                {4, 7, 1, true, true},
                                {6, 7, 1, false, false, false, 9},
                                {1, 7, 1, false, false, false, 9},
                                {2, 3, 1, false, false, false, 9},
                                {39, 5, 1, false, false, false, 9},
                                {5, 7, 1, true, false, false, 9},
                                {6, 5, 1, false, true, false, 9},
                                {4, 3, 1, true, true, false, 9},
                                {4, 3, 5, false, false, false, 7},
                                {2, 2, 2, false, false, false, 7},
                                {70, 2, 2, false, false, false, 7},
                                {2, 18, 2, false, false, false, 7},
                                {2, 3, 19, false, false, false, 7},
                                {3, 4, 5, true, false, false, 7},
                                {4, 3, 3, false, true, false, 7},
                                {3, 4, 3, false, false, true, 7},
                                {3, 4, 3, true, true, true, 7}};

} // namespace neumann_support
