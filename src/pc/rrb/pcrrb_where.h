/* The two places where PCRRB works: what its backend, a template over one of them, and what it reads of rows have there. */
#pragma once

#include "comm/ranks_mpi.h"
#include "pc/backend.h"
#include "pc/rrb/host/read_rows.hpp"
#include "pc/rrb/pcrrb_data.h"
#include "pc/rrb/pcrrb_last_block.h"
#include "petsc/mpi_throws.h"
#if PETSCRRB_ON_DEVICES
  #include "comm/ranks_cuda.h"
  #include "grid/cuda/find.hpp"
  #include "pc/rrb/cuda/cycle_graphs.hpp"
  #include "pc/rrb/cuda/read_rows.hpp"
#endif

/* work() may be done with other ranks; what goes wrong with the messages comes as an exception. */
template <class Work> PetscErrorCode PCRRBTogether(const Work &work) {
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  const PetscRRBTrouble trouble = PetscRRBTroubleOf("RRB on several ranks", [&] { code = work(); });
  PetscCheck(!trouble, PETSC_COMM_SELF, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(code);
}

class PCRRBHostWork : public PetscRRBHostWork {
public:
  using RankReader = petscrrb::host::RankReader;
  using LastBlock = petscrrb::rrb::CoarseSolver;
  struct Graphs {};

  PCRRBHostWork() : PetscRRBHostWork("PCRRB") {}
  const petscrrb::Host &on() const { return petscrrb::on_host; }
  void Ready() {}
  void HandOver() {}
  void Wait() {}
  template <class F> void Do(const F &f) { f(); }
  std::shared_ptr<const void> Pool() { return nullptr; }
  /* f(), which may work with other ranks, where Compute() would say of its exceptions what they are not */
  template <class F> PetscErrorCode Guard(const F &f) { return PCRRBTogether(f); }
  std::unique_ptr<petscrrb::RankPattern> Pattern(const petscrrb::RankRows &, PetscInt) { return nullptr; }

  /* Who work together, in two steps: what they agree on, collective, and what each does by itself. */
  PetscErrorCode ChooseRanks(PC, std::unique_ptr<petscrrb::rrb::Ranks> *ranks) {
    *ranks = nullptr;
    return PETSC_SUCCESS;
  }
  void MakeRanks(MPI_Comm comm, std::unique_ptr<petscrrb::rrb::Ranks> *ranks) {
    *ranks = std::make_unique<PetscRRBRanks>(comm);
  }
  PetscErrorCode ViewTransport(PetscViewer) const { return PETSC_SUCCESS; }
};

#if PETSCRRB_ON_DEVICES

class PCRRBDeviceWork : public PetscRRBDeviceWork {
public:
  using RankReader = petscrrb::cuda::RankReader;
  using LastBlock = PCRRBLastBlockOnDevice;
  using Graphs = petscrrb::rrb::CycleGraphs;

  PCRRBDeviceWork() : PetscRRBDeviceWork("PCRRB") {}
  petscrrb::Cuda &on() { return stream.cuda; }
  void Ready() { (void)stream.Ready(); }
  void HandOver() { stream.HandOver(); }
  void Wait() { petscrrb::cuda::check(cudaStreamSynchronize(stream.cuda.stream), "cudaStreamSynchronize"); }
  template <class F> void Do(const F &f) { stream.Do(f); }
  std::shared_ptr<const void> Pool() { return std::make_shared<const petscrrb::cuda::Pool>(stream.Ready()); }
  template <class F> PetscErrorCode Guard(const F &f) { return f(); }
  std::unique_ptr<petscrrb::RankPattern> Pattern(const petscrrb::RankRows &rows, PetscInt ghosts) {
    return petscrrb::cuda::make_rank_pattern(rows, ghosts, [this] { return stream.Ready(); });
  }

  PetscErrorCode ChooseRanks(PC pc, std::unique_ptr<petscrrb::rrb::Ranks> *ranks) {
    return PCRRBTogether([&]() -> PetscErrorCode {
      PetscFunctionBegin;
      *ranks = nullptr; /* what it has goes first */
      PetscCall(PetscRRBChooseTransport((PetscObject)pc, "-pc_rrb_transport", ((PC_RRB *)pc->data)->transport, on(),
                                        &transport_));
      *ranks = std::move(transport_.ranks);
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  void MakeRanks(MPI_Comm, std::unique_ptr<petscrrb::rrb::Ranks> *) {}
  PetscErrorCode ViewTransport(PetscViewer viewer) const { return transport_.View(viewer); }

private:
  PetscRRBTransport transport_;
};

#endif
