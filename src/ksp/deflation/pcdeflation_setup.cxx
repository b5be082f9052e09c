/* E and AZ follow the matrix: whoever applies the projection asks whether they still belong to A's values. */
#include "ksp/deflation/kspdeflation_data.h"
#include "pc/set_up.h"

#include <petsctime.h>

using petscrrb::deflation::Result;

static PetscErrorCode GetSpace(PC pc, PetscObject *space) {
  const KSPDeflation &k = *Data(pc)->deflation;

  PetscFunctionBegin;
  *space = k.type == KSP_DEFLATION_LEVELSET ? (PetscObject)k.phi
           : k.type == KSP_DEFLATION_USER   ? (PetscObject)k.Z
                                            : nullptr;
  PetscCheck(k.type != KSP_DEFLATION_USER || k.Z, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-ksp_deflation user needs a deflation space: call KSPDeflationSetSpace()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other ranks may have as many of both. */
static PetscErrorCode CheckPhi(PC pc, Mat A, PetscObject space) {
  PetscRRBTrouble trouble;
  PetscInt rows, values;

  PetscFunctionBegin;
  if (!space || space->classid != VEC_CLASSID) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(VecGetLocalSize((Vec)space, &values));
  if (rows != values)
    trouble = {"The level set has " + std::to_string(values) + " values, but the matrix has " + std::to_string(rows) +
                   " rows",
               PETSC_ERR_ARG_SIZ};
  PetscCall(PetscRRBFirstTrouble(PetscObjectComm((PetscObject)pc), &trouble));
  PetscCheck(!trouble, PetscObjectComm((PetscObject)pc), trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another one than before starts from nothing. */
static PetscErrorCode ChooseBackend(PC pc, Mat A, PetscBool *rebuild) {
  PC_SubdomainDeflation *d = Data(pc);
  const PetscBool user = (PetscBool)(d->deflation->type == KSP_DEFLATION_USER);
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
  if (!user) PetscCall(PetscRRBMatOnDevice(A, &device));
  if (d->backend && !*rebuild && (user || d->backend->on_device() == device)) PetscFunctionReturn(PETSC_SUCCESS);
  *rebuild = PETSC_TRUE;
  d->backend.reset();
  if (user)
    PetscCall(PCDeflationCreateUser(PetscObjectComm((PetscObject)A), &d->backend));
  else
    PetscCall(PCDeflationCreateSubdomains(PetscObjectComm((PetscObject)A), device, &d->backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc, Mat A, PetscObject space, PetscBool rebuild) {
  PC_SubdomainDeflation *d = Data(pc);
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(CheckPhi(pc, A, space));
  PetscCall(ChooseBackend(pc, A, &rebuild));
  const PetscErrorCode code = d->backend->SetUp(pc, A, *d->deflation, space, rebuild, &d->result);
  if (code != PETSC_SUCCESS) d->backend.reset();
  PetscCall(code);
  const std::string why = d->backend->report().why;
  if (d->result == Result::refused) d->backend.reset(); /* the next setup starts from nothing */
  PetscCheck(d->result != Result::refused, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "-ksp_deflation cannot use this matrix: %s", why.c_str());
  PetscCall(PetscTime(&end));
  d->seconds = end - start;
  ++(rebuild ? d->setups : d->refreshes);
  if (d->result == Result::ok) {
    PetscCall(PCDeflationFindIdentityRows(pc, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBFailed(pc, PETSC_ERR_MAT_CH_ZRPVT, "", ("Deflation: " + why).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDeflationUpdate(PC pc) {
  PC_SubdomainDeflation *d = Data(pc);
  const Mat A = PCDeflationOperator(pc);
  PCDeflationSeen now;
  PetscObject space;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, nullptr));
  if (!rows || d->deflation->type == KSP_DEFLATION_NONE) { /* M^-1 alone: a rank of others may have no rows */
    d->backend.reset();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetSpace(pc, &space));
  PetscCall(now.A.Take(A));
  if (space) PetscCall(PetscObjectStateGet(space, &now.space));
  const bool current = d->backend && d->version == d->deflation->version; /* with the same space */
  if (current && now.A == d->seen.A && now.space == d->seen.space) PetscFunctionReturn(PETSC_SUCCESS);
  /* ranks may have to talk about patterns, so not at each application */
  PetscCall(now.A_pattern.TakePattern(A));
  if (space && space->classid == MAT_CLASSID) PetscCall(PetscRRBNonzeroState((Mat)space, &now.space_pattern));
  const bool values = current && now.A_pattern == d->seen.A_pattern && now.space_pattern == d->seen.space_pattern;
  PetscCall(SetUp(pc, A, space, (PetscBool)!values));
  PetscCall(now.A.Take(A)); /* reading it may have moved it */
  if (space) PetscCall(PetscObjectStateGet(space, &now.space));
  d->seen = now;
  d->version = d->deflation->version;
  PetscFunctionReturn(PETSC_SUCCESS);
}
