// What the tests of PCNEUMANN through PETSc share.
#pragma once

#include "reference/two_phase.hpp"
#include "support.hpp"
#include "unit/neumann_support.hpp"

namespace petsctest {

inline Preconditioner neumann_of(Mat P, const std::string &options = "") { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCNEUMANN));
  ok(PCSetFromOptions(pc));
  return pc;
}

// D^-1/2 A D^-1/2 and D^-1/2 b
inline reference::Problem diagonally_scaled(reference::Problem problem) {
  reference::Vector s(problem.b.size());
  for (int p = 0; p < problem.A.size(); ++p) s[p] = 1 / std::sqrt(problem.A.at(p, p));
  for (int p = 0; p < problem.A.size(); ++p) {
    for (auto &[q, a] : problem.A.row[p]) a *= s[p] * s[q];
    problem.b[p] *= s[p];
  }
  return problem;
}

} // namespace petsctest
