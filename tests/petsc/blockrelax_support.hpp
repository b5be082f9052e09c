// What the tests of PCBLOCKRELAX through PETSc share.
#pragma once

#include "device_support.hpp"
#include "mic_support.hpp"

namespace petsctest {

inline Preconditioner relax_of(Mat P, const std::string &options = "") { // not set up
  Preconditioner pc(options);
  ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(P)), pc.put()));
  ok(PCSetOptionsPrefix(pc, pc.prefix()));
  ok(PCSetOperators(pc, P, P));
  ok(PCSetType(pc, PCBLOCKRELAX));
  ok(PCSetFromOptions(pc));
  return pc;
}

inline reference::Vector minus(reference::Vector x, const reference::Vector &y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}
inline reference::Vector plus(reference::Vector x, double a, const reference::Vector &y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += a * y[i];
  return x;
}

} // namespace petsctest
