// What the long tests' programs share: handles that destroy themselves, and the error that PETSc raised first.
#pragma once

#include "petsc/compat.h"
#include "petscrrb.h"

#include <petscdmda.h>
#include <petscsnes.h>
#include <petscts.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace longtest {

// The types that matrices and vectors get, chosen by -backend host|cuda.
struct Backend {
  MatType mat = MATAIJ;
  VecType vec = VECSTANDARD;
  bool device = false;
};
extern Backend backend;

// What differs between PETSc's versions: a DM that only tells the grid, and scaling, which later ones do not have.
inline PetscErrorCode set_dm_inactive(KSP ksp) {
#if PETSC_VERSION_GE(3, 25, 0)
  return KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE);
#else
  return KSPSetDMActive(ksp, PETSC_FALSE);
#endif
}
inline PetscErrorCode get_diagonal_scale(KSP ksp, PetscBool *scaled) {
#if PETSC_VERSION_GE(3, 25, 0)
  (void)ksp;
  *scaled = PETSC_FALSE;
  return PETSC_SUCCESS;
#else
  return KSPGetDiagonalScale(ksp, scaled);
#endif
}

struct Raised { // where PETSc raised an error first since the last look
  PetscErrorCode code = PETSC_SUCCESS;
  std::string message, file, function;
};
extern Raised raised;

struct Refused : std::runtime_error { // a PETSc function returned an error
  PetscErrorCode code;
  explicit Refused(PetscErrorCode code) : std::runtime_error("PETSc error"), code(code) {}
};
void ok(PetscErrorCode code); // throws Refused

// PETSc with its types and this library's; takes -backend and `own` options (which have a value) from the arguments.
bool start(int *argc, char ***argv, const char *program);
void stop();
// What the device says of all work so far; empty: no error.
std::string device_error();

// The value of an option of the program itself, such as -seed.
long number_after(int argc, char **argv, const char *name, long otherwise);
bool given(int argc, char **argv, const char *name);

template <class T, PetscErrorCode (*destroy)(T *)> class Handle {
public:
  Handle() = default;
  Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_) (void)destroy(&object_);
  }
  operator T() const { return object_; }
  operator PetscObject() const { return reinterpret_cast<PetscObject>(object_); }
  T *put() { // for PETSc to write to
    if (object_) ok(destroy(&object_));
    return &object_;
  }
  T *in_place() { return &object_; }

private:
  T object_ = nullptr;
};

using Matrix = Handle<Mat, MatDestroy>;
using Vector = Handle<Vec, VecDestroy>;
using Solver = Handle<KSP, KSPDestroy>;
using Array = Handle<DM, DMDestroy>;
using Space = Handle<MatNullSpace, MatNullSpaceDestroy>;

MPI_Comm comm_of(PetscObject object);
int ranks();
int rank();

} // namespace longtest
