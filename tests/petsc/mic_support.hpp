// What the tests of PCMIC through PETSc share.
#pragma once

#include "support.hpp"
#include "unit/mic_support.hpp"

#include <random>

namespace petsctest {

using mic_support::Kept;
using neumann_support::random_values;
using neumann_support::reference_of;
using neumann_support::words;
using reference::Factorization;

inline Preconditioner mic_of(Mat P, const std::string &options = "") { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCMIC));
  ok(PCSetFromOptions(pc));
  return pc;
}

// (1/r) I + Laplace, h^2-scaled, on n points a side, and a normal right-hand side; r = 0: none of the former
inline reference::Problem cube(int n, int sides, double r) {
  const int size = sides == 3 ? n * n * n : n * n;
  reference::Problem out;
  out.A = reference::Matrix(size);
  for (int p = 0; p < size; ++p) {
    out.A.add(p, p, 2 * sides + (r > 0 ? 1 / r : 0));
    for (int d = 0, stride = 1; d < sides; ++d, stride *= n)
      if (p / stride % n + 1 < n) out.A.add(p, p + stride, -1), out.A.add(p + stride, p, -1);
  }
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int p = 0; p < size; ++p) out.b.push_back(normal(random));
  return out;
}

} // namespace petsctest
