// What the long tests' programs share.
#include "support.hpp"

#include <petscdevice.h>

#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace longtest {

Backend backend;
Raised raised;

static PetscErrorCode record(MPI_Comm, int, const char *function, const char *file, PetscErrorCode code,
                             PetscErrorType type, const char *message, void *) {
  if (type == PETSC_ERROR_INITIAL && raised.code == PETSC_SUCCESS)
    raised = {code, message ? message : "", file ? file : "", function ? function : ""};
  return code;
}

void ok(PetscErrorCode code) {
  if (code != PETSC_SUCCESS) throw Refused(code);
}

static bool choose_backend(const char *name, const char *program) {
  if (std::strcmp(name, "host") == 0) return true;
#if defined(PETSC_HAVE_CUDA)
  if (std::strcmp(name, "cuda") == 0) {
    backend = {MATAIJCUSPARSE, VECCUDA, true};
    return true;
  }
#endif
  std::fprintf(stderr, "%s: no backend %s in this PETSc\n", program, name);
  return false;
}

bool start(int *argc, char ***argv, const char *program) {
  for (int i = 1; i + 1 < *argc; ++i)
    if (std::strcmp((*argv)[i], "-backend") == 0 && !choose_backend((*argv)[i + 1], program)) return false;
  // counts what is allocated, without a look at all of it in each call; it has to be said before PetscInitialize()
  (void)PetscOptionsSetValue(nullptr, "-malloc_dump", "true");
  (void)PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "false");
  // a crash ends the process as one
  (void)PetscOptionsSetValue(nullptr, "-no_signal_handler", "true");
  (void)PetscOptionsSetValue(nullptr, "-options_left", "no");
  if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(1);
  if (PetscInitialize(argc, argv, nullptr, nullptr) != PETSC_SUCCESS) return false;
  (void)PetscPushErrorHandler(record, nullptr);
  ok(PetscRRBInitializePackage());
#if defined(PETSC_HAVE_CUDA)
  if (backend.device) ok(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#endif
  return true;
}

std::string device_error() {
#if defined(PETSC_HAVE_CUDA)
  const Raised before = std::exchange(raised, {});
  const PetscErrorCode code = backend.device ? PetscDeviceContextSynchronize(nullptr) : PETSC_SUCCESS;
  const std::string message = std::exchange(raised, before).message;
  return code ? "error " + std::to_string(int(code)) + " " + message : "";
#else
  return "";
#endif
}

void stop() {
  (void)PetscPopErrorHandler();
  (void)PetscOptionsClearValue(nullptr, "-malloc_dump"); // after errors PETSc itself leaves some
  (void)PetscFinalize();
}

long number_after(int argc, char **argv, const char *name, long otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::atol(argv[i + 1]);
  return otherwise;
}

bool given(int argc, char **argv, const char *name) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return true;
  return false;
}

MPI_Comm comm_of(PetscObject object) { return PetscObjectComm(object); }

int ranks() {
  int size = 1;
  (void)MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

int rank() {
  int number = 0;
  (void)MPI_Comm_rank(PETSC_COMM_WORLD, &number);
  return number;
}

} // namespace longtest
