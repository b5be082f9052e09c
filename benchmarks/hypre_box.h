/* The problem's matrix and vectors as hypre's interface of structured grids has them: one box, on the host or on the device. */
#pragma once

#include "matrix.h"
#include <HYPRE_struct_ls.h>
#include <petscpc.h>
#if defined(PETSC_HAVE_CUDA) && defined(PETSCRRB_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif

typedef struct {
  HYPRE_MemoryLocation place, before;
  HYPRE_Int lower[3], upper[3]; /* the grid, one box */
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix A;
  HYPRE_StructVector b, x;
} HypreBox;

/* hypre has streams of its own. */
static PetscErrorCode HypreWait(const HypreBox *s) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA) && defined(PETSCRRB_HAVE_CUDA)
  PetscCheck(s->place == HYPRE_MEMORY_HOST || cudaDeviceSynchronize() == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "cudaDeviceSynchronize() failed");
#else
  (void)s;
#endif
  PetscFunctionReturn(0);
}

/* Between these two hypre works where the problem is, and nobody else's errors are seen. */
static PetscErrorCode HypreEnter(HypreBox *s) {
  PetscFunctionBegin;
  PetscCall(HypreWait(s));
  (void)HYPRE_ClearAllErrors();
  PetscCallExternal(HYPRE_GetMemoryLocation, &s->before);
  PetscCallExternal(HYPRE_SetMemoryLocation, s->place);
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreLeave(HypreBox *s) {
  PetscFunctionBegin;
  PetscCall(HypreWait(s));
  PetscCallExternal(HYPRE_SetMemoryLocation, s->before);
  PetscFunctionReturn(0);
}

/* hypre takes what a pointer says for granted. */
static PetscErrorCode HypreCheckPlace(const HypreBox *s, PetscMemType place) {
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(place) == (s->place == HYPRE_MEMORY_HOST), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A vector is not where the matrix is");
  PetscFunctionReturn(0);
}

/* The stencil's entries: the diagonal and the lower neighbours in x, y and z. hypre knows that the others are the same. */
static PetscErrorCode HypreCreateMatrix(const Problem *p, HypreBox *s) {
  HYPRE_Int offset[3] = {0};

  PetscFunctionBegin;
  for (int d = 0; d < p->dim; ++d) s->upper[d] = (HYPRE_Int)(p->n[d] - 1);
  PetscCallExternal(HYPRE_StructGridCreate, PETSC_COMM_SELF, (HYPRE_Int)p->dim, &s->grid);
  PetscCallExternal(HYPRE_StructGridSetExtents, s->grid, s->lower, s->upper);
  PetscCallExternal(HYPRE_StructGridAssemble, s->grid);
  PetscCallExternal(HYPRE_StructStencilCreate, (HYPRE_Int)p->dim, (HYPRE_Int)p->dim + 1, &s->stencil);
  PetscCallExternal(HYPRE_StructStencilSetElement, s->stencil, 0, offset);
  for (int d = 0; d < p->dim; ++d) {
    offset[d] = -1;
    PetscCallExternal(HYPRE_StructStencilSetElement, s->stencil, d + 1, offset);
    offset[d] = 0;
  }
  PetscCallExternal(HYPRE_StructMatrixCreate, PETSC_COMM_SELF, s->grid, s->stencil, &s->A);
  PetscCallExternal(HYPRE_StructMatrixSetSymmetric, s->A, 1);
  PetscCallExternal(HYPRE_StructMatrixInitialize, s->A);
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreCreateVector(const HypreBox *s, HYPRE_StructVector *v) {
  PetscFunctionBegin;
  PetscCallExternal(HYPRE_StructVectorCreate, PETSC_COMM_SELF, s->grid, v);
  PetscCallExternal(HYPRE_StructVectorInitialize, *v);
  PetscCallExternal(HYPRE_StructVectorAssemble, *v);
  PetscFunctionReturn(0);
}

/* PETSc starts hypre when it first makes a PC of it, and ends it. */
static PetscErrorCode HypreStart(void) {
  PC pc;

  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCPFMG));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreCreate(const Problem *p, HypreBox *s) {
  PetscFunctionBegin;
#if defined(HYPRE_USING_GPU) /* it has no loops for the host alone: they take 17 times as long there */
  PetscCheck(p->device, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "This hypre is for devices");
#endif
#if !defined(HYPRE_USING_CUDA) || !defined(PETSCRRB_HAVE_CUDA)
  PetscCheck(!p->device, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "hypre and this program are for the host");
#endif
  PetscCall(HypreStart());
  s->place = p->device ? HYPRE_MEMORY_DEVICE : HYPRE_MEMORY_HOST;
  PetscCall(HypreEnter(s));
  PetscCall(HypreCreateMatrix(p, s));
  PetscCall(HypreCreateVector(s, &s->b));
  PetscCall(HypreCreateVector(s, &s->x));
  PetscCall(HypreLeave(s));
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreDestroy(HypreBox *s) {
  PetscFunctionBegin;
  PetscCallExternal(HYPRE_StructVectorDestroy, s->x);
  PetscCallExternal(HYPRE_StructVectorDestroy, s->b);
  PetscCallExternal(HYPRE_StructMatrixDestroy, s->A);
  PetscCallExternal(HYPRE_StructStencilDestroy, s->stencil);
  PetscCallExternal(HYPRE_StructGridDestroy, s->grid);
  PetscFunctionReturn(0);
}

/* Where the entries of a row's stencil are among the matrix's values: -1 beyond the grid. */
static void EntriesOfRow(const Problem *p, PetscInt row, PetscInt entries[4]) {
  const PetscInt x[3] = {row % p->n[0], row / p->n[0] % p->n[1], row / p->n[0] / p->n[1]};
  PetscInt next = p->rows[row];

  for (PetscInt d = p->dim - 1; d >= 0; --d) entries[d + 1] = x[d] > 0 ? next++ : -1;
  entries[0] = next;
}

static PetscErrorCode GatherOnHost(const Problem *p, Vec entries) {
  const PetscInt width = p->dim + 1, rows = Unknowns(p);
  const PetscScalar *values;
  PetscScalar *to;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayRead(p->A, &values));
  PetscCall(VecGetArrayWrite(entries, &to));
#pragma omp parallel for
  for (PetscInt row = 0; row < rows; ++row) {
    PetscInt at[4];

    EntriesOfRow(p, row, at);
    for (PetscInt e = 0; e < width; ++e) to[row * width + e] = at[e] < 0 ? 0 : values[at[e]];
  }
  PetscCall(VecRestoreArrayWrite(entries, &to));
  PetscCall(MatSeqAIJRestoreArrayRead(p->A, &values));
  PetscFunctionReturn(0);
}

#if defined(PETSC_HAVE_CUDA)
/* From the matrix's values to the entries, of which those beyond the grid stay 0. */
static PetscErrorCode CreateScatter(const Problem *p, Vec values, Vec entries, VecScatter *scatter) {
  const PetscInt width = p->dim + 1, rows = Unknowns(p);
  PetscInt *from, *to, count = 0;
  IS is_from, is_to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rows * width, &from, rows * width, &to));
  for (PetscInt row = 0; row < rows; ++row) {
    PetscInt at[4];

    EntriesOfRow(p, row, at);
    for (PetscInt e = 0; e < width; ++e)
      if (at[e] >= 0) from[count] = at[e], to[count++] = row * width + e;
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, from, PETSC_USE_POINTER, &is_from));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, to, PETSC_USE_POINTER, &is_to));
  PetscCall(VecScatterCreate(values, is_from, entries, is_to, scatter));
  PetscCall(ISDestroy(&is_from));
  PetscCall(ISDestroy(&is_to));
  PetscCall(PetscFree2(from, to));
  PetscFunctionReturn(0);
}

/* On the device, without a way through the host. */
static PetscErrorCode GatherOnDevice(const Problem *p, Vec entries) {
  PetscScalar *array;
  PetscMemType place;
  VecScatter scatter;
  Vec values;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(p->A, NULL, NULL, &array, &place));
  PetscCheck(PetscMemTypeDevice(place), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The matrix is not on the device");
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, p->rows[Unknowns(p)], array, &values));
  PetscCall(PetscObjectQuery((PetscObject)entries, "scatter", (PetscObject *)&scatter));
  if (!scatter) {
    PetscCall(CreateScatter(p, values, entries, &scatter));
    PetscCall(PetscObjectCompose((PetscObject)entries, "scatter", (PetscObject)scatter));
    PetscCall(PetscObjectDereference((PetscObject)scatter));
  }
  PetscCall(VecScatterBegin(scatter, values, entries, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, values, entries, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(0);
}
#endif

/* The entries of all rows, in hypre's order. Their memory stays with the matrix, and what is known of its pattern. */
static PetscErrorCode GatherEntries(const Problem *p, Vec *entries) {
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)p->A, "pfmg", (PetscObject *)entries));
  if (!*entries) {
    PetscCall(VecCreate(PETSC_COMM_SELF, entries));
    PetscCall(VecSetSizes(*entries, Unknowns(p) * (p->dim + 1), PETSC_DECIDE));
    PetscCall(VecSetType(*entries, p->device ? VECCUDA : VECSEQ));
    PetscCall(VecSet(*entries, 0));
    PetscCall(PetscObjectCompose((PetscObject)p->A, "pfmg", (PetscObject)*entries));
    PetscCall(PetscObjectDereference((PetscObject)*entries));
  }
#if defined(PETSC_HAVE_CUDA)
  if (p->device) {
    PetscCall(GatherOnDevice(p, *entries));
    PetscFunctionReturn(0);
  }
#endif
  PetscCall(GatherOnHost(p, *entries));
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreSetMatrix(const Problem *p, HypreBox *s) {
  HYPRE_Int indices[] = {0, 1, 2, 3};
  const PetscScalar *values;
  PetscMemType place;
  Vec entries;

  PetscFunctionBegin;
  PetscCall(GatherEntries(p, &entries));
  PetscCall(VecGetArrayReadAndMemType(entries, &values, &place));
  PetscCall(HypreCheckPlace(s, place));
  PetscCall(HypreWait(s));
  PetscCallExternal(HYPRE_StructMatrixSetBoxValues, s->A, s->lower, s->upper, (HYPRE_Int)p->dim + 1, indices,
                    (HYPRE_Complex *)values);
  PetscCall(HypreWait(s));
  PetscCall(VecRestoreArrayReadAndMemType(entries, &values));
  PetscCallExternal(HYPRE_StructMatrixAssemble, s->A);
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreSetVector(const HypreBox *s, Vec from, HYPRE_StructVector to) {
  const PetscScalar *values;
  PetscMemType place;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(from, &values, &place));
  PetscCall(HypreCheckPlace(s, place));
  PetscCall(HypreWait(s));
  PetscCallExternal(HYPRE_StructVectorSetBoxValues, to, (HYPRE_Int *)s->lower, (HYPRE_Int *)s->upper,
                    (HYPRE_Complex *)values);
  PetscCall(VecRestoreArrayReadAndMemType(from, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode HypreGetVector(const HypreBox *s, HYPRE_StructVector from, Vec to) {
  PetscScalar *values;
  PetscMemType place;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(to, &values, &place));
  PetscCall(HypreCheckPlace(s, place));
  PetscCallExternal(HYPRE_StructVectorGetBoxValues, from, (HYPRE_Int *)s->lower, (HYPRE_Int *)s->upper, values);
  PetscCall(HypreWait(s));
  PetscCall(VecRestoreArrayWriteAndMemType(to, &values));
  PetscFunctionReturn(0);
}
