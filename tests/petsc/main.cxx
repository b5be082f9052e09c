// Runs the tests through PETSc: build/tests/petsc [-backend host|cuda] [-multiprocessors <of the device, for the library>]
// [-pc_rrb_transport <transport, of all types>] [googletest's and PETSc's options].
#include "cuda_calls.hpp"
#include "support.hpp"

#include <petscdevice.h>

#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace petsctest {

namespace {

int argument_count;
char **arguments;

// Keeps the words that a test looks for, and prints nothing: refusals are what many tests are about.
PetscErrorCode record(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type,
                      const char *message, void *) {
  if (type == PETSC_ERROR_INITIAL) raised = {code, message ? message : ""};
  return code;
}

// Whether PETSc finds a device; what it says where it does not is in `raised`.
bool device_is_there() {
#if defined(PETSC_HAVE_CUDA)
  return !refused(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#else
  return false;
#endif
}

class Environment : public testing::Environment {
  void SetUp() override {
    start_petsc();
    if (!backend.device || device_is_there()) return;
    std::fprintf(stderr, "-backend cuda: there is no CUDA device that PETSc can use: %s\n", raised.message.c_str());
    std::exit(2);
  }
  void TearDown() override { stop_petsc(); }
};

// Why there is no such backend; empty where there is one.
std::string choose_backend(const std::string &name) {
  if (name.empty() || name == "host") return "";
  if (name != "cuda") return "there are host and cuda";
#if defined(PETSC_HAVE_CUDA)
  backend = {MATAIJCUSPARSE, MATMPIAIJCUSPARSE, MATDENSECUDA, VECCUDA, true};
  return "";
#else
  return "this PETSc was configured without CUDA";
#endif
}

// What follows the option's name; empty where it is not given. PETSc, which would call it unused, does not see it.
std::string take_option(const char *name, int &argc, char **argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) != 0) continue;
    const std::string value = argv[i + 1];
    for (int k = i; k + 2 <= argc; ++k) argv[k] = argv[k + 2]; // the last one is NULL
    argc -= 2;
    return value;
  }
  return "";
}

} // namespace

void start_petsc() {
  // counts what is allocated, and looks for writes past an end; it has to be said before PetscInitialize()
  (void)PetscOptionsSetValue(nullptr, "-malloc_debug", "true");
  // one rank sends nothing, and PETSc would refuse an MPI that cannot send from a device
  (void)PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "false");
  if (PetscInitialize(&argument_count, &arguments, nullptr, nullptr) != PETSC_SUCCESS) std::abort();
  ok(PetscPushErrorHandler(record, nullptr));
  ok(PetscRRBInitializePackage());
}

void stop_petsc() {
  ok(PetscPopErrorHandler());
  ok(PetscFinalize());
}

} // namespace petsctest

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string backend = petsctest::take_option("-backend", argc, argv);
  const std::string why_not = petsctest::choose_backend(backend);
  if (!why_not.empty()) {
    std::fprintf(stderr, "-backend %s: %s\n", backend.c_str(), why_not.c_str());
    return 2;
  }
  petsctest::multiprocessors = std::atoi(petsctest::take_option("-multiprocessors", argc, argv).c_str());
  // the problems are small, and threads that wait for a core that other processes use slow them down tenfold
  if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(1);
  petsctest::argument_count = argc;
  petsctest::arguments = argv;
  MPI_Init(&argc, &argv); // ours, so that PETSc can be finalized and initialized again
  testing::AddGlobalTestEnvironment(new petsctest::Environment);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
