/* Memory that ranks share by windows of NCCL. */
#include "comm/nccl.h"
#include "comm/peer_memory.h"

#if PETSCRRB_NCCL
  #include "comm/cuda/window.hpp"
#endif

#if PETSCRRB_NCCL && PETSCRRB_NCCL_WINDOWS

  #include "comm/devices_of_ranks.h"

  #include <nccl_device/core.h>

  /* an older NCCL at run time has none of them, and is found out before */
  #pragma weak ncclMemAlloc
  #pragma weak ncclMemFree
  #pragma weak ncclCommWindowRegister
  #pragma weak ncclCommWindowDeregister
extern "C" __attribute__((weak))
ncclTeam_t ncclTeamLsa(ncclComm_t); /* the pragma is not for one name of several functions */

using petscrrb::nccl::check;
using petscrrb::nccl::Communicator;

namespace {

class Window final : public PetscRRBSharedPiece {
public:
  Window(MPI_Comm comm, std::shared_ptr<Communicator> nccl) : comm_(comm), nccl_(std::move(nccl)) {}
  Window(const Window &) = delete;
  Window &operator=(const Window &) = delete;
  ~Window() override {
    (void)cudaDeviceSynchronize();
    if (shared_) (void)MPI_Barrier(comm_); /* nobody takes away what another one still writes to */
    if (window_) (void)ncclCommWindowDeregister(nccl_->get(), window_);
    if (own_) (void)ncclMemFree(own_);
  }

  void allocate(std::size_t bytes) {
    check(ncclMemAlloc(&own_, bytes), "ncclMemAlloc");
    petscrrb::cuda::check(cudaMemset(own_, 0, bytes), "cudaMemset");
    petscrrb::cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  void share(std::size_t bytes, int ranks) {
    shared_ = true;
    check(ncclCommWindowRegister(nccl_->get(), own_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
          "ncclCommWindowRegister");
    const int reached = window_ ? ncclTeamLsa(nccl_->get()).nRanks : 0;
    if (reached != ranks)
      throw std::runtime_error("NCCL lets only " + std::to_string(reached) + " of " + std::to_string(ranks) +
                               " devices store into each other's memory");
    of_rank = petscrrb::nccl::parts_of(window_, ranks, nullptr);
  }

private:
  MPI_Comm comm_;
  bool shared_ = false; /* all ranks have made theirs */
  std::shared_ptr<Communicator> nccl_;
  void *own_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

/* What a device knows of a window may differ from one minor version to the next. */
std::string OtherVersion() {
  int version;

  check(ncclGetVersion(&version), "ncclGetVersion");
  if (version / 100 == NCCL_VERSION_CODE / 100) return "";
  return "petscrrb was built with NCCL " + std::to_string(NCCL_VERSION_CODE) + ", but runs with " +
         std::to_string(version);
}

} // namespace

PetscErrorCode PetscRRBShareByNccl(MPI_Comm comm, PetscRRBShare *share, std::string *why_not) {
  std::shared_ptr<Communicator> nccl;

  PetscFunctionBegin;
  PetscCall(PetscRRBGetNccl(comm, &nccl, why_not));
  if (!nccl) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBWhyNot(comm, why_not, [] {
    const std::string other = OtherVersion();
    if (!other.empty()) throw std::runtime_error(other);
  }));
  if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  *share = [comm, nccl](std::size_t bytes, std::unique_ptr<PetscRRBSharedPiece> *piece, std::string *why_not) {
    PetscMPIInt ranks;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm, &ranks));
    std::unique_ptr<Window> made;
    PetscCall(PetscRRBWhyNot(comm, why_not, [&] {
      made = std::make_unique<Window>(comm, nccl);
      made->allocate(bytes);
    }));
    if (why_not->empty()) PetscCall(PetscRRBWhyNot(comm, why_not, [&] { made->share(bytes, ranks); }));
    if (why_not->empty()) *piece = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

#elif PETSCRRB_ON_DEVICES

PetscErrorCode PetscRRBShareByNccl(MPI_Comm, PetscRRBShare *, std::string *why_not) {
  PetscFunctionBegin;
  *why_not = "petscrrb was built without NCCL 2.28 or later";
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
