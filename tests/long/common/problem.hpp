// Random linear systems on grids, in natural order, and what is known of them.
#pragma once

#include "random.hpp"
#include "reference/matrix.hpp"

#include <string>
#include <vector>

namespace longtest {

struct Problem {
  int dimensions = 2, n[3] = {1, 1, 1}; // unknown (k n[1] + j) n[0] + i is the point (i, j, k)
  bool periodic[3] = {false, false, false};
  int points = 5;      // of a row, the most
  bool on_grid = true; // no coupling beyond the stencil
  reference::Matrix A;
  int columns = 0; // as many as rows unless it is rectangular

  // What is known of A.
  bool symmetric = true;    // but for the columns of known rows
  bool semidefinite = true; // diagonally dominant, with a nonnegative diagonal
  bool definite = true;     // and no null direction
  bool finite = true;
  bool known_columns = false; // identity rows whose columns are kept
  bool masked = false;        // some points couple to less than the others
  bool tame = true;           // numbers of about the same size: Krylov methods converge soon

  std::vector<reference::Vector> null_space; // attached where there is one
  reference::Vector near_null;

  std::string words; // a description

  int size() const { return A.size(); }
};

Problem random_problem(Random &random);
// New values, of the same pattern and grid: another problem of the same kind or, seldom, one with a defect.
void change_values(Random &random, Problem &problem);

// A right-hand side, mostly in the range of A, and what it is.
reference::Vector random_rhs(Random &random, const Problem &problem, std::string &words);
reference::Vector random_guess(Random &random, const Problem &problem, std::string &words);

} // namespace longtest
