/*
   The rows of a Mat on one rank as a Csr. AIJ shows its own arrays; BAIJ and SBAIJ are converted and the copy is kept.
*/
#include "petsc/matrix.h"

#include "petsc/agree.h"
#include "petsc/compat.h"

#include <petsc/private/petscimpl.h>
#include <petscmat.h>

using petscrrb::Csr;

/* The SeqAIJ in an AIJ of any kind, NULL if P is something else. */
static PetscErrorCode SequentialAIJ(Mat P, Mat *rows) {
  PetscBool seq, mpi;

  PetscFunctionBegin;
  *rows = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)P, MATMPIAIJ, &mpi));
  if (seq)
    *rows = P;
  else if (mpi)
    PetscCall(MatMPIAIJGetSeqAIJ(P, rows, NULL, NULL)); /* on one rank the other block has no columns */
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSCRRB_ON_DEVICES
static PetscErrorCode OnDevice(Mat rows, PetscBool *yes) {
  PetscBool cusparse, bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)rows, MATSEQAIJCUSPARSE, &cusparse));
  PetscCall(MatBoundToCPU(rows, &bound));
  *yes = (PetscBool)(cusparse && !bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetDeviceArrays(Mat rows, Csr *csr) {
  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetIJ(rows, PETSC_FALSE, &csr->ia, &csr->ja));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(rows, &csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreDeviceArrays(Mat rows, Csr *csr) {
  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(rows, &csr->a));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(rows, PETSC_FALSE, &csr->ia, &csr->ja));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode OnDevice(Mat, PetscBool *yes) {
  *yes = PETSC_FALSE;
  return PETSC_SUCCESS;
}
static PetscErrorCode GetDeviceArrays(Mat, Csr *) { return PETSC_ERR_PLIB; }
static PetscErrorCode RestoreDeviceArrays(Mat, Csr *) { return PETSC_ERR_PLIB; }
#endif

PetscErrorCode PetscRRBPatternGet(Mat rows, Csr *csr) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(rows, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->ia, &csr->ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ() did not return the rows of the matrix");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBPatternRestore(Mat rows, Csr *csr) {
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(rows, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->ia, &csr->ja, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRowsGet(Mat rows, PetscBool device, Csr *csr) {
  PetscFunctionBegin;
  if (device) {
    PetscCall(MatGetLocalSize(rows, &csr->n, NULL));
    PetscCall(GetDeviceArrays(rows, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRRBPatternGet(rows, csr));
  PetscCall(MatSeqAIJGetArrayRead(rows, &csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBRowsRestore(Mat rows, PetscBool device, Csr *csr) {
  PetscFunctionBegin;
  if (device)
    PetscCall(RestoreDeviceArrays(rows, csr));
  else {
    PetscCall(MatSeqAIJRestoreArrayRead(rows, &csr->a));
    PetscCall(PetscRRBPatternRestore(rows, csr));
  }
  *csr = Csr();
  PetscFunctionReturn(PETSC_SUCCESS);
}

using OfArray = PetscErrorCode (*)(Mat, const PetscScalar **);

static PetscErrorCode UseValues(Mat rows, OfArray get, OfArray restore,
                                const std::function<void(const PetscScalar *)> &use) {
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(get(rows, &a));
  use(a);
  PetscCall(restore(rows, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBReadValues(Mat rows, PetscBool device, const std::function<void(const PetscScalar *)> &read) {
#if PETSCRRB_ON_DEVICES
  if (device) return UseValues(rows, MatSeqAIJCUSPARSEGetArrayRead, MatSeqAIJCUSPARSERestoreArrayRead, read);
#endif
  (void)device;
  return UseValues(rows, MatSeqAIJGetArrayRead, MatSeqAIJRestoreArrayRead, read);
}

/* PETSc 3.18 counts no new nonzeros of a MATMPIBAIJ and of its blocks, nor some of a MATMPIAIJ after MatZeroRows(). */
PetscErrorCode PetscRRBNonzeroState(Mat P, PetscObjectState *state) {
  PetscBool uncounted;
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(P, state));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)P, &uncounted, MATSEQBAIJ, MATMPIBAIJ, MATMPIAIJ, ""));
  if (!uncounted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(P, MAT_GLOBAL_SUM, &info));
  *state += 1000003 * (PetscObjectState)info.nz_used; /* more of one, less of the other: no sum of both stays */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatrixState::Take(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatrixState::TakePattern(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscRRBNonzeroState(A, &state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Into the kept copy, or into a new one if P or its pattern is another than last time. */
static PetscErrorCode Convert(Mat P, MatType type, PetscRRBMatrix *m) {
  PetscRRBMatrixState now;

  PetscFunctionBegin;
  PetscCall(now.TakePattern(P));
  if (!(m->source == now)) PetscCall(MatDestroy(&m->converted));
  PetscCall(MatConvert(P, type, m->converted ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &m->converted));
  m->source = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBNameUse(PC pc, PetscRRBUse *use) {
  PCType type;
  PetscBool deflation;

  PetscFunctionBegin;
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscStrcmp(type, PCSUBDOMAINDEFLATION, &deflation));
  if (deflation)
    *use = {"-ksp_deflation", "", "provide such a matrix as Amat (KSPSetOperators())"};
  else
    *use = {"-pc_type ", type, "provide such a matrix as Pmat (KSPSetOperators(), -snes_mf_operator)"};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckShape(PC pc, Mat P) {
  PetscInt rows, columns;
  PetscRRBUse use;

  PetscFunctionBegin;
  PetscCall(PetscRRBNameUse(pc, &use));
  PetscCall(MatGetSize(P, &rows, &columns));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "%s%s needs a square matrix, but this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns",
             use.option, use.value, rows, columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckReadable(PC pc, Mat P, PetscBool readable) {
  MatType type;
  PetscRRBUse use;

  PetscFunctionBegin;
  PetscCall(MatGetType(P, &type));
  PetscCall(PetscRRBNameUse(pc, &use));
  PetscCheck(
      readable, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "%s%s reads the entries of the matrix, which is not possible for type %s: assemble it as aij, baij or sbaij "
      "(-mat_type aij, -dm_mat_type aij), or %s",
      use.option, use.value, type, use.matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetValue() is not collective: a matrix may be assembled on some ranks only. */
PetscErrorCode PetscRRBCheckAssembled(PC pc, Mat P) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)P);
  PetscBool assembled;
  PetscRRBUse use;
  PetscRRBTrouble trouble;

  PetscFunctionBegin;
  PetscCall(PetscRRBNameUse(pc, &use));
  PetscCall(MatAssembled(P, &assembled));
  if (!assembled)
    trouble = {std::string(use.option) + use.value +
                   " reads the entries of the matrix, which is not assembled: call MatAssemblyBegin() and "
                   "MatAssemblyEnd() first",
               PETSC_ERR_ARG_WRONGSTATE};
  PetscCall(PetscRRBFirstTrouble(comm, &trouble));
  PetscCheck(!trouble, comm, trouble.code, "%s", trouble.why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* m->rows, and whose they are */
static PetscErrorCode FindRows(PC pc, Mat P, PetscRRBMatrix *m, Mat *aij) {
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(CheckShape(pc, P));
  PetscCall(PetscRRBCheckAssembled(pc, P));
  *aij = P;
  PetscCall(SequentialAIJ(P, &m->rows));
  if (m->rows)
    PetscCall(MatDestroy(&m->converted));
  else {
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)P, &seq, MATSEQBAIJ, MATSEQSBAIJ, ""));
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)P, &mpi, MATMPIBAIJ, MATMPISBAIJ, ""));
    PetscCall(CheckReadable(pc, P, (PetscBool)(seq || mpi)));
    PetscCall(Convert(P, mpi ? MATMPIAIJ : MATSEQAIJ, m));
    PetscCall(SequentialAIJ(m->converted, &m->rows));
    *aij = m->converted;
  }
  PetscCall(OnDevice(m->rows, &m->on_device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatrixGet(PC pc, Mat P, PetscRRBMatrix *m) {
  Mat aij = NULL;
  MatInfo info;
  PetscObjectId id;
  PetscMPIInt ranks;
  PetscErrorCode got;

  PetscFunctionBegin;
  PetscCall(FindRows(pc, P, m, &aij));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &ranks));
  if (ranks > 1) {
    PetscCall(PetscObjectGetId((PetscObject)P, &id));
    if (id != m->source.id) PetscCall(m->source.TakePattern(P));
    m->rows = NULL;
    m->on_ranks = aij;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (m->on_device) {
    PetscCall(MatGetLocalSize(m->rows, &m->csr.n, NULL));
    PetscCall(MatGetInfo(m->rows, MAT_LOCAL, &info));
    if (info.nz_used == 0) { /* PETSc has no arrays on the device then: rows of zeros are refused on the host */
      if (m->csr.n)
        m->on_device = PETSC_FALSE;
      else
        m->rows = NULL;
    }
  }
  if (!m->rows) PetscFunctionReturn(PETSC_SUCCESS);
  got = PetscRRBRowsGet(m->rows, m->on_device, &m->csr);
  if (got) m->rows = NULL; /* there is nothing to restore */
  PetscCall(got);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatrixRestore(PetscRRBMatrix *m) {
  PetscFunctionBegin;
  m->on_ranks = NULL;
  if (m->rows) PetscCall(PetscRRBRowsRestore(m->rows, m->on_device, &m->csr));
  m->rows = NULL;
  m->csr = Csr();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatrixReset(PetscRRBMatrix *m) {
  PetscFunctionBegin;
  PetscCall(PetscRRBMatrixRestore(m));
  PetscCall(MatDestroy(&m->converted));
  m->source = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBDiagonalBlock(PC pc, Mat P, Mat *block) {
  PetscMPIInt ranks;
  PetscBool has;

  PetscFunctionBegin;
  *block = P;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)P), &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRRBCheckAssembled(pc, P));
  PetscCall(MatHasOperation(P, MATOP_GET_DIAGONAL_BLOCK, &has));
  PetscCall(CheckReadable(pc, P, has));
  PetscCall(MatGetDiagonalBlock(P, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBVecOnDevice(Vec x, PetscBool *yes) {
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, yes, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(x, &bound));
  if (bound) *yes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscRRBMatOnDevice(Mat A, PetscBool *yes) {
  Mat rows;

  PetscFunctionBegin;
  *yes = PETSC_FALSE;
  PetscCall(SequentialAIJ(A, &rows));
  if (rows) PetscCall(OnDevice(rows, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
