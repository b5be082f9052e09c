#include "comm/nccl.h"

#if PETSCRRB_NCCL

  #include "comm/devices_of_ranks.h"

  #include <algorithm>
  #include <vector>

using petscrrb::nccl::check;
using petscrrb::nccl::Communicator;

namespace {

/* What an MPI communicator keeps. */
struct Kept {
  std::shared_ptr<Communicator> nccl;
  std::string why_not;
};

} // namespace

/* Whether messages arrive. It also connects the ranks, which a graph's first message could not. */
static void TestMessages(Communicator &nccl, int ranks, int rank) {
  using petscrrb::cuda::check;
  std::vector<double> got((std::size_t)ranks);
  std::vector<double> mine((std::size_t)ranks);
  mine[(std::size_t)rank] = 1 + rank;
  const petscrrb::cuda::Buffer<double> all(mine);
  const petscrrb::cuda::Pinned<double> got_there((std::size_t)ranks); /* a copy to other memory would wait by itself */
  const petscrrb::cuda::Stream stream;

  nccl.all_gather(all.data() + rank, 1, all.data(), stream.get());
  check(cudaMemcpyAsync(got_there.data(), all.data(), all.bytes(), cudaMemcpyDeviceToHost, stream.get()),
        "cudaMemcpyAsync");
  petscrrb::cuda::wait_for(stream.get(), "the first NCCL messages");
  std::copy_n(got_there.data(), ranks, got.begin());
  for (int r = 0; r < ranks; ++r)
    if (got[(std::size_t)r] != 1 + r)
      throw std::runtime_error("values from rank " + std::to_string(r) + " did not arrive");
}

static PetscErrorCode Connect(MPI_Comm comm, Kept *kept) {
  PetscMPIInt ranks, rank;
  ncclUniqueId id{};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  const auto on_first = [&] {
    if (!rank) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  };
  PetscCall(PetscRRBWhyNot(comm, &kept->why_not, on_first));
  PetscCallMPI(MPI_Bcast(&id, (PetscMPIInt)sizeof id, MPI_BYTE, 0, comm));
  if (kept->why_not.empty())
    PetscCall(
        PetscRRBWhyNot(comm, &kept->why_not, [&] { kept->nccl = std::make_shared<Communicator>(ranks, id, rank); }));
  if (kept->why_not.empty())
    PetscCall(PetscRRBWhyNot(comm, &kept->why_not, [&] { TestMessages(*kept->nccl, ranks, rank); }));
  if (kept->why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  kept->why_not = "NCCL cannot be started: " + kept->why_not;
  if (kept->nccl) kept->nccl->abandon();
  kept->nccl.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(MPI_Comm comm, Kept *kept) {
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) kept->why_not = "there is only one rank";
  if (kept->why_not.empty()) PetscCall(PetscRRBFindSharedDevice(comm, &kept->why_not));
  if (kept->why_not.empty()) PetscCall(Connect(comm, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where messages were given up on one rank, all ranks begin anew. */
static PetscErrorCode MakeAgain(MPI_Comm comm, Kept *kept) {
  int abandoned = kept->nccl && kept->nccl->abandoned();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &abandoned, 1, MPI_INT, MPI_MAX, comm));
  if (!abandoned) PetscFunctionReturn(PETSC_SUCCESS);
  if (kept->nccl) kept->nccl->abandon();
  *kept = Kept();
  PetscCall(Make(comm, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the MPI communicator, unless a Ranks that nobody has destroyed holds it: graphs of its owner may, too. */
static int Forget(MPI_Comm, int, void *kept, void *) {
  delete (Kept *)kept;
  return MPI_SUCCESS;
}

PetscErrorCode PetscRRBGetNccl(MPI_Comm comm, std::shared_ptr<Communicator> *nccl, std::string *why_not) {
  static int key = MPI_KEYVAL_INVALID;
  Kept *kept;
  PetscMPIInt there;

  PetscFunctionBegin;
  if (key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Forget, &key, nullptr));
  PetscCallMPI(MPI_Comm_get_attr(comm, key, &kept, &there));
  if (there) PetscCall(MakeAgain(comm, kept));
  if (!there) {
    auto made = std::make_unique<Kept>();
    PetscCall(Make(comm, made.get()));
    PetscCallMPI(MPI_Comm_set_attr(comm, key, kept = made.release()));
  }
  *nccl = kept->nccl;
  *why_not = kept->why_not;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
