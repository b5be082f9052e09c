/* Which of the ways between devices is taken. */
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "comm/ranks_cuda.h"

PetscErrorCode PetscRRBTransport::View(PetscViewer viewer) const {
  return PetscViewerASCIIPrintf(viewer, "values travel by %s%s%s\n", words, why_not_faster.empty() ? "" : ", since ",
                                why_not_faster.c_str());
}

PetscErrorCode PetscRRBChooseTransport(PetscObject of, const char option[], PCRRBTransport wanted,
                                       const petscrrb::Cuda &on, PetscRRBTransport *t) {
  const MPI_Comm comm = PetscObjectComm(of);
  const struct {
    PCRRBTransport type;
    const char *words;
    PetscRRBCreateRanks *create;
  } all[] = {{PC_RRB_TRANSPORT_STORES, "stores", PetscRRBCreateRanksStores},
             {PC_RRB_TRANSPORT_STORES, "stores (windows of NCCL)", PetscRRBCreateRanksStoresNccl},
             {PC_RRB_TRANSPORT_NCCL, "NCCL", PetscRRBCreateRanksNccl},
             {PC_RRB_TRANSPORT_SF, "PetscSF", PetscRRBCreateRanksSF}};
  std::string why_not;

  PetscFunctionBegin;
  t->ranks = nullptr;
  t->why_not_faster.clear();
  for (const auto &one : all) {
    if (t->ranks || (wanted != PC_RRB_TRANSPORT_AUTO && wanted != one.type)) continue;
    PetscCall(one.create(comm, on, &t->ranks, &why_not));
    if (t->ranks) t->words = one.words;
    if (t->ranks) continue;
    PetscCall(PetscInfo(of, "Values cannot travel by %s: %s\n", one.words, why_not.c_str()));
    t->why_not_faster = std::move(why_not);
  }
  PetscCheck(t->ranks, comm, PETSC_ERR_SUP, "%s %s is not possible: %s", option, PCRRBTransports[wanted],
             t->why_not_faster.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
