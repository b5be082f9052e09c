// What the tests of PCNEUMANN through PETSc share.
#pragma once

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

// Two phases, one above the other, with a jump of 1000: n x n cells, harmonic means on the faces, Dirichlet at the top.
inline reference::Problem two_phases(int n) {
  const auto cell = [=](int j) { return j < n / 2 ? 1e-3 : 1.0; };
  const auto mean = [](double a, double b) { return 2 * a * b / (a + b); };
  reference::Problem out = reference::five_points(
      {n, n}, [=](int i, int j) { return i == 0 || i == n ? 0 : cell(j); },
      [=](int, int j) { return j == 0   ? 0
                               : j == n ? cell(n - 1)
                                        : mean(cell(j - 1), cell(j)); });
  reference::Vector x(out.b.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(double(i));
  out.b = out.A.multiply(x);
  return out;
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
