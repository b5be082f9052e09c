// One random use of the library: a problem, a solver, and calls in a random order.
#pragma once

#include <cstdint>
#include <string>

namespace longtest {

struct Found {
  std::string fault;                    // empty: none
  std::string story;                    // what was done, in words
  bool refused = false, leaves = false; // leaves: PETSc itself keeps memory then
  int converged = 0, diverged = 0;
};

struct Wish {
  std::uint64_t seed = 1, number = 0;
  bool plain = false;          // PETSc's own types in place of this library's: what they do alike is no fault
  bool print = false;          // each step before it is taken
  void (*refused)() = nullptr; // called where an error has ended the use, before its objects go
};

Found random_use(const Wish &wish);

} // namespace longtest
