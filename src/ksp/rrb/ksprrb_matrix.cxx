/* KSPRRB and KSPFUSEDCG on all nodes with the rows of the matrix as PETSc has them, on one rank: around PCRRB on a graph, or around any
   preconditioner by PCApply(). */
#include "exec/host/host.hpp"
#include "ksp/rrb/ksprrb_data.h"
#include "ksp/rrb/ksprrb_fused.h"
#include "ksp/rrb/ksprrb_rrb.h"

using namespace petscrrb;

namespace {

constexpr char type[] = "KSPFUSEDCG";           /* for errors */
using Stream = std::shared_ptr<PetscRRBStream>; /* NULL on the host */

/* Array: of the memory where the matrix is */
template <class Array> class OnMatrix : public KSPRRBFused<Array> {
public:
  bool borrows() const override { return !iteration_->diagonals(); }
  int diagonals() const override { return iteration_->diagonals(); }
  PetscErrorCode Refresh(PC, const PetscRRBMatrix &A, const PetscRRBMatrixState &, KSPRRBValues *values) override {
    PetscRRBMatrixState pattern;

    PetscFunctionBegin;
    *values = KSP_RRB_VALUES_ZERO_ROWS; /* no others are on the host while the factorization is on the device */
    if ((A.on_device != PETSC_FALSE) != (this->stream_ != nullptr)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(pattern.TakePattern(A.rows));
    PetscCall(this->Compute([&] { return iteration_->refresh(A.csr, pattern == pattern_), 0; }));
    pattern_ = pattern;
    *values = KSP_RRB_VALUES_OK;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

protected:
  using MatrixIteration = rrbsolver::MatrixIteration;
  using KSPRRBFused<Array>::KSPRRBFused;
  /* own: the stream of the iteration, if it is nobody else's */
  OnMatrix(const Stream &own, PetscBool captured, rrbsolver::Iteration::Solve solve)
      : KSPRRBFused<Array>(type, own.get(), captured, std::move(solve), {}), own_(own) {}

  MatrixIteration &iteration() const override { return *iteration_; }

  const Stream own_; /* goes after the iteration */
  std::unique_ptr<MatrixIteration> iteration_;

private:
  PetscRRBMatrixState pattern_;
};

template <class Array> class OnGraph final : public OnMatrix<Array> {
public:
  explicit OnGraph(const PCRRBParts &with)
      : OnMatrix<Array>("KSPRRB", with.stream, with.captured, KSPRRBSolveOf(with), {}) {
    this->iteration_ =
        KSPRRBOnBackend(with, [&](auto &on) { return rrbsolver::make_matrix_iteration(on, *with.core); });
  }
};

#if PETSCRRB_ON_DEVICES

/* A preconditioner whose application is enqueued: with it a step is a graph. */
class OnEnqueued final : public OnMatrix<cuda::Buffer<double>> {
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
template <class Array> class OnAnyPC final : public OnMatrix<Array> {
public:
  OnAnyPC(KSP ksp, const Stream &stream, PetscInt n)
      : OnMatrix<Array>(stream, PETSC_FALSE, [this](rrb::Part) { return (int)Apply(); }), ksp_(ksp) {
#if PETSCRRB_ON_DEVICES
    if (own_) this->iteration_ = rrbsolver::make_matrix_iteration(own_->cuda, n);
#endif
    if (!own_) this->iteration_ = rrbsolver::make_matrix_iteration(on_host, n);
  }
  ~OnAnyPC() override {
    (void)VecDestroy(&r_);
    (void)VecDestroy(&z_);
  }

  PetscErrorCode MakeVectors(PetscInt n) {
    PetscFunctionBegin;
    PetscCall(MakeVector(n, this->iteration_->residual(), &r_));
    PetscCall(MakeVector(n, this->iteration_->preconditioned(), &z_));
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

  using OnMatrix<Array>::own_;

  const KSP ksp_;
  Vec r_ = nullptr, z_ = nullptr;
};

template <class Array>
PetscErrorCode CreateOnAnyPC(KSP ksp, const Stream &stream, std::unique_ptr<KSPRRBSolver> *solver) {
  using Made = OnAnyPC<Array>;
  const PetscRRBSay say(type, stream ? PETSC_ERR_GPU : PETSC_ERR_LIB);
  std::unique_ptr<Made> made;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(ksp->pc->mat, &n, nullptr));
  PetscCall(PetscRRBTry(say, [&] { made = std::make_unique<Made>(ksp, stream, n); }));
  PetscCall(made->MakeVectors(n));
  *solver = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

#if PETSCRRB_ON_DEVICES

PetscErrorCode CreateOnDevice(KSP ksp, std::unique_ptr<KSPRRBSolver> *solver) {
  Stream stream;
  PetscRRBEnqueued with;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(PetscRRBTry(PetscRRBSay(type, PETSC_ERR_GPU), [&] { stream = std::make_shared<PetscRRBStream>(type); }));
  PetscCall(stream->Start());
  PetscCall(FindEnqueued(ksp->pc, &with));
  if (!with.apply) {
    PetscCall(CreateOnAnyPC<cuda::Buffer<double>>(ksp, stream, solver));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(ksp->pc->mat, &n, nullptr));
  PetscCall(stream->Run([&] { *solver = std::make_unique<OnEnqueued>(with, stream, n); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

PetscErrorCode Create(KSP ksp, KSPRRBForm, std::unique_ptr<KSPRRBSolver> *solver) {
  PetscFunctionBegin;
#if PETSCRRB_ON_DEVICES
  if (OnDevice(ksp->pc)) {
    PetscCall(CreateOnDevice(ksp, solver));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(CreateOnAnyPC<std::vector<double>>(ksp, nullptr, solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::unique_ptr<KSPRRBSolver> KSPRRBSolverOnGraph(const PCRRBParts &with) { return KSPRRBMakeSolver<OnGraph>(with); }

const KSPRRBInside KSPRRBOnAnyPC = {nullptr,
                                    [](PC) -> PetscRRBStateOfAll * { return nullptr; },
                                    Build,
                                    OnDevice,
                                    [](PC) { return PETSC_FALSE; },
                                    [](PC) { return false; },
                                    nullptr,
                                    [](PC) -> KSP { return nullptr; },
                                    Choose,
                                    Create};
