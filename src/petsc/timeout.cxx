/* How long the kernels of a device, and the host for them, wait for what others send. */
#include "exec/timeout.hpp"

#include "petsc/compat.h"
#include "petscrrb.h"

/*@
   PetscRRBSetTimeout - Sets how long the kernels of a device wait for values of other kernels and of other ranks

   Not Collective, but all ranks must call it with the same value

   Input Parameter:
.  seconds - the time, in seconds; 0 to wait forever (default: 60)

   Options Database Key:
.  -petscrrb_timeout <seconds> - the time; read when the library is registered

   Level: advanced

   Notes:
   It applies to all objects of the process, and to each single wait: a solve may take as long as it needs while its steps finish. Kernels
   wait in `PCMIC`, whose tiles pass on values while they run, and in `PCRRB` and `KSPRRB` between the devices of several ranks
   (`PC_RRB_TRANSPORT_STORES`). The host waits in the same way for NCCL messages and for the steps of `KSPRRB`. On hosts, and with
   `PetscSF`, MPI waits, and this has no effect.

   After a wait in vain the computation continues with NaN, so that nothing converges, and the next application, or the end of the solve
   with `KSPRRB`, raises the error. `PCMIC` works again after that; `PCRRB` on several ranks after its next set-up.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for a negative or infinite time. `PETSC_ERR_GPU` when a wait has timed out.

.seealso: `PetscRRBGetTimeout()`, `PCRRBSetTransport()`, `PCMIC`, `KSPRRB`
@*/
PetscErrorCode PetscRRBSetTimeout(PetscReal seconds) {
  PetscFunctionBegin;
  PetscCheck(seconds >= 0 && !PetscIsInfOrNanReal(seconds), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-petscrrb_timeout %g must be finite and not negative; 0 waits forever", (double)seconds);
  petscrrb::timeout = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PetscRRBGetTimeout - Gets how long the kernels of a device wait for values of other kernels and of other ranks

   Not Collective

   Output Parameter:
.  seconds - the time, in seconds; 0 if they wait forever

   Level: advanced

.seealso: `PetscRRBSetTimeout()`
@*/
PetscErrorCode PetscRRBGetTimeout(PetscReal *seconds) {
  PetscFunctionBegin;
  *seconds = petscrrb::timeout;
  PetscFunctionReturn(PETSC_SUCCESS);
}
