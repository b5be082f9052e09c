/* KSPRRB and KSPFUSEDCG on all nodes with the rows of the matrix as PETSc has them, on one rank: around PCRRB on a graph, or around any
   preconditioner by PCApply(). */
#include "ksp/rrb/ksprrb_data.h"
#include "ksp/rrb/ksprrb_fused.h"
#include "pc/rrb/pcrrb_backend.h"

using namespace petscrrb;

namespace {

constexpr char type[] = "KSPFUSEDCG";           /* for errors */
using Stream = std::shared_ptr<PetscRRBStream>; /* NULL on the host */

class OnMatrix : public KSPRRBFused {
public:
  bool borrows() const override { return !iteration_->diagonals(); }
  Report report() const override {
    Report r = KSPRRBFused::report();
    r.diagonals = iteration_->diagonals();
    return r;
  }
  PetscErrorCode Refresh(PC, const PetscRRBMatrix &A, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    PetscRRBMatrixState pattern;

    PetscFunctionBegin;
    *values = KSP_RRB_VALUES_ZERO_ROWS; /* no others are on the host while the factorization is on the device */
    if ((A.on_device != PETSC_FALSE) != (stream_ != nullptr)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(pattern.TakePattern(A.rows));
    PetscCall(Compute([&] { return iteration_->refresh(A.csr, pattern == pattern_), 0; }));
    pattern_ = pattern;
    *values = KSP_RRB_VALUES_OK;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

protected:
  using MatrixIteration = rrbsolver::MatrixIteration;
  using KSPRRBFused::KSPRRBFused;
  /* own: the stream of the iteration, if it is nobody else's */
  OnMatrix(const Stream &own, PetscBool captured, Iteration::Solve solve)
      : KSPRRBFused(type, own.get(), captured, std::move(solve), {}), own_(own) {}

  MatrixIteration &iteration() const override { return *iteration_; }

  const Stream own_; /* goes after the iteration */
  std::unique_ptr<MatrixIteration> iteration_;

private:
  PetscRRBMatrixState pattern_;
};

class OnGraph final : public OnMatrix {
public:
  explicit OnGraph(const PCRRBParts &with) : OnMatrix("KSPRRB", with.stream, with.captured, with.solve_last_block, {}) {
    iteration_ = KSPRRBAt(with.stream, [&](auto &on) { return rrbsolver::make_matrix_iteration(on, *with.core); });
  }
};

#if PETSCRRB_ON_DEVICES

/* A preconditioner whose application is enqueued: with it a step is a graph. */
class OnEnqueued final : public OnMatrix {
public:
  OnEnqueued(const PetscRRBEnqueued &with, const Stream &stream, PetscInt n)
      : OnMatrix(stream, PETSC_TRUE, [this](rrb::Part) { return Apply(), 0; }), with_(with),
        terms_(std::size_t(with.terms)) {
    iteration_ = rrbsolver::make_matrix_iteration(own_->cuda, n, {with.version, {terms_.data(), with.terms}});
  }

private:
  void Apply() const { with_.apply(own_->cuda, iteration_->residual(), iteration_->preconditioned(), terms_.data()); }
  void CheckNumbers() const override {
    if (with_.check) with_.check();
  }

  const PetscRRBEnqueued with_;
  const cuda::Buffer<double> terms_; /* of (r, z) */
};

#endif

/* A preconditioner sees the iteration's own residual as a Vec, and puts its result where the iteration reads it. */
class OnAnyPC final : public OnMatrix {
public:
  OnAnyPC(KSP ksp, const Stream &stream, PetscInt n)
      : OnMatrix(stream, PETSC_FALSE, [this](rrb::Part) { return (int)Apply(); }), ksp_(ksp) {
    iteration_ = KSPRRBAt(stream.get(), [&](auto &on) { return rrbsolver::make_matrix_iteration(on, n); });
  }
  ~OnAnyPC() override {
    (void)VecDestroy(&r_);
    (void)VecDestroy(&z_);
  }

  PetscErrorCode MakeVectors(PetscInt n) {
    PetscFunctionBegin;
    PetscCall(MakeVector(n, iteration_->residual(), &r_));
    PetscCall(MakeVector(n, iteration_->preconditioned(), &z_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode MakeVector(PetscInt n, PetscScalar *array, Vec *v) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)ksp_);
    PetscInt bs;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(ksp_->pc->mat, &bs));
#if PETSCRRB_ON_DEVICES
    if (own_) {
      PetscCall(VecCreateSeqCUDAWithArrays(comm, bs, n, nullptr, array, v));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    PetscCall(VecCreateSeqWithArray(comm, bs, n, array, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* A timer of PETSc's is not started twice. */
  PetscErrorCode Apply() {
    PetscScalar *r;
    const PetscScalar *z;

    PetscFunctionBegin;
#if PETSCRRB_ON_DEVICES
    if (own_) {
      PetscCall(PetscLogGpuTimeEnd());
      own_->HandOver();
    }
#endif
    PetscCall(VecGetArrayWriteAndMemType(r_, &r, nullptr)); /* has been written */
    PetscCall(VecRestoreArrayWriteAndMemType(r_, &r));
    PetscCall(KSP_PCApply(ksp_, r_, z_));
    PetscCall(VecGetArrayReadAndMemType(z_, &z, nullptr)); /* may be elsewhere */
    PetscCall(VecRestoreArrayReadAndMemType(z_, &z));
#if PETSCRRB_ON_DEVICES
    if (own_) {
      (void)own_->Ready();
      PetscCall(PetscLogGpuTimeBegin());
    }
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const KSP ksp_;
  Vec r_ = nullptr, z_ = nullptr;
};

/* --- what KSPFUSEDCG wants to know of any preconditioner --- */

/* The application that the preconditioner enqueues, where KSP_PCApply() would do no more. */
PetscErrorCode FindEnqueued(PC pc, PetscRRBEnqueued *with) {
  PetscErrorCode (*get)(PC, PetscRRBEnqueued *);
  MatNullSpace null;
  PetscBool matrix;

  PetscFunctionBegin;
  *with = {};
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PetscRRBEnqueuedKey, &get));
  PetscCall(MatGetNullSpace(pc->mat, &null));
  PetscCall(PetscRRBMatOnDevice(pc->mat, &matrix));
  if (get && !null && matrix) PetscCall((*get)(pc, with));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool OnDevice(PC pc) {
  PetscBool device = PETSC_FALSE;

  (void)PetscRRBMatOnDevice(pc->mat, &device);
  return device;
}

/* Which solver fits: by what is enqueued, or by the number of rows and where they are, which no hierarchy's number is. */
PetscInt64 Build(PC pc) {
  PetscInt n = 0;
  PetscRRBEnqueued with;

  (void)MatGetLocalSize(pc->mat, &n, nullptr);
  (void)FindEnqueued(pc, &with);
  if (!n) return 0;
  return with.apply ? with.build : -2 * (PetscInt64)n - (OnDevice(pc) ? 1 : 0);
}

PetscErrorCode Choose(PC pc, KSPRRBForm *form, const char **why) {
  PetscMPIInt ranks;
  PetscBool aij;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->mat, MATSEQAIJ, &aij));
  *form = KSP_RRB_UNFUSED;
  *why = nullptr;
  if (ranks > 1)
    *why = "there are several ranks";
  else if (!aij)
    *why = "the matrix is not of type aij";
  else
    *form = KSP_RRB_FULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(KSP ksp, KSPRRBForm, std::unique_ptr<KSPRRBSolver> *solver) {
  Stream stream;
  std::unique_ptr<OnAnyPC> made;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(ksp->pc->mat, &n, nullptr));
#if PETSCRRB_ON_DEVICES
  if (OnDevice(ksp->pc)) {
    PetscRRBEnqueued with;

    PetscCall(PetscRRBTry(PetscRRBSay(type, PETSC_ERR_GPU), [&] { stream = std::make_shared<PetscRRBStream>(type); }));
    PetscCall(stream->Start());
    PetscCall(FindEnqueued(ksp->pc, &with));
    if (with.apply) {
      PetscCall(stream->Run([&] { *solver = std::make_unique<OnEnqueued>(with, stream, n); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(PetscRRBTry(PetscRRBSay(type, stream ? PETSC_ERR_GPU : PETSC_ERR_LIB),
                        [&] { made = std::make_unique<OnAnyPC>(ksp, stream, n); }));
  PetscCall(made->MakeVectors(n));
  *solver = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnGraph(const PCRRBParts &with) { return std::make_unique<OnGraph>(with); }

const KSPRRBInside KSPRRBOnAnyPC = {nullptr, Build, OnDevice, Choose, Create};
