/* The public functions of PCRRB that say what its ranks share; see pcrrb_options.cxx. */
#include "rrb/pcrrb_impl.h"

/*@
   PCRRBSetGatherSize - Sets how large a grid may be that `PCRRB` has on every rank, with several MPI ranks

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  points - the most points of all ranks together, 0 or more; or `PETSC_DECIDE` (default)

   Options Database Key:
.  -pc_rrb_gather_size <points> - the most points of a grid that is on every rank; default 1024, on devices 65536

   Level: intermediate

   Notes:
   Finer grids are distributed. The first grid with at most so many points is gathered from all ranks, and each of them does
   what is below it, so that no more messages are needed. With 0 only the grid of the last block is gathered, with as
   many as the matrix has rows all of it. The preconditioner is the same operator, to rounding.

   A distributed grid costs two exchanges with the neighbours in each application, a gathered one the work of all its points on
   every rank. On one rank there is nothing to gather.

   It takes effect at the next `PCSetUp()`.

.seealso: `PCRRB`, `PCRRBGetGatherSize()`
@*/
PetscErrorCode PCRRBSetGatherSize(PC pc, PetscInt points) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, points, 2);
  PetscCheck(points >= 0 || points == PETSC_DECIDE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Gather size %" PetscInt_FMT " must be 0 or more, or PETSC_DECIDE", points);
  PetscTryMethod(pc, "PCRRBSetGatherSize_C", (PC, PetscInt), (pc, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetGatherSize - Gets how large a grid may be that `PCRRB` has on every rank

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  points - the most points; after `PCSetUp()` the number in use, before it the one set

   Level: intermediate

.seealso: `PCRRB`, `PCRRBSetGatherSize()`
@*/
PetscErrorCode PCRRBGetGatherSize(PC pc, PetscInt *points) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(points, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetGatherSize_C", (PC, PetscInt *), (pc, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetTransport - Sets how values travel between the devices of several ranks in `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner context
-  transport - `PC_RRB_TRANSPORT_AUTO` (default), `PC_RRB_TRANSPORT_STORES`, `PC_RRB_TRANSPORT_NCCL` or `PC_RRB_TRANSPORT_SF`

   Options Database Key:
.  -pc_rrb_transport <auto,stores,nccl,sf> - how values travel

   Level: advanced

   Notes:
   With stores an exchange is one kernel, and a solve with `KSPRRB` one graph that repeats itself. NCCL takes some microseconds more;
   its iterations are graphs that the host launches. With `PetscSF` the host takes part in every exchange, and values go through its
   memory, unless MPI is device-aware (`-use_gpu_aware_mpi`).

   Stores and NCCL want a device for each rank. Where ranks share one, it is `PetscSF`.

   A transport that is not possible is an error at `PCSetUp()`, with the reason; with `PC_RRB_TRANSPORT_AUTO` the next one is tried,
   and `-ksp_view` says which one is in use. On hosts, and on one rank, there is no choice.

   It takes effect at the next `PCSetUp()` that builds the hierarchy.

.seealso: `PCRRB`, `PCRRBTransport`, `PCRRBGetTransport()`
@*/
PetscErrorCode PCRRBSetTransport(PC pc, PCRRBTransport transport) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, transport, 2);
  PetscCheck(transport >= PC_RRB_TRANSPORT_AUTO && transport <= PC_RRB_TRANSPORT_SF, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "Unknown PCRRBTransport %d", (int)transport);
  PetscTryMethod(pc, "PCRRBSetTransport_C", (PC, PCRRBTransport), (pc, transport));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBGetTransport - Gets how values travel between the devices of several ranks in `PCRRB`

   Not Collective

   Input Parameter:
.  pc - the preconditioner context

   Output Parameter:
.  transport - as it was set

   Level: advanced

.seealso: `PCRRB`, `PCRRBSetTransport()`
@*/
PetscErrorCode PCRRBGetTransport(PC pc, PCRRBTransport *transport) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(transport, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, "PCRRBGetTransport_C", (PC, PCRRBTransport *), (pc, transport));
  PetscFunctionReturn(PETSC_SUCCESS);
}
