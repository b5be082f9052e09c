/* The bandwidth that anything bound by memory can reach. */
#pragma once

#include "solver.h"

/* Of copies of vectors that no cache holds, ten together. */
static PetscErrorCode PrintCopies(const Task *task, PetscInt copies) {
  const PetscInt n = 1 << 26, batch = 10;
  PetscLogDouble start, end;
  PetscReal ms;
  Vec from, to;
  Times times;

  PetscFunctionBeginUser;
  PetscCheck(copies < MAX_TIMES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-copies must be below %d", MAX_TIMES);
  PetscCall(PetscMemzero(&times, sizeof(times)));
  PetscCall(VecCreate(PETSC_COMM_SELF, &from));
  PetscCall(VecSetSizes(from, n, n));
  PetscCall(VecSetType(from, task->problem.device ? VECCUDA : VECSTANDARD));
  PetscCall(VecDuplicate(from, &to));
  PetscCall(VecSet(from, 1));
  for (PetscInt r = 0; r <= copies; ++r) {
    PetscCall(Clock(task, &start));
    for (PetscInt i = 0; i < batch; ++i) PetscCall(VecCopy(from, to));
    PetscCall(Clock(task, &end));
    times.seconds[times.count++] = (end - start) / batch;
  }
  PetscCall(Median(&times, &ms));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# copy: %.1f GB/s\n", (double)(2e-6 * sizeof(PetscScalar) * n / ms)));
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(0);
}
