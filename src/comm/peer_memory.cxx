#include "comm/peer_memory.h"

#if PETSCRRB_ON_DEVICES

  #include "exec/cuda/cuda.hpp"
  #include "comm/devices_of_ranks.h"

using petscrrb::cuda::check;

namespace {

using Handle = cudaIpcMemHandle_t;

struct OnOneMachine final : PetscRRBSharedPiece {
  explicit OnOneMachine(MPI_Comm comm) : comm_(comm) {}
  OnOneMachine(const OnOneMachine &) = delete;
  OnOneMachine &operator=(const OnOneMachine &) = delete;
  ~OnOneMachine() override {
    (void)cudaDeviceSynchronize();
    for (char *p : of_rank)
      if (p && p != own_.data()) (void)cudaIpcCloseMemHandle(p);
    if (shared_) (void)MPI_Barrier(comm_); /* nobody frees what another one still has */
  }

  Handle make(std::size_t bytes) {
    const petscrrb::cuda::Pool::Pause no_pool;
    Handle handle;
    own_.resize(bytes);
    check(cudaIpcGetMemHandle(&handle, own_.data()), "cudaIpcGetMemHandle");
    return handle;
  }
  void open(const std::vector<Handle> &handles, int me) {
    shared_ = true;
    of_rank.assign(handles.size(), nullptr);
    for (std::size_t r = 0; r < handles.size(); ++r) {
      if ((int)r == me) of_rank[r] = own_.data();
      if ((int)r == me) continue;
      void *p;
      check(cudaIpcOpenMemHandle(&p, handles[r], cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
      of_rank[r] = (char *)p;
    }
  }

private:
  MPI_Comm comm_;
  bool shared_ = false; /* all ranks have made theirs */
  petscrrb::cuda::Buffer<char> own_;
};

} // namespace

static PetscErrorCode ShareOnOneMachine(MPI_Comm comm, std::size_t bytes, std::unique_ptr<PetscRRBSharedPiece> *piece,
                                        std::string *why_not) {
  PetscMPIInt ranks, rank;
  Handle own{};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  std::unique_ptr<OnOneMachine> made;
  std::vector<Handle> all;
  PetscCall(PetscRRBWhyNot(comm, why_not, [&] {
    all.resize((std::size_t)ranks);
    made = std::make_unique<OnOneMachine>(comm);
    own = made->make(bytes);
  }));
  if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all.data(), (int)sizeof own, MPI_BYTE, comm));
  PetscCall(PetscRRBWhyNot(comm, why_not, [&] { made->open(all, rank); }));
  if (why_not->empty()) *piece = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscRRBShare PetscRRBShareOnOneMachine(MPI_Comm comm) {
  return [comm](std::size_t bytes, std::unique_ptr<PetscRRBSharedPiece> *piece, std::string *why_not) {
    int first, least;

    PetscFunctionBegin;
    PetscCall(PetscRRBFirstRankOfMachine(comm, &first));
    PetscCallMPI(MPI_Allreduce(&first, &least, 1, MPI_INT, MPI_MAX, comm));
    if (least) *why_not = "the ranks are on several machines";
    if (least) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ShareOnOneMachine(comm, bytes, piece, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

PetscErrorCode PetscRRBPeerMemory::Take(std::size_t bytes, std::vector<char *> *of_rank, std::string *why_not) {
  constexpr std::size_t line = 128, unit = std::size_t(1) << 24; /* to share a piece takes milliseconds */
  const auto rounded = [](std::size_t n, std::size_t to) { return (n + to - 1) / to * to; };

  PetscFunctionBegin;
  bytes = rounded(bytes, line);
  why_not->clear();
  if (bytes > left_) {
    std::unique_ptr<PetscRRBSharedPiece> made;
    PetscCall(share_(rounded(bytes, unit), &made, why_not));
    if (!made) PetscFunctionReturn(PETSC_SUCCESS);
    pieces_.push_back(std::move(made));
    left_ = rounded(bytes, unit);
    taken_ = 0;
  }
  *of_rank = pieces_.back()->of_rank;
  for (char *&p : *of_rank) p += taken_;
  taken_ += bytes;
  left_ -= bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
