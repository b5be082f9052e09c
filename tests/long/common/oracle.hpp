// Whether what a solver says of its solution is true, in higher precision and by the matrix as it was drawn.
#pragma once

#include "storage.hpp"

namespace longtest {

using Long = long double; // its exponents hold what doubles overflow to
using Longs = std::vector<Long>;

struct Claim { // what a KSP said, and what it was given; all by unknowns
  KSP ksp;
  const Problem *problem;
  const Numbering *numbering;
  const reference::Vector *b, *guess; // no guess: zero
  reference::Vector x;
  bool transposed = false;
  bool own_matrix = true; // the preconditioner was made from this matrix, with these values
};

// What is false about it; empty where nothing is.
std::string judge(const Claim &claim);

// An estimate of eigenvalues ends at KSP's absolute tolerance of 1e-50 and has seen nothing where M r is smaller: Chebyshev in multigrid
// does anything then.
bool estimates_nothing(const Claim &claim);

} // namespace longtest
