// Makes the n-th call fail that the library makes, or that PETSc makes on its behalf: of the allocator, of MPI, of the
// CUDA runtime. The functions are defined in the program, which is where the dynamic linker looks first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace failures {

enum Kind {
  memory,
  mpi,
  cuda
};
// own: only what the library asks for itself, or by PetscMalloc(), but not to make an object;
// any: also that, and what PETSc needs in a function that the library calls
enum class Whose {
  own,
  any
};

// Calls of this kind in this thread are counted from here on, and the one with this number fails; -1: none does.
void start(Kind, Whose, long n);

struct Seen {
  bool failed = false;              // whether there was one with that number,
  bool own = true;                  // the library made it itself,
  bool making = false;              // and it was for a new object
  std::vector<std::uint64_t> stack; // of each call that was counted: equal where it came from the same place
};
Seen stop();

extern const int mpi_error; // a code of MPI's

// Whether the innermost function of PETSc or the library is PETSc's, or nobody can tell: for a handler of signals.
bool in_petsc();

// For the functions that stand in front: whether this call is the one. `caller` is where it returns to.
bool must_fail(Kind, const void *caller);

} // namespace failures
