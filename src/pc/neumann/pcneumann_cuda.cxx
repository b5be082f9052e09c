/* PCNEUMANN where the matrix is on a CUDA device: all work goes to the current PetscDeviceContext's stream. */
#include "pc/neumann/pcneumann_sparse.h"

#if PETSCRRB_ON_DEVICES

  #include "pc/backend.h"
  #include "grid/cuda/csr.hpp"
  #include "pc/neumann/core/grid_series.hpp"

using namespace petscrrb;

namespace {

class OnGrid final : public PCNeumannForm {
public:
  OnGrid(PetscRRBStream &stream, const Grid &g, const neumann::Series &s)
      : stream_(stream), series_(neumann::make_grid_series(stream.cuda, g, s)), flops_(PCNeumannFlops(g, s.terms)) {}

  PetscErrorCode Refresh(PC, const Csr &rows, CouplingFindings *found) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *found = series_->refresh(rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Bytes(PetscLogDouble *bytes) override {
    *bytes = series_->bytes();
    return PETSC_SUCCESS;
  }
  PetscErrorCode Apply(PC, Vec, Vec) override;

private:
  PetscRRBStream &stream_;
  const std::unique_ptr<neumann::GridSeries> series_;
  const double flops_;
  PetscRRBVectorsOnDevice vectors_;
};

PetscErrorCode OnGrid::Apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(vectors_.Use(pc, "PCNEUMANN", stream_, x, y,
                         [&](const PetscScalar *r, PetscScalar *z) { series_->apply(r, z); }));
  PetscCall(PetscLogGpuFlops(flops_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class Sparse final : public PCNeumannSparse {
public:
  explicit Sparse(PetscRRBStream &stream) : stream_(stream) {}

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
  PetscErrorCode Bring(PetscRRBOverlap &overlap, Mat P, Csr *rows) override {
    PetscFunctionBegin;
    PetscCall(overlap.Bring(P, PETSC_TRUE, a_.data()));
    *rows = {overlap.own(), ia_.data(), ja_.data(), a_.data()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* Not for writing alone: that does not make the arrays. The first time zeros go to the device. */
  PetscErrorCode GetArray(Mat A, PetscScalar **a) override { return MatSeqAIJCUSPARSEGetArray(A, a); }
  PetscErrorCode RestoreArray(Mat A, PetscScalar **a) override { return MatSeqAIJCUSPARSERestoreArray(A, a); }
  PetscErrorCode Fill(const Csr &rows, PetscScalar *s, neumann::SparseArrays lower, neumann::SparseArrays second,
                      CouplingFindings *found) override {
    PetscFunctionBegin;
    PetscCall(stream_.Run([&] { *found = values_->refresh(rows, s, lower, second); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscRRBStream &stream_;
  cuda::Buffer<PetscInt> ia_, ja_; /* of rows with ghosts */
  cuda::Buffer<PetscScalar> a_;
};

class OnDevice final : public PetscRRBOnDevice<PCNeumannBackend> {
public:
  OnDevice() : PetscRRBOnDevice("PCNEUMANN") {}
  PetscRRBTrouble CreateOnGrid(const Grid &g, const neumann::Series &series,
                               std::unique_ptr<PCNeumannForm> *form) override {
    return stream_.Attempt([&] { *form = std::make_unique<OnGrid>(stream_, g, series); });
  }
  PetscErrorCode CreateSparse(PC pc, PetscRRBOverlap *overlap, const Csr &rows, const neumann::Series &series,
                              neumann::Kept kept, double threshold, std::unique_ptr<PCNeumannForm> *form) override {
    std::unique_ptr<Sparse> made;

    PetscFunctionBegin;
    PetscCall(PetscRRBTryTogether(PetscObjectComm((PetscObject)pc), stream_.say,
                                  [&] { made = std::make_unique<Sparse>(stream_); }));
    PetscCall(made->Start(pc, overlap, rows, series, kept, threshold));
    *form = std::move(made);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscRRBTrouble WhyRefused(const Csr &rows, std::string *why) override {
    return stream_.Attempt([&] {
      const cuda::HostCopy copy(rows, stream_.cuda.stream);
      *why = why_refused(copy.csr());
    });
  }
};

} // namespace

PetscErrorCode PCNeumannCreateCuda(std::unique_ptr<PCNeumannBackend> *backend) {
  return PetscRRBCreateOnDevice<OnDevice>("PCNEUMANN", backend);
}

#endif
