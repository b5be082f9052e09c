/* PCNEUMANN where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "petsc/compat.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/neumann/pcneumann_backend.h"

using namespace petscrrb;

namespace {

class Sparse final : public PCNeumannSparse {
public:
  explicit Sparse(PetscRRBDeviceWork &where) : stream_(where.stream) {}

  PetscErrorCode Start(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                       neumann::Kept kept, double threshold) {
    static const MatType types[] = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE};
    neumann::SparsePlan plan;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), stream_.say, [&] {
      const cudaStream_t stream = stream_.Ready();
      if (overlap) {
        ia_.assign(overlap->ia());
        ja_.assign(overlap->ja());
        a_.resize(ja_.size());
        plan = neumann::make_sparse_plan(overlap->rows(nullptr), series, kept, threshold, PCNeumannGhosts(overlap));
      } else {
        const cuda::HostCopy copy(rows, stream); /* for the pattern; new values come without the host */
        plan = neumann::make_sparse_plan(copy.csr(), series, kept, threshold);
      }
      values_ = neumann::make_sparse_values(stream_.cuda, rows.n, plan);
    }));
    PetscCall(Create(pc, overlap, types, plan, series));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscBool on_device() const override { return PETSC_TRUE; }
  PetscErrorCode Exchange(PetscRRBOverlap &overlap, Mat P, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(overlap.Exchange(P, PETSC_TRUE, a_.data()));
    *rows = {overlap.own(), ia_.data(), ja_.data(), a_.data()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Not for writing alone: that does not make the arrays. The first time zeros go to the device. */
  PetscErrorCode GetArray(Mat A, PetscScalar **a) override { return MatSeqAIJCUSPARSEGetArray(A, a); }
  PetscErrorCode RestoreArray(Mat A, PetscScalar **a) override { return MatSeqAIJCUSPARSERestoreArray(A, a); }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, neumann::SparseArrays lower, neumann::SparseArrays second,
                      RowFacts *found) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *found = values_->refresh(rows, s, lower, second); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscRRBStream &stream_;
  cuda::Buffer<PetscInt> ia_, ja_; /* of rows with ghosts */
  cuda::Buffer<PetscScalar> a_;
};

} // namespace

PetscErrorCode PCNeumannCreateCuda(std::unique_ptr<PCNeumannBackend> *backend) {
  return PetscRRBCreateOnDevice<PCNeumannBackendOf<PetscRRBDeviceWork, Sparse>>("PCNEUMANN", backend);
}

#endif
